//! Reading the keyword index.

use crate::keyword::error::KeywordError;
use crate::keyword::guard::guarded;
use crate::keyword::schema::{Fields, RECORD_KIND, schema, tokenizers};
use crate::keyword::snapshot::{Snapshot, broken_files, check};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use tantivy::collector::Count;
use tantivy::directory::MmapDirectory;
use tantivy::query::TermQuery;
use tantivy::schema::IndexRecordOption;
use tantivy::{Index, IndexReader, ReloadPolicy, Term};

/// Decompressed blocks of the store that are kept, for each segment.
const CACHED_BLOCKS: usize = 32;

/// An index that is read. Copies are cheap and share what was loaded; what is committed later is seen after
/// [`KeywordIndex::reload`].
#[derive(Clone)]
pub struct KeywordIndex {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) folder: PathBuf,
    pub(super) fields: Fields,
    index: Index,
    reader: IndexReader,
    current: RwLock<Arc<Snapshot>>,
}

impl KeywordIndex {
    /// Opens the index in `folder`; `None` if there is none.
    ///
    /// # Errors
    /// [`KeywordError::Damaged`] and [`KeywordError::OtherVersion`] say that it must be built again.
    pub fn open(folder: &Path) -> Result<Option<Self>, KeywordError> {
        if !check(folder)? {
            return Ok(None);
        }
        let (index, reader) = guarded(folder, || {
            let mut index = Index::open(MmapDirectory::open(folder)?)?;
            index.set_tokenizers(tokenizers());
            let builder = index.reader_builder().reload_policy(ReloadPolicy::Manual);
            let reader = builder.doc_store_cache_num_blocks(CACHED_BLOCKS).try_into()?;
            Ok((index, reader))
        })?;
        let snapshot = Snapshot::load(folder, &index, &reader)?;
        let current = RwLock::new(Arc::new(snapshot));
        let fields = schema().1;
        Ok(Some(Self { inner: Arc::new(Inner { folder: folder.to_owned(), fields, index, reader, current }) }))
    }

    /// Sees the newest commit, of whichever process. Costs nothing when there is none.
    ///
    /// # Errors
    /// As for [`KeywordIndex::open`]; what was loaded before goes on being searched.
    pub fn reload(&self) -> Result<(), KeywordError> {
        let inner = &self.inner;
        if self.snapshot().is_newest(&inner.folder)? {
            return Ok(());
        }
        let newest = Arc::new(Snapshot::load(&inner.folder, &inner.index, &inner.reader)?);
        *inner.current.write().unwrap_or_else(PoisonError::into_inner) = newest;
        Ok(())
    }

    /// What the writer said with the commit that is seen; empty before the first one.
    #[must_use]
    pub fn note(&self) -> String {
        self.snapshot().note.clone()
    }

    /// How many documents there are; records do not count.
    ///
    /// # Errors
    /// The index is damaged.
    pub fn count(&self) -> Result<u64, KeywordError> {
        let snapshot = self.snapshot();
        let record = Term::from_field_u64(self.inner.fields.kind, RECORD_KIND);
        let records = guarded(&self.inner.folder, || {
            snapshot.searcher.search(&TermQuery::new(record, IndexRecordOption::Basic), &Count)
        })?;
        Ok(snapshot.searcher.num_docs().saturating_sub(records as u64))
    }

    /// How many segments there are; each costs every search a little.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.snapshot().searcher.segment_readers().len()
    }

    /// What the files of the folder take, in bytes, with those that are about to be deleted.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn size_bytes(&self) -> Result<u64, KeywordError> {
        let folder = &self.inner.folder;
        let entries = std::fs::read_dir(folder).map_err(|error| KeywordError::io(folder, error))?;
        // A file may go while we look: then it takes nothing.
        Ok(entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|data| data.len()).sum())
    }

    /// The names of files that do not hold what was written. Reads all of them.
    ///
    /// # Errors
    /// A file cannot be read at all.
    pub fn broken_files(&self) -> Result<Vec<String>, KeywordError> {
        broken_files(&self.inner.folder, &self.inner.index)
    }

    /// Where it lies.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.inner.folder
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.inner.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl std::fmt::Debug for KeywordIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeywordIndex").field("folder", &self.inner.folder).finish_non_exhaustive()
    }
}
