//! The piece of a text that shows why it was found.

use crate::query::Query;
use crate::query::window::{Matches, best_window};
use std::ops::Range;

/// A piece of a text, with what was looked for marked in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snippet {
    /// The piece; `…` stands where something was left out before or after it.
    pub text: String,
    /// What to mark, in bytes of `text`, in order, without overlaps.
    pub highlights: Vec<Range<usize>>,
}

/// What stands for text that was left out.
const GAP: char = '…';
/// How many of them there can be.
pub(super) const GAPS: usize = 2;

impl Snippet {
    /// The best piece of `text` for a query, of at most `max_chars` characters. Without a match, its beginning.
    #[must_use]
    pub fn of(query: &Query, text: &str, max_chars: usize) -> Self {
        let matches = Matches::of(query, text);
        let window = best_window(text, &matches, max_chars);
        let mut snippet = Self::default();
        let gaps = max_chars > GAPS;
        if gaps && !text[..window.start].trim().is_empty() {
            snippet.text.push(GAP);
        }
        let before = snippet.text.len();
        snippet.text.push_str(&text[window.clone()]);
        if gaps && !text[window.end..].trim().is_empty() {
            snippet.text.push(GAP);
        }
        let inside = matches.spans().filter(|span| span.start >= window.start && span.end <= window.end);
        for span in inside {
            let span = span.start - window.start + before..span.end - window.start + before;
            match snippet.highlights.last_mut() {
                Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
                Some(_) | None => snippet.highlights.push(span),
            }
        }
        snippet
    }
}
