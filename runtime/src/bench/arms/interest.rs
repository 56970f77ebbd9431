//! What the model is about just now: the words of its plan, and the files it touched or named.

use crate::bench::characters::first;
use crate::bench::item::{Item, ItemKind};
use crate::bench::words::Vocabulary;

/// How far back words and paths count, in items.
const REACH_ITEMS: usize = 59;

/// How far back a file's name counts as said, in items.
const SAID_ITEMS: usize = 7;

/// The most files that count as touched recently.
const MAX_PATHS: usize = 12;

/// What the words of the newest texts of the model weigh, and those of its newest calls.
const SAID: [f64; 4] = [3.0, 2.0, 1.2, 0.8];
const CALLED: [f64; 4] = [1.5, 1.0, 0.7, 0.5];

/// What the model is about.
pub(super) struct Interest<'s> {
    /// By word: its weight, 0 for none.
    pub(super) weights: Vec<f64>,
    /// Files touched recently, with how recently: 1 is just now.
    paths: Vec<(&'s str, f64)>,
    /// What was said just now.
    prose: String,
}

impl<'s> Interest<'s> {
    /// What it is about before item `at`.
    pub(super) fn of(items: &'s [Item], at: usize, vocabulary: &mut Vocabulary) -> Self {
        let mut interest = Self { weights: Vec::new(), paths: Vec::new(), prose: prose(items, at) };
        let (mut said, mut called, mut asked) = (SAID.into_iter(), CALLED.into_iter(), false);
        for (age, item) in items.iter().take(at).rev().take(REACH_ITEMS).enumerate() {
            let weight = match item.kind {
                ItemKind::Assistant | ItemKind::Thinking => said.next().map(|weight| (weight, 2_000)),
                ItemKind::ToolCall => called.next().map(|weight| (weight, 800)),
                ItemKind::User => (!std::mem::replace(&mut asked, true)).then_some((1.5, 1_500)),
                ItemKind::Meta | ItemKind::ToolResult | ItemKind::Summary => None,
            };
            if let Some((weight, chars)) = weight {
                interest.add(first(&item.text, chars), weight, vocabulary);
            }
            // The plan.
            if item.kind == ItemKind::ToolCall && matches!(item.tool.as_str(), "TodoWrite" | "todo") {
                interest.add(first(&item.text, 3_000), 1.0, vocabulary);
            }
            let known = interest.paths.iter().any(|(path, _)| *path == item.path);
            if !item.path.is_empty() && !known && interest.paths.len() < MAX_PATHS {
                interest.paths.push((&item.path, 1.0 / (1.0 + age as f64 / 8.0)));
            }
        }
        interest
    }

    fn add(&mut self, text: &str, weight: f64, vocabulary: &mut Vocabulary) {
        for word in vocabulary.set(text) {
            let place = word as usize;
            if self.weights.len() <= place {
                self.weights.resize(place + 1, 0.0);
            }
            if let Some(known) = self.weights.get_mut(place) {
                *known = known.max(weight);
            }
        }
    }

    /// How much a window counts for the file it is from: 1, and more when the file was touched or named just now.
    pub(super) fn of_file(&self, path: &str) -> f64 {
        let touched = self.paths.iter().find(|(known, _)| *known == path).map_or(0.0, |(_, weight)| *weight);
        let name = path.rsplit('/').next().unwrap_or(path);
        let named = !path.is_empty() && self.prose.contains(name);
        1.0 + touched + f64::from(u8::from(named))
    }
}

/// What was said in the newest items.
fn prose(items: &[Item], at: usize) -> String {
    let said = |item: &&Item| matches!(item.kind, ItemKind::Assistant | ItemKind::Thinking | ItemKind::User);
    let texts = items.iter().take(at).rev().take(SAID_ITEMS).filter(said).map(|item| first(&item.text, 2_500));
    texts.collect::<Vec<_>>().join(" ")
}
