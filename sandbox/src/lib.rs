//! Sandboxes: where everything that the model asks for runs.
//!
//! A *backend* starts the guest agent (`retrace-guest`, embedded in this crate) somewhere isolated and hands back its
//! stdin, stdout and stderr; everything else (commands, files, streaming, limits) is the same protocol for all backends.
//!
//! Invariants:
//! - [`Sandbox::start`] returns only what it has *proven* to be isolated as asked for, by trying from inside; nothing
//!   falls back to less, and `none` must be asked for by name;
//! - no variable of the host's environment gets in unless the policy names it, and never one that looks like a secret;
//! - when a command has ended, nothing of it is left; when the guest is gone, every pending call fails with the reason.
//!
//! This crate appends no events and knows no log: it returns observations.

mod activity;
mod backend;
mod call;
mod cgroup;
mod choice;
mod disk_watch;
mod error;
mod exec;
mod files;
mod guest_file;
mod input;
mod leftover;
mod limits;
mod link;
mod network;
mod policy;
mod probe;
mod proof;
mod sandbox;
pub mod snapshot;
mod spawner;
mod survey;

pub use retrace_guest::message::{
    Command, Entry, EntryKind, Failure, FailureKind, FileStat, ListDone, Match, SearchDone, SearchSpec, TerminalSize,
    Truncation, Usage, WriteDone,
};
pub use retrace_guest::raw_path::RawPath;

pub use choice::{ChoiceError, SandboxChoice};
pub use error::{GoneReport, SandboxError};
pub use exec::{Chunk, ExecOutput, ExecRequest, ExecResult, Running};
pub use files::{FileContents, Listing, SearchResult};
pub use input::Input;
pub use limits::{LimitHit, Limits};
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub use link::fuzzing;
pub use network::{
    AllowError, AllowList, ConnectionCount, ConnectionEvent, ConnectionReport, Connections, Credential,
    CredentialError, How, NetworkLimits, Resolve, Secret, Verdict,
};
pub use policy::{EngineOptions, Network, Policy};
pub use proof::{IsolationLevel, Proof};
pub use sandbox::{Considered, Sandbox};
pub use survey::{Surveyed, Usable, survey};
