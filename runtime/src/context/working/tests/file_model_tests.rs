//! The model of a file against the file itself: whatever is read, edited and written, what is known is true.

use super::super::files::KnownFiles;
use super::super::happening::{FilePath, Replacement, View};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Op {
    /// Lines from a place on, so many.
    Read(usize, usize),
    ReadAll,
    /// A piece of the text, by place and length, gets another text; whether the result shows lines around it.
    Edit(usize, usize, String, bool),
    /// The same, wherever it stands; the file is read first.
    EditAll(usize, usize, String),
    /// An edit of something that is not there.
    Fail,
    Write(String),
    /// Lines with this in them are found.
    Search(char),
}

fn text() -> impl Strategy<Value = String> {
    // Few letters, so that much is there more than once.
    proptest::string::string_regex("[ab\n ]{0,12}").unwrap()
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (0..60_usize, 1..12_usize).prop_map(|(from, count)| Op::Read(from, count)),
        1 => Just(Op::ReadAll),
        6 => (0..200_usize, 1..25_usize, text(), any::<bool>()).prop_map(|(at, size, new, views)| Op::Edit(at, size, new, views)),
        1 => (0..200_usize, 1..4_usize, text()).prop_map(|(at, size, new)| Op::EditAll(at, size, new)),
        1 => Just(Op::Fail),
        1 => proptest::string::string_regex("([ab ]{0,4}\n){0,30}[ab ]{0,3}").unwrap().prop_map(Op::Write),
        1 => prop_oneof![Just('a'), Just('b'), Just(' ')].prop_map(Op::Search),
    ]
}

struct World {
    files: KnownFiles,
    path: FilePath,
    truth: String,
    at: u64,
}

impl World {
    fn lines(&self) -> Vec<&str> {
        self.truth.split('\n').collect()
    }

    fn read(&mut self, from: usize, count: usize) {
        let lines: Vec<String> = self.lines().into_iter().skip(from).take(count).map(str::to_owned).collect();
        if !lines.is_empty() {
            let whole = from == 0 && lines.len() == self.lines().len();
            let view =
                View { first: u32::try_from(from).unwrap() + 1, lines: lines.iter().map(String::as_str).collect() };
            self.files.read(&self.path, &[view], whole, self.at);
        }
    }

    /// Replaces the piece, and shows lines around it, as tools do.
    fn edit(&mut self, old: &str, new: &str, shows: bool) {
        let at = self.truth.find(old).unwrap();
        self.truth = self.truth.replacen(old, new, 1);
        let first = self.truth[..at].matches('\n').count();
        let last = first + new.matches('\n').count();
        let (from, to) = (first.saturating_sub(3), (last + 4).min(self.lines().len()));
        let shown: Vec<String> = self.lines()[from..to].iter().map(|line| (*line).to_owned()).collect();
        let view = View { first: u32::try_from(from).unwrap() + 1, lines: shown.iter().map(String::as_str).collect() };
        let views = if shows { vec![view] } else { vec![] };
        let edits = [Replacement { old: old.to_owned(), new: new.to_owned(), every: false }];
        self.files.edit(&self.path, &edits, &views, self.at);
    }

    fn carry_out(&mut self, op: &Op) {
        self.at += 1;
        match op {
            Op::Read(from, count) => self.read(*from, *count),
            Op::ReadAll => self.read(0, usize::MAX),
            Op::Edit(at, size, new, shows) => {
                let at = at % self.truth.len().max(1);
                let old = self.truth[at..self.truth.len().min(at + size)].to_owned();
                // As with the tools: once, and not the same. What is not shown must be known.
                let once =
                    !old.is_empty() && self.truth.match_indices(&old).count() == 1 && !overlaps(&self.truth, &old);
                if once && old != *new {
                    if !shows {
                        self.read(0, usize::MAX);
                    }
                    self.edit(&old, new, *shows);
                }
            }
            Op::EditAll(at, size, new) => {
                let at = at % self.truth.len().max(1);
                let old = self.truth[at..self.truth.len().min(at + size)].to_owned();
                if !old.is_empty() {
                    self.read(0, usize::MAX);
                    self.truth = self.truth.replace(&old, new);
                    let edits = [Replacement { old, new: new.clone(), every: true }];
                    self.files.edit(&self.path, &edits, &[], self.at);
                }
            }
            Op::Fail => self.files.touch(&self.path, self.at),
            Op::Write(content) => {
                self.truth.clone_from(content);
                self.files.write(&self.path, content, self.at);
            }
            Op::Search(letter) => {
                let truth = self.truth.clone();
                let found = truth.split('\n').enumerate().filter(|(_, line)| line.contains(*letter));
                let hit = |(place, text)| super::super::happening::Hit { path: "a.rs", number: place as u32 + 1, text };
                let hits: Vec<_> = found.map(hit).collect();
                self.files.found(&hits, "", &str::to_owned, self.at);
            }
        }
    }

    fn check(&self) {
        let lines = self.lines();
        let Some((_, file)) = self.files.iter().next() else { return };
        let mut before = 0;
        for line in file.lines() {
            assert!(line.number > before, "numbers rise: {} behind {before}", line.number);
            before = line.number;
            let true_line = lines.get(line.number as usize - 1);
            assert_eq!(true_line, Some(&line.text.text()), "line {} of {:?}", line.number, self.truth);
        }
        assert!(file.loose().is_empty());
    }
}

/// Whether the text stands a second time in itself and what follows.
fn overlaps(text: &str, old: &str) -> bool {
    text.find(old).is_some_and(|at| text[at + 1..].contains(old))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn what_is_known_is_true(start in "([ab ]{0,4}\n){0,40}[ab]{0,3}", ops in proptest::collection::vec(op(), 1..25)) {
        let path = FilePath { known: "a.rs".to_owned(), shown: "a.rs".to_owned() };
        let mut world = World { files: KnownFiles::default(), path, truth: start, at: 0 };
        for op in &ops {
            world.carry_out(op);
            world.check();
        }
        // And all of it is known once all of it is read.
        world.carry_out(&Op::ReadAll);
        let (_, file) = world.files.iter().next().unwrap();
        prop_assert_eq!(super::known(file).len(), world.lines().len());
    }
}
