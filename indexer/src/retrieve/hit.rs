//! What retrieval finds.

use crate::document::{Document, DocumentKind};
use crate::query::Snippet;
use crate::retrieve::notice::Notice;
use crate::retrieve::score_parts::ScoreParts;

/// The answer to a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// Best first.
    pub hits: Vec<Hit>,
    /// What the caller should know about the answer: parts that are missing, words that were forgiven.
    pub notices: Vec<Notice>,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The document's key.
    pub key: String,
    /// What it is.
    pub kind: DocumentKind,
    /// Where it stands.
    pub source: HitSource,
    /// When it happened, in milliseconds since 1970; for code, when the file was changed.
    pub at_ms: i64,
    /// The tool, for a call and its result.
    pub tool: Option<String>,
    /// The files it is about.
    pub paths: Vec<String>,
    /// How a command ended.
    pub exit: Option<i64>,
    /// Its text; under a budget its best passage.
    pub text: String,
    /// The piece of the text that shows why it was found.
    pub snippet: Snippet,
    /// How well it fits: the sum of the parts.
    pub score: f32,
    /// What the score is made of.
    pub parts: ScoreParts,
}

/// Where a hit stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HitSource {
    /// In a session.
    Event {
        /// The session's stream.
        stream: String,
        /// The event's sequence number in it.
        seq: u64,
        /// The event's id.
        event: String,
    },
    /// In the workspace's code.
    File {
        /// Relative to the workspace.
        path: String,
        /// From 1.
        first_line: u32,
        /// Inclusive.
        last_line: u32,
    },
    /// In a session's summaries.
    Summary {
        /// The session's stream.
        stream: String,
        /// The level of the tree; leaves have 0.
        level: u64,
        /// Its place among the nodes of its level.
        index: u64,
        /// The first event it sums up.
        first_seq: u64,
        /// The last event it sums up.
        last_seq: u64,
    },
}

impl HitSource {
    /// Where a document stands.
    #[must_use]
    pub fn of(document: &Document) -> Self {
        match document.kind {
            DocumentKind::Code => Self::File {
                path: document.paths.first().cloned().unwrap_or_default(),
                first_line: document.first_line,
                last_line: document.last_line,
            },
            DocumentKind::Summary => Self::Summary {
                stream: document.stream.clone(),
                level: document.step,
                index: document.ordinal & 0xffff_ffff,
                first_seq: document.seq,
                last_seq: last_seq_in(&document.text).filter(|last| *last >= document.seq).unwrap_or(document.seq),
            },
            DocumentKind::Prompt
            | DocumentKind::Answer
            | DocumentKind::Thinking
            | DocumentKind::Call
            | DocumentKind::Result
            | DocumentKind::Note => {
                Self::Event { stream: document.stream.clone(), seq: document.seq, event: document.event.clone() }
            }
        }
    }
}

/// A summary's text begins with what it covers: `steps 1–8, events #3–#57, …`.
fn last_seq_in(text: &str) -> Option<u64> {
    let (_, events) = text.lines().next()?.split_once("events #")?;
    let (_, last) = events.split_once("–#")?;
    let digits = last.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(last.len());
    last.get(..digits)?.parse().ok()
}
