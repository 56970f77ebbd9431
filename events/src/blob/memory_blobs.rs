//! Blobs in memory, for the log in memory. They are gone when it is dropped.

use super::{BlobRef, BlobStore, damaged_blob, is_whole};
use crate::hash::Hash;
use crate::id::Timestamp;
use crate::log::LogError;
use crate::mint::{Mint, SystemMint};
use async_trait::async_trait;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Blobs in memory.
#[derive(Debug, Default)]
pub(crate) struct MemoryBlobs {
    /// The bytes, and when they were put.
    blobs: Mutex<HashMap<Hash, (Vec<u8>, Timestamp)>>,
}

impl MemoryBlobs {
    fn blobs(&self) -> MutexGuard<'_, HashMap<Hash, (Vec<u8>, Timestamp)>> {
        self.blobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the blob is there, with that size.
    pub(crate) fn has(&self, blob: BlobRef) -> bool {
        self.blobs().get(&blob.hash).is_some_and(|(bytes, _)| bytes.len() as u64 == blob.size_bytes)
    }
}

#[async_trait]
impl BlobStore for MemoryBlobs {
    async fn put(&self, bytes: &[u8]) -> Result<BlobRef, LogError> {
        let hash = Hash::of(bytes);
        self.blobs().insert(hash, (bytes.to_vec(), SystemMint.now()));
        Ok(BlobRef { hash, size_bytes: bytes.len() as u64 })
    }

    async fn read(&self, hash: Hash, range: Range<u64>) -> Result<Vec<u8>, LogError> {
        let blobs = self.blobs();
        let (bytes, _) = blobs.get(&hash).ok_or(LogError::NoSuchBlob(hash))?;
        if is_whole(&range, bytes.len() as u64) && Hash::of(bytes) != hash {
            return Err(damaged_blob(hash));
        }
        let end = usize::try_from(range.end).unwrap_or(usize::MAX).min(bytes.len());
        let start = usize::try_from(range.start).unwrap_or(usize::MAX).min(end);
        Ok(bytes[start..end].to_vec())
    }

    async fn size(&self, hash: Hash) -> Result<Option<u64>, LogError> {
        Ok(self.blobs().get(&hash).map(|(bytes, _)| bytes.len() as u64))
    }

    async fn list(&self) -> Result<Vec<BlobRef>, LogError> {
        let blob = |(hash, (bytes, _)): (&Hash, &(Vec<u8>, Timestamp))| BlobRef {
            hash: *hash,
            size_bytes: bytes.len() as u64,
        };
        Ok(self.blobs().iter().map(blob).collect())
    }

    async fn remove(&self, hash: Hash, not_after: Timestamp) -> Result<bool, LogError> {
        let mut blobs = self.blobs();
        let is_old = blobs.get(&hash).is_some_and(|(_, put_at)| *put_at <= not_after);
        Ok(is_old && blobs.remove(&hash).is_some())
    }
}
