//! Who holds a stream: a process, as it describes itself.
//!
//! What another process says of itself is foreign text: it is bounded here, and told apart from nothing else. Whoever
//! shows it to a person cleans it.

use crate::id::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The longest name of a machine, in characters.
const MAX_HOST_CHARS: usize = 255;

/// The longest command, in characters.
const MAX_COMMAND_CHARS: usize = 1_000;

/// The longest description that is read, in bytes; even one that is escaped throughout is shorter.
pub(crate) const MAX_HOLDER_BYTES: usize = 16 * 1024;

/// A process that holds a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The name of its machine; empty when it is not known who holds the stream.
    pub host: String,
    /// Its process id on that machine.
    pub pid: u32,
    /// What it was started as, for people.
    pub command: String,
    /// Since when it holds the stream.
    pub since: Timestamp,
}

impl Holder {
    /// This process, which runs `command` and holds the stream since `since`.
    #[must_use]
    pub fn this_process(command: &str, since: Timestamp) -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Self { host, pid: std::process::id(), command: command.to_owned(), since }.bounded()
    }

    /// Somebody of whom nothing is known but that the stream is held.
    #[must_use]
    pub fn unknown() -> Self {
        Self::default()
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.host.is_empty()
    }

    /// What is too long is cut.
    pub(crate) fn bounded(mut self) -> Self {
        let cut = |text: &mut String, chars: usize| {
            if let Some((end, _)) = text.char_indices().nth(chars) {
                text.truncate(end);
            }
        };
        cut(&mut self.host, MAX_HOST_CHARS);
        cut(&mut self.command, MAX_COMMAND_CHARS);
        self
    }

    /// The description that [`Self::from_json`] reads.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        // A struct of texts and numbers; should it fail, an empty description is one of an unknown holder.
        serde_json::to_vec(&self.clone().bounded()).unwrap_or_default()
    }

    /// The holder that `bytes` describe; `None` when they are too many or no description.
    pub(crate) fn from_json(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > MAX_HOLDER_BYTES {
            return None;
        }
        serde_json::from_slice::<Self>(bytes).ok().map(Self::bounded)
    }
}

impl fmt::Display for Holder {
    /// For people, on one line; control characters are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unknown() {
            return f.write_str("a process that does not say who it is");
        }
        let clean = |text: &str| text.chars().filter(|c| !c.is_control()).collect::<String>();
        write!(f, "`{}`, process {} on {}, since {}", clean(&self.command), self.pid, clean(&self.host), self.since)
    }
}
