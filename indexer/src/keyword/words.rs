//! Where words begin and end. Text falls into *chunks* (`src/keyword/my_index.rs`, `std::fmt`, `fooBar`, `wasn`), chunks into
//! *names* (`src`, `keyword`, `my_index`, `rs`), names into *parts* (`my`, `index`; `foo`, `bar`). Parts carry the positions;
//! names and chunks of several parts are kept whole, at the position of their first part.
//!
//! Scripts that put no space between words (Chinese, Japanese, Thai and their like) become single characters and pairs.

use std::ops::Range;

/// The longest token, in bytes; what is longer is cut.
pub(super) const TOKEN_BYTES: usize = 256;
/// A run of letters with more parts than this is no name but noise (base64, a hash).
const PARTS: usize = 8;
/// The most names in one chunk; a text without spaces goes on as further chunks.
const NAMES: usize = 64;
/// The longest name that is looked at as one, in bytes.
const NAME_BYTES: usize = 4096;

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    /// The smallest unit; phrases are made of these.
    Part,
    /// Several parts kept together.
    Whole,
}

/// A stretch of the text that becomes a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) kind: PieceKind,
    pub(super) span: Range<usize>,
    pub(super) position: usize,
    pub(super) positions: usize,
}

/// Cuts a text into pieces, chunk by chunk, ordered by position.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    at: usize,
    position: usize,
    ready: Vec<Piece>,
    next: usize,
}

impl Pieces {
    /// Begins again, with another text.
    pub(super) fn reset(&mut self) {
        self.at = 0;
        self.position = 0;
        self.ready.clear();
        self.next = 0;
    }

    /// The next piece of `text`, which must be the same in all calls since the last reset.
    #[inline]
    pub(super) fn advance(&mut self, text: &str) -> Option<Piece> {
        loop {
            if let Some(piece) = self.ready.get(self.next) {
                self.next += 1;
                return Some(piece.clone());
            }
            self.ready.clear();
            self.next = 0;
            if !self.chunk(text) {
                return None;
            }
        }
    }

    /// Reads the next chunk; `false` at the end of the text.
    fn chunk(&mut self, text: &str) -> bool {
        let Some(start) = next_word(text, self.at) else { return false };
        if let Some(end) = spaceless_run(text, start) {
            self.spaceless(&text[start..end], start);
            self.at = end;
            return true;
        }
        let first = self.position;
        let (mut from, mut names) = (start, 0);
        let end = loop {
            let end = name_end(text, from);
            self.name(text, from..end);
            names += 1;
            match joined(text, end) {
                Some(next) if names < NAMES => from = next,
                Some(_) | None => break end,
            }
        };
        if names > 1 {
            let positions = self.position - first;
            self.ready.insert(0, Piece { kind: PieceKind::Whole, span: start..end, position: first, positions });
        }
        self.at = end;
        true
    }

    /// A name: `my_index`, `fooBar`. Underscores at its ends do not count.
    fn name(&mut self, text: &str, span: Range<usize>) {
        let bytes = text.as_bytes();
        let first = self.position;
        let slot = self.ready.len();
        let mut from = span.start;
        while from < span.end {
            let to = (from..span.end).find(|at| bytes[*at] == b'_').unwrap_or(span.end);
            if from < to {
                self.run(text, from..to);
            }
            from = to + 1;
        }
        if self.position > first + 1 {
            let from = span.end - text[span.clone()].trim_start_matches('_').len();
            let to = span.start + text[span].trim_end_matches('_').len();
            let positions = self.position - first;
            self.ready.insert(slot, Piece { kind: PieceKind::Whole, span: from..to, position: first, positions });
        }
    }

    /// A run of letters and digits: one part, or several when it changes its case.
    fn run(&mut self, text: &str, span: Range<usize>) {
        let slot = self.ready.len();
        let mut from = span.start;
        if text[span.clone()].bytes().skip(1).any(|byte| byte.is_ascii_uppercase() || byte >= 0x80) {
            for cut in case_changes(&text[span.clone()]) {
                self.part(from..span.start + cut);
                from = span.start + cut;
            }
        }
        self.part(from..span.end);
        let parts = self.ready.len() - slot;
        if parts > PARTS || parts > 3 && span.len() < 3 * parts {
            self.position -= parts;
            self.ready.truncate(slot);
            self.part(span);
        }
    }

    fn part(&mut self, span: Range<usize>) {
        self.ready.push(Piece { kind: PieceKind::Part, span, position: self.position, positions: 1 });
        self.position += 1;
    }

    fn spaceless(&mut self, run: &str, start: usize) {
        let mut letters = run.char_indices().map(|(at, letter)| start + at..start + at + letter.len_utf8()).peekable();
        while let Some(letter) = letters.next() {
            if let Some(next) = letters.peek() {
                let span = letter.start..next.end;
                self.ready.push(Piece { kind: PieceKind::Whole, span, position: self.position, positions: 2 });
            }
            self.part(letter);
        }
    }
}

/// Where the next word begins.
fn next_word(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        if bytes[at].is_ascii() {
            if bytes[at].is_ascii_alphanumeric() {
                return Some(at);
            }
            at += 1;
        } else {
            let letter = text[at..].chars().next()?;
            if letter.is_alphanumeric() {
                return Some(at);
            }
            at += letter.len_utf8();
        }
    }
    None
}

/// Where the name that begins at `from` ends.
fn name_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() && at < from + NAME_BYTES {
        if bytes[at].is_ascii() {
            if !bytes[at].is_ascii_alphanumeric() && bytes[at] != b'_' {
                break;
            }
            at += 1;
        } else {
            match text[at..].chars().next() {
                Some(letter) if (letter.is_alphanumeric() || is_mark(letter)) && !is_spaceless(letter) => {
                    at += letter.len_utf8();
                }
                Some(_) | None => break,
            }
        }
    }
    at
}

/// Where a chunk goes on after a name that ends at `end`: behind one of `- . /` or `::`, if a name follows at once.
fn joined(text: &str, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let next = match bytes.get(end)? {
        b'-' | b'.' | b'/' => end + 1,
        b':' if bytes.get(end + 1) == Some(&b':') => end + 2,
        _ => return None,
    };
    let word = next + text[next..].bytes().take_while(|byte| *byte == b'_').count();
    let first = text[word..].chars().next()?;
    (first.is_alphanumeric() && !is_spaceless(first)).then_some(next)
}

/// The end of a run of characters that need no spaces, if one begins at `start`.
fn spaceless_run(text: &str, start: usize) -> Option<usize> {
    let tail = &text[start..text.floor_char_boundary(start + NAME_BYTES)];
    let len = tail.find(|letter: char| !is_spaceless(letter)).unwrap_or(tail.len());
    (len > 0).then_some(start + len)
}

/// Where `fooBar`, `HTTPServer` and `utf8Text` are cut.
fn case_changes(run: &str) -> Vec<usize> {
    let letters: Vec<(usize, char)> = run.char_indices().collect();
    let mut cuts = Vec::new();
    for pair in letters.windows(2).enumerate() {
        let (index, &[(_, before), (at, letter)]) = pair else { continue };
        let lower_next = letters.get(index + 2).is_some_and(|(_, next)| next.is_lowercase());
        if letter.is_uppercase() && (!before.is_uppercase() || lower_next) {
            cuts.push(at);
        }
        if cuts.len() > PARTS {
            break;
        }
    }
    cuts
}

/// Whether a character belongs to a script written without spaces.
fn is_spaceless(letter: char) -> bool {
    matches!(letter,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9F}' | '\u{20000}'..='\u{3FFFF}')
}

/// Whether a character belongs to the letter before it without being one: accents and points, and the signs of Indic scripts.
fn is_mark(letter: char) -> bool {
    is_accent(letter)
        || matches!(letter,
            '\u{0900}'..='\u{0903}' | '\u{093A}'..='\u{094F}' | '\u{09BC}' | '\u{09CD}' | '\u{0A3C}' | '\u{0A4D}' | '\u{0ABC}'
            | '\u{0ACD}' | '\u{0B3C}' | '\u{0B4D}' | '\u{0BCD}' | '\u{0C4D}' | '\u{0CBC}' | '\u{0CCD}' | '\u{0D4D}' | '\u{0DCA}')
}

/// Whether a character can be left out of a word: accents written apart, vowel points, joiners.
pub(super) fn is_accent(letter: char) -> bool {
    matches!(letter,
        '\u{0300}'..='\u{036F}' | '\u{0483}'..='\u{0489}' | '\u{0591}'..='\u{05C7}' | '\u{0610}'..='\u{061A}'
        | '\u{064B}'..='\u{065F}' | '\u{0670}' | '\u{06D6}'..='\u{06ED}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}'
        | '\u{200C}' | '\u{200D}' | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}
