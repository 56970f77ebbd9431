//! Text counted and cut by characters, with the white space of Python.
//!
//! Evidence is compared with what another program, written in Python, finds in the same text; so a "character" is a code
//! point, and white space is what `str.strip` takes off, which is Unicode's and four control characters more.

/// Characters that stand for one token.
pub const CHARS_PER_TOKEN: usize = 4;

/// Whether `str.strip` takes it off.
#[must_use]
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// As `str.strip`.
#[must_use]
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// As `str.rstrip`.
#[must_use]
pub fn strip_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// How many characters it has.
#[must_use]
pub fn length(text: &str) -> usize {
    text.chars().count()
}

/// About how many tokens a text of so many characters has; an empty one has one too.
#[must_use]
pub fn tokens_of(chars: usize) -> u64 {
    (chars / CHARS_PER_TOKEN) as u64 + 1
}

/// About how many tokens it has.
#[must_use]
pub fn tokens(text: &str) -> u64 {
    tokens_of(length(text))
}

/// Its first `chars` characters.
#[must_use]
pub fn first(text: &str, chars: usize) -> &str {
    if chars >= text.len() {
        return text;
    }
    text.char_indices().nth(chars).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// Its last `chars` characters.
#[must_use]
pub fn last(text: &str, chars: usize) -> &str {
    if chars >= text.len() {
        return text;
    }
    let Some(before) = chars.checked_sub(1) else { return "" };
    text.char_indices().nth_back(before).and_then(|(start, _)| text.get(start..)).unwrap_or(text)
}

/// What stands behind its first `chars` characters.
#[must_use]
pub fn behind(text: &str, chars: usize) -> &str {
    text.get(first(text, chars).len()..).unwrap_or_default()
}
