//! Markdown, cut by heading: a section's symbol is the path of headings above it.

use super::chunk::DefinitionKind;
use super::lines::Lines;
use super::pieces::{Piece, SPLIT_BYTES};
use super::windows;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// The longest heading that is taken into a symbol, in bytes.
const MAX_HEADING_BYTES: usize = 120;

struct Heading {
    row: usize,
    level: HeadingLevel,
    title: String,
}

/// The sections of a text.
pub(super) fn pieces(lines: &Lines<'_>) -> Vec<Piece> {
    let mut path: Vec<Heading> = Vec::new();
    let mut pieces = Vec::new();
    let mut from = 0;
    for heading in headings(lines) {
        if heading.row > from {
            section(lines, from..heading.row, &path, &mut pieces);
            from = heading.row;
        }
        path.retain(|above| above.level < heading.level);
        path.push(heading);
    }
    section(lines, from..lines.count(), &path, &mut pieces);
    pieces
}

/// Headings at the top level of the text, each in a row of its own.
fn headings(lines: &Lines<'_>) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    let mut open: Option<Heading> = None;
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(lines.all(), Options::ENABLE_YAML_STYLE_METADATA_BLOCKS).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                open = Some(Heading { row: lines.row_of(range.start), level, title: String::new() });
            }
            Event::End(TagEnd::Heading(_)) => {
                let last_row = found.last().map(|last| last.row);
                found.extend(open.take().filter(|heading| last_row.is_none_or(|row| row < heading.row)));
            }
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => depth = depth.saturating_sub(1),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = open.as_mut().filter(|heading| heading.title.len() < MAX_HEADING_BYTES) {
                    heading.title.push_str(&text[..text.floor_char_boundary(MAX_HEADING_BYTES)]);
                }
            }
            _ => {}
        }
    }
    found
}

fn section(lines: &Lines<'_>, rows: Range<usize>, path: &[Heading], pieces: &mut Vec<Piece>) {
    let titles: Vec<&str> = path.iter().map(|heading| heading.title.as_str()).filter(|it| !it.is_empty()).collect();
    let name = Some(titles.join(" > ")).filter(|name| !name.is_empty());
    let mut cut = if lines.bytes(rows.clone()) <= SPLIT_BYTES {
        vec![Piece::lines(rows, 0)]
    } else {
        windows::pieces(lines, rows, 0)
    };
    for piece in &mut cut {
        piece.kind = DefinitionKind::Section;
        piece.within.clone_from(&name);
    }
    if let (Some(first), Some(name)) = (cut.first_mut(), name) {
        first.names.push(name);
    }
    pieces.append(&mut cut);
}
