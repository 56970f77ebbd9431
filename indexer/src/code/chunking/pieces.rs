//! Pieces: ranges of rows with names, before they become chunks; and how small neighbours are put together.

use super::chunk::DefinitionKind;
use super::lines::Lines;
use std::ops::Range;

/// A definition, or a run of lines between definitions, with more bytes than this is split.
pub(super) const SPLIT_BYTES: usize = 3_000;
/// Pieces smaller than this are put together with their neighbours…
const SMALL_BYTES: usize = 400;
/// …while the result stays below this.
const MERGED_BYTES: usize = 1_000;
/// Pieces smaller than this (`impl Log {`) are never left alone when they have a neighbour in the same definition.
const TINY_BYTES: usize = 80;

/// Some rows of a file that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) rows: Range<usize>,
    /// What is defined here.
    pub(super) names: Vec<String>,
    /// What it is a part of, where nothing is defined.
    pub(super) within: Option<String>,
    pub(super) kind: DefinitionKind,
    /// Only pieces of the same scope are put together.
    pub(super) scope: usize,
}

impl Piece {
    pub(super) fn lines(rows: Range<usize>, scope: usize) -> Self {
        Self { rows, names: Vec::new(), within: None, kind: DefinitionKind::Lines, scope }
    }

    fn absorb(&mut self, next: Self) {
        self.rows.end = next.rows.end;
        if self.names.is_empty() && !next.names.is_empty() {
            self.kind = next.kind;
        }
        if self.within.is_none() {
            self.within = next.within;
        }
        self.names.extend(next.names);
    }
}

/// Puts small neighbours together. What holds no word (blank lines, a closing brace) goes to what stands before it.
pub(super) fn merge(lines: &Lines<'_>, pieces: Vec<Piece>) -> Vec<Piece> {
    let mut merged: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match merged.last_mut() {
            Some(last) if belongs_together(lines, last, &piece) => last.absorb(piece),
            _ => merged.push(piece),
        }
    }
    merged
}

fn belongs_together(lines: &Lines<'_>, last: &Piece, next: &Piece) -> bool {
    let trivial = |piece: &Piece| piece.names.is_empty() && lines.is_trivial(piece.rows.clone());
    let (before, after) = (lines.bytes(last.rows.clone()), lines.bytes(next.rows.clone()));
    let sum = before + after;
    if (trivial(next) || trivial(last)) && sum <= SPLIT_BYTES + MERGED_BYTES {
        return true;
    }
    if last.scope != next.scope {
        return false;
    }
    let smaller = before.min(after);
    (smaller < SMALL_BYTES && sum <= MERGED_BYTES) || (before < TINY_BYTES && sum <= SPLIT_BYTES + TINY_BYTES)
}
