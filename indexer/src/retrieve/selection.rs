//! Which candidates become hits. Several hits about one file say less than hits about several files, and a second part of one
//! event says less than another event: so each event is taken once, and a score halves with every hit about the same files (or
//! with the same text) that was taken before.

use crate::document::{Document, DocumentKind};
use crate::retrieve::weights::AGAIN;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// One that may be taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice<'a> {
    /// Its source and document.
    pub(super) source: usize,
    pub(super) document: &'a Document,
    pub(super) score: f32,
}

/// The places of those that are taken, best first; `fits` is asked about each in turn, and may still turn one down.
pub(super) fn select(choices: &[Choice<'_>], limit: usize, mut fits: impl FnMut(usize) -> Verdict) -> Vec<usize> {
    let mut taken = Vec::new();
    let mut events = HashSet::new();
    let mut topics: HashMap<u64, i32> = HashMap::new();
    let mut heap: BinaryHeap<Ranked<'_>> =
        (0..).zip(choices).map(|(place, choice)| Ranked::new(place, choice, 0)).collect();
    while let Some(best) = heap.pop() {
        if taken.len() >= limit {
            break;
        }
        let event = event_of(&best.choice);
        if events.contains(&event) {
            continue;
        }
        let topic = topic_of(best.choice.document);
        let before = topics.get(&topic).copied().unwrap_or(0);
        if before > best.before {
            heap.push(Ranked::new(best.place, &best.choice, before));
            continue;
        }
        match fits(best.place) {
            Verdict::Take => {
                taken.push(best.place);
                events.insert(event);
                *topics.entry(topic).or_default() += 1;
            }
            Verdict::Skip => {}
            Verdict::Stop => break,
        }
    }
    taken
}

/// What becomes of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Take,
    Skip,
    Stop,
}

/// An event is taken once; a piece of code or a summary is one by itself.
fn event_of<'a>(choice: &Choice<'a>) -> (usize, &'a str, &'a str, u64) {
    let document = choice.document;
    match document.kind {
        DocumentKind::Code | DocumentKind::Summary => (choice.source, document.key.as_str(), "", 0),
        DocumentKind::Prompt
        | DocumentKind::Answer
        | DocumentKind::Thinking
        | DocumentKind::Call
        | DocumentKind::Result
        | DocumentKind::Note => (choice.source, "", document.stream.as_str(), document.seq),
    }
}

/// What a document is about: its files, or else its very text.
fn topic_of(document: &Document) -> u64 {
    let mut hasher = DefaultHasher::new();
    if document.paths.is_empty() {
        document.text.hash(&mut hasher)
    } else {
        document.paths.hash(&mut hasher)
    }
    hasher.finish()
}

/// A choice in the order in which it is looked at: by what is left of its score, then the newer, then by key.
struct Ranked<'a> {
    place: usize,
    choice: Choice<'a>,
    before: i32,
    left: f32,
}

impl<'a> Ranked<'a> {
    fn new(place: usize, choice: &Choice<'a>, before: i32) -> Self {
        let factor = AGAIN.powi(before.min(30));
        let left = if choice.score > 0.0 { choice.score * factor } else { choice.score - (1.0 - factor) };
        Self { place, choice: *choice, before, left }
    }
}

impl Ord for Ranked<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (one, two) = (self.choice.document, other.choice.document);
        let by_score = self.left.total_cmp(&other.left).then(one.at_ms.cmp(&two.at_ms));
        by_score.then_with(|| two.key.cmp(&one.key)).then_with(|| other.choice.source.cmp(&self.choice.source))
    }
}

impl PartialOrd for Ranked<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked<'_> {}
