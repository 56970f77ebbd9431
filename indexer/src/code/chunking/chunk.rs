//! A piece of a file, and the one way to make pieces: [`chunk_file`].
//!
//! Invariants: the chunks of a file stand in its order and cover each of its lines exactly once, whatever the text is;
//! the same path and text always give the same chunks (bounds are counted in steps and bytes, never in time).

use super::language::Language;
use super::lines::Lines;
use super::pieces::{Piece, merge};
use super::{definitions, layout, markdown, parse, windows};

/// The version of everything that decides where chunks begin and end. A file that was chunked by another version is
/// chunked again.
pub(in crate::code) const CHUNKER_VERSION: u32 = 1;

/// The most text of one chunk, in bytes; only a chunk of a single, very long line is cut.
const MAX_TEXT_BYTES: usize = 8 * 1024;
/// The most names that a chunk of several small definitions carries.
const MAX_NAMES: usize = 12;
/// The most bytes of all its names together.
const MAX_SYMBOL_BYTES: usize = 400;

/// A piece of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// What it defines: `Type::method`, in the notation of the language; several small definitions are separated by
    /// `, `. For Markdown, the headings above it.
    pub symbol: Option<String>,
    /// What kind of thing that is.
    pub definition: DefinitionKind,
    /// The first line, from 1.
    pub first_line: u32,
    /// The last line, inclusive.
    pub last_line: u32,
    /// The lines, as they are; at most 8 KiB.
    pub text: String,
}

/// What a chunk defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefinitionKind {
    /// A function, or a method of a type.
    Function,
    /// A class, struct, enum, union, or the name of another type.
    Type,
    /// A trait, interface, or protocol.
    Interface,
    /// An implementation block or another part of a type that stands apart from it.
    Implementation,
    /// A module or namespace.
    Module,
    /// A constant or a static variable.
    Constant,
    /// A macro.
    Macro,
    /// A section of a text with headings.
    Section,
    /// Lines that define nothing by themselves.
    #[default]
    Lines,
}

/// Cuts a file into chunks: by definition where its language is known, by heading for Markdown, by lines elsewhere.
#[must_use]
pub fn chunk_file(path: &str, text: &str) -> Vec<Chunk> {
    let lines = Lines::new(text);
    if lines.count() == 0 {
        return Vec::new();
    }
    let pieces = match Language::of_file(path, text) {
        Some(Language::Markdown) => markdown::pieces(&lines),
        Some(Language::Code(grammar)) => match parse::parse(grammar, text) {
            Some(tree) => layout::pieces(&lines, definitions::collect(grammar, &tree, &lines)),
            None => windows::pieces(&lines, 0..lines.count(), 0),
        },
        None => windows::pieces(&lines, 0..lines.count(), 0),
    };
    merge(&lines, pieces).into_iter().map(|piece| to_chunk(&lines, piece)).collect()
}

/// Cuts a text into chunks by lines, whatever it is.
#[must_use]
pub(in crate::code) fn chunk_lines(text: &str) -> Vec<Chunk> {
    let lines = Lines::new(text);
    let pieces = windows::pieces(&lines, 0..lines.count(), 0);
    merge(&lines, pieces).into_iter().map(|piece| to_chunk(&lines, piece)).collect()
}

fn to_chunk(lines: &Lines<'_>, piece: Piece) -> Chunk {
    let text = lines.text(piece.rows.clone());
    let line = |row: usize| u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1);
    Chunk {
        symbol: symbol(&piece),
        definition: piece.kind,
        first_line: line(piece.rows.start),
        last_line: line(piece.rows.end.saturating_sub(1)),
        text: text[..text.floor_char_boundary(MAX_TEXT_BYTES)].to_owned(),
    }
}

fn symbol(piece: &Piece) -> Option<String> {
    let Some((first, others)) = piece.names.split_first() else { return piece.within.as_deref().map(cut_name) };
    let mut symbol = cut_name(first);
    for name in others.iter().take(MAX_NAMES - 1) {
        if symbol.len() + name.len() + 2 > MAX_SYMBOL_BYTES {
            break;
        }
        symbol.push_str(", ");
        symbol.push_str(name);
    }
    Some(symbol)
}

fn cut_name(name: &str) -> String {
    name[..name.floor_char_boundary(MAX_SYMBOL_BYTES)].to_owned()
}
