//! Names of things: streams, events, calls. All are validated where they are made, so that whoever holds
//! one can put it into a subject, a path or a query as it is.

#[cfg(test)]
#[path = "id_tests.rs"]
mod tests;

pub use crate::timestamp::Timestamp;
pub use crate::token::Token;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

/// A name that is not allowed, and why.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{text}` is not a valid {what}: {why}")]
pub struct InvalidId {
    /// What the text was meant to be.
    pub what: &'static str,
    /// The text, cut to 80 characters.
    pub text: String,
    /// What a valid one looks like.
    pub why: &'static str,
}

impl InvalidId {
    pub(crate) fn new(what: &'static str, text: &str, why: &'static str) -> Self {
        Self { what, text: text.chars().take(80).collect(), why }
    }
}

/// What kind of stream it is, which decides who may write it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A session: written only by whoever runs it.
    Session,
    /// What others have to say to a running session: prompts, approvals, cancels.
    Control,
    /// Summaries of a session.
    Summary,
    /// A job.
    Job,
}

impl Class {
    /// The word in the stream's subject.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Control => "control",
            Self::Summary => "summary",
            Self::Job => "job",
        }
    }
}

impl FromStr for Class {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        [Self::Session, Self::Control, Self::Summary, Self::Job]
            .into_iter()
            .find(|class| class.as_str() == text)
            .ok_or_else(|| InvalidId::new("stream class", text, "one of session, control, summary, job"))
    }
}

/// The name of a stream. Sequence numbers, the writer's fence and the hash chain are per stream.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct StreamId {
    /// Whose it is; `local` on a person's own machine.
    pub tenant: Token,
    /// Which workspace it belongs to.
    pub project: Token,
    /// What kind of stream it is.
    pub class: Class,
    /// Which one.
    pub id: Token,
}

impl StreamId {
    /// The subject `ev.<tenant>.<project>.<class>.<id>`.
    #[must_use]
    pub fn subject(&self) -> String {
        format!("ev.{}.{}.{}.{}", self.tenant, self.project, self.class.as_str(), self.id)
    }

    /// The stream of another class that belongs to the same session.
    #[must_use]
    pub fn sibling(&self, class: Class) -> Self {
        Self { class, ..self.clone() }
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.subject())
    }
}

impl FromStr for StreamId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let parts: Vec<&str> = text.split('.').collect();
        let ["ev", tenant, project, class, id] = parts[..] else {
            return Err(InvalidId::new("stream", text, "`ev.<tenant>.<project>.<class>.<id>`"));
        };
        Ok(Self {
            tenant: Token::new(tenant)?,
            project: Token::new(project)?,
            class: class.parse()?,
            id: Token::new(id)?,
        })
    }
}

/// The id of an event: a UUIDv7, unique over all streams, and the id by which a repeated append is recognised.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct EventId(pub Uuid);

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for EventId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        text.parse().map(Self).map_err(|_| InvalidId::new("event id", text, "a UUID"))
    }
}

/// The id the model gave a tool call (`toolu_…`). Foreign text: shown and compared, never used as a path.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct CallId(pub String);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
