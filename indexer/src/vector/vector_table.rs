//! The table of vectors of one model, in a folder of its own.
//!
//! One process writes (see `vector_worker`), any number search. A writer that was killed leaves the last complete version; a
//! write that was begun is finished even when nobody waits for it any more, and the next one waits for its end. A
//! folder that is not what it should be is an error that says so, whatever the store does when it reads it, and whoever
//! writes makes it again.

use super::vector_error::VectorError;
use super::vector_filter::{StoreFilter, having, store_filter};
use super::vector_hit::{HIT_COLUMNS, VectorHit, hits};
use super::vector_row::{VECTOR, VectorRow, batch, schema};
use crate::query::Filter;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use futures::{FutureExt as _, TryStreamExt as _};
use lancedb::expr::DfExpr;
use lancedb::query::{ExecutableQuery as _, QueryBase as _, Select};
use lancedb::{DistanceType, ObjectStoreRegistry, Session, Table};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// The version of the columns; a table of another version is another table.
const FORMAT: u32 = 1;
/// The table's name in the store.
const NAME: &str = "gists";
/// How old a reader's view of the table may be.
const FRESHNESS: Duration = Duration::from_secs(1);
/// What the store may keep in memory of indexes and of metadata, in bytes.
const INDEX_CACHE_BYTES: usize = 256 * 1024 * 1024;
const METADATA_CACHE_BYTES: usize = 32 * 1024 * 1024;
/// The most hits of one search.
const MAX_LIMIT: usize = 10_000;
/// How many times more candidates of a compressed index are compared by their whole vectors.
const REFINE: u32 = 4;
/// How many of an index's partitions are searched.
const PROBES: usize = 24;

/// The vectors of one model.
#[derive(Debug)]
pub struct VectorTable {
    folder: PathBuf,
    dimensions: usize,
    table: RwLock<Table>,
    /// Held while something is written.
    writing: Arc<tokio::sync::Mutex<()>>,
    /// The right to write: it stays taken until the last write has ended.
    lock: Option<Arc<File>>,
}

impl VectorTable {
    /// Opens the table of the model `model_id`, beneath the folder of vectors, to search it; `None` when there is none yet.
    ///
    /// # Errors
    /// When it is damaged, or the system refuses.
    pub async fn open(vectors: &Path, model_id: &str, dimensions: usize) -> Result<Option<Self>, VectorError> {
        let folder = folder_of(vectors, model_id);
        match open_store(&folder, dimensions).await? {
            Some(table) => Ok(Some(Self::of(folder, dimensions, table))),
            None => Ok(None),
        }
    }

    /// Makes an empty table.
    pub(super) async fn create(vectors: &Path, model_id: &str, dimensions: usize) -> Result<Self, VectorError> {
        let folder = folder_of(vectors, model_id);
        let table = guarded(&folder, async {
            let store = connect(&folder).await?;
            store.create_empty_table(NAME, schema(dimensions)).execute().await
        })
        .await?;
        Ok(Self::of(folder, dimensions, table))
    }

    fn of(folder: PathBuf, dimensions: usize, table: Table) -> Self {
        Self { folder, dimensions, table: RwLock::new(table), writing: Arc::default(), lock: None }
    }

    /// The table with the right to write it.
    pub(super) fn locked(self, lock: &Arc<File>) -> Self {
        Self { lock: Some(Arc::clone(lock)), ..self }
    }

    /// Waits until nothing is being written.
    pub(super) async fn settle(&self) {
        drop(self.writing.lock().await);
    }

    /// Changes the table. What the store has begun it may finish behind the back of a future that was dropped; so it runs in
    /// a task of its own, and whatever is written next comes after it.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        doing: impl Future<Output = lancedb::Result<T>> + Send + 'static,
    ) -> Result<T, VectorError> {
        let (folder, lock) = (self.folder.clone(), self.lock.clone());
        let turn = Arc::clone(&self.writing).lock_owned().await;
        let task = tokio::spawn(async move {
            let done = guarded(&folder, doing).await;
            drop((turn, lock));
            done
        });
        task.await.unwrap_or_else(|_| Err(VectorError::damaged(&self.folder, "the store broke off")))
    }

    /// The table's own folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The documents whose gists are nearest to `vector`, nearest first, of those that pass the filter.
    ///
    /// # Errors
    /// When the table is damaged or was removed, or the vector does not fit.
    pub async fn search(&self, vector: &[f32], filter: &Filter, limit: usize) -> Result<Vec<VectorHit>, VectorError> {
        if vector.len() != self.dimensions {
            return Err(VectorError::Dimensions { wanted: self.dimensions, found: vector.len() });
        }
        let limit = limit.min(MAX_LIMIT);
        let Some(filter) = store_filter(filter) else { return Ok(Vec::new()) };
        if limit == 0 || vector.iter().any(|value| !value.is_finite()) {
            return Ok(Vec::new());
        }
        match self.search_enough(vector, &filter, limit).await {
            Err(error) if error.is_damage() => {
                // Another process may have made the table again under our eyes.
                self.reopen().await?;
                self.search_enough(vector, &filter, limit).await
            }
            found => found,
        }
    }

    /// How many rows there are.
    ///
    /// # Errors
    /// When the table is damaged.
    pub async fn count(&self) -> Result<u64, VectorError> {
        let table = self.table();
        let rows = guarded(&self.folder, async { table.count_rows(None).await }).await?;
        Ok(rows as u64)
    }

    /// The table's version, which grows with every change.
    ///
    /// # Errors
    /// When the table is damaged.
    pub(super) async fn version(&self) -> Result<u64, VectorError> {
        let table = self.table();
        guarded(&self.folder, async { table.version().await }).await
    }

    /// What it takes on the disk, in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        folder_bytes(&self.folder)
    }

    /// Adds rows. Whoever calls knows that their keys are new.
    pub(super) async fn put(&self, rows: &[VectorRow]) -> Result<(), VectorError> {
        if rows.is_empty() {
            return Ok(());
        }
        let batch: RecordBatch = batch(rows, self.dimensions, &self.folder)?;
        let table = self.table();
        self.write(async move { table.add(batch).execute().await }).await?;
        Ok(())
    }

    /// Deletes the rows that `which` is true for.
    pub(super) async fn delete(&self, which: &DfExpr) -> Result<(), VectorError> {
        let table = self.table();
        let which = which.clone();
        self.write(async move { table.delete(&which).await }).await?;
        Ok(())
    }

    /// Deletes all that was said and done in a session.
    ///
    /// # Errors
    /// When the table is damaged.
    pub async fn delete_stream(&self, stream: &str) -> Result<(), VectorError> {
        self.delete(&having("stream", &[stream.to_owned()])).await
    }

    /// Deletes the code of these files.
    pub(super) async fn delete_files(&self, paths: &[String]) -> Result<(), VectorError> {
        self.delete(&having("file", paths)).await
    }

    /// The files whose code is here, and their versions.
    pub(super) async fn revisions(&self) -> Result<HashMap<String, String>, VectorError> {
        let table = self.table();
        let batches = guarded(&self.folder, async {
            let rows = table.query().select(Select::columns(&["file", "revision"])).execute().await?;
            rows.try_collect::<Vec<_>>().await
        })
        .await?;
        let wrong = || VectorError::damaged(&self.folder, "a column has another type than it was made with");
        let mut revisions = HashMap::new();
        for batch in &batches {
            let texts = |name: &str| batch.column_by_name(name).and_then(|column| column.as_string_opt::<i32>());
            let (files, versions) = (texts("file").ok_or_else(wrong)?, texts("revision").ok_or_else(wrong)?);
            for (file, version) in files.iter().zip(versions) {
                if let (Some(file), Some(version)) = (file, version)
                    && !revisions.contains_key(file)
                {
                    revisions.insert(file.to_owned(), version.to_owned());
                }
            }
        }
        Ok(revisions)
    }

    /// The store's handle as it is now.
    pub(super) fn table(&self) -> Table {
        self.table.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Searches until there are enough hits: with a pattern that the store cannot decide, more are fetched than are wanted.
    async fn search_enough(
        &self,
        vector: &[f32],
        filter: &StoreFilter,
        limit: usize,
    ) -> Result<Vec<VectorHit>, VectorError> {
        let mut fetch = if filter.rest.is_empty() { limit } else { limit.saturating_mul(4).min(MAX_LIMIT) };
        loop {
            let batches = self.search_once(vector, filter.expression.clone(), fetch).await?;
            let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
            let mut found = Vec::new();
            let mut seen = HashSet::new();
            for batch in &batches {
                found.extend(
                    hits(batch, &filter.rest, &self.folder)?.into_iter().filter(|hit| seen.insert(hit.key.clone())),
                );
            }
            if filter.rest.is_empty() || found.len() >= limit || rows < fetch || fetch == MAX_LIMIT {
                found.truncate(limit);
                return Ok(found);
            }
            fetch = fetch.saturating_mul(8).min(MAX_LIMIT);
        }
    }

    async fn search_once(
        &self,
        vector: &[f32],
        filter: Option<DfExpr>,
        fetch: usize,
    ) -> Result<Vec<RecordBatch>, VectorError> {
        let table = self.table();
        guarded(&self.folder, async {
            let mut query = table
                .query()
                .nearest_to(vector)?
                .column(VECTOR)
                .distance_type(DistanceType::L2)
                .nprobes(PROBES)?
                .refine_factor(REFINE)
                .limit(fetch)
                .select(Select::columns(&HIT_COLUMNS));
            if let Some(filter) = filter {
                query = query.only_if_expr(filter);
            }
            query.execute().await?.try_collect::<Vec<_>>().await
        })
        .await
    }

    async fn reopen(&self) -> Result<(), VectorError> {
        let opened = open_store(&self.folder, self.dimensions).await?;
        let table = opened.ok_or_else(|| VectorError::damaged(&self.folder, "the table was removed"))?;
        *self.table.write().unwrap_or_else(PoisonError::into_inner) = table;
        Ok(())
    }
}

/// The folder of one model's table, beneath the folder of vectors.
pub(super) fn folder_of(vectors: &Path, model_id: &str) -> PathBuf {
    let name: String =
        model_id.chars().map(|char| if char.is_ascii_alphanumeric() || char == '-' { char } else { '_' }).collect();
    vectors.join(format!("t{FORMAT}-{name}"))
}

/// Runs something of the store's. A panic in it is one more way to find a table damaged.
pub(super) async fn guarded<T>(
    folder: &Path,
    doing: impl Future<Output = lancedb::Result<T>> + Send,
) -> Result<T, VectorError> {
    match AssertUnwindSafe(doing).catch_unwind().await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(VectorError::of_store(folder, &error)),
        Err(_) => Err(VectorError::damaged(folder, "the store broke off")),
    }
}

async fn connect(folder: &Path) -> lancedb::Result<lancedb::Connection> {
    let registry = Arc::new(ObjectStoreRegistry::default());
    let session = Arc::new(Session::new(INDEX_CACHE_BYTES, METADATA_CACHE_BYTES, registry));
    let store = lancedb::connect(&folder.to_string_lossy());
    store.session(session).read_consistency_interval(FRESHNESS).execute().await
}

/// The table in `folder`, when there is one.
async fn open_store(folder: &Path, dimensions: usize) -> Result<Option<Table>, VectorError> {
    let place = folder.join(format!("{NAME}.lance"));
    match std::fs::symlink_metadata(&place) {
        Ok(meta) if meta.is_dir() => {}
        Ok(_) => return Err(VectorError::damaged(folder, "the table is not a folder")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(VectorError::io(folder, error)),
    }
    let (table, found) = guarded(folder, async {
        let table = connect(folder).await?.open_table(NAME).execute().await?;
        let found = table.schema().await?;
        Ok((table, found))
    })
    .await?;
    let wanted = schema(dimensions);
    let same = found.fields().len() == wanted.fields().len()
        && wanted
            .fields()
            .iter()
            .all(|field| found.field_with_name(field.name()).is_ok_and(|found| found.data_type() == field.data_type()));
    if same { Ok(Some(table)) } else { Err(VectorError::damaged(folder, "its columns are other ones")) }
}

/// The bytes of all files in a folder.
fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let of_entry = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => folder_bytes(&entry.path()),
        Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |meta| meta.len()),
        Ok(_) | Err(_) => 0,
    };
    entries.flatten().map(of_entry).sum()
}
