//! An epoch under way: what it began with, and what was appended. Nothing in it is ever changed.

use super::recorded_work::RecordedWork;
use crate::bench::characters::tokens;
use crate::bench::composed::{Composed, Piece};
use crate::bench::item::{Item, ItemKind};
use crate::context::EpochRooms;
use crate::context::working::results::outcome;
use crate::context::working::{Action, FoundIn, FoundLines, FoundRun, LinesOf, Outcome, RankedWindows, Standing, cut};
use std::fmt::Write as _;

/// The share of the seed that is for the newest steps.
const TRANSCRIPT_SHARE: f64 = 0.1;

/// The most of a prompt, of a failed reading and of a failed change, in tokens.
const PROMPT_TOKENS: usize = 2_000;
const UNREAD_TOKENS: usize = 60;
const UNCHANGED_TOKENS: usize = 100;

/// How much of a cut text is its beginning.
const EVEN: f64 = 0.5;
const HITS_HEAD: f64 = 0.7;
const OUTPUT_HEAD: f64 = 0.4;

/// About how many bytes make a token.
const BYTES_PER_TOKEN: usize = 4;

/// What stands around the first lines of a file, in bytes.
const PLACE_BYTES: usize = 60;

/// A part of it.
#[derive(Debug, Clone)]
enum Part {
    /// An item, word for word.
    Item(usize),
    Text(String),
}

/// An epoch.
#[derive(Debug, Clone)]
pub(super) struct EpochTail {
    parts: Vec<(Part, u64)>,
    tokens: u64,
    standing: Standing,
    /// What was said later stands in it as it was said.
    said_since: u64,
    /// Up to which item it has everything.
    reached: usize,
}

impl EpochTail {
    /// A fresh one before item `at`.
    pub(super) fn begin(work: &RecordedWork<'_>, at: usize, rooms: &EpochRooms) -> Self {
        let (parts, standing) = work.set.begun(rooms.seed, TRANSCRIPT_SHARE);
        let mut epoch = Self { parts: Vec::new(), tokens: 0, standing, said_since: work.set.moment(), reached: at };
        parts.into_iter().for_each(|part| epoch.add(part));
        epoch
    }

    /// Its tokens.
    pub(super) const fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The items before this one stand in it.
    pub(super) const fn reached(&self) -> usize {
        self.reached
    }

    /// Appends what came up to item `at`, and then what is missing of what the next step most likely needs.
    pub(super) fn grow(&mut self, work: &RecordedWork<'_>, items: &[Item], at: usize, rooms: &EpochRooms) {
        let windows = work.set.windows_now();
        for place in self.reached..at {
            if let Some(item) = items.get(place) {
                self.append(place, item, work.action(place), &windows, rooms);
            }
        }
        self.reached = at;
        let room = rooms.missing(PLACE_BYTES);
        for FoundLines { within, runs, .. } in windows.missing(&self.standing, room, self.said_since) {
            self.show(within, &runs);
        }
    }

    /// Its parts in order.
    pub(super) fn composed<'e>(&'e self) -> Composed<'e> {
        let piece = |(part, tokens): &'e (Part, u64)| match part {
            Part::Item(at) => Piece::item(*at, *tokens),
            Part::Text(text) => Piece::text(text.as_str(), *tokens),
        };
        self.parts.iter().map(piece).collect::<Vec<Piece<'e>>>().into()
    }

    fn append(
        &mut self,
        at: usize,
        item: &Item,
        action: Option<&Action>,
        windows: &RankedWindows<'_>,
        rooms: &EpochRooms,
    ) {
        match (item.kind, action) {
            // What the model said goes back word for word.
            (ItemKind::Assistant | ItemKind::Thinking | ItemKind::ToolCall, _) => {
                self.tokens += item.tokens;
                self.parts.push((Part::Item(at), item.tokens));
                if let Some(action) = action {
                    self.standing.mark_written(action, 0);
                }
            }
            (ItemKind::User, _) => self.add(cut(&item.text, PROMPT_TOKENS, EVEN)),
            (ItemKind::Meta | ItemKind::Summary, _) => self.add(cut(&item.text, rooms.other, EVEN)),
            (ItemKind::ToolResult, None) => self.print(&item.text, rooms.other, OUTPUT_HEAD),
            (ItemKind::ToolResult, Some(action)) => match (action, outcome(action, &item.text, None, None)) {
                (Action::Read { path, .. }, Outcome::Shown { views, .. }) if !views.is_empty() => {
                    let (small, read) = (rooms.small * BYTES_PER_TOKEN, rooms.read * BYTES_PER_TOKEN);
                    let runs = windows.missing_of(&self.standing, &path.known, &views, small, read);
                    if runs.is_empty() {
                        self.add(format!("unchanged, stands above: {}", path.shown));
                    } else {
                        self.show(FoundIn::File { known: &path.known, shown: &path.shown }, &runs);
                    }
                }
                (Action::Read { .. }, _) => self.add(cut(&item.text, UNREAD_TOKENS, EVEN)),
                (Action::Edit { .. } | Action::Write { .. }, Outcome::Changed { .. }) | (Action::Plan, _) => {
                    self.add("ok".to_owned());
                }
                (Action::Edit { .. } | Action::Write { .. }, _) => self.add(cut(&item.text, UNCHANGED_TOKENS, EVEN)),
                (Action::Search { .. }, _) => self.print(&item.text, rooms.hits, HITS_HEAD),
                (Action::Run { .. }, _) => self.print(&item.text, rooms.result, OUTPUT_HEAD),
                (Action::Other { .. }, _) => self.print(&item.text, rooms.other, OUTPUT_HEAD),
            },
        }
    }

    /// The beginning and the end of an output.
    fn print(&mut self, text: &str, most_tokens: usize, head: f64) {
        let text = cut(text, most_tokens, head);
        self.standing.mark(LinesOf::OUTPUTS, text.split('\n'), 0);
        self.add(text);
    }

    /// Lines, with where they are from and their first numbers.
    fn show(&mut self, within: FoundIn<'_>, runs: &[FoundRun<'_>]) {
        let mut text = match within {
            FoundIn::File { shown, .. } => format!("## {shown}"),
            FoundIn::Output { number, .. } => format!("## {number}"),
        };
        let mut next = None;
        for run in runs {
            self.standing.mark(within.lines(), run.lines.iter().copied(), 0);
            if next.is_none() || next != run.first {
                let first = run.first.map_or_else(|| "?".to_owned(), |first| first.to_string());
                // Writing to a String cannot fail.
                let _ = write!(text, "\n@{first}");
            }
            for line in &run.lines {
                text.push('\n');
                text.push_str(line);
            }
            next = run.first.map(|first| first.saturating_add(u32::try_from(run.lines.len()).unwrap_or(u32::MAX)));
        }
        self.add(text);
    }

    fn add(&mut self, text: String) {
        let tokens = tokens(&text);
        self.tokens += tokens;
        self.parts.push((Part::Text(text), tokens));
    }
}
