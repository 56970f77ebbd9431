//! The lines of a file that are shown: a range, within a budget of bytes, with their numbers.

use super::lines::Line;
use similar::{ChangeTag, TextDiff};

/// Gathers the lines that are asked for while a file goes by.
#[derive(Debug)]
pub(super) struct Window {
    first: u64,
    limit: u64,
    budget_bytes: usize,
    shown: Vec<Shown>,
    full: bool,
}

/// A line to show.
#[derive(Debug)]
struct Shown {
    number: u64,
    text: String,
    omitted_chars: u64,
}

impl Window {
    /// The `limit` lines from `first` on, as far as they have at most `budget_bytes`; at least one.
    pub(super) fn new(first: u64, limit: u64, budget_bytes: usize) -> Self {
        Self { first: first.max(1), limit: limit.max(1), budget_bytes, shown: Vec::new(), full: false }
    }

    /// Looks at the next line of the file.
    pub(super) fn take(&mut self, line: Line<'_>) {
        if self.full || line.number < self.first || line.number - self.first >= self.limit {
            return;
        }
        // Eight bytes: the line's number, tab and line end.
        let cost = line.text.len() + 8;
        if cost > self.budget_bytes && !self.shown.is_empty() {
            self.full = true;
            return;
        }
        self.budget_bytes = self.budget_bytes.saturating_sub(cost);
        // A file that begins as text may still hold NUL, which does not belong in a request.
        let text = line.text.replace('\0', "␀");
        self.shown.push(Shown { number: line.number, text, omitted_chars: line.omitted_chars });
    }

    /// The first line that was asked for.
    pub(super) const fn first(&self) -> u64 {
        self.first
    }

    /// The last line that is shown; `None` when none is.
    pub(super) fn last(&self) -> Option<u64> {
        self.shown.last().map(|line| line.number)
    }

    /// The lines with their numbers, after `redact` has seen them in one piece: a secret may span lines.
    pub(super) fn numbered(&self, redact: impl FnOnce(&str) -> String) -> String {
        let text: Vec<&str> = self.shown.iter().map(|line| line.text.as_str()).collect();
        let text = text.join("\n");
        let redacted = redact(&text);
        let mut body = String::with_capacity(redacted.len() + self.shown.len() * 8);
        for (index, text) in self.aligned(&text, &redacted) {
            if let Some(Shown { number, omitted_chars, .. }) = self.shown.get(index) {
                Line { number: *number, text, omitted_chars: *omitted_chars }.write_numbered(&mut body);
            }
        }
        body
    }

    /// The redacted lines, each with the index of the line it stands for. Where a secret took several lines and one
    /// is left, the numbers behind it must still be the file's.
    fn aligned<'a>(&self, text: &str, redacted: &'a str) -> Vec<(usize, &'a str)> {
        let lines: Vec<&str> = redacted.split('\n').collect();
        if lines.len() == self.shown.len() {
            return lines.into_iter().enumerate().collect();
        }
        let old: Vec<&str> = text.split('\n').collect();
        let diff = TextDiff::from_slices(&old, &lines);
        let mut aligned = Vec::with_capacity(lines.len());
        for op in diff.ops() {
            let first = op.old_range().start;
            for change in diff.iter_changes(op).filter(|change| change.tag() != ChangeTag::Delete) {
                if let Some(index) = change.new_index() {
                    let place = first + (index - op.new_range().start);
                    let last = op.old_range().end.max(first + 1) - 1;
                    aligned.push((place.min(last), lines[index]));
                }
            }
        }
        aligned
    }
}
