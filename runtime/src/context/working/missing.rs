//! What an epoch lacks of what the next step most likely needs: of the best windows the lines that do not stand in it yet.
//!
//! There is no threshold on the rank. So many tokens of the best windows as the horizon says are what a context composed afresh
//! would hold; whatever of them stands already costs nothing, and the rest is added a little at a time.

use super::happening::View;
use super::known_file::Moment;
use super::outputs::OutputWindow;
use super::ranking::{Ranked, Source};
use super::standing::{LinesOf, Standing};
use super::windows::Window;
use super::working_set::WorkingSet;
use std::collections::BTreeMap;

/// With a smaller share of its pairs missing, a window is left as it stands.
const MIN_MISSING: f64 = 0.05;

/// What stands around a run of lines, in bytes.
const RUN_BYTES: usize = 8;

/// How much may be added, and how far down the ranking is looked; in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MissingRoom {
    /// What is added has at most so many.
    pub(crate) bytes: usize,
    /// The windows that are looked at, missing or not, have so many.
    pub(crate) horizon_bytes: usize,
    /// What stands around the lines of one place costs so many.
    pub(crate) place_bytes: usize,
}

/// Where found lines are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FoundIn<'a> {
    /// A file, by the names it has.
    File {
        /// Relative to the workspace where it is in it.
        known: &'a str,
        /// As calls named it.
        shown: &'a str,
    },
    /// What was printed or said.
    Output {
        /// The number of what happened.
        number: u64,
        /// The event that told it.
        event: u64,
    },
}

/// Lines one behind the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundRun<'a> {
    /// The number of the first; `None` when nobody knows.
    pub(crate) first: Option<u32>,
    /// The lines.
    pub(crate) lines: Vec<&'a str>,
}

/// What was found in one place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FoundLines<'a> {
    /// Where.
    pub(crate) within: FoundIn<'a>,
    /// In order of lines.
    pub(crate) runs: Vec<FoundRun<'a>>,
    /// The best rank of them.
    pub(crate) score: f64,
}

/// All windows as they are ranked at one moment.
pub(crate) struct RankedWindows<'a>(Vec<Ranked<'a>>);

impl WorkingSet {
    /// What the next step most likely needs, best first.
    pub(crate) fn windows_now(&self) -> RankedWindows<'_> {
        RankedWindows(self.ranked())
    }

    /// This moment: what was seen up to now is not newer.
    pub(crate) const fn moment(&self) -> Moment {
        self.now
    }
}

impl<'a> RankedWindows<'a> {
    /// What is missing in `standing` of the best windows. What was said after `said_since` stands there as it was said.
    pub(crate) fn missing(&self, standing: &Standing, room: MissingRoom, said_since: Moment) -> Vec<FoundLines<'a>> {
        let mut taken = Taken::new(standing, room.bytes, room.place_bytes);
        let mut looked_at = 0;
        for ranked in &self.0 {
            let lines = lines_of(&ranked.source);
            looked_at += lines.iter().map(|line| line.len() + 1).sum::<usize>();
            if looked_at > room.horizon_bytes {
                break;
            }
            if !was_said_since(&ranked.source, said_since) {
                taken.take(found_in(&ranked.source), first_number(&ranked.source), &lines, ranked.score);
            }
        }
        taken.found
    }

    /// What is missing of `views` of the file at `path`: all of it when they have at most `whole_bytes`, otherwise its best
    /// windows within `room_bytes`.
    pub(crate) fn missing_of(
        &self,
        standing: &Standing,
        path: &'a str,
        views: &[View<'a>],
        whole_bytes: usize,
        room_bytes: usize,
    ) -> Vec<FoundRun<'a>> {
        let mut taken = Taken::new(standing, room_bytes, 0);
        let bytes: usize = views.iter().flat_map(|view| &view.lines).map(|line| line.len() + 1).sum();
        if bytes <= whole_bytes {
            taken.left = usize::MAX;
            for view in views {
                taken.take(FoundIn::File { known: path, shown: path }, Some(view.first), &view.lines, 0.0);
            }
        } else {
            for ranked in self.0.iter().filter(|ranked| is_inside(&ranked.source, path, views)) {
                let within = FoundIn::File { known: path, shown: path };
                taken.take(within, first_number(&ranked.source), &lines_of(&ranked.source), ranked.score);
            }
        }
        let mut runs: Vec<FoundRun<'a>> = taken.found.into_iter().flat_map(|found| found.runs).collect();
        runs.sort_by_key(|run| run.first);
        runs
    }
}

/// What was taken so far.
struct Taken<'a, 's> {
    standing: &'s Standing,
    /// What stands because it was taken.
    added: Standing,
    left: usize,
    place_bytes: usize,
    found: Vec<FoundLines<'a>>,
    places: BTreeMap<FoundIn<'a>, usize>,
}

impl<'a, 's> Taken<'a, 's> {
    fn new(standing: &'s Standing, room_bytes: usize, place_bytes: usize) -> Self {
        Self {
            standing,
            added: Standing::default(),
            left: room_bytes,
            place_bytes,
            found: Vec::new(),
            places: BTreeMap::new(),
        }
    }

    /// Takes what is missing of `lines`, when there is room for it.
    fn take(&mut self, within: FoundIn<'a>, first: Option<u32>, lines: &[&'a str], score: f64) {
        let of = within.lines();
        let missing = self.standing.missing_beside(&self.added, of, lines);
        if missing.runs.is_empty() || missing.share < MIN_MISSING {
            return;
        }
        let number = |at: usize| first.map(|first| first.saturating_add(u32::try_from(at).unwrap_or(u32::MAX)));
        let runs = missing
            .runs
            .into_iter()
            .map(|run| FoundRun { first: number(run.start), lines: lines.get(run).unwrap_or_default().to_vec() });
        let runs: Vec<FoundRun<'a>> = runs.collect();
        let bytes = |run: &FoundRun<'_>| run.lines.iter().map(|line| line.len() + 1).sum::<usize>() + RUN_BYTES;
        let known = self.places.get(&within).copied();
        let cost = runs.iter().map(bytes).sum::<usize>() + if known.is_some() { 0 } else { self.place_bytes };
        if cost > self.left {
            return;
        }
        self.left -= cost;
        for run in &runs {
            self.added.mark(of, run.lines.iter().copied(), 0);
        }
        let place = known.unwrap_or_else(|| {
            self.found.push(FoundLines { within, runs: Vec::new(), score });
            self.found.len() - 1
        });
        self.places.insert(within, place);
        if let Some(found) = self.found.get_mut(place) {
            found.runs.extend(runs);
            found.runs.sort_by_key(|run| run.first);
        }
    }
}

impl FoundIn<'_> {
    /// As what stands in an epoch knows it.
    pub(crate) fn lines(self) -> LinesOf {
        match self {
            Self::File { known, .. } => LinesOf::file(known),
            Self::Output { .. } => LinesOf::OUTPUTS,
        }
    }
}

fn lines_of<'a>(source: &Source<'a>) -> Vec<&'a str> {
    match source {
        Source::File { file, window, .. } => window.lines(file).into_iter().map(|(_, line)| line.shown()).collect(),
        Source::Output(output) => output.text.split('\n').collect(),
    }
}

fn found_in<'a>(source: &Source<'a>) -> FoundIn<'a> {
    match source {
        Source::File { path, file, .. } => FoundIn::File { known: path, shown: &file.shown },
        Source::Output(output) => FoundIn::Output { number: output.number, event: output.seq },
    }
}

fn first_number(source: &Source<'_>) -> Option<u32> {
    match source {
        Source::File { window, .. } => window.is_placed().then_some(window.numbers.0),
        Source::Output(OutputWindow { first, .. }) => u32::try_from(first + 1).ok(),
    }
}

fn was_said_since(source: &Source<'_>, since: Moment) -> bool {
    match source {
        Source::Output(output) => output.said && output.at > since,
        Source::File { .. } => false,
    }
}

fn is_inside(source: &Source<'_>, path: &str, views: &[View<'_>]) -> bool {
    let Source::File { path: of, window: Window { numbers: (first, last), .. }, .. } = source else { return false };
    let shows = |view: &View<'_>| {
        let lines = u32::try_from(view.lines.len()).unwrap_or(u32::MAX);
        view.first <= *first && *last < view.first.saturating_add(lines)
    };
    *of == path && *last > 0 && views.iter().any(shows)
}
