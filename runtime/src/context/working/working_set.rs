//! The working set itself: takes in what happens, and gives what the next step most likely needs.

use super::files::KnownFiles;
use super::happening::{Action, Happening, Outcome, Speaker};
use super::known_file::Moment;
use super::lists::{Commands, Places};
use super::name_counts::NameCounts;
use super::outputs::Outputs;
use super::ranking::{Ranked, ranked};
use super::recent::{RecentKind, RecentTexts};
use super::standing::Standing;
use super::transcript::Transcript;
use super::{calls, logged_calls::LoggedCalls};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// For how many events it is known when they were. What is kept word for word in a fresh epoch begins at one of them.
const MAX_MARKS: usize = 20_000;

/// What names count for: those of changes, of results, of all else.
const CHANGED_NAMES: f64 = 3.0;
const RESULT_NAMES: f64 = 0.5;
const OTHER_NAMES: f64 = 1.0;

/// What is known of a session's work: the newest text of its files, its outputs and commands, and what it is about.
///
/// A fold: it reads no clock and does no I/O, is the same however often it is interrupted, and is bounded however long the
/// session is (about 60 MiB at worst). The least recently touched files, the oldest outputs and the least recent commands go
/// first.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct WorkingSet {
    pub(super) files: KnownFiles,
    pub(super) outputs: Outputs,
    pub(super) commands: Commands,
    pub(super) places: Places,
    pub(super) transcript: Transcript,
    pub(super) names: Option<NameCounts>,
    /// How much has happened.
    pub(super) count: u64,
    pub(super) calls: LoggedCalls,
    /// What stands in the present epoch, and the first event whose words do.
    pub(super) standing: Standing,
    pub(super) epoch_from: u64,
    recent: RecentTexts,
    pub(super) now: Moment,
    pub(super) seq: u64,
    /// Events, with the moment before each.
    marks: VecDeque<(u64, Moment)>,
}

impl WorkingSet {
    /// One that also counts names, for contexts that are composed afresh.
    pub(crate) fn with_names() -> Self {
        Self { names: Some(NameCounts::default()), ..Self::default() }
    }

    /// One for the seeds of epochs only, which keep the newest steps word for word: it has no transcript of them.
    pub(crate) fn of_seeds() -> Self {
        Self { transcript: Transcript::off(), ..Self::default() }
    }

    /// The events from now on have this number or a higher one.
    pub(super) fn at_event(&mut self, seq: u64) {
        self.seq = seq;
        self.marks.push_back((seq, self.now));
        if self.marks.len() > MAX_MARKS {
            self.marks.pop_front();
        }
    }

    /// The moment before event `seq`; all that was seen later was seen in it or after it.
    pub(super) fn before(&self, seq: u64) -> Moment {
        let mark = self.marks.partition_point(|(marked, _)| *marked < seq);
        self.marks.get(mark).map_or(self.now, |(_, before)| *before)
    }

    /// All windows, best first.
    pub(super) fn ranked(&self) -> Vec<Ranked<'_>> {
        ranked(&self.files, &self.outputs, &self.recent.interest(), self.now)
    }

    /// Takes in what happened.
    pub(crate) fn take(&mut self, happening: &Happening<'_>) {
        let number = self.count;
        self.count += 1;
        let (text, names) = match happening {
            Happening::Said { text, .. } => (text, OTHER_NAMES),
            Happening::Called { action, text } => (text, if action.writes() { CHANGED_NAMES } else { OTHER_NAMES }),
            Happening::Came { text, .. } => (text, RESULT_NAMES),
        };
        self.now += text.len() as Moment / 4 + 1;
        self.transcript.add(number, happening);
        if let Some(counts) = &mut self.names {
            counts.add(number, text, names);
        }
        match happening {
            Happening::Said { by, text } => {
                self.outputs.add((number, self.seq), text, self.now, true);
                self.recent.add(RecentKind::Said(*by), text, false);
            }
            Happening::Called { action, text } => self.called(action, text),
            Happening::Came { action, outcome, text } => self.came(number, action, outcome, text),
        }
    }

    fn called(&mut self, action: &Action, text: &str) {
        self.standing.mark_written(action, self.seq);
        self.recent.add(RecentKind::Call { plans: *action == Action::Plan }, text, action.writes());
        if let Some(place) = action.place() {
            self.places.add(place);
        }
        if let Some(path) = action.path() {
            self.files.name(path);
        }
        if let Action::Run { command } = action {
            self.commands.add(command, self.seq);
        }
    }

    fn came(&mut self, number: u64, action: &Action, outcome: &Outcome<'_>, text: &str) {
        let at = self.now;
        self.mark_result(action, outcome, text);
        let prints = match action {
            Action::Run { .. } | Action::Other { .. } | Action::Plan | Action::Write { .. } => true,
            Action::Read { .. } | Action::Edit { .. } | Action::Search { .. } => false,
        };
        self.recent.add(RecentKind::Result { prints }, text, false);
        if matches!(action, Action::Run { .. } | Action::Other { .. }) {
            self.outputs.add((number, self.seq), text, at, false);
        }
        match (action, outcome) {
            (Action::Read { path, .. }, Outcome::Shown { views, whole }) => self.files.read(path, views, *whole, at),
            (Action::Edit { path, edits }, Outcome::Changed { views }) => self.files.edit(path, edits, views, at),
            (Action::Write { path, content }, Outcome::Changed { .. }) => self.files.write(path, content, at),
            (Action::Edit { path, .. } | Action::Write { path, .. }, Outcome::Unknown) => self.files.forget(path, at),
            (Action::Search { place, .. }, Outcome::Hits(hits)) => {
                let (place, workspace) = (place.as_deref().unwrap_or_default(), self.calls.workspace());
                self.files.found(hits, place, &|path| calls::within(workspace, path), at);
            }
            (Action::Run { command }, Outcome::Printed { ending }) => self.commands.ended(command, ending.as_deref()),
            _ => {
                if let Some(path) = action.path() {
                    self.files.touch(path, at);
                }
            }
        }
    }

    /// Somebody said something.
    pub(super) fn said(&mut self, by: Speaker, text: &str) {
        if !text.is_empty() {
            self.take(&Happening::Said { by, text });
        }
    }
}
