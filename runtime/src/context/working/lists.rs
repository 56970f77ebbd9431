//! The distinct commands and places of a session, by when they were last named. Bounded: the least recent go first.

use super::words::first;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The most commands, and how much of one is kept, in bytes.
const MAX_COMMANDS: usize = 300;
const COMMAND_BYTES: usize = 1_000;

/// The most places, and the longest, in bytes.
const MAX_PLACES: usize = 400;
const PLACE_BYTES: usize = 400;

/// A command that was run.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Command {
    /// As it was typed, as far as it is kept.
    pub(super) text: String,
    /// How it ended last; `None` when nobody said so.
    pub(super) ending: Option<String>,
    /// The event that ran it last.
    pub(super) seq: u64,
}

/// Commands, the newest last.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Commands(VecDeque<Command>);

impl Commands {
    /// It is run.
    pub(super) fn add(&mut self, command: &str, seq: u64) {
        let text = first(command, COMMAND_BYTES);
        if let Some(place) = self.0.iter().position(|known| known.text == text) {
            self.0.remove(place);
        }
        self.0.push_back(Command { text: text.to_owned(), ending: None, seq });
        if self.0.len() > MAX_COMMANDS {
            self.0.pop_front();
        }
    }

    /// It ended.
    pub(super) fn ended(&mut self, command: &str, ending: Option<&str>) {
        let text = first(command, COMMAND_BYTES);
        if let Some(known) = self.0.iter_mut().rev().find(|known| known.text == text) {
            known.ending = ending.map(str::to_owned);
        }
    }

    /// The newest first.
    pub(super) fn newest(&self) -> impl Iterator<Item = &Command> {
        self.0.iter().rev()
    }
}

/// Files and folders that calls named, the newest last.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Places(VecDeque<String>);

impl Places {
    /// It is named.
    pub(super) fn add(&mut self, place: &str) {
        if !place.contains('/') || place.len() > PLACE_BYTES || place.contains('\n') {
            return;
        }
        let known = self.0.iter().position(|known| known == place).and_then(|known| self.0.remove(known));
        self.0.push_back(known.unwrap_or_else(|| place.to_owned()));
        if self.0.len() > MAX_PLACES {
            self.0.pop_front();
        }
    }

    /// As many as fit into `bytes`, the newest first, a line each; without those that stand in `there`.
    pub(super) fn text(&self, bytes: usize, there: &str) -> String {
        let mut text = String::new();
        for place in self.0.iter().rev().filter(|place| !there.contains(place.trim_matches('/'))) {
            if text.len() + place.len() + 1 > bytes {
                break;
            }
            text.push_str(place);
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        text
    }
}
