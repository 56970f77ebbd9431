//! Which lines of an output are shown: a range, the last ones, or those that match, within a budget of bytes.

use super::lines::{Line, LineScanner};
use super::output::{INLINE_BYTES, LINE_CHARS, plural, thousands};
use regex::{Regex, RegexBuilder};
use std::collections::VecDeque;

/// How much of a line a pattern is matched against, in characters.
const MATCHED_CHARS: u64 = 64 * 1024;
/// The most memory a compiled pattern may take, in bytes.
const PATTERN_BYTES: usize = 4 * 1024 * 1024;

/// The lines that are wanted.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Only those that match.
    pub(super) grep: Option<Regex>,
    /// From this one (from 1) on.
    pub(super) first: u64,
    /// So many.
    pub(super) limit: u64,
    /// The last ones of them instead of the first.
    pub(super) from_end: bool,
}

/// A pattern as the model writes it.
pub(super) fn pattern(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES).build()
}

/// Keeps the wanted lines while an output goes by.
pub(super) struct Selection {
    wanted: Wanted,
    scanner: LineScanner,
    shown: Shown,
}

#[derive(Default)]
struct Shown {
    kept: VecDeque<String>,
    kept_bytes: usize,
    /// Lines that matched (all of them, without grep) from the first wanted one on.
    matched: u64,
    /// Whether there was no room for a line that was wanted.
    full: bool,
    last: u64,
}

impl Selection {
    /// Of an output that begins now.
    pub(super) fn new(wanted: Wanted) -> Self {
        Self { wanted, scanner: LineScanner::new(MATCHED_CHARS), shown: Shown::default() }
    }

    /// Looks at the next piece of the output.
    pub(super) fn feed(&mut self, text: &str) {
        let Self { wanted, scanner, shown } = self;
        scanner.feed(text, &mut |line| shown.take(wanted, line));
    }

    /// The lines that are shown, and what there is to say about them and the output's `size_bytes`. `Err` when there
    /// is no line.
    pub(super) fn finish(self, size_bytes: u64) -> Result<(String, Vec<String>), NoLine> {
        let Self { wanted, scanner, mut shown } = self;
        let (lines, _) = scanner.finish(&mut |line| shown.take(&wanted, line));
        let total = format!("{} and {} in all", plural(lines, "line"), plural(size_bytes, "byte"));
        if shown.kept.is_empty() {
            let (matching, first) = (wanted.grep.is_some(), wanted.first);
            return Err(if matching { NoLine::Matches(total) } else { NoLine::There { first, total } });
        }
        let mut remarks = vec![total];
        if wanted.grep.is_some() {
            remarks.push(format!("{} of them match", thousands(shown.matched)));
        }
        let count = shown.kept.len() as u64;
        if wanted.from_end && count < wanted.limit.min(shown.matched) {
            remarks.push(format!("only the last {} fit", thousands(count)));
        } else if !wanted.from_end && shown.matched > count {
            remarks.push(format!("to go on: offset_lines {}", shown.last + 1));
        }
        if wanted.first > 1 && wanted.grep.is_some() {
            remarks.push(format!("looked at from line {}", thousands(wanted.first)));
        }
        Ok((shown.kept.iter().map(String::as_str).collect(), remarks))
    }
}

/// Why no line is shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoLine {
    /// None matches; how many there are in all.
    Matches(String),
    /// The output ends before.
    There {
        /// The first line that was wanted.
        first: u64,
        /// How many there are in all.
        total: String,
    },
}

impl Shown {
    fn take(&mut self, wanted: &Wanted, line: Line<'_>) {
        let fits = wanted.grep.as_ref().is_none_or(|grep| grep.is_match(line.text));
        if line.number < wanted.first || !fits {
            return;
        }
        self.matched += 1;
        if !wanted.from_end && (self.full || self.kept.len() as u64 >= wanted.limit) {
            return;
        }
        let mut text = String::new();
        shortened(line).write_numbered(&mut text);
        if !wanted.from_end && self.kept_bytes + text.len() > INLINE_BYTES && !self.kept.is_empty() {
            self.full = true;
            return;
        }
        self.last = line.number;
        self.kept_bytes += text.len();
        self.kept.push_back(text);
        if wanted.from_end {
            self.forget_first(wanted.limit);
        }
    }

    /// Keeps the last lines only: as many as are wanted and have room.
    fn forget_first(&mut self, limit: u64) {
        while self.kept.len() as u64 > limit || (self.kept_bytes > INLINE_BYTES && self.kept.len() > 1) {
            self.kept_bytes -= self.kept.pop_front().map_or(0, |line| line.len());
        }
    }
}

/// The line as it is shown: a pattern may look further into it than the model.
fn shortened(line: Line<'_>) -> Line<'_> {
    match line.text.char_indices().nth(LINE_CHARS) {
        None => line,
        Some((end, _)) => {
            let more = line.text[end..].chars().count() as u64;
            Line { text: &line.text[..end], omitted_chars: line.omitted_chars + more, ..line }
        }
    }
}
