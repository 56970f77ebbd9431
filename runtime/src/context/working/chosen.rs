//! The best windows that fit, and how they are shown: by file, in order of lines.

use super::ranking::{Ranked, Source};
use super::standing::{LinesOf, Standing};
use super::windows::Window;
use std::collections::{BTreeMap, HashSet};

/// With less room than this nothing else is looked for, in bytes.
const CRUMB_BYTES: usize = 100;

/// Windows as text, chosen best first until `room_bytes` are full; what stands in `there` is not repeated. `standing` is told
/// of them.
pub(super) fn shown(ranked: &[Ranked<'_>], room_bytes: usize, there: &str, standing: &mut Standing) -> String {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    let mut used = 0;
    for Ranked { source, .. } in ranked {
        let (numbers, text) = (source.numbers(), source.text());
        let (key, label) = source.of();
        if !source.is_placed() && there.contains(&text) {
            continue;
        }
        let group = places.get(&key).and_then(|place| groups.get(*place));
        let begins = !source.has_numbers() || !group.is_some_and(|group| group.touches(numbers));
        let header = if group.is_some() { 0 } else { label.len() + 4 };
        let cost = text.len() + 1 + header + if begins { numbers.0.to_string().len() + 2 } else { 0 };
        if used + cost > room_bytes {
            if used + CRUMB_BYTES > room_bytes {
                break;
            }
            continue;
        }
        used += cost;
        let place = *places.entry(key).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group { key, label, windows: Vec::new(), ends: HashSet::new() });
        }
        if let Some(group) = groups.get_mut(place) {
            if source.has_numbers() {
                group.ends.extend([numbers.0, numbers.1]);
            }
            group.windows.push((numbers, text));
        }
    }
    let mut texts = Vec::with_capacity(groups.len());
    for group in groups {
        texts.push(group.shown(standing));
    }
    texts.join("\n")
}

/// What a window is of: a file, or the output with a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'a> {
    File(&'a str),
    Output(u64),
}

impl Key<'_> {
    fn lines(self) -> LinesOf {
        match self {
            Self::File(path) => LinesOf::file(path),
            Self::Output(_) => LinesOf::OUTPUTS,
        }
    }
}

/// The chosen windows of a file or an output.
struct Group<'a> {
    key: Key<'a>,
    label: std::borrow::Cow<'a, str>,
    windows: Vec<((u64, u64), String)>,
    ends: HashSet<u64>,
}

impl Group<'_> {
    /// Whether a window stands right before or behind one of them.
    fn touches(&self, (first, last): (u64, u64)) -> bool {
        first > 0 && self.ends.contains(&(first - 1)) || self.ends.contains(&(last + 1))
    }

    /// Under one header, in order of lines; where a run of lines begins, its first number.
    fn shown(mut self, standing: &mut Standing) -> String {
        self.windows.sort_by_key(|(numbers, _)| *numbers);
        let follows = |one: &((u64, u64), String), next: &((u64, u64), String)| one.0.1 > 0 && one.0.1 + 1 == next.0.0;
        for run in self.windows.chunk_by(follows) {
            standing.mark(self.key.lines(), run.iter().flat_map(|(_, text)| text.split('\n')), 0);
        }
        let mut text = format!("## {}", self.label);
        let mut before = None;
        for ((first, last), window) in &self.windows {
            // The numbers of what stands nowhere are 0 and 0.
            if *last == 0 {
                text.push_str("\n@?");
            } else if before.is_none_or(|before| before + 1 != *first) {
                text.push_str(&format!("\n@{first}"));
            }
            text.push('\n');
            text.push_str(window);
            before = Some(*last);
        }
        text
    }
}

impl<'a> Source<'a> {
    fn of(&self) -> (Key<'a>, std::borrow::Cow<'a, str>) {
        match self {
            Self::File { path, file, .. } => (Key::File(path), file.shown.as_str().into()),
            Self::Output(output) => (Key::Output(output.number), output.number.to_string().into()),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::File { file, window, .. } => window.text(file),
            Self::Output(output) => output.text.to_string(),
        }
    }

    /// The numbers of its first and its last line.
    fn numbers(&self) -> (u64, u64) {
        match self {
            Self::File { window: Window { numbers: (first, last), .. }, .. } => (u64::from(*first), u64::from(*last)),
            Self::Output(output) => {
                let first = output.first as u64;
                (first, first + u64::from(super::windows::GRID) - 1)
            }
        }
    }

    /// Whether it is known where its lines stand.
    const fn has_numbers(&self) -> bool {
        match self {
            Self::File { window, .. } => window.is_placed(),
            Self::Output(_) => true,
        }
    }

    /// Whether it has a place in a file.
    pub(super) const fn is_placed(&self) -> bool {
        match self {
            Self::File { window, .. } => window.is_placed(),
            Self::Output(_) => false,
        }
    }
}
