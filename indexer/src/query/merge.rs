//! Two filters that must both hold.

use crate::query::filter::Filter;

impl Filter {
    /// Both filters at once: what gets through is what gets through each of them.
    #[must_use]
    pub fn merge(mut self, other: &Self) -> Self {
        let mut clash = self.nothing || other.nothing;
        self.kinds = both(&self.kinds, &other.kinds, &mut clash, same);
        self.within = both(&self.within, &other.within, &mut clash, same);
        self.exit = both(&self.exit, &other.exit, &mut clash, same);
        self.tools = both(&self.tools, &other.tools, &mut clash, |one, other| same_name(one, other));
        self.sessions = both(&self.sessions, &other.sessions, &mut clash, |one, other| longer_name(one, other));
        for group in other.path_groups() {
            self.add_path_group(group);
        }
        join(&mut self.not_kinds, &other.not_kinds);
        join(&mut self.not_within, &other.not_within);
        join(&mut self.not_exit, &other.not_exit);
        join(&mut self.not_tools, &other.not_tools);
        join(&mut self.not_sessions, &other.not_sessions);
        join(&mut self.not_paths, &other.not_paths);
        if let (Some(mine), Some(theirs)) = (&self.workspace, &other.workspace) {
            clash |= mine != theirs;
        }
        self.workspace = self.workspace.or_else(|| other.workspace.clone());
        self.since_ms = self.since_ms.max(other.since_ms);
        self.until_ms = [self.until_ms, other.until_ms].into_iter().flatten().min();
        self.nothing = clash;
        self
    }

    fn add_path_group(&mut self, group: &[String]) {
        if self.path_groups().any(|known| known == group) {
            return;
        }
        if self.paths.is_empty() {
            self.paths = group.to_vec();
        } else {
            self.and_paths.push(group.to_vec());
        }
    }
}

/// What two lists of alternatives have in common. `meet` gives what fits both of two entries.
fn both<T: Clone + PartialEq>(one: &[T], other: &[T], clash: &mut bool, meet: impl Fn(&T, &T) -> Option<T>) -> Vec<T> {
    if one.is_empty() || other.is_empty() {
        return if one.is_empty() { other.to_vec() } else { one.to_vec() };
    }
    let mut common = Vec::new();
    for left in one {
        for found in other.iter().filter_map(|right| meet(left, right)) {
            if !common.contains(&found) {
                common.push(found);
            }
        }
    }
    *clash |= common.is_empty();
    common
}

fn same<T: Clone + PartialEq>(one: &T, other: &T) -> Option<T> {
    (one == other).then(|| one.clone())
}

fn same_name(one: &str, other: &str) -> Option<String> {
    one.eq_ignore_ascii_case(other).then(|| one.to_owned())
}

/// Of two names of sessions, one of which begins or holds the other: the one that says more.
fn longer_name(one: &str, other: &str) -> Option<String> {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    crate::query::filter::session_fits(long, short).then(|| long.to_owned())
}

fn join<T: Clone + PartialEq>(mine: &mut Vec<T>, theirs: &[T]) {
    for entry in theirs {
        if !mine.contains(entry) {
            mine.push(entry.clone());
        }
    }
}
