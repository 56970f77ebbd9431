//! Fills the table of vectors in the background, newest first, from what the keyword index has.
//!
//! At most one process does this for a folder. It may be killed at any moment, and its futures dropped: the next one goes on
//! and the table ends up the same. When the model changes, a table is filled beside the old one, which goes when the new one
//! has everything.

use super::embed_batch::{Versioned, embed_batch};
use super::embed_error::one_line;
use super::embedder::Embedder;
use super::table_folder::{open_anew, open_whole, remove_others, take_lock};
use super::vector_error::VectorError;
use super::vector_filter::{between, having};
use super::vector_journal::VectorJournal;
use super::vector_row::VectorRow;
use super::vector_source::{CodeSource, SessionSource, SourceError};
use super::vector_table::VectorTable;
use super::vector_upkeep::Upkeep;
use crate::document::DocumentKind;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many documents a batch should have.
pub(super) const BATCH_DOCUMENTS: u64 = 256;
/// The most positions that are asked for at once, where hardly any has a document.
const MAX_WIDTH: u64 = 1 << 16;
/// After how many batches small pieces of the table are joined.
const UPKEEP_BATCHES: u32 = 64;

/// How a worker goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerOptions {
    /// How long to rest after a batch, in hundredths of the time that it took.
    pub rest_percent: u32,
    /// The longest rest, in milliseconds.
    pub max_rest_ms: u64,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self { rest_percent: 25, max_rest_ms: 500 }
    }
}

/// What a worker has done, so far or in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filling {
    /// Documents that were looked at.
    pub documents: u64,
    /// Vectors that were stored.
    pub vectors: u64,
    /// Documents that the model could not take.
    pub refused: u64,
    /// Positions of the log, or files, that are still to do.
    pub remaining: u64,
}

/// Fills one table.
#[derive(Debug)]
pub struct VectorWorker {
    pub(super) vectors: PathBuf,
    pub(super) embedder: Arc<Embedder>,
    pub(super) table: VectorTable,
    pub(super) journal: VectorJournal,
    options: WorkerOptions,
    /// How many positions a batch covers: as many as have about the wanted number of documents.
    width: u64,
    batches: u32,
    /// Held as long as this lives, or a write of its is under way.
    lock: Arc<File>,
}

impl VectorWorker {
    /// Opens the table of this model in the folder `vectors`, or makes it; a damaged one is made again. `None` when another
    /// process is filling it.
    ///
    /// # Errors
    /// When the system refuses.
    pub async fn open(
        vectors: &Path,
        embedder: Arc<Embedder>,
        options: WorkerOptions,
    ) -> Result<Option<Self>, VectorError> {
        let Some(lock) = take_lock(vectors)? else { return Ok(None) };
        let (table, journal) = match open_whole(vectors, &embedder, &lock).await {
            Err(error) if error.is_damage() => open_anew(vectors, &embedder, &lock, &error).await?,
            opened => opened?,
        };
        Ok(Some(Self {
            vectors: vectors.to_path_buf(),
            embedder,
            table,
            journal,
            options,
            width: BATCH_DOCUMENTS,
            batches: 0,
            lock,
        }))
    }

    /// The table that is being filled.
    #[must_use]
    pub const fn table(&self) -> &VectorTable {
        &self.table
    }

    /// Makes vectors of everything in the log up to the position `until` that has none, newest first; a table that turns out
    /// damaged is made again. Drop the future to stop.
    ///
    /// # Errors
    /// When the documents cannot be read, the model fails, or the table cannot be written. Calling it again goes on.
    pub async fn fill_sessions(
        &mut self,
        source: &Arc<dyn SessionSource>,
        until: u64,
        progress: &mut (dyn FnMut(Filling) + Send),
    ) -> Result<Filling, VectorError> {
        match self.fill_positions(source, until, progress).await {
            Err(error) if error.is_damage() => {
                self.make_again(&error).await?;
                self.fill_positions(source, until, progress).await
            }
            filled => filled,
        }
    }

    /// Makes the table of a workspace's code what the code index is: files that went or changed go, what is new is
    /// embedded; a table that turns out damaged is made again. Drop the future to stop.
    ///
    /// # Errors
    /// As [`VectorWorker::fill_sessions`].
    pub async fn fill_code(
        &mut self,
        source: &Arc<dyn CodeSource>,
        progress: &mut (dyn FnMut(Filling) + Send),
    ) -> Result<Filling, VectorError> {
        match self.fill_changes(source, progress).await {
            Err(error) if error.is_damage() => {
                self.make_again(&error).await?;
                self.fill_changes(source, progress).await
            }
            filled => filled,
        }
    }

    async fn fill_positions(
        &mut self,
        source: &Arc<dyn SessionSource>,
        until: u64,
        progress: &mut (dyn FnMut(Filling) + Send),
    ) -> Result<Filling, VectorError> {
        let mut filling = Filling { remaining: self.journal.missing(until), ..Filling::default() };
        self.take_back_pending().await?;
        self.follow_deletions(source).await?;
        while let Some((first, last)) = self.journal.next(until, self.width) {
            let started = Instant::now();
            self.journal.begin((first, last))?;
            let reader = Arc::clone(source);
            let read = move || {
                let documents = reader.documents_between(first, last)?;
                Ok(documents.into_iter().map(|document| (document, String::new())).collect::<Vec<Versioned>>())
            };
            let batch = embed_batch(&self.embedder, self.table.folder(), read).await?;
            self.replace_rewritten(&batch.rows).await?;
            self.table.put(&batch.rows).await?;
            self.journal.finish(self.table.version().await?)?;
            self.width = fitting(self.width, batch.documents as u64);
            filling.documents += batch.documents as u64;
            filling.vectors += batch.rows.len() as u64;
            filling.refused += batch.refused as u64;
            filling.remaining = self.journal.missing(until);
            progress(filling);
            self.after_batch(started).await?;
        }
        if filling.vectors > 0 {
            self.table.index_when_due().await?;
        }
        remove_others(&self.vectors, self.table.folder())?;
        Ok(filling)
    }

    /// Joins small pieces, removes old versions, makes the index: what is due.
    ///
    /// # Errors
    /// When the table is damaged, or the system refuses.
    pub async fn optimize(&self) -> Result<Upkeep, VectorError> {
        self.table.optimize().await
    }

    async fn make_again(&mut self, error: &VectorError) -> Result<(), VectorError> {
        self.table.settle().await;
        (self.table, self.journal) = open_anew(&self.vectors, &self.embedder, &self.lock, error).await?;
        Ok(())
    }

    /// A batch that was begun and not finished may be in the table, all of it or nothing: it goes, and is made again.
    async fn take_back_pending(&self) -> Result<(), VectorError> {
        match self.journal.pending() {
            Some((first, last)) => self.table.delete(&between(first, last)).await,
            None => Ok(()),
        }
    }

    /// Takes out what was deleted since the last time, as long as it stood before its deletion.
    async fn follow_deletions(&mut self, source: &Arc<dyn SessionSource>) -> Result<(), VectorError> {
        let reader = Arc::clone(source);
        let unreadable = |error: SourceError| VectorError::Source(one_line(&error));
        let read = tokio::task::spawn_blocking(move || reader.deletions()).await;
        let mut deletions = read.map_err(|error| unreadable(error.into()))?.map_err(unreadable)?;
        let done = self.journal.deletions_until();
        deletions.retain(|(_, position)| *position > done);
        let Some(last) = deletions.iter().map(|(_, position)| *position).max() else { return Ok(()) };
        for (stream, position) in deletions {
            let gone = having("stream", &[stream]).and(between(0, position.saturating_sub(1)));
            self.table.delete(&gone).await?;
        }
        self.journal.finish_deletions(last, self.table.version().await?)
    }

    /// Summaries are written again under their key: the older one goes.
    async fn replace_rewritten(&self, rows: &[VectorRow]) -> Result<(), VectorError> {
        let summaries = rows.iter().filter(|row| row.kind == DocumentKind::Summary);
        let keys: Vec<String> = summaries.map(|row| row.key.clone()).collect();
        if keys.is_empty() { Ok(()) } else { self.table.delete(&having("key", &keys)).await }
    }

    pub(super) async fn after_batch(&mut self, started: Instant) -> Result<(), VectorError> {
        self.batches += 1;
        if self.batches.is_multiple_of(UPKEEP_BATCHES) {
            self.table.optimize().await?;
        }
        let rest = started.elapsed() * self.options.rest_percent / 100;
        tokio::time::sleep(rest.min(Duration::from_millis(self.options.max_rest_ms))).await;
        Ok(())
    }
}

/// How many positions, or files, the next batch should have, when `width` of them had so many documents.
pub(super) fn fitting(width: u64, documents: u64) -> u64 {
    let fitting = width.saturating_mul(BATCH_DOCUMENTS) / documents.max(1);
    // Step by step: documents are not spread evenly.
    fitting.clamp((width / 4).max(1), width.saturating_mul(4)).min(MAX_WIDTH)
}
