//! A simple working set: two thirds tail with capped outputs, the distinct commands, the touched paths, and for the rest
//! windows of files seen before, ranked by the words of the plan, by what was touched or named just now, and by age.

use super::interest::Interest;
use super::tail::{Caps, Tail};
use super::windows::Windows;
use super::{Arm, Ask, Composer};
use crate::bench::characters::{length, tokens, tokens_of};
use crate::bench::composed::{Body, Composed, Piece};
use crate::bench::session::BenchSession;
use crate::bench::words::Bm25;
use std::collections::HashMap;

/// The tail's share of the budget.
const TAIL_SHARE: f64 = 0.65;

/// How the tail caps outputs, in tokens.
const CAPS: Caps = Caps { each_tokens: Some(300), newest_result_tokens: Some(1_500) };

/// The budgets of commands and of paths, in tokens.
const COMMANDS_TOKENS: u64 = 300;
const PATHS_TOKENS: u64 = 200;

/// Longer commands and paths are left out, in characters.
const MAX_CHARS: usize = 400;

/// So close to the budget no other window is looked for, in tokens.
const CLOSE_TOKENS: u64 = 60;

/// After so many items a window has lost two thirds of what age can take from it.
const AGE_ITEMS: f64 = 60.0;

/// Windows of files.
pub(super) struct WorksetArm;

impl Arm for WorksetArm {
    fn name(&self) -> &'static str {
        "workset"
    }

    fn about(&self) -> &'static str {
        "tail with capped outputs, commands, paths, and windows of files seen before"
    }

    fn open<'s>(&self, session: &'s BenchSession) -> Box<dyn Composer + 's> {
        let windows = Windows::of(&session.items);
        let codes = |text: &str| windows.line_codes(text).collect();
        let item_lines = session.items.iter().map(|item| codes(&item.text)).collect();
        Box::new(WorksetComposer { session, windows, item_lines, at: 0, ranked: Vec::new() })
    }
}

struct WorksetComposer<'s> {
    session: &'s BenchSession,
    windows: Windows<'s>,
    /// By item: the numbers of its lines that are in windows.
    item_lines: Vec<Vec<u32>>,
    /// For which place `ranked` is.
    at: usize,
    /// The windows, best first.
    ranked: Vec<usize>,
}

impl WorksetComposer<'_> {
    fn rank(&mut self, at: usize) {
        if self.at == at {
            return;
        }
        self.at = at;
        let interest = Interest::of(&self.session.items, at, &mut self.windows.vocabulary);
        let fresh = self.windows.fresh(at);
        let scores = scores(&self.windows, &fresh, &interest.weights);
        let mut files: HashMap<&str, f64> = HashMap::new();
        let mut ranked = Vec::with_capacity(fresh.len());
        for (order, (place, score)) in fresh.into_iter().zip(scores).enumerate() {
            let Some(window) = self.windows.all.get(place) else { continue };
            let file = *files.entry(window.path).or_insert_with(|| interest.of_file(window.path));
            let age = at.saturating_sub(window.item) as f64;
            ranked.push(((score + 1.0) * file * (0.4 + 0.6 * (-age / AGE_ITEMS).exp()), order, place));
        }
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        self.ranked = ranked.into_iter().map(|(_, _, place)| place).collect();
    }

    /// Commands and paths, the newest first.
    fn lists(&self, at: usize) -> [String; 2] {
        let newest = || self.session.items.iter().take(at).rev();
        let commands = newest().filter_map(|item| item.input("command"));
        [distinct(commands, COMMANDS_TOKENS), distinct(newest().map(|item| item.path.as_str()), PATHS_TOKENS)]
    }
}

impl Composer for WorksetComposer<'_> {
    fn compose(&mut self, ask: Ask) -> Composed<'_> {
        self.rank(ask.at);
        let share = (ask.budget_tokens as f64 * TAIL_SHARE) as u64;
        let tail = Tail::of(&self.session.items, ask.at, share, CAPS);
        let lists = self.lists(ask.at);
        let mut pieces: Vec<Piece<'_>> = Vec::new();
        let mut there = Lines { seen: vec![false; self.windows.lines()] };
        for piece in &tail.pieces {
            match &piece.body {
                Body::Item(item) => there.add(self.item_lines.get(*item).into_iter().flatten().copied()),
                Body::Text(text) => there.add(self.windows.line_codes(text)),
            }
        }
        let mut used = tail.used;
        for list in lists {
            there.add(self.windows.line_codes(&list));
            let cost = tokens(&list);
            used += cost;
            pieces.push(Piece::text(list, cost));
        }
        for window in self.ranked.iter().filter_map(|place| self.windows.all.get(*place)) {
            if !there.lacks(&window.lines) || used + window.tokens > ask.budget_tokens {
                if used + CLOSE_TOKENS > ask.budget_tokens {
                    break;
                }
                continue;
            }
            there.add(self.windows.line_codes(&window.shown));
            used += window.tokens;
            pieces.push(Piece::text(window.shown.as_str(), window.tokens));
        }
        pieces.extend(tail.in_order());
        pieces.into()
    }
}

/// Which lines of windows the context has.
struct Lines {
    seen: Vec<bool>,
}

impl Lines {
    fn add(&mut self, lines: impl Iterator<Item = u32>) {
        for line in lines {
            if let Some(seen) = self.seen.get_mut(line as usize) {
                *seen = true;
            }
        }
    }

    /// Whether one of `lines` is not there.
    fn lacks(&self, lines: &[u32]) -> bool {
        lines.iter().any(|line| self.seen.get(*line as usize).is_some_and(|seen| !*seen))
    }
}

/// How well each of the windows `chosen` fits words of these weights.
fn scores(windows: &Windows<'_>, chosen: &[usize], weights: &[f64]) -> Vec<f64> {
    let bags = || chosen.iter().filter_map(|place| windows.all.get(*place)).map(|window| &window.words);
    let mut hits = vec![0_usize; weights.len()];
    for (word, _) in bags().flat_map(|bag| &bag.counts) {
        if let Some(hits) = hits.get_mut(*word as usize) {
            *hits += 1;
        }
    }
    let bm25 = Bm25::new(chosen.len(), bags().map(|bag| bag.size).sum());
    let weigh = |(weight, hits): (&f64, usize)| bm25.word(*weight, hits).filter(|_| *weight > 0.0).unwrap_or(0.0);
    let weights: Vec<f64> = weights.iter().zip(hits).map(weigh).collect();
    let score = |bag: &crate::bench::words::Bag| {
        let weight = |word: u32| weights.get(word as usize).copied().filter(|weight| *weight > 0.0);
        let parts = bag.counts.iter().filter_map(|(word, count)| Some(bm25.add(weight(*word)?, *count, bag.size)));
        parts.sum()
    };
    bags().map(score).collect()
}

/// The different ones of `values`, a line each, as many as fit.
fn distinct<'a>(values: impl Iterator<Item = &'a str>, budget_tokens: u64) -> String {
    let (mut kept, mut used): (Vec<&str>, u64) = (Vec::new(), 0);
    for value in values {
        let chars = length(value);
        if value.is_empty() || chars > MAX_CHARS || kept.contains(&value) {
            continue;
        }
        let cost = tokens_of(chars);
        if used + cost > budget_tokens {
            break;
        }
        used += cost;
        kept.push(value);
    }
    kept.join("\n")
}
