//! The guest agent: the one process of ours that runs inside a sandbox, and the protocol the host speaks with it.
//!
//! The library holds both halves that must agree: the frame codec and the messages (used by the host too), and the
//! server that the `retrace-guest` binary runs. All backends use the same agent, because a microVM has no "exec".
//!
//! Invariants:
//! - every file operation stays beneath the workspace root (`openat2` with `RESOLVE_BENEATH`), whatever the path says;
//! - when a call has ended, no process of that call is left, whatever it did (`setsid`, double fork, cleared environ);
//! - when the host is gone (its end of the pipe closed, or no word from it for too long), everything inside ends;
//! - nothing that comes over the wire can make the guest panic or allocate more than the bounds in [`frame`].
//!
//! It does not isolate anything by itself: that is the work of the backend that starts it.

pub mod confine;
pub mod frame;
pub mod machine;
pub mod message;
pub mod probe;
pub mod raw_path;

mod exec;
mod files;
mod forward;
mod mailbox;
mod server;

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub use server::fuzzing;
pub use server::{ServeError, serve};

/// Version of the protocol; host and guest refuse each other when it differs.
pub const PROTOCOL_VERSION: u32 = 2;

/// A host that says nothing for so many milliseconds is taken for dead, unless `serve` is told otherwise.
pub const DEFAULT_SILENCE_MS: u64 = 30_000;

/// Environment variable that carries the call's id into every command.
pub const CALL_ID_VARIABLE: &str = "RETRACE_CALL_ID";

/// Environment variable that marks every process of one sandbox; the `none` backend finds left-overs by it.
pub const SANDBOX_ID_VARIABLE: &str = "RETRACE_SANDBOX_ID";
