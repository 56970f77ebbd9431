//! What an event says: one enum a subject, one file a subject, one struct a kind.
//!
//! The enums are append-only: a variant, its kind and its fields never change once a release wrote them. A changed
//! struct gets the next schema number and an upcaster ([`crate::upcast`]). JSON that must go back to the model byte
//! for byte is held as the raw text it came as.

/// Makes an enum of the kinds of one subject, with their names and schema numbers.
macro_rules! subject {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident($body:ident) = $kind:literal, $schema:literal;)+ }) => {
        $(#[$doc])*
        #[allow(clippy::large_enum_variant, reason = "a decoded payload is kept in a box")]
        #[derive(Debug, Clone, PartialEq)]
        pub enum $name {
            $($(#[$vdoc])* $variant($body),)+
        }

        impl $name {
            /// The kinds of this subject with their current schema numbers.
            pub const KINDS: &'static [(&'static str, u16)] = &[$(($kind, $schema)),+];

            /// The kind, `<subject>.<name>`.
            #[must_use]
            pub const fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind,)+ }
            }

            /// Encodes the payload.
            ///
            /// # Errors
            /// When it is too large.
            pub fn encode(&self) -> Result<Vec<u8>, $crate::codec::CodecError> {
                match self { $(Self::$variant(body) => $crate::codec::encode(body),)+ }
            }

            /// Decodes a payload of `kind` in its current schema; `None` for a kind of another subject.
            ///
            /// # Errors
            /// When the bytes are something else.
            pub fn decode(kind: &str, bytes: &[u8]) -> Result<Option<Self>, $crate::codec::CodecError> {
                Ok(match kind { $($kind => Some(Self::$variant($crate::codec::decode($kind, bytes)?)),)+ _ => None })
            }

            /// The payload as JSON, for people and for the open format.
            #[must_use]
            pub fn to_json(&self) -> serde_json::Value {
                match self { $(Self::$variant(body) => serde_json::to_value(body).unwrap_or_default(),)+ }
            }
        }

        $(impl From<$body> for $crate::Payload {
            fn from(body: $body) -> Self {
                Self::$name($name::$variant(body))
            }
        })+
    };
}

pub mod context;
pub mod control;
pub mod job;
pub mod sandbox;
pub mod session;
pub mod settings;
pub mod summary;
pub mod tool;
pub mod turn;
pub mod workspace;

/// Makes the enum over all subjects.
macro_rules! subjects {
    ($($(#[$doc:meta])* $variant:ident in $module:ident;)+) => {
        /// The payload of an event, by subject.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Payload {
            $($(#[$doc])* $variant($module::$variant),)+
        }

        impl Payload {
            /// The kind, `<subject>.<name>`.
            #[must_use]
            pub const fn kind(&self) -> &'static str {
                match self { $(Self::$variant(event) => event.kind(),)+ }
            }

            /// All kinds this version knows, with their current schema numbers.
            pub fn kinds() -> impl Iterator<Item = (&'static str, u16)> {
                [$($module::$variant::KINDS),+].into_iter().flatten().copied()
            }

            /// Encodes the payload.
            ///
            /// # Errors
            /// When it is too large.
            pub fn encode(&self) -> Result<Vec<u8>, crate::codec::CodecError> {
                match self { $(Self::$variant(event) => event.encode(),)+ }
            }

            /// Decodes a payload of `kind` in its current schema.
            ///
            /// # Errors
            /// When the kind is unknown or the bytes are something else.
            pub fn decode(kind: &str, bytes: &[u8]) -> Result<Self, crate::codec::CodecError> {
                $(if let Some(event) = $module::$variant::decode(kind, bytes)? {
                    return Ok(Self::$variant(event));
                })+
                Err(crate::codec::CodecError::Malformed { what: kind.to_owned(), why: "unknown kind".to_owned() })
            }

            /// The payload as JSON, for people and for the open format.
            #[must_use]
            pub fn to_json(&self) -> serde_json::Value {
                match self { $(Self::$variant(event) => event.to_json(),)+ }
            }
        }
    };
}

subjects! {
    /// A session's life.
    Session in session;
    /// Prompts, requests, answers.
    Turn in turn;
    /// What goes into requests besides the conversation.
    Context in context;
    /// Tool calls.
    Tool in tool;
    /// Sandboxes.
    Sandbox in sandbox;
    /// Files.
    Workspace in workspace;
    /// Summaries.
    Summary in summary;
    /// Jobs.
    Job in job;
    /// What others say to a running session.
    Control in control;
}

impl Payload {
    /// The current schema number of `kind`; `None` when this version does not know it.
    #[must_use]
    pub fn schema_of(kind: &str) -> Option<u16> {
        Self::kinds().find(|(known, _)| *known == kind).map(|(_, schema)| schema)
    }
}

pub use context::Context;
pub use control::Control;
pub use job::Job;
pub use sandbox::Sandbox;
pub use session::Session;
pub use summary::Summary;
pub use tool::Tool;
pub use turn::Turn;
pub use workspace::Workspace;
