//! Where a log is, written as one word, and opening it.

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;

use super::nats::{self, NatsOptions};
use super::{EventLog, LogError, sqlite};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

/// Where a log is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogLocation {
    /// A folder of this machine.
    Embedded(PathBuf),
    /// A NATS server or cluster.
    Nats(Box<NatsOptions>),
}

impl FromStr for LogLocation {
    type Err = LogError;

    /// `nats://…` and `tls://…` (several separated by commas) are servers, everything else is a path.
    fn from_str(text: &str) -> Result<Self, LogError> {
        let text = text.trim();
        if text.is_empty() {
            let why = "it is empty\nhint: name a folder or a server, for example nats://localhost:4222".to_owned();
            return Err(LogError::Unfit { location: "--log".to_owned(), why });
        }
        match text.split_once("://") {
            Some(("nats" | "tls", _)) => Ok(Self::Nats(Box::new(text.parse()?))),
            // The rest of the address is not shown: it may hold a password.
            Some((scheme, _)) if scheme.chars().all(|c| c.is_ascii_alphanumeric()) => Err(LogError::Unfit {
                location: format!("{scheme}://…"),
                why: "no log speaks this protocol\nhint: a folder, nats://host:port or tls://host:port".to_owned(),
            }),
            _ => Ok(Self::Embedded(PathBuf::from(text))),
        }
    }
}

impl fmt::Display for LogLocation {
    /// For people, without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded(dir) => dir.display().fmt(f),
            Self::Nats(options) => options.fmt(f),
        }
    }
}

/// Opens the log at `location`.
///
/// # Errors
/// As [`super::SqliteLog::open`] and [`super::NatsLog::connect`].
pub async fn open_log(location: &LogLocation) -> Result<Arc<dyn EventLog>, LogError> {
    match location {
        LogLocation::Embedded(dir) => Ok(Arc::new(sqlite::open(dir).await?)),
        LogLocation::Nats(options) => Ok(Arc::new(nats::NatsLog::connect(options).await?)),
    }
}
