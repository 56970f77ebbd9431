//! The evidence of a session's items, as numbers: an identifier, line or pair that occurs more than once is one number.

use super::evidence;
use super::item::Item;
use super::measure::Measure;
use std::collections::HashMap;
use std::hash::Hash;

/// What of one kind of evidence occurs in a session.
#[derive(Debug)]
pub(super) struct Names<T> {
    codes: HashMap<T, u32>,
    names: Vec<T>,
    /// The item in which each occurs first.
    first: Vec<usize>,
}

impl<T: Copy + Eq + Hash> Names<T> {
    fn new() -> Self {
        Self { codes: HashMap::new(), names: Vec::new(), first: Vec::new() }
    }

    fn code(&mut self, name: T, item: usize) -> u32 {
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let code = *self.codes.entry(name).or_insert(next);
        if code == next {
            self.names.push(name);
            self.first.push(item);
        }
        code
    }

    /// The number of `name` and itself, if it occurs before item `at`.
    pub(super) fn known_before(&self, name: &T, at: usize) -> Option<(u32, T)> {
        let code = *self.codes.get(name)?;
        let (first, name) = (self.first.get(code as usize)?, self.names.get(code as usize)?);
        (*first < at).then_some((code, *name))
    }

    /// What stands behind `code`, if it occurs before item `at`.
    pub(super) fn before(&self, code: u32, at: usize) -> Option<T> {
        let first = self.first.get(code as usize)?;
        self.names.get(code as usize).copied().filter(|_| *first < at)
    }
}

/// The evidence in one item: by measure the numbers, each once, in order.
#[derive(Debug, Default)]
pub(super) struct ItemEvidence {
    codes: [Vec<u32>; 3],
}

impl ItemEvidence {
    /// The numbers of one measure.
    pub(super) fn codes(&self, measure: Measure) -> &[u32] {
        self.codes.get(measure as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether it holds `code`.
    pub(super) fn has(&self, measure: Measure, code: u32) -> bool {
        self.codes(measure).binary_search(&code).is_ok()
    }
}

/// All evidence of a session.
#[derive(Debug)]
pub(super) struct Lexicon<'s> {
    pub(super) ids: Names<&'s str>,
    pub(super) lines: Names<&'s str>,
    pub(super) pairs: Names<(&'s str, &'s str)>,
    /// By item.
    pub(super) items: Vec<ItemEvidence>,
}

impl<'s> Lexicon<'s> {
    /// The evidence in `items`.
    pub(super) fn of(items: &'s [Item]) -> Self {
        let mut lexicon = Self {
            ids: Names::new(),
            lines: Names::new(),
            pairs: Names::new(),
            items: Vec::with_capacity(items.len()),
        };
        for (at, item) in items.iter().enumerate() {
            let ids = evidence::identifiers(&item.text).map(|name| lexicon.ids.code(name, at)).collect();
            let lines = evidence::lines(&item.text).map(|line| lexicon.lines.code(line, at)).collect();
            let pairs = evidence::pairs(&item.text).map(|pair| lexicon.pairs.code(pair, at)).collect();
            let mut codes: [Vec<u32>; 3] = [ids, lines, pairs];
            for codes in &mut codes {
                codes.sort_unstable();
                codes.dedup();
                codes.shrink_to_fit();
            }
            lexicon.items.push(ItemEvidence { codes });
        }
        lexicon
    }
}
