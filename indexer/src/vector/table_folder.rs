//! The folder with the tables: who may write, whether a table is whole, and how one goes.

use super::embedder::Embedder;
use super::vector_error::VectorError;
use super::vector_journal::VectorJournal;
use super::vector_table::{VectorTable, folder_of};
use crate::query::Filter;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;

/// The file that the one worker of a folder holds locked.
const LOCK: &str = "worker.lock";

/// Takes the lock of the folder, which is made when it is missing; `None` when another process has it.
pub(super) fn take_lock(vectors: &Path) -> Result<Option<Arc<File>>, VectorError> {
    use std::os::unix::fs::DirBuilderExt as _;
    let failed = |error| VectorError::io(vectors, error);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(vectors).map_err(failed)?;
    let options = File::options().create(true).truncate(false).write(true).open(vectors.join(LOCK));
    let file = options.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Arc::new(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Opens table and journal, and looks whether they belong together and can be read.
pub(super) async fn open_whole(
    vectors: &Path,
    embedder: &Embedder,
    lock: &Arc<File>,
) -> Result<(VectorTable, VectorJournal), VectorError> {
    let folder = folder_of(vectors, embedder.id());
    let journal = VectorJournal::open(&folder)?;
    let table = VectorTable::open(vectors, embedder.id(), embedder.dimensions()).await?;
    let (table, journal) = match (table, journal) {
        (Some(table), Some(journal)) if table.version().await? >= journal.table_version() => (table, journal),
        (Some(_), Some(_)) => return Err(VectorError::damaged(&folder, "the table is older than its journal")),
        (Some(_), None) => return Err(VectorError::damaged(&folder, "there is a table and no journal")),
        (None, Some(journal)) if journal.table_version() > 0 => {
            return Err(VectorError::damaged(&folder, "there is a journal and no table"));
        }
        (None, _) => {
            std::fs::create_dir_all(&folder).map_err(|error| VectorError::io(&folder, error))?;
            // Written first: a table without a journal is one that lost it.
            let journal = VectorJournal::create(&folder)?;
            (VectorTable::create(vectors, embedder.id(), embedder.dimensions()).await?, journal)
        }
    };
    // A search reads every column and every vector: what is missing or cut short shows now.
    let probe = vec![0.0; embedder.dimensions()];
    table.search(&probe, &Filter::default(), 1).await?;
    let table = table.locked(lock);
    table.prune().await?;
    Ok((table, journal))
}

/// Opens an empty table in place of a damaged one.
pub(super) async fn open_anew(
    vectors: &Path,
    embedder: &Embedder,
    lock: &Arc<File>,
    error: &VectorError,
) -> Result<(VectorTable, VectorJournal), VectorError> {
    tracing::warn!("{error}");
    remove(&folder_of(vectors, embedder.id()))?;
    open_whole(vectors, embedder, lock).await
}

/// Removes the tables of other models, now that the one in `kept` has everything.
pub(super) fn remove_others(vectors: &Path, kept: &Path) -> Result<(), VectorError> {
    let failed = |error| VectorError::io(vectors, error);
    for entry in std::fs::read_dir(vectors).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path != kept && path.is_dir() {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Removes a table's folder: first out of its place in one step, so that no half of it is ever taken for one.
fn remove(folder: &Path) -> Result<(), VectorError> {
    let failed = |error| VectorError::io(folder, error);
    let aside = folder.with_extension("gone");
    if aside.exists() {
        std::fs::remove_dir_all(&aside).map_err(failed)?;
    }
    match std::fs::rename(folder, &aside) {
        Ok(()) => std::fs::remove_dir_all(&aside).map_err(failed),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed(error)),
    }
}
