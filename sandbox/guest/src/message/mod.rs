//! The messages of the protocol: what the host asks and what the guest answers.
//!
//! Every request has an id of its own, chosen by the host and never used twice; several run at once. `Data`, `Credit`,
//! `Resize`, `Kill` and `Terminate` carry the id of the request they belong to. A request ends with exactly one closing answer
//! ([`Response::is_final`]); answers before that are parts of it.

mod exec;
mod failure;
mod forward;
mod list;
mod read;
mod search;
mod stat;
mod write;

use serde::{Deserialize, Serialize};

pub use exec::{Command, ExecEnd, ExecLimits, ExecSpec, TerminalSize, Usage};
pub use failure::{Failure, FailureKind};
pub use forward::{Accepted, FORWARD_WINDOW_BYTES, ListenSpec, MAX_FORWARDED};
pub use list::{Entry, ListDone, ListSpec, Truncation};
pub use read::{ReadDone, ReadSpec};
pub use search::{Match, SearchDone, SearchSpec};
pub use stat::{EntryKind, FileStat, StatSpec};
pub use write::{WriteDone, WriteSpec};

/// Bytes of output the guest may send for a command before the host must grant more with [`Request::Credit`].
pub const INITIAL_CREDIT_BYTES: u64 = 1024 * 1024;
/// What every frame of output costs of the credit besides its bytes, so that many tiny ones are bounded too.
pub const CHUNK_COST_BYTES: u64 = 256;
/// The most bytes one `Read` returns.
pub const MAX_READ_BYTES: u64 = 64 * 1024 * 1024;
/// The most bytes one `Write` takes.
pub const MAX_WRITE_BYTES: u64 = 256 * 1024 * 1024;
/// The most bytes a command is given on its stdin.
pub const MAX_STDIN_BYTES: u64 = 16 * 1024 * 1024;
/// Bytes of a file the host may send before the guest must allow more with [`Response::Credit`].
pub const WRITE_WINDOW_BYTES: u64 = 4 * 1024 * 1024;
/// The id of pings that are only signs of life, and of their answers.
pub const HEARTBEAT_ID: u64 = 0;
/// The most requests that run at once.
pub const MAX_CONCURRENT_REQUESTS: usize = 64;

/// A message together with the id of the request it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope<M> {
    /// The request's id.
    pub id: u64,
    /// The message.
    pub message: M,
}

/// What the host sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Request {
    /// Runs a command; its stdin follows as `Data`.
    Exec(ExecSpec),
    /// A part (the body) of a command's stdin or of a file to write.
    Data {
        /// No more parts follow.
        last: bool,
    },
    /// Allows so many more bytes of output.
    Credit {
        /// How many, in bytes.
        bytes: u64,
    },
    /// The command's terminal has another size now.
    Resize(TerminalSize),
    /// Ends the request: a command's whole process tree, a listing, a search, a half-sent write.
    Kill,
    /// Sends SIGTERM to everything of a command, and kills what is left of it two seconds later. Other requests end as
    /// with `Kill`.
    Terminate,
    /// Reads a range of a file.
    Read(ReadSpec),
    /// Writes a file; its contents follow as `Data`.
    Write(WriteSpec),
    /// Asks what a path is.
    Stat(StatSpec),
    /// Lists a folder.
    List(ListSpec),
    /// Searches file contents.
    Search(SearchSpec),
    /// Listens for connections inside the sandbox, until it is ended.
    Listen(ListenSpec),
    /// Takes the next connection; the request lives as long as that. `Data` goes to the command that connected (the last
    /// part closes that direction), `Terminate` closes when everything is delivered, `Kill` resets.
    Accept,
    /// Asks for a sign of life, and is one. With [`HEARTBEAT_ID`] it belongs to no request.
    Ping,
    /// Kills all commands and exits.
    Shutdown,
}

/// What the guest sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Response {
    /// The first frame of all, unasked, with id 0.
    Hello(Hello),
    /// A part (the body) of a command's stdout.
    Stdout,
    /// A part (the body) of a command's stderr.
    Stderr,
    /// The command and everything it started are gone.
    Exited(ExecEnd),
    /// A part (the body) of a file that is read.
    Data,
    /// The range was read.
    ReadDone(ReadDone),
    /// Allows so many more bytes of a file that is written, or to a connection.
    Credit {
        /// How many, in bytes.
        bytes: u64,
    },
    /// The file was written.
    WriteDone(WriteDone),
    /// What the path is.
    Stat(FileStat),
    /// A part of a listing.
    Entries {
        /// In the order of the walk.
        entries: Vec<Entry>,
    },
    /// The listing is complete, or was cut.
    ListDone(ListDone),
    /// A part of a search's matches.
    Matches {
        /// In the order of the walk, then by line.
        matches: Vec<Match>,
    },
    /// The search is complete, or was cut.
    SearchDone(SearchDone),
    /// Connections are taken from here on.
    Listening {
        /// The port on 127.0.0.1.
        port: u16,
    },
    /// A connection came.
    Accepted(Accepted),
    /// A part (the body) of what the command sent on a connection.
    Received,
    /// The command sends nothing more on a connection.
    ReceivedAll,
    /// The connection is gone.
    Closed {
        /// Not in good order: by the command, or because the host asked for it.
        reset: bool,
    },
    /// The answer to a ping.
    Pong,
    /// The answer to a shutdown; the guest exits after it.
    Bye,
    /// The request failed.
    Failed(Failure),
}

impl Response {
    /// True for the answer that ends its request.
    #[must_use]
    pub fn is_final(&self) -> bool {
        match self {
            Self::Hello(_)
            | Self::Stdout
            | Self::Stderr
            | Self::Data
            | Self::Entries { .. }
            | Self::Matches { .. }
            | Self::Listening { .. }
            | Self::Accepted(_)
            | Self::Received
            | Self::ReceivedAll
            | Self::Credit { .. } => false,
            Self::Exited(_)
            | Self::ReadDone(_)
            | Self::WriteDone(_)
            | Self::Stat(_)
            | Self::ListDone(_)
            | Self::SearchDone(_)
            | Self::Closed { .. }
            | Self::Pong
            | Self::Bye
            | Self::Failed(_) => true,
        }
    }
}

/// The guest's introduction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Must equal the host's [`crate::PROTOCOL_VERSION`].
    pub protocol: u32,
    /// Version of the guest's package.
    pub guest_version: String,
    /// Release of the kernel the guest runs on; tells a microVM from its host.
    pub kernel: String,
    /// The user id, as the guest sees it.
    pub uid: u32,
    /// The process id, as the guest sees it (1 in a namespace of its own).
    pub pid: u32,
}
