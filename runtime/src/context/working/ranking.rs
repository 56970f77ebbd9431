//! Which windows the next step most likely needs: those of files touched just now, of what was read and is not yet edited,
//! of definitions of the names that the model speaks of, of lines that a compiler named.

use super::files::KnownFiles;
use super::known_file::{KnownFile, Moment};
use super::matching::{Filter, matching};
use super::outputs::{OutputWindow, Outputs};
use super::recent::Interest;
use super::weights::WEIGHTS;
use super::windows::{GRID, Window};
use super::words::{Bag, Word};
use std::collections::BTreeMap;

/// Nothing is older, in thousands of tokens.
const MAX_AGE: f64 = 200.0;

/// So far beside a window a line that was named still counts.
const PLACE_SLACK: u32 = 3;

/// At this distance from what was written last, in lines, two thirds of being close are gone.
const CLOSE_LINES: f64 = 60.0;

/// A window, whatever it is of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source<'a> {
    /// Of a file.
    File { path: &'a str, file: &'a KnownFile, window: &'a Window },
    /// Of anything else.
    Output(&'a OutputWindow),
}

/// A window with its rank: the higher the better.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranked<'a> {
    pub(super) source: Source<'a>,
    pub(super) score: f64,
}

/// What is the same for all windows of a file.
struct FileFacts<'a> {
    last_line: u32,
    newest_written: &'a [u32],
    places: &'a [u32],
    score: f64,
}

/// All windows, best first. The order does not depend on anything but what happened.
pub(super) fn ranked<'a>(
    files: &'a KnownFiles,
    outputs: &'a Outputs,
    interest: &Interest,
    now: Moment,
) -> Vec<Ranked<'a>> {
    let of_files = files
        .iter()
        .flat_map(|(path, file)| file.windows(path).all.iter().map(move |window| Source::File { path, file, window }));
    let sources: Vec<Source<'a>> = of_files.chain(outputs.iter().map(Source::Output)).collect();
    let bags: Vec<&Bag> = sources.iter().map(Source::words).collect();
    let fits = matching(&bags, &interest.words);
    let facts = file_facts(files, interest);
    let known_ids = Filter::of(interest.ids.iter().copied());
    let mut ranked = Vec::with_capacity(sources.len());
    for (place, source) in sources.iter().enumerate() {
        let [lately, said, call, change] = fits[place];
        let beside = [place.wrapping_sub(2), place.wrapping_sub(1), place + 1, place + 2];
        let beside = beside.into_iter().filter(|other| sources.get(*other).is_some_and(|other| other.is_with(source)));
        let near = beside.map(|other| fits[other][1]).fold(0.0, f64::max);
        let shared = |id: &&Word| known_ids.may_have(**id) && interest.ids.binary_search(id).is_ok();
        let ids = source.ids().iter().filter(shared).count() as f64;
        let words = WEIGHTS.lately * lately + WEIGHTS.now * said + WEIGHTS.call * call + WEIGHTS.change * change;
        let score = words + WEIGHTS.near * near + WEIGHTS.ids * ids.ln_1p() + WEIGHTS.age * age(source.seen(), now);
        let own = match source {
            Source::File { path, file, window } => {
                facts.get(path).map_or(0.0, |facts| of_file_window(file, window, facts, interest))
            }
            Source::Output(output) => WEIGHTS.message * yes(output.said),
        };
        ranked.push(Ranked { source: *source, score: score + own });
    }
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
    ranked
}

/// The logarithm of the thousands of tokens since `seen`.
fn age(seen: Moment, now: Moment) -> f64 {
    let age = if seen == 0 { MAX_AGE } else { now.saturating_sub(seen) as f64 / 1_000.0 };
    age.min(MAX_AGE).ln_1p()
}

fn file_facts<'a>(files: &'a KnownFiles, interest: &'a Interest) -> BTreeMap<&'a str, FileFacts<'a>> {
    let mut newest: Vec<(&str, &KnownFile)> = files.iter().collect();
    newest.sort_by_key(|(_, file)| (std::cmp::Reverse(file.touched), file.born));
    let first = newest.first().map_or("", |(path, _)| *path);
    let mut facts = BTreeMap::new();
    for (rank, (path, file)) in newest.into_iter().enumerate() {
        let base = base(path);
        let is_sibling = path != first && stem(path) == stem(first);
        let score = WEIGHTS.file_rank / (1.0 + rank as f64)
            + WEIGHTS.named * yes(interest.now.contains(base))
            + WEIGHTS.named_lately * yes(interest.prose.contains(base))
            + WEIGHTS.sibling * yes(is_sibling);
        facts.insert(
            path,
            FileFacts {
                last_line: file.lines().last().map_or(0, |line| line.number),
                newest_written: &file.windows(path).newest_written,
                places: interest.places.get(base).map_or(&[], Vec::as_slice),
                score,
            },
        );
    }
    facts
}

fn of_file_window(file: &KnownFile, window: &Window, facts: &FileFacts<'_>, interest: &Interest) -> f64 {
    let (first, last) = window.numbers;
    let is_placed = window.is_placed();
    let written = window.wrote > 0 && window.wrote >= window.read;
    let defined = window.defines.iter().filter(|name| interest.names.contains(name)).count().min(3);
    let inside = window.inside.is_some_and(|name| interest.names.contains(&name));
    let is_named = |line: &u32| (first.saturating_sub(PLACE_SLACK)..=last.saturating_add(PLACE_SLACK)).contains(line);
    let is_end = if is_placed { last.saturating_add(GRID) >= facts.last_line } else { facts.last_line == 0 };
    facts.score
        + WEIGHTS.written * yes(written)
        + WEIGHTS.last_read * yes(window.read > 0 && window.read == file.last_read)
        + WEIGHTS.place * yes(is_placed && facts.places.iter().any(is_named))
        + WEIGHTS.top * yes(is_placed && first <= 2 * GRID)
        + WEIGHTS.end * yes(is_end)
        + WEIGHTS.defines * defined as f64
        + WEIGHTS.inside * yes(inside)
        + WEIGHTS.close * distance(first, facts.newest_written).map_or(0.0, |lines| (-lines / CLOSE_LINES).exp())
}

/// How far `line` is from the closest of `lines`, which are in order.
fn distance(line: u32, lines: &[u32]) -> Option<f64> {
    let place = lines.partition_point(|other| *other < line);
    let beside = [place.checked_sub(1), Some(place)].into_iter().flatten().filter_map(|place| lines.get(place));
    beside.map(|other| f64::from(other.abs_diff(line))).min_by(f64::total_cmp)
}

const fn yes(is: bool) -> f64 {
    if is { 1.0 } else { 0.0 }
}

/// The file's name.
fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The file's name without its ending and without what makes it a test.
fn stem(path: &str) -> &str {
    let base = base(path);
    let stem = base.rsplit_once('.').map_or(base, |(stem, _)| stem);
    let stem = stem.strip_suffix("_test").or_else(|| stem.strip_suffix("_tests")).unwrap_or(stem);
    let stem = stem.strip_suffix(".test").unwrap_or(stem);
    stem.strip_prefix("test_").unwrap_or(stem)
}

impl<'a> Source<'a> {
    fn words(&self) -> &'a Bag {
        match self {
            Self::File { window, .. } => &window.words,
            Self::Output(output) => &output.facts().0,
        }
    }

    fn ids(&self) -> &'a [Word] {
        match self {
            Self::File { window, .. } => &window.ids,
            Self::Output(output) => &output.facts().1,
        }
    }

    fn seen(&self) -> Moment {
        match self {
            Self::File { window, .. } => window.seen(),
            Self::Output(output) => output.at,
        }
    }

    /// Whether both are of one file or of one output.
    fn is_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { path: one, .. }, Self::File { path: other, .. }) => one == other,
            (Self::Output(one), Self::Output(other)) => one.number == other.number,
            (Self::File { .. }, Self::Output(_)) | (Self::Output(_), Self::File { .. }) => false,
        }
    }
}
