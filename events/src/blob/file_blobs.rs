//! Blobs as files, `<root>/ab/cdef…` by the hash's hex digits.
//!
//! Invariant: a file under its final name is complete. It is written under another name, synced, renamed, and the
//! folder synced, so that a crash leaves at most a file in `tmp/`, which a later start removes. Readers need no lock.
//!
//! A file's time says when the blob was put last. Whoever puts one shares a lock that whoever removes one has alone: a blob
//! is either put before, and then too new to be removed, or put after, and then written again.

use super::{BlobRef, BlobStore, is_whole};
use crate::hash::Hash;
use crate::id::Timestamp;
use crate::log::LogError;
use async_trait::async_trait;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How old a left-over temporary file must be before it is removed: older than any write can take.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// A folder of blobs.
#[derive(Debug, Clone)]
pub struct FileBlobs {
    root: PathBuf,
}

impl FileBlobs {
    /// The store in the folder `root`, which is made when it is not there.
    ///
    /// # Errors
    /// When the folder cannot be made or written.
    pub fn open(root: &Path) -> Result<Self, LogError> {
        let store = Self { root: root.to_owned() };
        make_private_dir(&store.temporary()).map_err(|e| store.failed(&e))?;
        store.remove_stale().map_err(|e| store.failed(&e))?;
        Ok(store)
    }

    /// As [`BlobStore::put`], on this thread.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub fn put_blocking(&self, bytes: &[u8]) -> Result<BlobRef, LogError> {
        let hash = Hash::of(bytes);
        self.store(hash, bytes).map_err(|e| self.failed(&e))?;
        Ok(BlobRef { hash, size_bytes: bytes.len() as u64 })
    }

    /// As [`BlobStore::read`], on this thread.
    ///
    /// # Errors
    /// When it is not there or damaged.
    pub fn read_blocking(&self, hash: Hash, range: Range<u64>) -> Result<Vec<u8>, LogError> {
        let mut file = match File::open(self.path(hash)) {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::NotFound => return Err(LogError::NoSuchBlob(hash)),
            Err(e) => return Err(self.failed(&e)),
        };
        let size_bytes = file.metadata().map_err(|e| self.failed(&e))?.len();
        let end = range.end.min(size_bytes);
        let mut bytes = Vec::new();
        if range.start < end {
            file.seek(SeekFrom::Start(range.start)).map_err(|e| self.failed(&e))?;
            file.take(end - range.start).read_to_end(&mut bytes).map_err(|e| self.failed(&e))?;
        }
        if is_whole(&range, size_bytes) && Hash::of(&bytes) != hash {
            return Err(super::damaged_blob(hash));
        }
        Ok(bytes)
    }

    /// The file that holds, or would hold, the blob.
    #[must_use]
    pub fn path(&self, hash: Hash) -> PathBuf {
        let hex = hash.to_string();
        let (folder, name) = hex.split_at(2);
        self.root.join(folder).join(name)
    }

    fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    fn store(&self, hash: Hash, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(hash);
        let folder = path.parent().unwrap_or(&self.root);
        let lock = self.removing()?;
        lock.lock_shared()?;
        // A blob that is there is compared, not trusted: storing it again heals a damaged one.
        if fs::read(&path).is_ok_and(|stored| stored == bytes) {
            File::open(&path)?.set_modified(SystemTime::now())?;
            return sync_dir(folder);
        }
        make_private_dir(folder)?;
        let temporary = self.temporary().join(uuid::Uuid::now_v7().simple().to_string());
        let written = write_synced(&temporary, bytes).and_then(|()| fs::rename(&temporary, &path));
        if written.is_err() {
            // What was written takes space that may be what is missing; that it is gone is not needed for anything.
            let _ = fs::remove_file(&temporary);
        }
        written?;
        sync_dir(folder)?;
        sync_dir(&self.root)
    }

    /// What is locked while blobs are put, or removed: the folder itself.
    fn removing(&self) -> io::Result<File> {
        File::open(&self.root)
    }

    /// As [`BlobStore::remove`], on this thread.
    fn remove_blocking(&self, hash: Hash, not_after: Timestamp) -> io::Result<bool> {
        let path = self.path(hash);
        let lock = self.removing()?;
        lock.lock()?;
        let put_at = match fs::metadata(&path) {
            Ok(meta) => meta.modified()?,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(e),
        };
        let put_at = put_at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        if put_at.as_millis() > u128::from(not_after.0) {
            return Ok(false);
        }
        fs::remove_file(&path)?;
        Ok(true)
    }

    /// As [`BlobStore::list`], on this thread. What is not named like a blob is passed over.
    fn list_blocking(&self) -> io::Result<Vec<BlobRef>> {
        let mut blobs = Vec::new();
        for folder in fs::read_dir(&self.root)? {
            let folder = folder?;
            let prefix = folder.file_name().to_string_lossy().into_owned();
            if prefix.len() != 2 || !folder.file_type()?.is_dir() {
                continue;
            }
            for entry in fs::read_dir(folder.path())? {
                let entry = entry?;
                let Ok(hash) = format!("{prefix}{}", entry.file_name().to_string_lossy()).parse() else { continue };
                match entry.metadata() {
                    Ok(meta) => blobs.push(BlobRef { hash, size_bytes: meta.len() }),
                    // Removed by somebody else.
                    Err(e) if e.kind() == ErrorKind::NotFound => {}
                    Err(e) => return Err(e),
                }
            }
        }
        Ok(blobs)
    }

    fn remove_stale(&self) -> io::Result<()> {
        for entry in fs::read_dir(self.temporary())? {
            let entry = entry?;
            let modified = entry.metadata().and_then(|meta| meta.modified());
            let age = modified.map(|then| SystemTime::now().duration_since(then).unwrap_or_default());
            if age.is_ok_and(|age| age > STALE) {
                // Another process may have been quicker.
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    fn failed(&self, error: &io::Error) -> LogError {
        io_failed(&self.root, error)
    }
}

#[async_trait]
impl BlobStore for FileBlobs {
    async fn put(&self, bytes: &[u8]) -> Result<BlobRef, LogError> {
        let (store, bytes) = (self.clone(), bytes.to_vec());
        off_thread(&self.root, move || store.put_blocking(&bytes)).await
    }

    async fn read(&self, hash: Hash, range: Range<u64>) -> Result<Vec<u8>, LogError> {
        let store = self.clone();
        off_thread(&self.root, move || store.read_blocking(hash, range)).await
    }

    async fn size(&self, hash: Hash) -> Result<Option<u64>, LogError> {
        let store = self.clone();
        off_thread(&self.root, move || match fs::metadata(store.path(hash)) {
            Ok(meta) => Ok(Some(meta.len())),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(store.failed(&e)),
        })
        .await
    }

    async fn list(&self) -> Result<Vec<BlobRef>, LogError> {
        let store = self.clone();
        off_thread(&self.root, move || store.list_blocking().map_err(|e| store.failed(&e))).await
    }

    async fn remove(&self, hash: Hash, not_after: Timestamp) -> Result<bool, LogError> {
        let store = self.clone();
        off_thread(&self.root, move || store.remove_blocking(hash, not_after).map_err(|e| store.failed(&e))).await
    }
}

/// Runs `work` where it may block.
pub(crate) async fn off_thread<T: Send + 'static>(
    location: &Path,
    work: impl FnOnce() -> Result<T, LogError> + Send + 'static,
) -> Result<T, LogError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(e) => Err(LogError::Unavailable {
            location: location.display().to_string(),
            why: format!("the runtime is ending: {e}"),
        }),
    }
}

/// Makes `dir` and its parents, readable by this user only, and durable.
pub(crate) fn make_private_dir(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    dir.parent().map_or(Ok(()), sync_dir)
}

/// The log's error for one of the file system.
pub(crate) fn io_failed(location: &Path, error: &io::Error) -> LogError {
    let (location, why) = (location.display().to_string(), error.to_string());
    if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge) {
        LogError::Full { location, why }
    } else {
        LogError::Unavailable { location, why }
    }
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    // By the clock that everybody else asks, too: the file system's own may be some milliseconds behind it.
    file.set_modified(SystemTime::now())?;
    file.sync_all()
}

fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
