//! What an answer decides or concludes: whole sentences of it, picked by the words that give such sentences away.
//!
//! The cues are English, as most agents' answers are; of an answer without any its first sentence stays, so that a step
//! says something in every language.

use super::excerpt;

/// Words of a sentence that decides something, in lower case.
const STRONG: [&str; 22] = [
    "decid",
    "instead of",
    "rather than",
    "root cause",
    "the fix",
    "fixed",
    "the problem",
    "the issue",
    "turns out",
    "going with",
    "trade-off",
    "tradeoff",
    "must not",
    "should not",
    "in summary",
    "conclusion",
    "because",
    "the reason",
    "verified",
    "tests pass",
    "not possible",
    "chose",
];

/// Beginnings of a sentence that only announces the next call.
const FILLER: [&str; 9] = ["let me", "now let", "i'll", "i will", "now i", "let's", "next, i", "first, i", "good"];

/// The most of an answer that is looked at, in bytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// The most sentences of an answer that ends a turn.
const MAX_OF_LAST: usize = 4;

/// The most sentences of another answer.
const MAX_OF_STEP: usize = 2;

/// A sentence of fewer characters says little.
const MIN_CHARS: usize = 18;

/// A sentence and how much it matters.
pub(super) type Sentence = (String, u8);

/// The sentences of an answer that are worth keeping, in order. `last`: it has no calls, so it is what the turn came to.
pub(super) fn decisions(answer: &str, last: bool, max_bytes: usize) -> Vec<Sentence> {
    let mut sentences: Vec<(usize, Sentence)> =
        sentences(excerpt::floor(answer, MAX_ANSWER_BYTES)).map(|text| weighed(text, last)).enumerate().collect();
    if last && let Some((_, (_, weight))) = sentences.iter_mut().find(|(_, (_, weight))| *weight > 0) {
        *weight = 4;
    }
    let most = if last { MAX_OF_LAST } else { MAX_OF_STEP };
    let matters = |weight: u8| weight >= 2;
    let first = sentences.first().cloned();
    sentences.retain(|(_, (_, weight))| matters(*weight));
    sentences.sort_by_key(|(place, (_, weight))| (std::cmp::Reverse(*weight), *place));
    sentences.truncate(most);
    sentences.sort_by_key(|(place, _)| *place);
    if sentences.is_empty() {
        sentences.extend(first);
    }
    sentences.into_iter().map(|(_, (text, weight))| (excerpt::line(&text, max_bytes), weight)).collect()
}

fn weighed(text: &str, last: bool) -> Sentence {
    let lower = text.to_lowercase();
    // "Good point." and "Here is what I found:" announce what follows, too.
    let announces = lower.chars().count() < MIN_CHARS || lower.ends_with(':');
    let filler = announces || FILLER.iter().any(|cue| lower.starts_with(cue));
    let cues = STRONG.iter().filter(|cue| lower.contains(*cue)).count();
    let weight = match (cues, filler) {
        (0, true) => 0,
        (0, false) => 1,
        (_, _) if announces => 0,
        (1, true) => 2,
        (_, _) => 3,
    };
    (text.replace("**", ""), if last && weight == 1 { 2 } else { weight })
}

/// The sentences of a text without its code blocks, tables and headings.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    let prose = text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        in_code ^= fence;
        let line = line.trim_start();
        !fence && !in_code && !line.starts_with(['#', '|']) && !line.starts_with("---")
    });
    let marks: &[char] = &['-', '*', '>', ' ', '\t'];
    prose
        .flat_map(split_sentences)
        .map(move |text| text.trim_start_matches(marks).trim())
        .filter(|text| text.chars().count() > 3)
}

/// A line, split behind each mark that ends a sentence and has a space behind it.
fn split_sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = rest.char_indices().find_map(|(at, c)| {
            let end = at + c.len_utf8();
            let ascii = matches!(c, '.' | '!' | '?') && rest[end..].starts_with(' ');
            (ascii || matches!(c, '。' | '！' | '？')).then_some(end)
        });
        let (sentence, behind) = rest.split_at(ends.unwrap_or(rest.len()));
        rest = behind;
        Some(sentence)
    })
}
