//! How an index stands, for people and for programs.

use super::index_folder::IndexFolder;
use super::index_note::IndexNote;
use super::writer_lock::WriterLock;
use crate::keyword::KeywordIndex;
use retrace_events::log::{Holder, Position};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// How an index stands.
#[derive(Debug, Clone, Serialize)]
pub struct IndexStatus {
    /// Where it is.
    pub folder: PathBuf,
    /// Its documents.
    pub documents: u64,
    /// The position it reflects.
    pub position: Position,
    /// Events that could not be read and are not in it.
    pub unreadable: u64,
    /// Its size on the disk, in bytes, vectors included.
    pub size_bytes: u64,
    /// Who writes it now.
    pub writer: Option<Holder>,
    /// What is wrong with it, in one line; the next writer makes it anew.
    pub damage: Option<String>,
}

impl IndexStatus {
    /// Looks at the index in `folder`, changing nothing.
    #[must_use]
    pub fn of(folder: &IndexFolder) -> Self {
        let mut status = Self {
            folder: folder.path().to_path_buf(),
            documents: 0,
            position: Position::default(),
            unreadable: 0,
            size_bytes: size_of(folder.path()),
            writer: WriterLock::holder(&folder.lock_file()),
            damage: None,
        };
        match KeywordIndex::open(&folder.keyword()) {
            Ok(Some(index)) => status.read(&index),
            Ok(None) => {}
            Err(error) => status.damage = Some(error.to_string()),
        }
        status
    }

    fn read(&mut self, index: &KeywordIndex) {
        match index.count() {
            Ok(documents) => self.documents = documents,
            Err(error) => self.damage = Some(error.to_string()),
        }
        if let Some(note) = IndexNote::parse(&index.note()) {
            self.position = note.position;
            self.unreadable = note.unreadable;
        }
    }
}

/// The bytes of all files beneath `folder`; links are not followed, and what cannot be read counts nothing.
pub(crate) fn size_of(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size_of(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}
