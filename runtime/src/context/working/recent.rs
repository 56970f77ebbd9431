//! What was said, called and printed in the newest moments, and what a ranking asks of it: what the model is about.

use super::happening::Speaker;
use super::words::{Word, first, hash, identifiers, names, set, words};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::LazyLock;

/// How far back words count, in happenings.
const REACH: usize = 59;

/// How much of a text is kept, in bytes.
const KEPT_BYTES: usize = 6_000;

/// How far back a file's name counts as said, and what counts as being said now, in happenings.
const PROSE_REACH: usize = 7;
const NOW_REACH: usize = 10;

/// How far back places like `main.rs:12` are looked for, in happenings.
const PLACES_REACH: usize = 11;

/// How much of what was said counts for names, in bytes.
const SAID_BYTES: usize = 2_500;

/// What the words of the newest texts of the model weigh, and those of its newest calls.
const SAID: [f64; 4] = [3.0, 2.0, 1.2, 0.8];
const CALLED: [f64; 4] = [1.5, 1.0, 0.7, 0.5];

/// What those of the newest prompt weigh, and those of the plan.
const ASKED: f64 = 1.5;
const PLANNED: f64 = 1.0;

/// A place in a file, as compilers and tests name it.
static PLACE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"((?-u:[\w./-])+\.(?-u:\w){1,5}):([0-9]{1,9})").ok());

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum RecentKind {
    /// Words.
    Said(Speaker),
    /// A call; whether it writes the plan.
    Call { plans: bool },
    /// A result; whether it is no text of a file.
    Result { prints: bool },
}

/// A text.
#[derive(Debug, Serialize, Deserialize)]
struct Recent {
    kind: RecentKind,
    text: Box<str>,
}

/// The newest texts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct RecentTexts {
    texts: VecDeque<Recent>,
    call: String,
    change: String,
}

/// What the model is about.
#[derive(Debug, Default)]
pub(super) struct Interest {
    /// Words with their weights: in all that was said and called; in what is said now, in the newest call, in the newest change.
    pub(super) words: BTreeMap<Word, [f64; 4]>,
    /// What is said now.
    pub(super) now: String,
    /// The names in it.
    pub(super) names: BTreeSet<Word>,
    /// What was said lately.
    pub(super) prose: String,
    /// The identifiers in it.
    pub(super) ids: Box<[Word]>,
    /// Lines of files that were named, by the file's name.
    pub(super) places: BTreeMap<String, Vec<u32>>,
}

impl RecentTexts {
    /// Takes in a text; `changes` says whether it is a call that changes a file.
    pub(super) fn add(&mut self, kind: RecentKind, text: &str, changes: bool) {
        if self.texts.len() >= REACH {
            self.texts.pop_front();
        }
        self.texts.push_back(Recent { kind, text: first(text, KEPT_BYTES).into() });
        if kind == (RecentKind::Call { plans: false }) {
            first(text, 1_500).clone_into(&mut self.call);
            if changes {
                first(text, 3_000).clone_into(&mut self.change);
            }
        }
    }

    /// What the model is about.
    pub(super) fn interest(&self) -> Interest {
        let prose: Vec<&str> = self.said(PROSE_REACH).collect();
        let prose = prose.join(" ");
        let now = self.said(NOW_REACH).take(2).collect::<Vec<_>>().join(" ");
        let mut interest = Interest {
            words: BTreeMap::new(),
            names: names(&now).collect(),
            ids: set(identifiers(&prose).map(hash)),
            places: self.places(),
            now,
            prose,
        };
        self.weigh(&mut interest.words);
        for (column, text) in [(1, &interest.now), (2, &self.call), (3, &self.change)] {
            add(&mut interest.words, text, column, 1.0);
        }
        interest
    }

    /// What was said by people and by the model in the newest texts, the newest first.
    fn said(&self, reach: usize) -> impl Iterator<Item = &str> {
        let newest = self.texts.iter().rev().take(reach).filter(|recent| recent.is_said());
        newest.map(|recent| first(&recent.text, SAID_BYTES))
    }

    /// The words of all newest texts, by how much they count.
    fn weigh(&self, into: &mut BTreeMap<Word, [f64; 4]>) {
        let (mut said, mut called, mut asked) = (SAID.into_iter(), CALLED.into_iter(), Some(ASKED));
        for Recent { kind, text } in self.texts.iter().rev() {
            let weight = match kind {
                RecentKind::Said(Speaker::Model | Speaker::Thought) => said.next().map(|weight| (weight, 2_000)),
                RecentKind::Said(Speaker::User) => asked.take().map(|weight| (weight, 1_500)),
                RecentKind::Call { .. } => called.next().map(|weight| (weight, 800)),
                RecentKind::Said(Speaker::Program | Speaker::Summary) | RecentKind::Result { .. } => None,
            };
            if let Some((weight, bytes)) = weight {
                add(into, first(text, bytes), 0, weight);
            }
            if *kind == (RecentKind::Call { plans: true }) {
                add(into, first(text, 3_000), 0, PLANNED);
            }
        }
    }

    fn places(&self) -> BTreeMap<String, Vec<u32>> {
        let mut places: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        let newest = self.texts.iter().rev().take(PLACES_REACH);
        let telling = newest.filter(|recent| recent.is_said() || recent.kind == (RecentKind::Result { prints: true }));
        for found in telling.flat_map(|recent| PLACE.iter().flat_map(|place| place.captures_iter(&recent.text))) {
            let (path, line) = (found.get(1), found.get(2).and_then(|line| line.as_str().parse().ok()));
            let name = path.and_then(|path| path.as_str().rsplit('/').next());
            if let Some((name, line)) = name.zip(line) {
                places.entry(name.to_owned()).or_default().push(line);
            }
        }
        places
    }
}

impl Recent {
    const fn is_said(&self) -> bool {
        matches!(self.kind, RecentKind::Said(Speaker::User | Speaker::Model | Speaker::Thought))
    }
}

fn add(into: &mut BTreeMap<Word, [f64; 4]>, text: &str, column: usize, weight: f64) {
    words(text, |word| {
        if let Some(known) = into.entry(word).or_default().get_mut(column) {
            *known = known.max(weight);
        }
    });
}
