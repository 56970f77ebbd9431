//! Messages about files. All paths are relative to the workspace (an absolute one must lie beneath it).

use serde::{Deserialize, Serialize};

use crate::raw_path::RawPath;

/// Reads a range of a regular file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadSpec {
    /// The file.
    pub path: RawPath,
    /// First byte to read.
    pub offset: u64,
    /// The most bytes to read, at most [`super::MAX_READ_BYTES`].
    pub limit: u64,
}

/// The end of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadDone {
    /// Size of the whole file, in bytes.
    pub total_bytes: u64,
    /// Bytes that were sent.
    pub sent_bytes: u64,
}

/// Writes a whole file atomically, creating the folders above it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteSpec {
    /// The file.
    pub path: RawPath,
    /// Permission bits of a new file (`0o644` when `None`); an existing file keeps its own.
    pub mode: Option<u32>,
}

/// The end of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteDone {
    /// Size of the new contents, in bytes.
    pub written_bytes: u64,
    /// There was no such file before.
    pub created: bool,
}

/// Asks what a path is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatSpec {
    /// The path.
    pub path: RawPath,
    /// Look through a symlink at the end.
    pub follow: bool,
}

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStat {
    /// Its kind.
    pub kind: EntryKind,
    /// Its size, in bytes.
    pub size_bytes: u64,
    /// Permission bits.
    pub mode: u32,
    /// Last change of its contents, in milliseconds since 1970.
    pub modified_ms: i64,
}

/// The kinds of directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
    /// A symbolic link (not followed).
    Symlink,
    /// A fifo, socket or device.
    Special,
}

/// Lists a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListSpec {
    /// The folder.
    pub path: RawPath,
    /// Levels below it (1: only its own entries); all when `None`.
    pub depth: Option<u32>,
    /// Leave out what `.gitignore` and its kin exclude, and `.git`.
    pub respect_gitignore: bool,
    /// The most entries.
    pub limit: u32,
}

/// One entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Relative to the workspace.
    pub path: RawPath,
    /// Its kind.
    pub kind: EntryKind,
    /// Its size, in bytes.
    pub size_bytes: u64,
}

/// The end of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListDone {
    /// Entries that were sent.
    pub entries: u32,
    /// Entries that could not be read.
    pub unreadable: u32,
    /// Why it is not complete, if it is not.
    pub truncated: Option<Truncation>,
}

/// Why a listing or a search stopped early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truncation {
    /// The asked-for number was reached.
    Count,
    /// The answer became too large.
    Bytes,
    /// It took too long.
    Time,
}

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
