//! The edit itself: replacing a piece of a text that must be found exactly, without touching anything else.
//!
//! Texts are compared with `\r\n` read as `\n`, since the model writes `\n`; what is put in gets the line ends of the
//! file. Everything outside the replaced pieces stays as it is, byte for byte. Finding out why a text was not found
//! is the task of [`super::nearest`].

use super::text_file::LineEnds;
use std::borrow::Cow;

/// A text after its edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edited {
    /// All of it.
    pub(super) text: String,
    /// How many places were replaced.
    pub(super) count: usize,
}

/// Why nothing was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EditError {
    /// Old and new text are the same, or differ in line ends only.
    Same,
    /// The old text is not there.
    NotFound,
    /// It is there several times, and one place was meant.
    Ambiguous {
        /// How often.
        count: usize,
        /// The lines (from 1) the first of them begin in.
        lines: Vec<usize>,
    },
}

/// How many places of an ambiguous text are named.
const NAMED_PLACES: usize = 20;

/// Replaces `old` by `new` in `text`: its only place, or `all` of them.
pub(super) fn replace(text: &str, old: &str, new: &str, all: bool) -> Result<Edited, EditError> {
    let (old, new) = (to_lf(old), to_lf(new));
    if old == new {
        return Err(EditError::Same);
    }
    let view = LfView::of(text);
    let places: Vec<usize> = view.text.match_indices(&*old).map(|(at, _)| at).collect();
    let Some(&first) = places.first() else {
        return Err(EditError::NotFound);
    };
    if !all && (places.len() > 1 || overlaps(&view.text, &old, first)) {
        let lines = places.iter().take(NAMED_PLACES).map(|at| line_of(&view.text, *at)).collect();
        return Err(EditError::Ambiguous { count: places.len().max(2), lines });
    }
    let new = if LineEnds::of(text).dominant() == "\r\n" { new.replace('\n', "\r\n") } else { new.into_owned() };
    let mut edited = String::with_capacity(text.len() + places.len() * new.len().saturating_sub(old.len()));
    let mut done = 0;
    for at in &places {
        edited.push_str(&text[done..view.original(*at)]);
        edited.push_str(&new);
        done = view.original(at + old.len());
    }
    edited.push_str(&text[done..]);
    Ok(Edited { text: edited, count: places.len() })
}

/// `text` with `\r\n` as `\n`.
pub(super) fn to_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// The line (from 1) that the byte at `at` stands in.
fn line_of(text: &str, at: usize) -> usize {
    text[..at].bytes().filter(|byte| *byte == b'\n').count() + 1
}

/// Whether `old` is found again beginning inside its place at `first`: then even one place is ambiguous.
fn overlaps(text: &str, old: &str, first: usize) -> bool {
    let step = old.chars().next().map_or(1, char::len_utf8);
    text[first + step..].contains(old)
}

/// A text with `\r\n` read as `\n`, and the way back from its offsets.
struct LfView<'a> {
    text: Cow<'a, str>,
    /// Where in `text` a `\r` was left out: the offset of the `\n` that followed it.
    removed: Vec<usize>,
}

impl<'a> LfView<'a> {
    fn of(text: &'a str) -> Self {
        let crlf = text.match_indices("\r\n");
        let removed = crlf.enumerate().map(|(before, (at, _))| at - before).collect();
        Self { text: to_lf(text), removed }
    }

    /// The offset in the original text; at a `\r\n` that of the `\r`.
    fn original(&self, at: usize) -> usize {
        at + self.removed.partition_point(|removed| *removed < at)
    }
}
