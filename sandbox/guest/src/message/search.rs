//! Searching the contents of files.

use serde::{Deserialize, Serialize};

use super::list::Truncation;
use crate::raw_path::RawPath;

/// Searches the contents of files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchSpec {
    /// A regular expression, matched line by line.
    pub pattern: String,
    /// The file or folder to search.
    pub path: RawPath,
    /// Only files that match one of these globs; a leading `!` excludes.
    pub globs: Vec<String>,
    /// Ignore case.
    pub case_insensitive: bool,
    /// Lines to show before and after each match.
    pub context_lines: u32,
    /// The most matching lines (files, with `files_with_matches`).
    pub max_matches: u32,
    /// Only name the files.
    pub files_with_matches: bool,
    /// Leave out what `.gitignore` and its kin exclude.
    pub respect_gitignore: bool,
    /// Stop after so many milliseconds.
    pub timeout_ms: u64,
}

/// One line of a search's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// Relative to the workspace.
    pub path: RawPath,
    /// The line's number, from 1; 0 with `files_with_matches`.
    pub line_number: u64,
    /// The line (invalid UTF-8 replaced, long lines cut); empty with `files_with_matches`.
    pub line: String,
    /// It only surrounds a match.
    pub is_context: bool,
}

/// The end of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchDone {
    /// Matching lines (files, with `files_with_matches`).
    pub matches: u32,
    /// Files that were searched.
    pub files_searched: u32,
    /// Files that were left out because they are binary.
    pub binary_skipped: u32,
    /// Files and folders that could not be read.
    pub unreadable: u32,
    /// Why it is not complete, if it is not.
    pub truncated: Option<Truncation>,
}
