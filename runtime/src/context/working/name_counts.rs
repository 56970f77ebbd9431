//! The identifiers of a session, by how often and how lately they occurred. Bounded: the rarest and oldest go first.

use super::words::{Word, hash, identifiers};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// The most names; when there are more, half of them go.
const MAX_NAMES: usize = 20_000;

/// How much of a text is looked through, in bytes.
const MAX_BYTES: usize = 200_000;

/// The longest name, in bytes.
const NAME_BYTES: usize = 60;

/// After so many happenings two thirds of what passes of an occurrence have passed; and what stays.
const FADES: f64 = 100.0;
const STAYS: f64 = 0.2;

/// Parts of absolute paths, which name a machine and nothing else.
const MACHINE: [&str; 5] = ["Users/", "home/", "private/", "tmp/", "var/"];

/// How much a name counts.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct NameCount {
    stays: f64,
    fades: f64,
    /// As of which happening.
    at: u64,
}

impl NameCount {
    fn at(&self, now: u64) -> f64 {
        self.fades * (-(now.saturating_sub(self.at) as f64) / FADES).exp()
    }
}

/// Names with what they count.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct NameCounts {
    names: HashMap<Box<str>, NameCount>,
}

impl NameCounts {
    /// The names of a text count so much more.
    pub(super) fn add(&mut self, number: u64, text: &str, weight: f64) {
        let mut seen = HashSet::new();
        for name in identifiers(super::words::first(text, MAX_BYTES)) {
            if name.len() > NAME_BYTES || !seen.insert(name) {
                continue;
            }
            if let Some(count) = self.names.get_mut(name) {
                *count =
                    NameCount { stays: count.stays + STAYS * weight, fades: count.at(number) + weight, at: number };
            } else {
                self.names.insert(name.into(), NameCount { stays: STAYS * weight, fades: weight, at: number });
            }
        }
        if self.names.len() > MAX_NAMES {
            let kept: HashSet<Box<str>> = self.best(number).into_iter().take(MAX_NAMES / 2).map(Into::into).collect();
            self.names.retain(|name, _| kept.contains(name));
        }
    }

    /// As many names as fit into `bytes`, those first that count most for their length, without those that are there
    /// already.
    pub(super) fn text(&self, now: u64, bytes: usize, there: &HashSet<Word>) -> String {
        let mut text = String::new();
        for name in self.best(now) {
            if there.contains(&hash(name)) || MACHINE.iter().any(|machine| name.starts_with(machine)) {
                continue;
            }
            if text.len() + name.len() + 1 > bytes {
                break;
            }
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(name);
        }
        text
    }

    /// The names, those first that count most for their length; of equal ones the one that was there last.
    fn best(&self, now: u64) -> Vec<&str> {
        let value = |name: &str, count: &NameCount| (count.stays + count.at(now)) / (name.len() + 6) as f64;
        let mut best: Vec<(f64, u64, &str)> = Vec::with_capacity(self.names.len());
        for (name, count) in &self.names {
            best.push((value(name, count), count.at, name));
        }
        best.sort_unstable_by(|one, other| {
            other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)).then_with(|| one.2.cmp(other.2))
        });
        best.into_iter().map(|(_, _, name)| name).collect()
    }
}
