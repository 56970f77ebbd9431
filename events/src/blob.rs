//! The blob store: large bodies, by their hash. A blob is written before the event that names it, so an event never
//! points to nothing; a blob that no event names (after a crash between the two) does no harm.

mod file_blobs;
mod memory_blobs;
mod references;

pub use file_blobs::FileBlobs;
pub(crate) use file_blobs::{io_failed, make_private_dir, off_thread};
pub(crate) use memory_blobs::MemoryBlobs;
pub use references::referenced_blobs;

use crate::hash::Hash;
use crate::log::LogError;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A blob's address and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BlobRef {
    /// The BLAKE3 hash of its bytes.
    pub hash: Hash,
    /// How many bytes it has.
    pub size_bytes: u64,
}

/// Where blobs are kept. Blobs are immutable and as durable as events.
#[async_trait]
pub trait BlobStore: Send + Sync {
    /// Stores `bytes`, durably, unless they are there already.
    ///
    /// # Errors
    /// When they cannot be stored ([`LogError::Full`] when there is no space).
    async fn put(&self, bytes: &[u8]) -> Result<BlobRef, LogError>;

    /// The bytes of `range` (cut to the blob's size).
    ///
    /// # Errors
    /// [`LogError::NoSuchBlob`] when it is not there; [`LogError::Damaged`] when a whole blob is read and its bytes
    /// do not have its hash.
    async fn read(&self, hash: Hash, range: Range<u64>) -> Result<Vec<u8>, LogError>;

    /// The blob's size in bytes; `None` when it is not there.
    ///
    /// # Errors
    /// When the store cannot be asked.
    async fn size(&self, hash: Hash) -> Result<Option<u64>, LogError>;
}

/// Whether `range` asks for all of a blob of `size_bytes`.
pub(crate) const fn is_whole(range: &Range<u64>, size_bytes: u64) -> bool {
    range.start == 0 && range.end >= size_bytes
}

/// The error for a blob whose bytes do not have its hash.
pub(crate) fn damaged_blob(hash: Hash) -> LogError {
    LogError::Damaged { stream: format!("blob {hash}"), seq: 0, what: "its bytes do not have its hash".to_owned() }
}
