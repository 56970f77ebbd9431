//! The worker's part for code: documents that come and go with their files.
//!
//! No journal of single files is needed: each row holds the version of its file, so what a killed process did is seen in the
//! table. The generation up to which everything was done only saves looking.

use super::embed_batch::{Versioned, embed_batch};
use super::embed_error::one_line;
use super::gist::gist;
use super::table_folder::remove_others;
use super::vector_error::VectorError;
use super::vector_source::{ChangedCode, CodeSource, SourceError};
use super::vector_worker::{BATCH_DOCUMENTS, Filling, VectorWorker, fitting};
use crate::document::Document;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

/// How many files the first batch takes, and the largest.
const FIRST_FILES: usize = 16;
const MAX_FILES: usize = 256;
/// How many hex digits of a hash tell the versions of a file apart.
const REVISION_DIGITS: usize = 24;

impl VectorWorker {
    pub(super) async fn fill_changes(
        &mut self,
        source: &Arc<dyn CodeSource>,
        progress: &mut (dyn FnMut(Filling) + Send),
    ) -> Result<Filling, VectorError> {
        let since = self.journal.code_generation();
        let changes = blocking(source, move |source| source.changes_since(since)).await?;
        let mut filling = Filling { remaining: changes.changed.len() as u64, ..Filling::default() };
        if changes.changed.is_empty() && changes.gone.is_empty() && changes.is_complete {
            return Ok(filling);
        }
        let stored = self.table.revisions().await?;
        for files in gone(&stored, &changes).chunks(BATCH_DOCUMENTS as usize) {
            self.table.delete_files(files).await?;
        }
        let mut rest = changes.changed.as_slice();
        let mut take = FIRST_FILES;
        while !rest.is_empty() {
            let started = Instant::now();
            let (now, later) = rest.split_at(rest.len().min(take));
            rest = later;
            let documents = self.fill_files(source, now, &stored, &mut filling).await?;
            take = usize::try_from(fitting(take as u64, documents)).unwrap_or(1).min(MAX_FILES);
            filling.remaining = rest.len() as u64;
            progress(filling);
            self.after_batch(started).await?;
        }
        self.journal.finish_code(changes.generation, self.table.version().await?)?;
        if filling.vectors > 0 {
            self.table.index_when_due().await?;
        }
        remove_others(&self.vectors, self.table.folder())?;
        Ok(filling)
    }

    /// Embeds those of the files whose gists are not in the table as they are: what was done before a crash, or for an
    /// index that was made again, stays.
    async fn fill_files(
        &mut self,
        source: &Arc<dyn CodeSource>,
        files: &[String],
        stored: &HashMap<String, String>,
        filling: &mut Filling,
    ) -> Result<u64, VectorError> {
        let wanted = files.to_vec();
        let read = blocking(source, move |source| {
            let one = |file: String| source.documents_of(&file).map(|documents| (file, documents));
            wanted.into_iter().map(one).collect::<Result<Vec<_>, _>>()
        });
        let mut changed = Vec::new();
        let mut versioned: Vec<Versioned> = Vec::new();
        for (file, documents) in read.await? {
            let revision = revision_of(&documents);
            let known = stored.get(&file);
            if known != Some(&revision) {
                changed.extend(known.is_some().then_some(file));
                versioned.extend(documents.into_iter().map(|document| (document, revision.clone())));
            }
        }
        let batch = embed_batch(&self.embedder, self.table.folder(), || Ok(versioned)).await?;
        // The old rows go first: killed in between, the file is missing and is made again.
        if !changed.is_empty() {
            self.table.delete_files(&changed).await?;
        }
        self.table.put(&batch.rows).await?;
        filling.documents += batch.documents as u64;
        filling.vectors += batch.rows.len() as u64;
        filling.refused += batch.refused as u64;
        Ok(batch.documents as u64)
    }
}

/// The files in the table that the code index does not have any more.
fn gone(stored: &HashMap<String, String>, changes: &ChangedCode) -> Vec<String> {
    if changes.is_complete {
        return changes.gone.iter().filter(|file| stored.contains_key(*file)).cloned().collect();
    }
    let there: HashSet<&String> = changes.changed.iter().collect();
    stored.keys().filter(|file| !there.contains(file)).cloned().collect()
}

/// What changes when anything does that a row is made of.
fn revision_of(documents: &[Document]) -> String {
    let mut hasher = blake3::Hasher::new();
    for document in documents {
        for part in [document.key.as_str(), gist(document).unwrap_or_default().as_str()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    let mut revision = hasher.finalize().to_hex().to_string();
    revision.truncate(REVISION_DIGITS);
    revision
}

/// Asks a source where blocking is allowed.
async fn blocking<S: ?Sized + Send + Sync + 'static, T: Send + 'static>(
    source: &Arc<S>,
    ask: impl FnOnce(&S) -> Result<T, SourceError> + Send + 'static,
) -> Result<T, VectorError> {
    let source = Arc::clone(source);
    let answer = tokio::task::spawn_blocking(move || ask(&source)).await;
    let answer = answer.map_err(|error| VectorError::Source(one_line(&error)))?;
    answer.map_err(|error| VectorError::Source(one_line(&error)))
}
