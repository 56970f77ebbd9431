//! Tests of the chunker.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod golden;
mod hostile;
mod properties;
mod prose;
mod samples;
mod sizes;

use super::definitions::{self, Definition};
use super::language::Language;
use super::lines::Lines;
use super::{Chunk, chunk_file, parse};

/// Chunks as a table: lines, kind, symbol.
fn table(chunks: &[Chunk]) -> String {
    let row = |chunk: &Chunk| {
        let symbol = chunk.symbol.as_deref().unwrap_or("-");
        format!("{}-{} {:?} {symbol}\n", chunk.first_line, chunk.last_line, chunk.definition)
    };
    chunks.iter().map(row).collect()
}

/// All definitions of a text, before small ones are put together.
fn definitions(path: &str, text: &str) -> String {
    let Some(Language::Code(grammar)) = Language::of_file(path, text) else { panic!("{path} has no grammar") };
    let lines = Lines::new(text);
    let tree = parse::parse(grammar, text).expect("parsed");
    let mut rows = String::new();
    list(definitions::collect(grammar, &tree, &lines), &mut rows);
    rows
}

fn list(definitions: Vec<Definition>, rows: &mut String) {
    for it in definitions {
        let name = if it.names.is_empty() { format!("({})", it.label) } else { it.names.join(", ") };
        *rows += &format!("{}-{} {:?} {name}\n", it.rows.start + 1, it.rows.end, it.kind);
        list(it.children, rows);
    }
}

/// Panics unless the chunks cover each line once, in order, and hold what stands there.
fn assert_covers(text: &str, chunks: &[Chunk]) {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut next = 1;
    for chunk in chunks {
        assert_eq!(chunk.first_line, next, "gap or overlap in {}", table(chunks));
        assert!(chunk.last_line >= chunk.first_line, "{chunk:?}");
        let whole = lines[chunk.first_line as usize - 1..chunk.last_line as usize].concat();
        assert!(whole.starts_with(&chunk.text), "{chunk:?} is not what stands in its lines");
        assert!(chunk.text.len() == whole.len() || chunk.text.len() > 8000, "{chunk:?} was cut");
        next = chunk.last_line + 1;
    }
    assert_eq!(next as usize - 1, lines.len(), "lines are missing at the end");
}
