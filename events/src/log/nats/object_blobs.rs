//! Blobs in a JetStream Object Store, each under its hash.
//!
//! The Object Store has no reading by range: what stands before the range is received and thrown away.

use super::named_objects::modified;
use crate::blob::{BlobRef, BlobStore, damaged_blob, is_whole};
use crate::hash::Hash;
use crate::id::Timestamp;
use crate::log::LogError;
use crate::mint::{Mint, SystemMint};
use async_nats::jetstream::Context;
use async_nats::jetstream::object_store::{GetErrorKind, InfoErrorKind, ObjectInfo, ObjectStore, PutError};
use async_trait::async_trait;
use std::error::Error as _;
use std::ops::Range;
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// How long the server may be silent while an object is read.
pub(super) const SILENCE: Duration = Duration::from_secs(10);

/// How much is read at a time, in bytes.
pub(super) const STEP_BYTES: usize = 128 * 1024;

/// How long writing may take, beside what its size adds.
pub(super) const PUT: Duration = Duration::from_secs(30);

/// The slowest writing that is waited for, in bytes a second.
pub(super) const SLOWEST: u64 = 256 * 1024;

/// For how long a blob that was put is not put again, in milliseconds: half of the time that new ones are not removed.
const YOUNG_MS: u64 = crate::blob::GRACE_MS / 2;

/// A bucket of blobs.
#[derive(Clone)]
pub(super) struct ObjectBlobs {
    pub(super) store: ObjectStore,
    pub(super) context: Context,
    location: String,
}

impl std::fmt::Debug for ObjectBlobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObjectBlobs").field("location", &self.location).finish_non_exhaustive()
    }
}

impl ObjectBlobs {
    /// The blobs in `store`.
    pub(super) const fn new(store: ObjectStore, context: Context, location: String) -> Self {
        Self { store, context, location }
    }

    pub(super) fn unavailable(&self, why: &dyn std::fmt::Display) -> LogError {
        LogError::Unavailable { location: self.location.clone(), why: why.to_string() }
    }

    pub(super) fn put_failed(&self, error: &PutError) -> LogError {
        // The library gives the server's answer as text only.
        let why = error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
        let is_full = ["maximum bytes exceeded", "insufficient", "resource limits exceeded", "resources exceeded"];
        if is_full.iter().any(|sign| why.contains(sign)) {
            return LogError::Full { location: self.location.clone(), why };
        }
        self.unavailable(&why)
    }

    /// Whether the blob is there and will stay: one that lies there for long may be about to be removed, so it is put again.
    async fn is_here(&self, hash: Hash, size_bytes: u64) -> Result<bool, LogError> {
        let young = Timestamp(SystemMint.now().0.saturating_sub(YOUNG_MS));
        match self.store.info(hash.to_string()).await {
            Ok(info) => Ok(!info.deleted && info.size as u64 == size_bytes && modified(&info) > young),
            Err(e) if e.kind() == InfoErrorKind::NotFound => Ok(false),
            Err(e) => Err(self.unavailable(&e)),
        }
    }

    async fn read_object(&self, hash: Hash, range: &Range<u64>) -> Result<Vec<u8>, LogError> {
        let mut object = self.store.get(hash.to_string()).await.map_err(|e| match e.kind() {
            GetErrorKind::NotFound => LogError::NoSuchBlob(hash),
            _ => self.unavailable(&e),
        })?;
        let size_bytes = object.info().size as u64;
        let (mut bytes, mut at) = (Vec::new(), 0_u64);
        let end = range.end.min(size_bytes);
        let mut step = vec![0; STEP_BYTES];
        while at < end {
            let read = tokio::time::timeout(SILENCE, object.read(&mut step)).await;
            let count = match read {
                Ok(Ok(0)) => return Err(damaged_blob(hash)),
                Ok(Ok(count)) => count,
                Ok(Err(e)) if e.kind() == std::io::ErrorKind::InvalidData => return Err(damaged_blob(hash)),
                Ok(Err(e)) => return Err(self.unavailable(&e)),
                Err(_) => return Err(self.unavailable(&format!("blob {hash} cannot be read on after {at} bytes"))),
            };
            let from = range.start.clamp(at, at + count as u64) - at;
            let to = end.min(at + count as u64) - at;
            if let (Ok(from), Ok(to)) = (usize::try_from(from), usize::try_from(to))
                && from < to
            {
                bytes.extend_from_slice(&step[from..to]);
            }
            at += count as u64;
        }
        if is_whole(range, size_bytes) && Hash::of(&bytes) != hash {
            return Err(damaged_blob(hash));
        }
        Ok(bytes)
    }
}

#[async_trait]
impl BlobStore for ObjectBlobs {
    async fn put(&self, bytes: &[u8]) -> Result<BlobRef, LogError> {
        let (hash, size_bytes) = (Hash::of(bytes), bytes.len() as u64);
        if self.is_here(hash, size_bytes).await? {
            return Ok(BlobRef { hash, size_bytes });
        }
        let mut reader = bytes;
        let time = PUT + Duration::from_secs(size_bytes / SLOWEST);
        let name = hash.to_string();
        match tokio::time::timeout(time, self.store.put(name.as_str(), &mut reader)).await {
            Ok(Ok(_)) => Ok(BlobRef { hash, size_bytes }),
            Ok(Err(e)) => Err(self.put_failed(&e)),
            Err(_) => Err(self.unavailable(&"storing a blob took too long")),
        }
    }

    async fn read(&self, hash: Hash, range: Range<u64>) -> Result<Vec<u8>, LogError> {
        self.read_object(hash, &range).await
    }

    async fn list(&self) -> Result<Vec<BlobRef>, LogError> {
        let blob = |info: &ObjectInfo| Some(BlobRef { hash: info.name.parse().ok()?, size_bytes: info.size as u64 });
        Ok(self.infos().await?.iter().filter_map(blob).collect())
    }

    async fn remove(&self, hash: Hash, not_after: Timestamp) -> Result<bool, LogError> {
        self.remove_named(&hash.to_string(), not_after).await
    }

    async fn size(&self, hash: Hash) -> Result<Option<u64>, LogError> {
        match self.store.info(hash.to_string()).await {
            Ok(info) if info.deleted => Ok(None),
            Ok(info) => Ok(Some(info.size as u64)),
            Err(e) => match e.kind() {
                InfoErrorKind::NotFound => Ok(None),
                _ => Err(self.unavailable(&e)),
            },
        }
    }
}
