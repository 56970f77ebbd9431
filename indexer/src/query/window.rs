//! Where in a text the words of a query stand closest together.

use crate::keyword::analyze;
use crate::query::Query;
use crate::query::snippet::GAPS;
use std::collections::HashMap;
use std::ops::Range;

/// How much of a text is looked at, in bytes.
const TEXT_BYTES: usize = 512 * 1024;
/// The most matches that are looked at.
const MATCHES: usize = 4096;

/// Where words of the query stand in a text.
#[derive(Debug, Default)]
pub(super) struct Matches {
    /// Which word, and where, by where it begins.
    found: Vec<(usize, Range<usize>)>,
}

impl Matches {
    pub(super) fn of(query: &Query, text: &str) -> Self {
        let mut words: HashMap<String, usize> = HashMap::new();
        for clause in query.wanted() {
            analyze(&clause.text, |token| {
                let number = words.len();
                words.entry(token.text).or_insert(number);
                true
            });
        }
        let mut matches = Self::default();
        if words.is_empty() {
            return matches;
        }
        analyze(&text[..text.floor_char_boundary(TEXT_BYTES)], |token| {
            if let Some(word) = words.get(&token.text) {
                matches.found.push((*word, token.span));
            }
            matches.found.len() < MATCHES
        });
        matches.found.sort_by_key(|(_, span)| (span.start, span.end));
        matches
    }

    pub(super) fn spans(&self) -> impl Iterator<Item = Range<usize>> {
        self.found.iter().map(|(_, span)| span.clone())
    }
}

/// The stretch of at most `max_chars` characters (some kept for what stands for left-out text) that holds most of the
/// words, begun a little before the first of them and at a word's beginning.
pub(super) fn best_window(text: &str, matches: &Matches, max_chars: usize) -> Range<usize> {
    if text.chars().nth(max_chars).is_none() {
        return trimmed(text, 0..text.len());
    }
    let room = max_chars.saturating_sub(GAPS);
    let mut best = (0, 0..0);
    let (mut first, mut held) = (0, HashMap::<usize, usize>::new());
    // Bytes are at least as many as characters: a stretch chosen by bytes always fits.
    for (last, (word, span)) in matches.found.iter().enumerate() {
        *held.entry(*word).or_default() += 1;
        while first < last && span.end.saturating_sub(matches.found[first].1.start) > room {
            if let Some(count) = held.get_mut(&matches.found[first].0) {
                *count -= 1;
                if *count == 0 {
                    held.remove(&matches.found[first].0);
                }
            }
            first += 1;
        }
        let score = held.len() * 1000 + (last - first).min(999);
        if score > best.0 {
            best = (score, matches.found[first].1.start..span.end);
        }
    }
    around(text, best.1, room)
}

/// A stretch of `room` characters that holds `core` as far as possible, with some of what comes before it.
fn around(text: &str, core: Range<usize>, room: usize) -> Range<usize> {
    let held = text[core.clone()].chars().count().min(room);
    let after = text[core.end..].chars().take(room).count();
    // Where little follows, more of what comes before is shown.
    let lead = ((room - held) / 3).max((room - held).saturating_sub(after));
    let mut start = text[..core.start].char_indices().rev().take(lead).last().map_or(core.start, |(at, _)| at);
    // Not in the middle of a word, if the word can be left out.
    if start > 0 && text[..start].chars().next_back().is_some_and(char::is_alphanumeric) {
        let cut = text[start..core.start].find(|letter: char| !letter.is_alphanumeric());
        start = cut.map_or(start, |cut| start + cut);
    }
    let end = text[start..].char_indices().nth(room).map_or(text.len(), |(at, _)| start + at);
    let end = if end < text.len() && end > core.end {
        let cut = text[core.end..end].rfind(|letter: char| !letter.is_alphanumeric());
        cut.filter(|_| text[end..].starts_with(char::is_alphanumeric)).map_or(end, |cut| core.end + cut)
    } else {
        end
    };
    trimmed(text, start..end)
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let piece = &text[range.clone()];
    let start = range.start + (piece.len() - piece.trim_start().len());
    let end = range.end - (piece.len() - piece.trim_end().len());
    if start < end { start..end } else { range.start..range.start }
}
