//! Parsing without trust: tree-sitter's scanners are C, and some of them are known to crash or to run for very long on
//! hostile text.
//!
//! So a scanner is shown ASCII only: each byte outside of it is replaced by a letter, each control character by a
//! space, which leaves all places as they are. Here-documents, whose end words the scanners keep in a small buffer, are
//! taken out by [`super::heredocs`]. The work is bounded by steps and by what is read rather than by a clock, since the
//! same text must always be cut alike; a clock is the last net, for what tree-sitter itself does between two steps when
//! each token is a mistake.

use super::grammar::Grammar;
use super::heredocs;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

/// Larger files are cut by lines.
const MAX_BYTES: usize = 512 * 1024;
/// The deepest indentation, in columns: the scanner of Python keeps two bytes for each level in a buffer of 1,024.
const MAX_INDENT: usize = 200;
/// How often the parser may report progress, which it does every 100 operations: for any text…
const BASE_REPORTS: usize = 200;
/// …and once more for this many bytes. Ordinary code takes one for 40 to 500 bytes.
const BYTES_A_REPORT: usize = 15;
/// The text is handed over in slices of this size; reading the same again costs again.
const SLICE_BYTES: usize = 1024;
/// How many slices may be read: for any text…
const BASE_SLICES: usize = 200;
/// …and for each of its own.
const READS_A_SLICE: usize = 30;

/// When to give up, whatever was counted; ordinary code takes a hundredth of it.
const TIME_LIMIT: Duration = Duration::from_secs(4);

/// The tree of a text, unless it cannot be had safely.
pub(super) fn parse(grammar: &'static Grammar, text: &str) -> Option<Tree> {
    let is_deep = || grammar.counts_indents && text.lines().any(|line| columns(line) > MAX_INDENT);
    if text.len() > MAX_BYTES || is_deep() {
        return None;
    }
    let mut bytes = plain(text);
    if !heredocs::take_out(grammar.here_documents, &mut bytes) {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&(grammar.language)()).ok()?;
    let mut reports = BASE_REPORTS + bytes.len() / BYTES_A_REPORT;
    let slices = Cell::new(BASE_SLICES + bytes.len() / SLICE_BYTES * READS_A_SLICE);
    let started = Instant::now();
    let mut watch = |_: &ParseState| {
        reports = reports.saturating_sub(1);
        let is_over = reports == 0 || slices.get() == 0 || started.elapsed() > TIME_LIMIT;
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut read = |at: usize, _| {
        slices.set(slices.get().saturating_sub(1));
        // Behind the last slice that may be read, the text seems to end; what comes of that is thrown away.
        let end = if slices.get() == 0 { at } else { at.saturating_add(SLICE_BYTES).min(bytes.len()) };
        bytes.get(at..end).unwrap_or_default()
    };
    let tree = parser.parse_with_options(&mut read, None, Some(ParseOptions::new().progress_callback(&mut watch)));
    tree.filter(|_| slices.get() > 0)
}

/// How far a line is indented, where a tab counts as eight.
fn columns(line: &str) -> usize {
    line.bytes().take_while(u8::is_ascii_whitespace).map(|byte| if byte == b'\t' { 8 } else { 1 }).sum()
}

/// The text with nothing in it but printable ASCII and plain white space, each byte at its place.
pub(super) fn plain(text: &str) -> Vec<u8> {
    text.bytes()
        .map(|byte| match byte {
            b'\t' | b'\n' | b' '..=b'~' => byte,
            b'\0'..=b'\x1f' | b'\x7f' => b' ',
            b'\x80'..=b'\xff' => b'x',
        })
        .collect()
}
