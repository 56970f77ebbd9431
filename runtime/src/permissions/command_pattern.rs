//! Patterns over commands: `cargo test *`. A `*` stands for any text; a backslash takes the next character as it is; a
//! ` *` at the end also stands for nothing at all, so that `cargo test *` is `cargo test` too.
//!
//! A command is matched as its words with quotes removed, a [`GAP`] between them. Where something is allowed, a space of
//! the pattern is only such a gap; where something is forbidden it may also be white space within a word, so that each
//! doubt falls to the strict side. Matching takes no more than pattern times command steps.

use super::rule_error::RuleError;
use std::fmt;

/// What stands between the words of a command that is matched; no argument can hold it.
pub(super) const GAP: char = '\0';

/// How much a space of a pattern may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Only the end of a word: for rules that allow.
    Narrow,
    /// Any white space: for rules that forbid or ask.
    Wide,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Byte(u8),
    Gap,
    Any,
}

/// A pattern over commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandPattern {
    pieces: Vec<Piece>,
    /// Whether more words may follow.
    open: bool,
}

impl CommandPattern {
    /// Reads a pattern as it stands between the parentheses of a rule.
    pub(super) fn parse(text: &str) -> Result<Self, RuleError> {
        let mut pieces = Vec::new();
        let mut escaped_at = usize::MAX;
        let mut chars = text.trim_start().chars();
        while let Some(c) = chars.next() {
            match c {
                '*' => pieces.push(Piece::Any),
                ' ' | '\t' => {
                    if pieces.last() != Some(&Piece::Gap) {
                        pieces.push(Piece::Gap);
                    }
                }
                '\\' => {
                    escaped_at = pieces.len();
                    push(&mut pieces, chars.next().ok_or(RuleError::LoneBackslash)?);
                }
                '\'' | '"' => return Err(RuleError::Quote(c)),
                other => push(&mut pieces, other),
            }
        }
        drop_last_gap(&mut pieces);
        let open = match pieces.as_slice() {
            [.., _, Piece::Gap, Piece::Any] => true,
            // An older way to write the same.
            [.., _, Piece::Byte(b':'), Piece::Any] => escaped_at != pieces.len() - 2,
            _ => false,
        };
        if open {
            pieces.truncate(pieces.len() - 2);
            drop_last_gap(&mut pieces);
        }
        if pieces.is_empty() { Err(RuleError::EmptyPattern) } else { Ok(Self { pieces, open }) }
    }

    /// Whether `command` (words with gaps) is one of those meant.
    pub(super) fn matches(&self, command: &str, reading: Reading) -> bool {
        let bytes = command.as_bytes();
        run(&self.pieces, &[], bytes, reading)
            || (self.open && run(&self.pieces, &[Piece::Gap, Piece::Any], bytes, reading))
    }
}

fn drop_last_gap(pieces: &mut Vec<Piece>) {
    if pieces.last() == Some(&Piece::Gap) {
        pieces.pop();
    }
}

fn push(pieces: &mut Vec<Piece>, c: char) {
    let mut buffer = [0; 4];
    pieces.extend(c.encode_utf8(&mut buffer).bytes().map(Piece::Byte));
}

/// Matches `pieces` and then `more` against all of `text`: on a misfit the last `*` takes one byte more.
fn run(pieces: &[Piece], more: &[Piece], text: &[u8], reading: Reading) -> bool {
    let piece = |at: usize| pieces.get(at).or_else(|| more.get(at.checked_sub(pieces.len())?)).copied();
    let (mut at, mut pos) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while pos < text.len() {
        let fits = match piece(at) {
            Some(Piece::Any) => {
                star = Some((at, pos));
                at += 1;
                continue;
            }
            Some(Piece::Byte(byte)) => text[pos] == byte,
            Some(Piece::Gap) => text[pos] == GAP as u8 || (reading == Reading::Wide && text[pos].is_ascii_whitespace()),
            None => false,
        };
        if fits {
            at += 1;
            pos += 1;
        } else if let Some((star_at, star_pos)) = star {
            star = Some((star_at, star_pos + 1));
            at = star_at + 1;
            pos = star_pos + 1;
        } else {
            return false;
        }
    }
    while piece(at) == Some(Piece::Any) {
        at += 1;
    }
    piece(at).is_none()
}

impl fmt::Display for CommandPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::with_capacity(self.pieces.len() + 2);
        for (at, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Any => bytes.push(b'*'),
                Piece::Gap => bytes.push(b' '),
                Piece::Byte(byte) => {
                    let special = matches!(byte, b'*' | b'\\' | b'\'' | b'"' | b' ' | b'\t');
                    let colon = *byte == b':' && !self.open && self.pieces[at + 1..] == [Piece::Any];
                    if special || colon || (at == 0 && *byte == b'=') {
                        bytes.push(b'\\');
                    }
                    bytes.push(*byte);
                }
            }
        }
        if self.open {
            bytes.extend_from_slice(b" *");
        }
        f.write_str(&String::from_utf8_lossy(&bytes))
    }
}
