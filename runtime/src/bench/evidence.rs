//! What counts as evidence in a text: identifiers, lines, and pairs of adjacent lines.
//!
//! - An **identifier** is a word, path or number of 6 to 119 characters with one of `/ _ .`, a digit or an inner capital.
//! - A **line** has at least 16 characters, stripped; the line numbers of file views are cut off.
//! - A **pair** is two adjacent rows, indentation kept, of at least 3 characters each: what must be known word for word and
//!   in order. Neither a list of names nor a heap of loose lines can fake it.
//!
//! All of it is defined by an older program in Python, whose figures these must be; so white space, characters and lines are
//! Python's (see [`super::characters`]), and only `\n` ends a line.

use super::characters::{is_space, length, strip, strip_end};
use regex::Regex;
use std::sync::LazyLock;

/// The shortest line that counts, in characters.
const MIN_LINE_CHARS: usize = 16;

/// The shortest row of a pair, stripped, in characters.
const MIN_ROW_CHARS: usize = 3;

/// How long an identifier may be, in characters.
const IDENTIFIER_CHARS: std::ops::Range<usize> = 6..120;

/// A decimal digit of any script at the beginning of a text.
static OTHER_DIGIT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{Nd}").ok());

/// The identifiers in `text`, in order, as often as they are there.
pub fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |byte: u8| is_word(byte) || matches!(byte, b'.' | b'/' | b'-');
    // All of these bytes are ASCII, so a run of them begins and ends between characters.
    text.as_bytes().split(move |byte| !is_part(*byte)).filter_map(|run| {
        let start = run.iter().position(|byte| is_word(*byte))?;
        let end = run.iter().rposition(|byte| is_word(*byte))?;
        let word = std::str::from_utf8(run.get(start..=end)?).ok()?;
        (IDENTIFIER_CHARS.contains(&word.len()) && is_telling(word.as_bytes())).then_some(word)
    })
}

/// The rows of `text`, without line numbers and without white space at their ends.
pub fn rows(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').map(|row| strip_end(without_line_number(row)))
}

/// The lines in `text`, in order, as often as they are there.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    rows(text).map(strip).filter(|line| has_chars(line, MIN_LINE_CHARS))
}

/// The pairs of adjacent rows in `text`, in order, as often as they are there.
pub fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let long = |row: &str| has_chars(strip(row), MIN_ROW_CHARS);
    let mut before = None;
    rows(text).filter_map(move |row| {
        let this = long(row).then_some(row);
        let pair = before.zip(this);
        before = this;
        pair
    })
}

/// A row without the number that a view of a file put before it.
#[must_use]
pub fn without_line_number(row: &str) -> &str {
    let number = row.trim_start_matches(is_space);
    let mut rest = number;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        match rest.chars().next() {
            // Very few rows hold such a digit, and the standard library does not know them.
            Some(c) if !c.is_ascii() && OTHER_DIGIT.as_ref().is_some_and(|digit| digit.is_match(rest)) => {
                rest = rest.get(c.len_utf8()..).unwrap_or_default();
            }
            Some(_) | None => break,
        }
    }
    if rest.len() == number.len() {
        return row;
    }
    rest.strip_prefix(['\u{2192}', '\t', '|', ':']).unwrap_or(row)
}

/// Whether `text` has at least `least` characters.
fn has_chars(text: &str, least: usize) -> bool {
    text.len() >= least && (text.len() >= 4 * least || length(text) >= least)
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a word says more than that it is one.
fn is_telling(word: &[u8]) -> bool {
    let inner_capital = |pair: &[u8]| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase());
    word.iter().any(|byte| matches!(byte, b'/' | b'_' | b'.' | b'0'..=b'9')) || word.windows(2).any(inner_capital)
}
