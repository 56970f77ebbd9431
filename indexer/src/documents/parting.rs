//! Parts a long text into pieces that are of use as documents.
//!
//! Why about 4 KB: most of what a session holds is shorter than that (half of all results are below 1 KB, nine of ten below
//! 5 KB), so documents stay of one order of size, which is what BM25's norm for length is made for; a word in a piece of 4 KB
//! still says something about the piece, and a snippet is found in it at once. Pieces of one text are about equally
//! long: a short last one would score above the others for being short.

use super::clean::{LeftOut, without_escapes, worth};

/// Up to here a text stays in one piece, in bytes.
pub(super) const WHOLE_BYTES: usize = 6 * 1024;
/// How long the pieces of a longer text are, in bytes.
const PIECE_BYTES: usize = 4 * 1024;
/// The longest stretch of one line that is never cut, in bytes.
const STRETCH_BYTES: usize = 2 * 1024;
/// A last piece shorter than this joins the one before, in bytes.
const CRUMB_BYTES: usize = 512;

/// A text in pieces.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parted {
    /// None empty, each of at most `WHOLE_BYTES`.
    pub(super) pieces: Vec<String>,
    /// What is in none of them.
    pub(super) left_out: LeftOut,
}

/// Parts `text` at line ends, or at spaces in long lines.
pub(super) fn part(text: &str) -> Parted {
    let mut left_out = LeftOut::default();
    let text = without_escapes(text);
    let mut clean = String::with_capacity(text.len());
    text.split_inclusive('\n').for_each(|line| clean.push_str(&worth(line, &mut left_out)));
    let text = clean.trim_matches('\n').trim_end();
    if text.trim_start().is_empty() {
        return Parted { pieces: Vec::new(), left_out };
    }
    if text.len() <= WHOLE_BYTES {
        return Parted { pieces: vec![text.to_owned()], left_out };
    }
    let target = text.len().div_ceil(text.len().div_ceil(PIECE_BYTES));
    let mut pieces: Vec<String> = Vec::new();
    let mut piece = String::new();
    for stretch in text.split_inclusive('\n').flat_map(stretches) {
        if !piece.is_empty() && piece.len() + stretch.len() > target {
            keep(&mut pieces, &piece);
            piece.clear();
        }
        piece.push_str(stretch);
    }
    match pieces.last_mut() {
        Some(last) if piece.len() < CRUMB_BYTES => {
            last.push('\n');
            last.push_str(piece.trim_end());
        }
        Some(_) | None => keep(&mut pieces, &piece),
    }
    Parted { pieces, left_out }
}

fn keep(pieces: &mut Vec<String>, piece: &str) {
    let piece = piece.trim_matches('\n').trim_end();
    if !piece.trim_start().is_empty() {
        pieces.push(piece.to_owned());
    }
}

/// `line` in stretches of at most `STRETCH_BYTES`, cut behind a space where there is one in a stretch's second half.
fn stretches(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.floor_char_boundary(STRETCH_BYTES);
        if end < rest.len()
            && let Some(space) = rest[..end].rfind([' ', '\t', ',', ';'])
            && space >= STRETCH_BYTES / 2
        {
            end = space + 1;
        }
        let (stretch, behind) = rest.split_at(end);
        rest = behind;
        Some(stretch)
    })
}
