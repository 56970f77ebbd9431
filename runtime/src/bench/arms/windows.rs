//! Windows of files seen before: ten lines each and the one behind them.

use crate::bench::characters::{first, length, strip};
use crate::bench::evidence::{self, without_line_number};
use crate::bench::item::{Item, ItemKind};
use crate::bench::words::{Bag, Vocabulary};
use std::collections::HashMap;

/// Lines from the beginning of a window to that of the next; a window has one more.
const STRIDE_LINES: usize = 10;

/// How much of an output is cut into windows, in lines.
const MAX_LINES: usize = 4_000;

/// How much of a line is kept, in characters.
const LINE_CHARS: usize = 240;

/// Shorter lines (stripped) are in every file.
const TELLING_CHARS: usize = 8;

/// A window must have so much in characters that no newer window of the file has.
const FRESH_SHARE: f64 = 0.4;

/// Tools whose results show text of files; by the names that they have here and in other agents.
const SHOWING: [&str; 13] = [
    "Read",
    "Edit",
    "Write",
    "MultiEdit",
    "Grep",
    "Bash",
    "Task",
    "read_file",
    "edit_file",
    "write_file",
    "search_files",
    "bash",
    "delegate",
];

/// A window of an item.
pub(super) struct Window<'s> {
    /// The item it is from.
    pub(super) item: usize,
    /// The file, or nothing.
    pub(super) path: &'s str,
    /// Path and text, as they are shown.
    pub(super) shown: String,
    /// What it costs to show it, in tokens.
    pub(super) tokens: u64,
    /// The lines of its text as evidence, each once, by their numbers.
    pub(super) lines: Vec<u32>,
    /// The words of path and text.
    pub(super) words: Bag,
    /// Its rows: the characters of each, and the number of the row in its file; `None` when it tells nothing.
    rows: Vec<(usize, Option<u32>)>,
}

/// All windows of a session.
pub(super) struct Windows<'s> {
    /// In order of their items.
    pub(super) all: Vec<Window<'s>>,
    /// The words in them.
    pub(super) vocabulary: Vocabulary,
    /// The numbers of lines as evidence.
    line_codes: HashMap<String, u32>,
    /// How many different rows of files there are.
    file_rows: usize,
}

impl<'s> Windows<'s> {
    /// Cuts what `items` show of files.
    pub(super) fn of(items: &'s [Item]) -> Self {
        let mut windows =
            Self { all: Vec::new(), vocabulary: Vocabulary::default(), line_codes: HashMap::new(), file_rows: 0 };
        let mut file_rows = HashMap::new();
        for (place, item) in items.iter().enumerate() {
            if item.kind != ItemKind::ToolResult || !SHOWING.contains(&item.tool.as_str()) {
                continue;
            }
            let rows: Vec<&'s str> = item.text.split('\n').take(MAX_LINES).map(|row| first(row, LINE_CHARS)).collect();
            for start in (0..rows.len()).step_by(STRIDE_LINES) {
                let end = rows.len().min(start + STRIDE_LINES + 1);
                windows.add(place, &item.path, rows.get(start..end).unwrap_or_default(), &mut file_rows);
            }
        }
        windows.file_rows = file_rows.len();
        windows
    }

    fn add(&mut self, item: usize, path: &'s str, rows: &[&'s str], file_rows: &mut HashMap<(&'s str, &'s str), u32>) {
        let text = rows.join("\n");
        let numbered = |row: &&'s str| {
            let bare = strip(without_line_number(row));
            let tells = !path.is_empty() && length(bare) >= TELLING_CHARS;
            let next = u32::try_from(file_rows.len()).unwrap_or(u32::MAX);
            (length(row), tells.then(|| *file_rows.entry((path, bare)).or_insert(next)))
        };
        let numbered = rows.iter().map(numbered).collect();
        let mut lines = Vec::new();
        for line in evidence::lines(&text) {
            let next = u32::try_from(self.line_codes.len()).unwrap_or(u32::MAX);
            lines.push(match self.line_codes.get(line) {
                Some(code) => *code,
                None => *self.line_codes.entry(line.to_owned()).or_insert(next),
            });
        }
        lines.sort_unstable();
        lines.dedup();
        self.all.push(Window {
            item,
            path,
            tokens: ((length(&text) + length(path)) / 4) as u64 + 2,
            lines,
            words: self.vocabulary.bag(&format!("{path} {text}")),
            rows: numbered,
            shown: format!("{path}\n{text}"),
        });
    }

    /// The windows of items before `at`, the newest item first, without those whose text newer windows of the file have.
    pub(super) fn fresh(&self, at: usize) -> Vec<usize> {
        let mut fresh = Vec::new();
        let mut seen = vec![false; self.file_rows];
        let mut end = self.all.partition_point(|window| window.item < at);
        while let Some(item) = end.checked_sub(1).and_then(|last| self.all.get(last)).map(|window| window.item) {
            let start = self.all.partition_point(|window| window.item < item);
            for place in start..end {
                let Some(window) = self.all.get(place) else { continue };
                if window.path.is_empty() || window.is_fresh(&mut seen) {
                    fresh.push(place);
                }
            }
            end = start;
        }
        fresh
    }

    /// The numbers of the lines of `text` that are in windows.
    pub(super) fn line_codes(&self, text: &str) -> impl Iterator<Item = u32> {
        evidence::lines(text).filter_map(|line| self.line_codes.get(line).copied())
    }

    /// How many different lines there are in windows.
    pub(super) fn lines(&self) -> usize {
        self.line_codes.len()
    }
}

impl Window<'_> {
    /// Whether enough of it was not `seen`; then it is from now on.
    fn is_fresh(&self, seen: &mut [bool]) -> bool {
        let is_seen = |row: &Option<u32>| row.is_some_and(|row| seen.get(row as usize).is_some_and(|seen| *seen));
        let (mut all, mut new) = (0, 0);
        for (chars, row) in &self.rows {
            all += chars;
            new += if is_seen(row) { 0 } else { *chars };
        }
        if (new as f64) < FRESH_SHARE * all as f64 {
            return false;
        }
        for row in self.rows.iter().filter_map(|(_, row)| *row) {
            if let Some(seen) = seen.get_mut(row as usize) {
                *seen = true;
            }
        }
        true
    }
}
