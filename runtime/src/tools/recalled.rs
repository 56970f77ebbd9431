//! Passages of the past as the model reads them: where each is from, how old it is, and its words, within a budget.
//!
//! The words of a passage are indented, so that none of them can pass for the line that says where the next one is from.

use super::memory::Memories;
use super::output::{INLINE_BYTES, head_of, one_line, plural, tail_of, thousands};
use retrace_events::redact::Redactor;
use retrace_events::{StreamId, Timestamp};
use retrace_indexer::{Hit, HitSource};
use std::borrow::Cow;

/// The least room a passage gets, in bytes.
const MIN_PASSAGE_BYTES: usize = 300;
/// What stands before each of its lines.
const INDENT: &str = "    ";

/// How passages are told.
pub(super) struct Recalled<'a> {
    /// The session that asks.
    pub(super) own: &'a StreamId,
    /// Takes secrets out.
    pub(super) redactor: &'a Redactor,
    /// Now: ages are counted from it.
    pub(super) now: Timestamp,
}

impl Recalled<'_> {
    /// All there is to tell.
    pub(super) fn text(&self, memories: &Memories) -> String {
        let mut text = String::new();
        let mut left = INLINE_BYTES;
        let count = memories.hits.len();
        for (index, hit) in memories.hits.iter().enumerate() {
            // The better ones get more; what one does not need is there for those behind it.
            let share = left * 2 / (count - index + 1);
            let passage = self.passage(index + 1, hit, share.max(MIN_PASSAGE_BYTES));
            if passage.len() > left {
                text.push_str(&format!("[{} left out: narrow the query]\n", plural((count - index) as u64, "passage")));
                break;
            }
            left -= passage.len();
            text.push_str(&passage);
        }
        if count == 0 {
            text.push_str("nothing found; try fewer or other words, or leave out a filter\n");
        }
        text.push_str(&self.remarks(memories));
        text.truncate(text.trim_end().len());
        text
    }

    /// One passage with its first line, in about `room` bytes.
    fn passage(&self, number: usize, hit: &Hit, room: usize) -> String {
        let head = format!("{number}. {}\n", self.origin(hit));
        let words = self.redactor.redact(&hit.text);
        let core = hit.snippet.text.trim();
        let mut allowed = room.saturating_sub(head.len());
        // Indenting takes room too, and how much is known only afterwards.
        for _ in 0..3 {
            let lines = indented(&around(words.trim_end(), core, allowed));
            if head.len() + lines.len() <= room {
                return format!("{head}{lines}\n");
            }
            allowed = allowed * allowed / lines.len().max(1) * 9 / 10;
        }
        format!("{head}{}\n", indented(&around(words.trim_end(), core, 0)))
    }

    /// Where it is from and how old it is, on one line.
    fn origin(&self, hit: &Hit) -> String {
        let clean = |text: &str| one_line(&self.redactor.redact(text), 200);
        let kind = hit.kind.name();
        let of_tool = hit.tool.as_deref().map(|tool| format!(" of {}", clean(tool))).unwrap_or_default();
        let mut parts = match &hit.source {
            HitSource::Event { stream, seq, .. } => {
                vec![format!("{kind}{of_tool} in {}", self.session(stream)), format!("event {seq}")]
            }
            HitSource::Summary { stream, first_seq, last_seq, .. } => {
                vec![format!("{kind} of {}", self.session(stream)), format!("events {first_seq} to {last_seq}")]
            }
            HitSource::File { path, first_line, last_line } => {
                vec![format!("{}:{first_line}-{last_line}", clean(path)), "indexed code".to_owned()]
            }
        };
        parts.push(ago(self.now.since_ms(Timestamp(u64::try_from(hit.at_ms).unwrap_or(0)))));
        parts.extend(hit.exit.map(|code| format!("exit {code}")));
        if !matches!(hit.source, HitSource::File { .. }) {
            parts.extend(hit.paths.iter().take(3).map(|path| clean(path)));
        }
        parts.join(", ")
    }

    fn session(&self, stream: &str) -> String {
        if stream == self.own.subject() {
            return "this session".to_owned();
        }
        format!("session {}", one_line(stream.rsplit('.').next().unwrap_or(stream), 80))
    }

    fn remarks(&self, memories: &Memories) -> String {
        let mut remarks: Vec<String> =
            memories.notices.iter().map(|notice| one_line(&self.redactor.redact(notice), 300)).collect();
        if memories.behind > 0 {
            remarks.push(format!("not indexed yet: the newest {}", plural(memories.behind, "event")));
        }
        if remarks.is_empty() { String::new() } else { format!("[{}]", remarks.join("; ")) }
    }
}

/// The lines of `text`, each behind [`INDENT`]. A line end of any sort begins a line of the passage, never one of ours.
fn indented(text: &str) -> String {
    let mut lines = String::with_capacity(text.len() + text.len() / 8);
    for line in text.lines().flat_map(|line| line.split(['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'])) {
        if !line.is_empty() {
            lines.push_str(INDENT);
        }
        lines.push_str(line);
        lines.push('\n');
    }
    lines
}

/// `text` when it has at most `room` bytes; otherwise the part around `core`, with notes on what is left out.
fn around<'a>(text: &'a str, core: &str, room: usize) -> Cow<'a, str> {
    if text.len() <= room {
        return Cow::Borrowed(text);
    }
    let room = room.saturating_sub(80).max(80);
    let first = core.lines().next().unwrap_or_default();
    let at = if first.is_empty() { 0 } else { text.find(first).unwrap_or(0) };
    // A third of the room is for what leads there.
    let (before, behind) = text.split_at(at);
    let lead = tail_of(before, if at <= room / 3 { at } else { room / 3 });
    let rest = head_of(behind, room - lead.len());
    let (above, below) = (before.len() - lead.len(), behind.len() - rest.len());
    let note = |bytes: usize, where_: &str| match bytes {
        0 => String::new(),
        bytes => format!("[… {} bytes {where_}]\n", thousands(bytes as u64)),
    };
    let gap = if rest.ends_with('\n') { "" } else { "\n" };
    Cow::Owned(format!("{}{lead}{rest}{gap}{}", note(above, "above"), note(below, "below")))
}

/// An age in words: `just now`, `5 min ago`, `3 h ago`, `2 days ago`.
fn ago(ms: u64) -> String {
    let minutes = ms / 60_000;
    match minutes {
        0 => "just now".to_owned(),
        1..60 => format!("{minutes} min ago"),
        60..2_880 => format!("{} h ago", minutes / 60),
        _ => format!("{} days ago", thousands(minutes / 1_440)),
    }
}
