//! Writing the keyword index. One writer at a time, across all processes; nothing is seen before it is committed, and what
//! was not committed is gone.

use crate::document::Document;
use crate::keyword::error::KeywordError;
use crate::keyword::guard::guarded;
use crate::keyword::schema::{Fields, VERSION, schema, tokenizers};
use crate::keyword::snapshot::check;
use crate::keyword::stored::{to_record, to_stored};
use std::path::{Path, PathBuf};
use tantivy::directory::MmapDirectory;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::schema::Field;
use tantivy::{Index, IndexWriter, Term};

/// What one thread of the engine needs at least, in bytes.
const THREAD_MEMORY_BYTES: usize = 15_000_000;
/// What one thread of the engine can use at most, in bytes.
const THREAD_MEMORY_LIMIT: usize = 2_000_000_000;
/// The most threads of the engine.
const THREADS: usize = 8;
/// When this part of a segment is deleted, it is written anew without what is gone.
const DELETED_SHARE: f32 = 0.3;

/// The one that writes. Others get [`KeywordError::Locked`] until it is dropped.
pub struct KeywordWriter {
    folder: PathBuf,
    fields: Fields,
    writer: IndexWriter,
}

impl KeywordWriter {
    /// Opens the index in `folder` for writing, or begins one there.
    ///
    /// # Errors
    /// [`KeywordError::Damaged`] and [`KeywordError::OtherVersion`] (empty the folder and begin again),
    /// [`KeywordError::Locked`], and the disk's errors.
    pub fn open_or_create(folder: &Path, memory_bytes: usize, threads: usize) -> Result<Self, KeywordError> {
        std::fs::create_dir_all(folder).map_err(|error| KeywordError::io(folder, error))?;
        let (wanted, fields) = schema();
        let exists = check(folder)?;
        let threads = threads.clamp(1, THREADS).min((memory_bytes / THREAD_MEMORY_BYTES).max(1));
        let options = IndexWriterOptions::builder()
            .num_worker_threads(threads)
            .memory_budget_per_thread((memory_bytes / threads).clamp(THREAD_MEMORY_BYTES, THREAD_MEMORY_LIMIT))
            .num_merge_threads(threads.min(2))
            .build();
        let writer = guarded(folder, || {
            let directory = MmapDirectory::open(folder)?;
            let index = if exists {
                let mut index = Index::open(directory)?;
                index.set_tokenizers(tokenizers());
                index
            } else {
                Index::builder().schema(wanted).tokenizers(tokenizers()).open_or_create(directory)?
            };
            let writer = index.writer_with_options(options)?;
            let mut merging = LogMergePolicy::default();
            merging.set_del_docs_ratio_before_merge(DELETED_SHARE);
            writer.set_merge_policy(Box::new(merging));
            Ok(writer)
        })?;
        Ok(Self { folder: folder.to_owned(), fields, writer })
    }

    /// Adds a document in place of the one with the same key.
    ///
    /// # Errors
    /// The engine's: a thread of it has failed, for want of disk space for instance.
    pub fn put(&mut self, document: &Document) -> Result<(), KeywordError> {
        self.delete_key(&document.key);
        self.add(document)
    }

    /// Adds a document whose key is known to be new; cheaper than [`KeywordWriter::put`].
    ///
    /// # Errors
    /// As for [`KeywordWriter::put`].
    pub fn add(&mut self, document: &Document) -> Result<(), KeywordError> {
        let stored = to_stored(document, &self.fields);
        guarded(&self.folder, || self.writer.add_document(stored).map(drop))
    }

    /// Deletes the document with this key.
    pub fn delete_key(&mut self, key: &str) {
        self.delete(self.fields.key, key);
    }

    /// Deletes all documents about exactly this path.
    pub fn delete_path(&mut self, path: &str) {
        self.delete(self.fields.path, path);
    }

    /// Deletes all documents of this stream.
    pub fn delete_stream(&mut self, stream: &str) {
        self.delete(self.fields.stream, stream);
    }

    /// Keeps a record in place of the one with the same key. Records are committed with the documents and never found.
    ///
    /// # Errors
    /// As for [`KeywordWriter::put`].
    pub fn put_record(&mut self, key: &str, value: &[u8]) -> Result<(), KeywordError> {
        self.delete_record(key);
        let stored = to_record(key, value, &self.fields);
        guarded(&self.folder, || self.writer.add_document(stored).map(drop))
    }

    /// Deletes the record with this key.
    pub fn delete_record(&mut self, key: &str) {
        self.delete(self.fields.record_key, key);
    }

    /// Makes everything since the last commit durable and visible, together with the caller's note.
    ///
    /// # Errors
    /// The engine's and the disk's; then nothing of it is visible, and the writer should be dropped.
    pub fn commit(&mut self, note: &str) -> Result<(), KeywordError> {
        guarded(&self.folder, || {
            let mut prepared = self.writer.prepare_commit()?;
            prepared.set_payload(&format!("{VERSION}\n{note}"));
            prepared.commit().map(drop)
        })
    }

    /// Forgets everything since the last commit.
    ///
    /// # Errors
    /// The engine's; then the writer should be dropped.
    pub fn rollback(&mut self) -> Result<(), KeywordError> {
        guarded(&self.folder, || self.writer.rollback().map(drop))
    }

    /// Waits until the engine has put small segments together, and lets the index go.
    ///
    /// # Errors
    /// The engine's; what was committed is safe all the same.
    pub fn wait_merges(self) -> Result<(), KeywordError> {
        guarded(&self.folder, || self.writer.wait_merging_threads())
    }

    fn delete(&mut self, field: Field, value: &str) {
        self.writer.delete_term(Term::from_field_text(field, value));
    }
}
