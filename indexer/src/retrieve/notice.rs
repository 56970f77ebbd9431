//! What the caller should know about an answer.

use std::fmt;
use std::path::PathBuf;

/// Something that makes an answer less than it could be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// Something in the query was forgiven or left out.
    Query(String),
    /// There is no index of sessions yet.
    NoSessions,
    /// There is no index of code yet.
    NoCode,
    /// There is no embedding model, or there are no vectors yet: only words were compared.
    WordsOnly,
    /// An index is damaged or of another version: it must be built again.
    Rebuild {
        /// The index's folder.
        folder: PathBuf,
        /// What was found.
        problem: String,
    },
    /// A part of the search failed; the others answered.
    Failed {
        /// Which part.
        part: &'static str,
        /// Why.
        problem: String,
    },
    /// What was asked, and how long it took; only when asked for.
    Trace(String),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(note) | Self::Trace(note) => f.write_str(note),
            Self::NoSessions => {
                f.write_str("there is no index of sessions yet; hint: `retrace index rebuild` makes it")
            }
            Self::NoCode => f.write_str("there is no index of this workspace's code yet"),
            Self::WordsOnly => f.write_str("searched by words only, not by meaning"),
            Self::Rebuild { problem, .. } => f.write_str(problem),
            Self::Failed { part, problem } => write!(f, "searched without {part}: {problem}"),
        }
    }
}
