//! Windows of lines: how text is cut where nothing is known of its structure, and what is too large is split.
//!
//! A window ends before a line that begins something rather than in the middle: behind a blank line if there is one in
//! its second half, else before the least indented line there.

use super::lines::Lines;
use super::pieces::Piece;
use std::ops::Range;

/// The most bytes of a window of more than one line.
const WINDOW_BYTES: usize = 1_500;
/// The most lines of a window.
const WINDOW_LINES: usize = 60;

/// Covers some rows with windows.
pub(super) fn pieces(lines: &Lines<'_>, rows: Range<usize>, scope: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut from = rows.start;
    while from < rows.end {
        let to = window_end(lines, from..rows.end);
        pieces.push(Piece::lines(from..to, scope));
        from = to;
    }
    pieces
}

fn window_end(lines: &Lines<'_>, rows: Range<usize>) -> usize {
    let mut full = rows.start + 1;
    let mut bytes = lines.bytes(rows.start..full);
    while full < rows.end && full - rows.start < WINDOW_LINES {
        bytes += lines.bytes(full..full + 1);
        if bytes > WINDOW_BYTES {
            break;
        }
        full += 1;
    }
    if full == rows.end {
        return full;
    }
    let half = rows.start + (full - rows.start).div_ceil(2);
    // The latest of the best places: behind a blank line first, then by indentation.
    let cost =
        |row: usize| (!lines.is_blank(row - 1), if lines.is_blank(row) { usize::MAX } else { lines.indent(row) });
    (half.max(rows.start + 1)..=full).rev().min_by_key(|row| cost(*row)).unwrap_or(full)
}
