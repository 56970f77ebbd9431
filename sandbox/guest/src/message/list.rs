//! Listing a folder.

use serde::{Deserialize, Serialize};

use super::stat::EntryKind;
use crate::raw_path::RawPath;

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
