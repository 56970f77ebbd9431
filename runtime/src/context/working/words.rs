//! Words and identifiers of a text, as hashes: a session of any length needs no vocabulary that grows with it.

use std::hash::{DefaultHasher, Hasher as _};

/// A word, a part of one, or an identifier. Two different ones are the same number about once in four billion pairs, which
/// costs a rank at most.
pub(super) type Word = u32;

/// How long an identifier may be, in bytes.
const IDENTIFIER_BYTES: std::ops::Range<usize> = 6..120;

/// The number of `text`, as it is written.
pub(super) fn hash(text: &str) -> Word {
    (hash_long(text) & u64::from(u32::MAX)) as Word
}

/// A longer number for `text`, for texts whose confusion would be seen.
pub(super) fn hash_long(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// The words of `text` in order, as often as they are there: each in small letters, and behind it its parts when it has
/// several (`readFile_2` has `read`, `file`, `2`).
pub(super) fn words(text: &str, mut take: impl FnMut(Word)) {
    for_each_word(text, |word| take(hash(word)));
}

/// The same words, as they are.
pub(crate) fn for_each_word(text: &str, mut take: impl FnMut(&str)) {
    let mut small = String::new();
    let mut give = |word: &str| {
        small.clear();
        small.push_str(word);
        small.make_ascii_lowercase();
        take(&small);
    };
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty()) {
        give(word);
        let mut parts = parts(word);
        if let (Some(one), Some(two)) = (parts.next(), parts.next()) {
            give(one);
            give(two);
            parts.for_each(&mut give);
        }
    }
}

/// The parts of a word: runs of capitals (without the last one before small letters), of small letters with a capital before
/// them, and of digits.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let bytes = word.as_bytes();
    let run = |from: usize, is: fn(&u8) -> bool| bytes.iter().skip(from).take_while(|byte| is(byte)).count();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at;
            let first = bytes.get(at)?;
            let capitals = run(at, u8::is_ascii_uppercase);
            let small = run(at + capitals, u8::is_ascii_lowercase);
            at += match (capitals, small) {
                (0, 0) if first.is_ascii_digit() => run(at, u8::is_ascii_digit),
                (0, 0) => {
                    at += 1;
                    continue;
                }
                (0 | 1, small) => capitals + small,
                (capitals, 0) => capitals,
                (capitals, _) => capitals - 1,
            };
            return word.get(start..at);
        }
    })
}

/// The identifiers in `text`, in order, as often as they are there: words, paths and numbers that say more than that they
/// are a word, by one of `/ _ .`, a digit or an inner capital.
pub(super) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |byte: u8| is_word(byte) || matches!(byte, b'.' | b'/' | b'-');
    // All of these bytes are ASCII, so a run of them begins and ends between characters.
    text.as_bytes().split(move |byte| !is_part(*byte)).filter_map(|run| {
        let start = run.iter().position(|byte| is_word(*byte))?;
        let end = run.iter().rposition(|byte| is_word(*byte))?;
        let word = std::str::from_utf8(run.get(start..=end)?).ok()?;
        (IDENTIFIER_BYTES.contains(&word.len()) && is_telling(word.as_bytes())).then_some(word)
    })
}

/// The names in `text` that have at least 4 characters, by their numbers.
pub(super) fn names(text: &str) -> impl Iterator<Item = Word> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let names = words.map(|word| word.trim_start_matches(|c: char| c.is_ascii_digit()));
    names.filter(|name| name.len() >= 4).map(hash)
}

/// The beginning of `text`, at most `bytes` of it.
pub(super) fn first(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The end of `text`, at most `bytes` of it.
pub(super) fn last(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_telling(word: &[u8]) -> bool {
    let inner_capital = |pair: &[u8]| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase());
    word.iter().any(|byte| matches!(byte, b'/' | b'_' | b'.' | b'0'..=b'9')) || word.windows(2).any(inner_capital)
}

/// The words of a text, counted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Bag {
    /// Each word and how often it is there, in order of words.
    pub(super) counts: Box<[(Word, u32)]>,
    /// All words together.
    pub(super) size: usize,
}

impl Bag {
    /// Counts `words`.
    pub(super) fn of(mut words: Vec<Word>) -> Self {
        let size = words.len();
        words.sort_unstable();
        let mut counts: Vec<(Word, u32)> = Vec::with_capacity(size);
        for word in words {
            match counts.last_mut() {
                Some((last, count)) if *last == word => *count += 1,
                Some(_) | None => counts.push((word, 1)),
            }
        }
        Self { counts: counts.into_boxed_slice(), size }
    }

    /// The words of `text`, counted.
    pub(super) fn of_text(text: &str) -> Self {
        let mut all = Vec::new();
        words(text, |word| all.push(word));
        Self::of(all)
    }
}

/// Each of `words` once, in order.
pub(super) fn set(words: impl Iterator<Item = Word>) -> Box<[Word]> {
    let mut set: Vec<Word> = words.collect();
    set.sort_unstable();
    set.dedup();
    set.into_boxed_slice()
}
