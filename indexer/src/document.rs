//! What can be found: one document for each part of a session that says something, for each summary, and for each piece of
//! the workspace's code. All indexes are fed with documents, and only with documents.

use serde::{Deserialize, Serialize};

/// One thing that can be found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Document {
    /// Its name, unique in its index: `<stream>/<seq>.<part>`, `summary/<stream>/<level>.<index>`, `code/<path>#<line>`.
    pub key: String,
    /// What it is.
    pub kind: DocumentKind,
    /// The session's stream; empty for code.
    pub stream: String,
    /// The workspace, as the session named it.
    pub workspace: String,
    /// The event's sequence number in its stream; for a summary, that of its first event.
    pub seq: u64,
    /// Which part of the event this is: an answer has several, a long output too.
    pub part: u32,
    /// The event's id; empty for code.
    pub event: String,
    /// Where the event stands in the order over all streams; 0 for code.
    pub position: u64,
    /// When it happened, in milliseconds since 1970; for code, when the file was changed.
    pub at_ms: i64,
    /// Its place among the session's documents, from 0, without gaps: its neighbours are one less and one more.
    pub ordinal: u64,
    /// Which step of the session it belongs to: a prompt begins one, and so does each answer. For a summary, its level.
    pub step: u64,
    /// The tool, for a call and its result.
    pub tool: Option<String>,
    /// The files it is about, relative to the workspace where that is known.
    pub paths: Vec<String>,
    /// What a piece of code defines: `Log::append`.
    pub symbol: Option<String>,
    /// How a command ended, as a shell would say it.
    pub exit: Option<i64>,
    /// Whether it reports a failure.
    pub is_error: bool,
    /// The first line of a piece of code, from 1; 0 for everything else.
    pub first_line: u32,
    /// The last line of a piece of code, inclusive; 0 for everything else.
    pub last_line: u32,
    /// The words, redacted.
    pub text: String,
}

/// What a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// What a user asked.
    Prompt,
    /// What the model said.
    Answer,
    /// What the model thought.
    Thinking,
    /// What a tool was told to do.
    Call,
    /// What came of it.
    Result,
    /// What retrace says itself: how a turn ended, a failure, a question.
    #[default]
    Note,
    /// A summary of several steps.
    Summary,
    /// A piece of the workspace's code.
    Code,
}

impl DocumentKind {
    /// All kinds, in the order of this list.
    pub const ALL: [Self; 8] =
        [Self::Prompt, Self::Answer, Self::Thinking, Self::Call, Self::Result, Self::Note, Self::Summary, Self::Code];

    /// Its name in queries and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Answer => "answer",
            Self::Thinking => "thinking",
            Self::Call => "call",
            Self::Result => "result",
            Self::Note => "note",
            Self::Summary => "summary",
            Self::Code => "code",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// The number it is stored as; never changes.
    #[must_use]
    pub const fn code(self) -> u64 {
        self as u64
    }

    /// The kind stored as `code`.
    #[must_use]
    pub fn of_code(code: u64) -> Option<Self> {
        usize::try_from(code).ok().and_then(|index| Self::ALL.get(index).copied())
    }
}
