//! Windows of what is in no file: outputs of commands, and what was said. Bounded: the oldest go first.

use super::known_file::Moment;
use super::windows::GRID;
use super::words::{Bag, Word, first, hash, identifiers, set};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::OnceLock;

/// The most windows.
const MAX_WINDOWS: usize = 3_000;

/// How much of one text is cut into windows, in lines.
pub(super) const MAX_LINES: usize = 3_000;

/// How much of a line is kept, in bytes.
pub(super) const LINE_BYTES: usize = 300;

/// Shorter windows say nothing, in bytes.
const MIN_BYTES: usize = 20;

/// A window.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OutputWindow {
    /// The number of what it is from, counted from the session's beginning.
    pub(super) number: u64,
    /// The event that told it.
    pub(super) seq: u64,
    /// Its first line, from 0.
    pub(super) first: usize,
    /// Its text.
    pub(super) text: Box<str>,
    /// When it came.
    pub(super) at: Moment,
    /// Whether somebody said it; otherwise it is an output.
    pub(super) said: bool,
    #[serde(skip)]
    facts: OnceLock<(Bag, Box<[Word]>)>,
}

impl OutputWindow {
    /// Its words, and its identifiers.
    pub(super) fn facts(&self) -> &(Bag, Box<[Word]>) {
        self.facts.get_or_init(|| (Bag::of_text(&self.text), set(identifiers(&self.text).map(hash))))
    }
}

/// Windows, the oldest first.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Outputs {
    windows: VecDeque<OutputWindow>,
}

impl Outputs {
    /// All of them, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &OutputWindow> {
        self.windows.iter()
    }

    /// Takes in a text.
    pub(super) fn add(&mut self, (number, seq): (u64, u64), text: &str, at: Moment, said: bool) {
        let mut lines = text.split('\n').take(MAX_LINES).map(|line| first(line, LINE_BYTES)).peekable();
        let mut start = 0;
        while lines.peek().is_some() {
            let window: Vec<&str> = lines.by_ref().take(GRID as usize).collect();
            let text = window.join("\n");
            if text.len() > MIN_BYTES {
                let text = text.into_boxed_str();
                self.windows.push_back(OutputWindow {
                    number,
                    seq,
                    first: start,
                    text,
                    at,
                    said,
                    facts: OnceLock::new(),
                });
            }
            start += window.len();
        }
        let surplus = self.windows.len().saturating_sub(MAX_WINDOWS);
        self.windows.drain(..surplus);
    }
}
