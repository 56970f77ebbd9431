//! What is kept of the output of a command that may run for hours: its first and its last part, without secrets.
//!
//! Memory is bounded whatever comes. A secret may be split over pieces, so the newest text stays as it came until
//! enough has come after it: text is given up or put away only when it has been redacted together with what follows.

use super::output::{count_lines, head_of, plural};
use retrace_events::redact::Redactor;
use std::collections::VecDeque;
use std::sync::Arc;

/// How much may wait to be redacted, in bytes.
const FRESH_BYTES: usize = 256 * 1024;
/// How much of it is always looked at again with what follows, in bytes: longer than any secret.
const OVERLAP_BYTES: usize = 16 * 1024;
/// How many places are tried for parting it; a long key has fewer lines.
const MAX_CUTS: usize = 200;

/// A command's output as far as it is kept.
pub(super) struct KeptOutput {
    redactor: Arc<Redactor>,
    limit_bytes: usize,
    head: Vec<String>,
    head_bytes: usize,
    head_is_full: bool,
    tail: VecDeque<String>,
    tail_bytes: usize,
    /// The newest text, not redacted yet.
    fresh: String,
    dropped_lines: u64,
    dropped_bytes: u64,
    /// All that ever came, in bytes.
    pushed_bytes: u64,
    /// Lines of `head`, `tail` and `fresh`.
    lines: u64,
}

impl KeptOutput {
    /// One that keeps about `limit_bytes`, half of them from the beginning and half from the end.
    pub(super) fn new(redactor: Arc<Redactor>, limit_bytes: usize) -> Self {
        Self {
            redactor,
            limit_bytes,
            head: Vec::new(),
            head_bytes: 0,
            head_is_full: false,
            tail: VecDeque::new(),
            tail_bytes: 0,
            fresh: String::new(),
            dropped_lines: 0,
            dropped_bytes: 0,
            pushed_bytes: 0,
            lines: 0,
        }
    }

    /// Takes the next piece of text.
    pub(super) fn push(&mut self, text: &str) {
        self.pushed_bytes += text.len() as u64;
        self.lines += count_lines(text) as u64;
        self.fresh.push_str(text);
        if self.fresh.len() > FRESH_BYTES {
            self.put_away();
        }
    }

    /// How much has come in all, in bytes.
    pub(super) const fn pushed_bytes(&self) -> u64 {
        self.pushed_bytes
    }

    /// About how many lines [`Self::text`] has.
    pub(super) const fn lines(&self) -> u64 {
        self.lines
    }

    /// What takes secrets out of it.
    pub(super) fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.redactor)
    }

    /// How much is held in memory, in bytes.
    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        self.head_bytes + self.tail_bytes + self.fresh.len()
    }

    /// All that is kept, redacted, with a line in brackets where something is missing.
    pub(super) fn text(&self) -> String {
        let mut text = String::with_capacity(self.head_bytes + self.tail_bytes + self.fresh.len() + 100);
        text.extend(self.head.iter().map(String::as_str));
        if self.dropped_bytes > 0 {
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let lines = plural(self.dropped_lines, "line");
            text.push_str(&format!("{gap}[{lines} ({}) were not kept here]\n", plural(self.dropped_bytes, "byte")));
        }
        text.extend(self.tail.iter().map(String::as_str));
        text.push_str(&self.redactor.redact(&self.fresh));
        text
    }

    /// Redacts what is fresh and puts it away but for its end, where a secret may have only begun.
    fn put_away(&mut self) {
        let cut = self.cut();
        let clean = self.redactor.redact(&self.fresh[..cut]).into_owned();
        self.fresh.drain(..cut);
        self.keep(&clean);
    }

    /// Where the fresh text can be parted: at a line's beginning when there is one near, and in no secret.
    fn cut(&self) -> usize {
        let last = head_of(&self.fresh, self.fresh.len().saturating_sub(OVERLAP_BYTES)).len();
        let mut at = last;
        for _ in 0..MAX_CUTS {
            if at == 0 || !self.is_in_secret(at) {
                return at;
            }
            let near = self.fresh.floor_char_boundary(at.saturating_sub(OVERLAP_BYTES / 16));
            at = self.fresh[near..at - 1].rfind('\n').map_or(near, |end| near + end + 1);
        }
        last
    }

    /// Whether something that is taken out begins before `at` and ends behind it.
    fn is_in_secret(&self, at: usize) -> bool {
        let from = self.fresh.floor_char_boundary(at.saturating_sub(OVERLAP_BYTES));
        let to = self.fresh.floor_char_boundary(at + OVERLAP_BYTES);
        let parted = [&self.fresh[from..at], &self.fresh[at..to]].map(|part| self.redactor.redact(part));
        self.redactor.redact(&self.fresh[from..to]) != parted.concat()
    }

    fn keep(&mut self, clean: &str) {
        let room = if self.head_is_full { 0 } else { (self.limit_bytes / 2).saturating_sub(self.head_bytes) };
        let (to_head, to_tail) =
            clean.split_at(if clean.len() <= room { clean.len() } else { head_of(clean, room).len() });
        if !to_head.is_empty() {
            self.head_bytes += to_head.len();
            self.head.push(to_head.to_owned());
        }
        if to_tail.is_empty() {
            return;
        }
        self.head_is_full = true;
        self.tail_bytes += to_tail.len();
        self.tail.push_back(to_tail.to_owned());
        // A block is given up whole; what waits to be redacted counts for the tail too.
        while self.tail_bytes + FRESH_BYTES > self.limit_bytes / 2 && self.tail.len() > 1 {
            let Some(block) = self.tail.pop_front() else { break };
            let lines = count_lines(&block) as u64;
            self.tail_bytes -= block.len();
            self.dropped_bytes += block.len() as u64;
            self.dropped_lines += lines;
            self.lines = self.lines.saturating_sub(lines);
        }
    }
}
