//! Where a value came from.

use std::fmt;
use std::path::PathBuf;

/// Where a value came from, as `retrace config show` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    Default,
    /// A line of a file: configuration, credentials or `.env`.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// An environment variable.
    Env(&'static str),
    /// A command-line flag.
    Flag(&'static str),
    /// The session's own log.
    Session,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Env(name) => write!(f, "env {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Session => f.write_str("the session's log"),
        }
    }
}

/// A value and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Its origin.
    pub origin: Origin,
}

impl<T> Sourced<T> {
    /// A value from `origin`.
    pub const fn new(value: T, origin: Origin) -> Self {
        Self { value, origin }
    }

    /// A built-in value.
    pub const fn default(value: T) -> Self {
        Self { value, origin: Origin::Default }
    }
}
