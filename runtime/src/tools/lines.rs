//! Splitting a text that comes in pieces into numbered lines, with memory bounded by the longest line that is kept.
//!
//! A line may be gigabytes long: only its beginning is kept, the rest is counted. A line ends with `\n` or `\r\n`; the
//! line end is no part of it.

use super::output::thousands;
use super::text_file::LineEnds;
use std::fmt::Write as _;

/// A line as it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Its beginning: all of it when it is short enough.
    pub(super) text: &'a str,
    /// Characters that `text` leaves out.
    pub(super) omitted_chars: u64,
}

impl Line<'_> {
    /// Writes it as `   12<tab>text`, and what was left out, with a line end.
    pub(super) fn write_numbered(&self, into: &mut String) {
        // Writing to a String cannot fail.
        let _ = write!(into, "{:>6}\t{}", self.number, self.text);
        if self.omitted_chars > 0 {
            let _ = write!(into, " [line cut: {} more characters]", thousands(self.omitted_chars));
        }
        into.push('\n');
    }
}

/// Finds the lines of a text that is fed piece by piece.
#[derive(Debug)]
pub(super) struct LineScanner {
    keep_chars: u64,
    kept: String,
    chars: u64,
    started: bool,
    after_cr: bool,
    lines: u64,
    ends: LineEnds,
}

impl LineScanner {
    /// A scanner that keeps the first `keep_chars` characters of each line.
    pub(super) const fn new(keep_chars: u64) -> Self {
        let ends = LineEnds { crlf: 0, lf: 0 };
        Self { keep_chars, kept: String::new(), chars: 0, started: false, after_cr: false, lines: 0, ends }
    }

    /// Takes the next piece and shows each line that is complete by it.
    pub(super) fn feed(&mut self, piece: &str, visit: &mut dyn FnMut(Line<'_>)) {
        for part in piece.split_inclusive('\n') {
            match part.strip_suffix('\n') {
                Some(rest) => {
                    self.extend(rest);
                    self.end_line(visit);
                }
                None => self.extend(part),
            }
        }
    }

    /// Shows the last line if it has no line end, and says how many lines there were and how they ended.
    pub(super) fn finish(mut self, visit: &mut dyn FnMut(Line<'_>)) -> (u64, LineEnds) {
        if self.started {
            // A `\r` at the very end of the text is a character like any other.
            self.show(visit);
        }
        (self.lines, self.ends)
    }

    fn extend(&mut self, part: &str) {
        if part.is_empty() {
            return;
        }
        self.started = true;
        self.after_cr = part.ends_with('\r');
        let room = usize::try_from(self.keep_chars.saturating_sub(self.chars)).unwrap_or(usize::MAX);
        // Most lines are short: a byte is at least what a character takes.
        let count = if part.len() <= room {
            self.kept.push_str(part);
            part.chars().count()
        } else {
            self.kept.extend(part.chars().take(room));
            part.chars().count()
        };
        self.chars += count as u64;
    }

    fn end_line(&mut self, visit: &mut dyn FnMut(Line<'_>)) {
        if self.after_cr {
            self.ends.crlf += 1;
            if self.chars <= self.keep_chars {
                self.kept.pop();
            }
            self.chars -= 1;
        } else {
            self.ends.lf += 1;
        }
        self.show(visit);
    }

    fn show(&mut self, visit: &mut dyn FnMut(Line<'_>)) {
        self.lines += 1;
        let omitted_chars = self.chars.saturating_sub(self.keep_chars);
        visit(Line { number: self.lines, text: &self.kept, omitted_chars });
        self.kept.clear();
        self.chars = 0;
        self.started = false;
        self.after_cr = false;
    }
}
