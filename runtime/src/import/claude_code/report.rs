//! What an import says of itself.

use crate::import::Refusal;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How many kinds of things that were left out are told apart.
const MAX_KINDS: usize = 60;
/// How many problems of one file are listed; the rest is counted.
const MAX_PROBLEMS: usize = 3;

/// Lines and parts of a transcript that were not taken over, by what they are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeftOut(BTreeMap<String, u64>);

impl LeftOut {
    /// One more of `what`.
    pub(super) fn add(&mut self, what: &str) {
        let known = self.0.len() < MAX_KINDS || self.0.contains_key(what);
        let what: String = if known && !what.is_empty() { what.chars().take(60).collect() } else { "other".to_owned() };
        *self.0.entry(what).or_default() += 1;
    }

    /// Those of `other` too.
    pub(super) fn absorb(&mut self, other: &Self) {
        for (what, count) in &other.0 {
            *self.0.entry(what.clone()).or_default() += count;
        }
    }

    /// What, and how many.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(what, count)| (what.as_str(), *count))
    }
}

/// Something wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// The line, where it is one line's.
    pub line: Option<u64>,
    /// What is wrong, and what was done about it.
    pub what: String,
    /// What to do, when there is something.
    pub hint: Option<String>,
    /// Whether the file, or the rest of it, was not taken.
    pub fatal: bool,
}

/// The problems of one file, as many as are worth telling.
#[derive(Debug, Default)]
pub(super) struct Problems {
    /// Those that are listed.
    pub(super) listed: Vec<Problem>,
    unlisted: u64,
    lines: usize,
}

impl Problems {
    /// A line that was left out.
    pub(super) fn line(&mut self, file: &std::path::Path, line: u64, what: &str) {
        self.lines += 1;
        if self.lines > MAX_PROBLEMS {
            self.unlisted += 1;
            return;
        }
        let (file, what) = (file.to_owned(), what.to_owned());
        self.listed.push(Problem { file, line: Some(line), what, hint: None, fatal: false });
    }

    /// The file is done.
    pub(super) fn close(&mut self, file: &std::path::Path) {
        if self.unlisted > 0 {
            let what = format!("{} more lines like these were left out", self.unlisted);
            self.listed.push(Problem { file: file.to_owned(), line: None, what, hint: None, fatal: false });
        }
        (self.unlisted, self.lines) = (0, 0);
    }
}

/// What became of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionState {
    /// It is new here.
    New,
    /// It has grown.
    Grown,
    /// All of it was there already.
    Same,
    /// Nothing new of it was taken.
    Refused(Refusal),
}

/// A session of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionReport {
    /// Its id here.
    pub session: String,
    /// The subagent it is of, when it is one's.
    pub agent: Option<String>,
    /// What it is about.
    pub title: String,
    /// Where it worked.
    pub workspace: String,
    /// What became of it.
    pub state: SessionState,
    /// Events appended.
    pub stored: u64,
    /// Events that were there already.
    pub present: u64,
    /// Events that were not taken.
    pub left: u64,
    /// Whether its last answer is held back, since it may still be in the making.
    pub held_back: bool,
}

/// What an import came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// Files looked at.
    pub files: u64,
    /// Files that are no transcripts.
    pub others: u64,
    /// Lines read.
    pub lines: u64,
    /// Lines that could not be understood.
    pub broken_lines: u64,
    /// Sessions, in the order of their beginning.
    pub sessions: Vec<SessionReport>,
    /// What was not taken over.
    pub left_out: LeftOut,
    /// What was wrong.
    pub problems: Vec<Problem>,
}

impl ImportReport {
    /// Whether something that should have been taken was not.
    #[must_use]
    pub fn failed(&self) -> bool {
        let refused = |session: &SessionReport| matches!(session.state, SessionState::Refused(_));
        self.problems.iter().any(|problem| problem.fatal) || self.sessions.iter().any(refused)
    }

    /// Events appended, in all sessions.
    #[must_use]
    pub fn stored(&self) -> u64 {
        self.sessions.iter().map(|session| session.stored).sum()
    }

    /// Events that were there already, in all sessions.
    #[must_use]
    pub fn present(&self) -> u64 {
        self.sessions.iter().map(|session| session.present).sum()
    }
}
