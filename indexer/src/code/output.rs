//! The writing side of an update: what was read goes to tantivy and the manifest, and is committed in batches.

use super::code_error::CodeError;
use super::code_report::{CodeProgress, CodeReport};
use super::file_record::FileRecord;
use super::manifest::Manifest;
use super::reading::Outcome;
use crate::document::Document;
use crate::keyword::KeywordWriter;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

/// When to commit what has been written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batches {
    /// After this much time.
    pub(super) every: Duration,
    /// After this much text.
    pub(super) text_bytes: usize,
}

impl Default for Batches {
    fn default() -> Self {
        Self { every: Duration::from_secs(3), text_bytes: 64 * 1024 * 1024 }
    }
}

/// Where everything of one update goes.
pub(super) struct Output<'a> {
    writer: KeywordWriter,
    manifest: &'a RwLock<Manifest>,
    batches: Batches,
    /// The number of the walk, for what is remembered.
    pub(super) walk: u32,
    pub(super) report: CodeReport,
    pub(super) progress: CodeProgress,
    uncommitted_bytes: usize,
    committed_at: Instant,
}

impl<'a> Output<'a> {
    pub(super) fn new(writer: KeywordWriter, manifest: &'a RwLock<Manifest>, batches: Batches, walk: u32) -> Self {
        Self {
            writer,
            manifest,
            batches,
            walk,
            report: CodeReport::default(),
            progress: CodeProgress::default(),
            uncommitted_bytes: 0,
            committed_at: Instant::now(),
        }
    }

    /// Takes in what was read of a file.
    pub(super) fn take(&mut self, path: &str, outcome: Outcome) -> Result<(), CodeError> {
        self.report.read += 1;
        self.progress.read += 1;
        match outcome {
            Outcome::Unchanged(record) => {
                self.count(&record);
                let is_news =
                    self.manifest().get(path).is_none_or(|known| !known.is_newer_than(&record) && *known != record);
                if is_news {
                    self.manifest_mut().insert(path, record, self.walk);
                }
            }
            Outcome::Changed(record, documents) => self.replace(path, record, &documents)?,
            Outcome::Absent(reason) => {
                reason.into_iter().for_each(|reason| self.report.skipped.add(reason));
                self.remove(path);
            }
            Outcome::Unknown => self.report.incomplete = true,
        }
        if self.uncommitted_bytes >= self.batches.text_bytes || self.committed_at.elapsed() >= self.batches.every {
            self.commit()?;
        }
        Ok(())
    }

    fn count(&mut self, record: &FileRecord) {
        match record.skipped {
            Some(reason) => self.report.skipped.add(reason),
            None => self.report.files += 1,
        }
    }

    fn replace(&mut self, path: &str, mut record: FileRecord, documents: &[Document]) -> Result<(), CodeError> {
        let (is_new, is_stale, same_content) = match self.manifest().get(path) {
            None => (true, false, None),
            Some(known) => {
                let same = known.has_same_content(&record).then_some(known.generation);
                (known.chunks == 0, known.is_newer_than(&record), same)
            }
        };
        if is_stale {
            return Ok(());
        }
        self.count(&record);
        if !is_new {
            self.writer.delete_path(path);
        }
        for document in documents {
            self.writer.add(document)?;
            self.uncommitted_bytes += document.text.len();
        }
        let chunks = documents.len() as u64;
        self.report.indexed += u64::from(record.skipped.is_none());
        self.report.chunks += chunks;
        self.progress.chunks += chunks;
        record.generation = same_content.unwrap_or_else(|| self.manifest().next_generation());
        self.manifest_mut().insert(path, record, self.walk);
        Ok(())
    }

    /// Takes a file out of the index.
    pub(super) fn remove(&mut self, path: &str) {
        let had_chunks = self.manifest().get(path).is_some_and(|known| known.chunks > 0);
        if had_chunks {
            self.writer.delete_path(path);
            self.report.removed += 1;
        }
        self.manifest_mut().remove(path);
    }

    /// Makes what was done durable and visible.
    pub(super) fn commit(&mut self) -> Result<(), CodeError> {
        self.committed_at = Instant::now();
        self.uncommitted_bytes = 0;
        if self.manifest().is_changed() {
            let mut manifest = self.manifest.write().unwrap_or_else(PoisonError::into_inner);
            manifest.commit(&mut self.writer)?;
        }
        Ok(())
    }

    /// Commits, and lets the engine put small segments together.
    pub(super) fn close(mut self) -> Result<CodeReport, CodeError> {
        self.commit()?;
        self.report.generation = self.manifest().generation();
        if !self.report.cancelled {
            self.writer.wait_merges()?;
        }
        Ok(self.report)
    }

    pub(super) fn manifest(&self) -> RwLockReadGuard<'a, Manifest> {
        self.manifest.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn manifest_mut(&self) -> RwLockWriteGuard<'a, Manifest> {
        self.manifest.write().unwrap_or_else(PoisonError::into_inner)
    }
}
