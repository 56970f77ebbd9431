//! The event log of retrace: what an event is, how it is stored, and how state is folded from it.
//!
//! Everything retrace knows about a session is a list of [`Envelope`]s in a stream ([`StreamId`]), each chained to
//! the one before by a BLAKE3 hash. This crate knows no other crate of the workspace: it defines ids, the envelope,
//! the payloads ([`Payload`]), their codec and upcasters, the [`EventLog`] contract with its backends, the blob
//! store, redaction, and the session fold. It never talks to a model and never runs anything.

pub mod blob;
pub mod codec;
pub mod control;
pub mod envelope;
pub mod fold;
pub mod hash;
pub mod history;
pub mod id;
pub mod jsonl;
pub mod log;
pub mod mint;
pub mod payload;
pub mod redact;
#[cfg(feature = "testing")]
pub mod testing;
mod timestamp;
mod token;
pub mod upcast;
pub mod verify;
pub mod writer;

pub use blob::{BlobRef, BlobStore};
pub use control::{ControlSender, Inbox, control_stream};
pub use envelope::{Envelope, Event};
pub use fold::SessionState;
pub use hash::Hash;
pub use history::History;
pub use id::{CallId, Class, EventId, StreamId, Timestamp, Token};
pub use log::{EventLog, Head, LogError, Position};
pub use mint::Mint;
pub use payload::Payload;
pub use writer::Writer;
