//! The newest known text of a file: its lines by their numbers, with gaps where nothing was shown yet.
//!
//! Invariants: numbers rise strictly; as long as what is told is true, each line is as it stands in the file. An edit is
//! carried out on what is known, so that the lines behind it keep their right numbers. Bounded: so many lines, the least
//! recently seen go first.

use super::line_text::{self, LineText, kept};
use super::text_place::{TextPlace, places};
use super::windows::FileWindows;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, OnceLock};

/// The most lines of a file that are known.
pub(super) const MAX_LINES: usize = 20_000;

/// Pieces whose place is not known: how many, and the lines of each.
const MAX_LOOSE: usize = 6;
const LOOSE_LINES: usize = 200;

/// What a line takes beside its text, in bytes.
const LINE_OVERHEAD_BYTES: usize = 64;

/// Shorter lines are in every file: that one was written says nothing.
const TELLING_BYTES: usize = 4;

/// A moment: the tokens of all that had happened then. 0 is never.
pub(super) type Moment = u64;

/// A line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Line {
    /// Its number, from 1.
    pub(super) number: u32,
    /// Its text.
    #[serde(with = "line_text::one")]
    pub(super) text: Arc<LineText>,
    /// When it was last shown.
    pub(super) read: Moment,
    /// When it was last written.
    pub(super) wrote: Moment,
}

/// A piece that was written somewhere in the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Loose {
    /// When.
    pub(super) wrote: Moment,
    /// Its lines.
    #[serde(with = "line_text::several")]
    pub(super) lines: Vec<Arc<LineText>>,
}

/// A file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct KnownFile {
    /// Its path, as calls name it.
    pub(super) shown: String,
    /// How many files were known before it.
    pub(super) born: u64,
    /// When it was last read or written, or that was tried.
    pub(super) touched: Moment,
    /// When it was last read.
    pub(super) last_read: Moment,
    /// How often it was written.
    pub(super) writes: u32,
    lines: Vec<Line>,
    loose: VecDeque<Loose>,
    bytes: usize,
    #[serde(skip)]
    windows: OnceLock<FileWindows>,
}

impl KnownFile {
    /// A file of which nothing is known but its path.
    pub(super) fn new(path: &str, born: u64) -> Self {
        Self { shown: path.to_owned(), born, ..Self::default() }
    }

    /// Its lines.
    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Its pieces without a place, the oldest first.
    pub(super) const fn loose(&self) -> &VecDeque<Loose> {
        &self.loose
    }

    /// About how much memory its text takes, in bytes.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Its windows, cut when they are first asked for after a change.
    pub(super) fn windows(&self, path: &str) -> &FileWindows {
        self.windows.get_or_init(|| FileWindows::of(path, self))
    }

    /// Lines were shown. `whole`: the file has no others. `written`: these are new.
    pub(super) fn show(&mut self, first: u32, texts: &[&str], at: Moment, whole: bool, written: &HashSet<&str>) {
        let texts = &texts[..texts.len().min(MAX_LINES)];
        let end = u64::from(first) + texts.len() as u64;
        let from = self.lines.partition_point(|line| line.number < first);
        let to = self.lines.partition_point(|line| u64::from(line.number) < end);
        let was: HashMap<&str, &Line> = self.lines[from..to].iter().map(|line| (line.text.text(), line)).collect();
        let line = |(place, text): (usize, &&str)| {
            let known = was.get(kept(text));
            let is_new = text.len() >= TELLING_BYTES && written.contains(text);
            Line {
                number: first.saturating_add(u32::try_from(place).unwrap_or(u32::MAX)),
                text: known.map_or_else(|| LineText::new(text), |line| Arc::clone(&line.text)),
                read: at,
                wrote: if is_new { at } else { known.map_or(0, |line| line.wrote) },
            }
        };
        let fresh: Vec<Line> = texts.iter().enumerate().map(line).collect();
        let range = if whole { 0..self.lines.len() } else { from..to };
        self.bytes = (self.bytes + sizes(&fresh)).saturating_sub(sizes(&self.lines[range.clone()]));
        self.lines.splice(range, fresh);
        self.changed();
    }

    /// `old` was replaced by `new`, once or `every`where. Whether it was found in what is known.
    pub(super) fn replace(&mut self, old: &str, new: &str, every: bool, at: Moment) -> bool {
        let places = places(&self.lines, old, every);
        if places.is_empty() {
            return false;
        }
        let changes = self.changes(&places, new);
        let mut lines = std::mem::take(&mut self.lines).into_iter();
        let mut edited = Vec::with_capacity(lines.len());
        let (mut done, mut shift) = (0, 0_i64);
        for (from, to, text) in changes {
            edited.extend(lines.by_ref().take(from - done).map(|line| line.shifted(shift)));
            let was: Vec<Line> = lines.by_ref().take(to + 1 - from).collect();
            let fresh = rewritten(&was, &text, shift, at);
            self.bytes = (self.bytes + sizes(&fresh)).saturating_sub(sizes(&was));
            shift += fresh.len() as i64 - was.len() as i64;
            edited.extend(fresh);
            done = to + 1;
        }
        edited.extend(lines.map(|line| line.shifted(shift)));
        self.lines = edited;
        self.changed();
        true
    }

    /// The lines that get another text, from one to another, and that text. Places that share a line change together.
    fn changes(&self, places: &[TextPlace], new: &str) -> Vec<(usize, usize, String)> {
        let text = |line: usize| self.lines.get(line).map_or("", |line| line.text.text());
        let (mut changes, mut places) = (Vec::new(), places.iter().peekable());
        while let Some(TextPlace { from, to }) = places.next() {
            let (first, mut end) = (from.0, *to);
            let mut changed = text(first)[..from.1].to_owned();
            changed.push_str(new);
            while let Some(here) = places.next_if(|here| here.from.0 == end.0) {
                changed.push_str(&text(end.0)[end.1..here.from.1]);
                changed.push_str(new);
                end = here.to;
            }
            changed.push_str(&text(end.0)[end.1..]);
            changes.push((first, end.0, changed));
        }
        changes
    }

    /// Behind line `first`, `more` lines came in; fewer than 0: so many are gone.
    pub(super) fn shift(&mut self, first: u32, more: i64) {
        let from = self.lines.partition_point(|line| line.number <= first);
        let behind = self.lines.split_off(from);
        let moved = behind.into_iter().map(|line| line.shifted(more));
        self.lines.extend(moved.filter(|line| line.number > first));
        self.bytes = sizes(&self.lines) + self.loose_bytes();
        self.changed();
    }

    /// `text` was written somewhere.
    pub(super) fn write_somewhere(&mut self, text: &str, at: Moment) {
        let lines = text.split('\n').take(LOOSE_LINES).map(LineText::new).collect();
        self.loose.push_back(Loose { wrote: at, lines });
        if self.loose.len() > MAX_LOOSE {
            self.loose.pop_front();
        }
        self.bytes = sizes(&self.lines) + self.loose_bytes();
        self.changed();
    }

    /// Nobody knows any more what is in it.
    pub(super) fn forget(&mut self) {
        self.lines.clear();
        self.loose.clear();
        self.bytes = 0;
        self.changed();
    }

    fn changed(&mut self) {
        self.windows = OnceLock::new();
        if self.lines.len() > MAX_LINES {
            self.drop_oldest();
            self.bytes = sizes(&self.lines) + self.loose_bytes();
        }
    }

    fn loose_bytes(&self) -> usize {
        self.loose.iter().flat_map(|loose| &loose.lines).map(size).sum()
    }

    /// Drops the lines that were seen longest ago; of those seen together the last ones.
    fn drop_oldest(&mut self) {
        let mut seen: Vec<Moment> = self.lines.iter().map(Line::seen).collect();
        let (_, limit, _) = seen.select_nth_unstable_by(MAX_LINES, |one, other| other.cmp(one));
        let limit = *limit;
        let mut room = MAX_LINES - self.lines.iter().filter(|line| line.seen() > limit).count();
        self.lines.retain(|line| {
            let is_kept = line.seen() > limit || (line.seen() == limit && room > 0);
            room -= usize::from(is_kept && line.seen() == limit);
            is_kept
        });
    }
}

/// The lines `was` with the text that they have now.
fn rewritten(was: &[Line], text: &str, shift: i64, at: Moment) -> Vec<Line> {
    let first = was.first().map_or(1, |line| line.clone().shifted(shift).number);
    let known: HashMap<&str, &Line> = was.iter().map(|line| (line.text.text(), line)).collect();
    let line = |(place, text): (usize, &str)| {
        let number = first.saturating_add(u32::try_from(place).unwrap_or(u32::MAX));
        match known.get(kept(text)) {
            Some(line) => Line { number, ..(*line).clone() },
            None => Line { number, text: LineText::new(text), read: at, wrote: at },
        }
    };
    text.split('\n').enumerate().map(line).collect()
}

impl Line {
    /// When it was last shown or written.
    pub(super) fn seen(&self) -> Moment {
        self.read.max(self.wrote)
    }

    fn shifted(self, by: i64) -> Self {
        let number = (i64::from(self.number) + by).clamp(1, i64::from(u32::MAX));
        Self { number: u32::try_from(number).unwrap_or(u32::MAX), ..self }
    }
}

/// About how much memory a line takes, in bytes, without what is counted in it.
fn size(text: &Arc<LineText>) -> usize {
    text.text().len() + LINE_OVERHEAD_BYTES
}

fn sizes(lines: &[Line]) -> usize {
    lines.iter().map(|line| size(&line.text)).sum()
}
