//! One thing a digest remembers, and when two of them are the same thing again.

use super::excerpt;
use retrace_events::EventId;
use serde::{Deserialize, Serialize};

/// What an item costs beside its text, in bytes: numbers, the event's id, a line of its own.
const OVERHEAD_BYTES: usize = 40;

/// How much of a text decides whether it is the same again, in bytes.
const KEY_BYTES: usize = 160;

/// What an item is about. The order is that of importance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DigestKind {
    /// What the user said.
    Words,
    /// What was decided or concluded, by whomever.
    Decision,
    /// What went wrong.
    Error,
    /// A file that was changed.
    Changed,
    /// A command or another call.
    Command,
    /// A file that was read, or a search.
    Read,
}

impl DigestKind {
    /// All kinds, the most important first.
    pub const ALL: [Self; 6] = [Self::Words, Self::Decision, Self::Error, Self::Changed, Self::Command, Self::Read];

    /// Its heading in a text.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Words => "the user's words",
            Self::Decision => "decisions and conclusions",
            Self::Error => "errors",
            Self::Changed => "files changed",
            Self::Command => "commands and calls",
            Self::Read => "files read and searches",
        }
    }

    /// What several of them are called.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Words => "prompts",
            Self::Decision => "decisions",
            Self::Error => "errors",
            Self::Changed => "changes",
            Self::Command => "commands",
            Self::Read => "reads",
        }
    }

    /// The longest text of such an item in a node of `level`, in bytes.
    pub(super) const fn max_bytes(self, level: u32) -> usize {
        let (leaf, parent, upper) = match self {
            Self::Words => (480, 320, 240),
            Self::Decision => (320, 240, 200),
            Self::Error => (280, 240, 200),
            Self::Changed | Self::Read => (200, 200, 160),
            Self::Command => (200, 160, 120),
        };
        match level {
            0 => leaf,
            1 => parent,
            _ => upper,
        }
    }

    /// How much of a node's budget such items may take before all others had their share, in percent.
    pub(super) const fn share(self) -> usize {
        match self {
            Self::Words => 35,
            Self::Decision => 25,
            Self::Error => 15,
            Self::Changed | Self::Command => 10,
            Self::Read => 5,
        }
    }
}

/// One thing that happened, perhaps several times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestItem {
    /// What it is about.
    pub kind: DigestKind,
    /// The event that says so, by its number; of several, the newest.
    pub seq: u64,
    /// The same event by its id.
    pub event: EventId,
    /// The first event that said so.
    pub first_seq: u64,
    /// The words, redacted, on one line.
    pub text: String,
    /// How a command ended, the newest time: `exit 0`, `timed out`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// How often it happened.
    pub count: u32,
    /// How often of these it failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: u32,
    /// How much it matters among items of its kind; more is more.
    #[serde(default, skip_serializing_if = "is_zero_weight")]
    pub weight: u8,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero_weight(number: &u8) -> bool {
    *number == 0
}

impl DigestItem {
    /// An item that was seen once.
    pub(super) const fn new(kind: DigestKind, seq: u64, event: EventId, text: String, weight: u8) -> Self {
        Self { kind, seq, event, first_seq: seq, text, end: None, count: 1, failed: 0, weight }
    }

    /// What it takes of a budget, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.text.len() + self.end.as_deref().map_or(0, str::len) + OVERHEAD_BYTES
    }

    /// The same for items that are the same thing again. Case and punctuation make no difference but to paths, and numbers
    /// none to errors and commands: the line that fails moves, and so does the part of a file that is looked at.
    pub(super) fn key(&self) -> (DigestKind, String) {
        let key = match self.kind {
            DigestKind::Changed | DigestKind::Read => self.text.clone(),
            DigestKind::Words | DigestKind::Decision => excerpt::key(&self.text, KEY_BYTES, false),
            DigestKind::Error | DigestKind::Command => excerpt::key(&self.text, KEY_BYTES, true),
        };
        (self.kind, key)
    }

    /// Takes in `other`, which is the same thing again. The newer one has the say.
    pub(super) fn absorb(&mut self, other: Self) {
        self.first_seq = self.first_seq.min(other.first_seq);
        self.count = self.count.saturating_add(other.count);
        self.failed = self.failed.saturating_add(other.failed);
        self.weight = self.weight.max(other.weight);
        if other.seq > self.seq {
            (self.seq, self.event, self.text, self.end) = (other.seq, other.event, other.text, other.end);
        }
    }

    /// The item as a node of `level` keeps it.
    pub(super) fn at_level(mut self, level: u32) -> Self {
        let max_bytes = self.kind.max_bytes(level);
        if self.text.len() > max_bytes {
            self.text = match self.kind {
                DigestKind::Words => excerpt::ends(&self.text, max_bytes),
                DigestKind::Changed | DigestKind::Read => excerpt::tail(&self.text, max_bytes),
                DigestKind::Decision | DigestKind::Error | DigestKind::Command => excerpt::cut(&self.text, max_bytes),
            };
        }
        self
    }
}
