//! From definitions to pieces: a definition that is not too large is one piece, a larger one is laid out by what is
//! defined in it, and the lines between are windows.

use super::chunk::DefinitionKind;
use super::definitions::Definition;
use super::lines::Lines;
use super::pieces::{Piece, SPLIT_BYTES};
use super::windows;
use std::ops::Range;

/// A type, a module or an implementation that holds definitions is one piece up to this size; beyond it, each definition in
/// it stands for itself.
const WHOLE_BYTES: usize = 1_200;

/// Covers all lines of a file.
pub(super) fn pieces(lines: &Lines<'_>, definitions: Vec<Definition>) -> Vec<Piece> {
    let mut layout = Layout { lines, scopes: 0, pieces: Vec::new() };
    layout.lay(0..lines.count(), None, definitions);
    layout.pieces
}

struct Layout<'a> {
    lines: &'a Lines<'a>,
    scopes: usize,
    pieces: Vec<Piece>,
}

/// What the lines between the definitions in something belong to.
struct Outer {
    /// Its own names, for the first lines: there it is defined.
    names: Vec<String>,
    label: String,
    kind: DefinitionKind,
}

impl Layout<'_> {
    /// Lays out some rows. Definitions nest no deeper than they are collected, which bounds the recursion.
    fn lay(&mut self, rows: Range<usize>, mut outer: Option<Outer>, children: Vec<Definition>) {
        self.scopes += 1;
        let scope = self.scopes;
        let mut from = rows.start;
        for child in children {
            self.between(from..child.rows.start, outer.as_mut(), scope);
            from = child.rows.end;
            if self.is_one_piece(&child) {
                self.pieces.push(whole(child, scope));
            } else {
                let Definition { rows, names, label, kind, children, .. } = child;
                self.lay(rows, Some(Outer { names, label, kind }), children);
            }
        }
        self.between(from..rows.end, outer.as_mut(), scope);
    }

    fn is_one_piece(&self, definition: &Definition) -> bool {
        let holds = definition.kind != DefinitionKind::Function && !definition.children.is_empty();
        self.lines.bytes(definition.rows.clone()) <= if holds { WHOLE_BYTES } else { SPLIT_BYTES }
    }

    /// Lines that define nothing, but for the first lines of what is around them.
    fn between(&mut self, rows: Range<usize>, outer: Option<&mut Outer>, scope: usize) {
        if rows.is_empty() {
            return;
        }
        let mut cut = if self.lines.bytes(rows.clone()) <= SPLIT_BYTES / 2 {
            vec![Piece::lines(rows, scope)]
        } else {
            windows::pieces(self.lines, rows, scope)
        };
        if let Some(outer) = outer {
            for piece in &mut cut {
                piece.kind = outer.kind;
                piece.within = Some(outer.label.clone());
            }
            if let Some(first) = cut.first_mut() {
                first.names = std::mem::take(&mut outer.names);
            }
        }
        self.pieces.append(&mut cut);
    }
}

/// A definition with everything in it.
fn whole(definition: Definition, scope: usize) -> Piece {
    let Definition { rows, mut names, label, kind, children, .. } = definition;
    if kind != DefinitionKind::Function {
        let mut inner: Vec<Definition> = children;
        while !inner.is_empty() {
            let (found, deeper): (Vec<_>, Vec<_>) = inner.into_iter().map(|it| (it.names, it.children)).unzip();
            names.extend(found.into_iter().flatten());
            inner = deeper.into_iter().flatten().collect();
        }
    }
    Piece { rows, names, within: Some(label), kind, scope }
}
