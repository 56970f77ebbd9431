//! The words of a hit made safe to show, with the places that matched still marked.
//!
//! A snippet is foreign text. It loses its escape sequences and its secrets, and each step takes the marks along; a mark
//! whose place cannot be told any more is dropped, never put in a wrong place.

use crate::cli::render::{Style, clean};
use retrace_events::redact::Redactor;
use std::borrow::Cow;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// What is looked at of a snippet, in bytes: whoever made it was asked for far less.
const MAX_BYTES: usize = 16 * 1024;

/// The most marks that are kept.
const MAX_MARKS: usize = 64;

/// A text and the places in it that matched, as ranges of bytes: in order, apart, and at the bounds of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passage {
    /// The text.
    pub(super) text: String,
    /// What matched.
    pub(super) marks: Vec<Range<usize>>,
}

impl Passage {
    /// `text` as it came, with those of its marks that can be meant.
    #[must_use]
    pub(super) fn new(text: &str, marks: &[Range<usize>]) -> Self {
        let mut end = text.len().min(MAX_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = text[..end].to_owned();
        let marks = sound(&text, marks.iter().cloned());
        Self { text, marks }
    }

    /// Without secrets: what a program may be told.
    #[must_use]
    pub(super) fn redacted(self, redactor: &Redactor) -> Self {
        let changed = match redactor.redact(&self.text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(changed) => Some(changed),
        };
        match changed {
            None => self,
            Some(changed) => {
                let marks = carried(&self.text, &changed, &self.marks);
                Self { text: changed, marks }
            }
        }
    }

    /// Without secrets and without anything that could disturb a terminal. What a sequence held apart may be a secret once
    /// it is gone, so secrets are looked for before and after.
    #[must_use]
    pub(super) fn shown(self, redactor: &Redactor) -> Self {
        let redacted = self.redacted(redactor);
        let text = clean::text(&redacted.text);
        // What is shown of a beginning is the beginning of what is shown.
        let place = |at: usize| redacted.text.get(..at).map_or(text.len(), |begin| clean::text(begin).len());
        let marks = redacted.marks.iter().map(|mark| place(mark.start)..place(mark.end));
        let marks = sound(&text, marks);
        Self { text, marks }.redacted(redactor)
    }

    /// The marks in characters instead of bytes.
    #[must_use]
    pub(super) fn marks_in_chars(&self) -> Vec<[usize; 2]> {
        let chars = |at: usize| self.text.get(..at).map_or(0, |begin| begin.chars().count());
        self.marks.iter().map(|mark| [chars(mark.start), chars(mark.end)]).collect()
    }

    /// The lines that are shown in `width` columns: none that is blank, and at most `max_lines`. Long lines go on below.
    #[must_use]
    pub(super) fn lines(&self, width: Option<usize>, max_lines: usize) -> Vec<Range<usize>> {
        let mut lines = Vec::new();
        let mut start = 0;
        for line in self.text.split('\n') {
            let end = start + line.trim_end().len();
            if end > start {
                wrap(&self.text, start..end, width, &mut lines);
            }
            start += line.len() + 1;
            if lines.len() >= max_lines {
                break;
            }
        }
        lines.truncate(max_lines);
        lines
    }

    /// A part of the text with what matched in another colour.
    #[must_use]
    pub(super) fn painted(&self, part: &Range<usize>, style: Style) -> String {
        let mut painted = String::new();
        let mut at = part.start;
        for mark in &self.marks {
            let (start, end) = (mark.start.max(at), mark.end.min(part.end));
            if start >= end {
                continue;
            }
            painted.push_str(self.text.get(at..start).unwrap_or_default());
            painted.push_str(&style.yellow(self.text.get(start..end).unwrap_or_default()));
            at = end;
        }
        painted.push_str(self.text.get(at..part.end).unwrap_or_default());
        painted
    }
}

/// The marks that lie in `text`, in order, each behind the one before.
fn sound(text: &str, marks: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let fits = |mark: &Range<usize>| {
        mark.start < mark.end && text.is_char_boundary(mark.start) && text.is_char_boundary(mark.end)
    };
    let mut kept: Vec<Range<usize>> = marks.filter(fits).take(MAX_MARKS).collect();
    kept.sort_by_key(|mark| (mark.start, mark.end));
    let mut end = 0;
    kept.retain(|mark| {
        let apart = mark.start >= end;
        if apart {
            end = mark.end;
        }
        apart
    });
    kept
}

/// The marks of `before` that lie in what `after` begins or ends with alike.
fn carried(before: &str, after: &str, marks: &[Range<usize>]) -> Vec<Range<usize>> {
    let alike = |one: &mut dyn Iterator<Item = char>, other: &mut dyn Iterator<Item = char>| -> usize {
        one.zip(other).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
    };
    let head = alike(&mut before.chars(), &mut after.chars());
    let most = before.len().min(after.len()) - head;
    let tail = alike(&mut before.chars().rev(), &mut after.chars().rev()).min(most);
    let (tail_before, tail_after) = (before.len() - tail, after.len() - tail);
    let place = |mark: &Range<usize>| {
        if mark.end <= head {
            Some(mark.clone())
        } else if mark.start >= tail_before {
            Some(mark.start - tail_before + tail_after..mark.end - tail_before + tail_after)
        } else {
            None
        }
    };
    sound(after, marks.iter().filter_map(place))
}

/// Cuts a line into pieces of at most `width` columns, at a blank where there is one in the second half.
fn wrap(text: &str, line: Range<usize>, width: Option<usize>, lines: &mut Vec<Range<usize>>) {
    let Some(width) = width.map(|width| width.max(2)) else {
        lines.push(line);
        return;
    };
    let mut start = line.start;
    while start < line.end {
        let rest = text.get(start..line.end).unwrap_or_default();
        let (mut columns, mut end, mut blank) = (0, rest.len(), None);
        for (at, c) in rest.char_indices() {
            columns += c.width().unwrap_or(0);
            if columns > width {
                end = at;
                break;
            }
            if c == ' ' && columns > width / 2 {
                blank = Some(at);
            }
        }
        if end < rest.len() {
            end = blank.filter(|blank| *blank > 0).unwrap_or(end);
        }
        lines.push(start..start + end);
        start += end;
        // The blank at which a line was cut stands on neither.
        start += text.get(start..line.end).map_or(0, |rest| rest.len() - rest.trim_start_matches(' ').len());
    }
}
