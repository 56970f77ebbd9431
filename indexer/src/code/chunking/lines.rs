//! The lines of a text, by row from 0: where each begins, and what is blank.

use std::ops::Range;

/// A text and where its lines begin. A line ends behind its `\n`; an empty text has no line.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    text: &'a str,
    /// The start of each line, and the end of the text.
    bounds: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut bounds = vec![0];
        bounds.extend(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1));
        if bounds.last() != Some(&text.len()) {
            bounds.push(text.len());
        }
        Self { text, bounds }
    }

    /// How many lines there are.
    pub(super) fn count(&self) -> usize {
        self.bounds.len() - 1
    }

    /// The whole text.
    pub(super) fn all(&self) -> &'a str {
        self.text
    }

    /// The text of some rows, line ends included.
    pub(super) fn text(&self, rows: Range<usize>) -> &'a str {
        match (self.bounds.get(rows.start), self.bounds.get(rows.end)) {
            (Some(&start), Some(&end)) if start <= end => &self.text[start..end],
            _ => "",
        }
    }

    /// How many bytes some rows have.
    pub(super) fn bytes(&self, rows: Range<usize>) -> usize {
        self.text(rows).len()
    }

    /// The row that holds the byte at `offset`.
    pub(super) fn row_of(&self, offset: usize) -> usize {
        self.bounds.partition_point(|bound| *bound <= offset).saturating_sub(1).min(self.count().saturating_sub(1))
    }

    pub(super) fn is_blank(&self, row: usize) -> bool {
        self.text(row..row + 1).trim().is_empty()
    }

    /// Whether there is no word in these rows but those that close a block.
    pub(super) fn is_trivial(&self, rows: Range<usize>) -> bool {
        self.text(rows)
            .split(|c: char| c.is_whitespace() || c.is_ascii_punctuation())
            .all(|word| matches!(word, "" | "end" | "fi" | "done" | "esac" | "endif"))
    }

    /// How far a line is indented, in characters.
    pub(super) fn indent(&self, row: usize) -> usize {
        self.text(row..row + 1).bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
    }
}
