//! What happens in a session, in words that know no tools: what was said, what was called, and what came of it.

use serde::{Deserialize, Serialize};

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Speaker {
    /// A person.
    User,
    /// The model, to whoever reads.
    Model,
    /// The model, to itself.
    Thought,
    /// A program, in the place of a person.
    Program,
    /// Somebody who summed up what was before.
    Summary,
}

/// What a call is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Action {
    /// Lines of a file are looked at.
    Read {
        /// Which file.
        path: FilePath,
        /// From which line on, when that was said.
        from: Option<u64>,
        /// Whether all of it was asked for.
        whole: bool,
    },
    /// Pieces of a file are replaced.
    Edit {
        /// Which file.
        path: FilePath,
        /// The pieces, in order.
        edits: Vec<Replacement>,
    },
    /// A file is written as a whole.
    Write {
        /// Which file.
        path: FilePath,
        /// All that it shall hold.
        content: String,
    },
    /// Something is looked for in files.
    Search {
        /// The pattern, and where.
        what: String,
        /// The file or folder that is searched.
        place: Option<String>,
    },
    /// A command.
    Run {
        /// As it is typed.
        command: String,
    },
    /// The plan is written.
    Plan,
    /// Anything else.
    Other {
        /// Its name.
        name: String,
        /// The folder it is about.
        place: Option<String>,
    },
}

/// A file, by the two names that it may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FilePath {
    /// Relative to the workspace where it is in it.
    pub(crate) known: String,
    /// As the call named it.
    pub(crate) shown: String,
}

/// A piece of a file that is replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Replacement {
    /// What stood there.
    pub(crate) old: String,
    /// What stands there now.
    pub(crate) new: String,
    /// Wherever it stands.
    pub(crate) every: bool,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome<'a> {
    /// Lines of the file, and whether these are all it has.
    Shown {
        /// The lines.
        views: Vec<View<'a>>,
        /// Whether nothing else is in the file.
        whole: bool,
    },
    /// The file was changed; lines around the change, where they were shown.
    Changed {
        /// The lines.
        views: Vec<View<'a>>,
    },
    /// Lines of files that were found.
    Hits(Vec<Hit<'a>>),
    /// An output, and how the command ended.
    Printed {
        /// `exit 1`, `signal 9`, `timed out`.
        ending: Option<String>,
    },
    /// It failed and changed nothing.
    Failed,
    /// Nobody knows whether it changed something.
    Unknown,
}

/// Lines of a file that stand one behind the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View<'a> {
    /// The number of the first.
    pub(crate) first: u32,
    /// Their words.
    pub(crate) lines: Vec<&'a str>,
}

/// A line that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit<'a> {
    /// In which file; empty for the place that was searched.
    pub(crate) path: &'a str,
    /// Its number.
    pub(crate) number: u32,
    /// Its words.
    pub(crate) text: &'a str,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Happening<'a> {
    /// Somebody said something.
    Said {
        /// Who.
        by: Speaker,
        /// The words.
        text: &'a str,
    },
    /// The model called for something.
    Called {
        /// For what.
        action: &'a Action,
        /// All strings of the call's input, a line each.
        text: &'a str,
    },
    /// Something came of it.
    Came {
        /// Of what.
        action: &'a Action,
        /// What.
        outcome: Outcome<'a>,
        /// What the model was told.
        text: &'a str,
    },
}

impl Action {
    /// The file it is about.
    pub(crate) const fn path(&self) -> Option<&FilePath> {
        match self {
            Self::Read { path, .. } | Self::Edit { path, .. } | Self::Write { path, .. } => Some(path),
            Self::Search { .. } | Self::Run { .. } | Self::Plan | Self::Other { .. } => None,
        }
    }

    /// The file or folder that it names.
    pub(crate) fn place(&self) -> Option<&str> {
        match self {
            Self::Read { path, .. } | Self::Edit { path, .. } | Self::Write { path, .. } => Some(&path.shown),
            Self::Search { place, .. } | Self::Other { place, .. } => place.as_deref(),
            Self::Run { .. } | Self::Plan => None,
        }
    }

    /// Whether it may change a file.
    pub(crate) const fn writes(&self) -> bool {
        matches!(self, Self::Edit { .. } | Self::Write { .. })
    }
}
