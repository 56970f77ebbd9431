//! What the next action needs, and how much of it a context has.
//!
//! Needed is what the call uses *and* what occurred earlier in the session: nothing can be found that was never there.

use super::composed::{Body, Composed};
use super::evidence;
use super::item::Item;
use super::lexicon::Lexicon;
use super::measure::{Measure, Metric};
use std::collections::HashMap;
use std::hash::Hash;

/// Needed evidence of one kind: each has a slot.
#[derive(Debug)]
struct Wanted<T> {
    slots: HashMap<T, usize>,
    codes: Vec<u32>,
}

impl<T: Copy + Eq + Hash> Wanted<T> {
    fn of(found: impl Iterator<Item = (u32, T)>) -> Self {
        let mut wanted = Self { slots: HashMap::new(), codes: Vec::new() };
        for (code, name) in found {
            let next = wanted.codes.len();
            if *wanted.slots.entry(name).or_insert(next) == next {
                wanted.codes.push(code);
            }
        }
        wanted
    }

    /// Marks what is among `names`.
    fn mark(&self, names: impl Iterator<Item = T>, found: &mut [bool]) {
        if found.iter().all(|found| *found) {
            return;
        }
        for name in names {
            if let Some(found) = self.slots.get(&name).and_then(|slot| found.get_mut(*slot)) {
                *found = true;
            }
        }
    }
}

/// What a recorded call needs.
#[derive(Debug)]
pub(super) struct Need<'s> {
    ids: Wanted<&'s str>,
    lines: Wanted<&'s str>,
    pairs: Wanted<(&'s str, &'s str)>,
}

/// Which parts of a need were found: by measure, by slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found([Vec<bool>; 3]);

impl<'s> Need<'s> {
    /// What the call `items[at]` needs.
    pub(super) fn of(items: &'s [Item], lexicon: &Lexicon<'s>, at: usize) -> Self {
        let (call, known) = (items.get(at), lexicon.items.get(at));
        let codes = known.map_or(&[][..], |evidence| evidence.codes(Measure::Id));
        let ids = codes.iter().filter_map(|code| Some((*code, lexicon.ids.before(*code, at)?)));
        let replaced = call.map(Item::replaced).unwrap_or_default();
        let asked = ["command", "pattern"].iter().filter_map(|field| call?.input(field));
        let lines = replaced.iter().copied().chain(asked).flat_map(evidence::lines);
        let pairs = replaced.iter().copied().flat_map(evidence::pairs);
        Self {
            ids: Wanted::of(ids),
            lines: Wanted::of(lines.filter_map(|line| lexicon.lines.known_before(&line, at))),
            pairs: Wanted::of(pairs.filter_map(|pair| lexicon.pairs.known_before(&pair, at))),
        }
    }

    /// How much it needs of one kind.
    pub(super) fn size(&self, measure: Measure) -> usize {
        self.codes(measure).len()
    }

    fn codes(&self, measure: Measure) -> &[u32] {
        match measure {
            Measure::Id => &self.ids.codes,
            Measure::Line => &self.lines.codes,
            Measure::Pair => &self.pairs.codes,
        }
    }

    /// What of it is in `composed`.
    pub(super) fn find(&self, composed: &Composed<'_>, lexicon: &Lexicon<'s>) -> Found {
        let mut found = Found(Measure::ALL.map(|measure| vec![false; self.size(measure)]));
        for piece in &composed.pieces {
            match &piece.body {
                Body::Item(at) => self.find_in_item(*at, lexicon, &mut found),
                Body::Text(text) => self.find_in_text(text, &mut found),
            }
        }
        found
    }

    fn find_in_item(&self, at: usize, lexicon: &Lexicon<'s>, found: &mut Found) {
        let Some(evidence) = lexicon.items.get(at) else { return };
        for (measure, found) in Measure::ALL.into_iter().zip(&mut found.0) {
            for (code, found) in self.codes(measure).iter().zip(found.iter_mut()) {
                *found = *found || evidence.has(measure, *code);
            }
        }
    }

    fn find_in_text(&self, text: &str, found: &mut Found) {
        let Found([ids, lines, pairs]) = found;
        // The lifetimes of needed names and of this text differ, and a look-up wants them alike.
        let (needed_ids, needed_lines): (&Wanted<&str>, &Wanted<&str>) = (&self.ids, &self.lines);
        let needed_pairs: &Wanted<(&str, &str)> = &self.pairs;
        needed_ids.mark(evidence::identifiers(text), ids);
        needed_lines.mark(evidence::lines(text), lines);
        needed_pairs.mark(evidence::pairs(text), pairs);
    }
}

impl Found {
    /// The share of what is needed that was found, from 0 to 1; `near` is what the tail window has. `None` when nothing of
    /// the kind is needed.
    pub(super) fn share(&self, metric: Metric, near: &Self) -> Option<f64> {
        let place = metric.measure as usize;
        let (found, near) = (self.0.get(place)?, near.0.get(place)?);
        let counts = found.iter().zip(near).filter(|(_, near)| !(metric.old && **near));
        let (mut needed, mut there) = (0_u32, 0_u32);
        for (found, _) in counts {
            needed += 1;
            there += u32::from(*found);
        }
        (needed > 0).then(|| f64::from(there) / f64::from(needed))
    }
}
