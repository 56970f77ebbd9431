//! The blob store: large bodies, by their hash. A blob is written before the event that names it, so an event never
//! points to nothing; a blob that no event names (after a crash between the two) does no harm.

mod file_blobs;
mod memory_blobs;
mod memory_objects;
mod named_objects;
mod references;

pub use file_blobs::FileBlobs;
pub(crate) use file_blobs::{io_failed, make_private_dir, off_thread};
pub(crate) use memory_blobs::MemoryBlobs;
pub(crate) use memory_objects::MemoryObjects;
pub use named_objects::{NamedObject, NamedObjects, ObjectReader, ObjectWriter};
pub use references::{needed_blobs, referenced_blobs};

use crate::hash::Hash;
use crate::id::Timestamp;
use crate::log::LogError;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// For how long after it was put a blob or object is not removed merely because nothing names it, in milliseconds: the event
/// that will may be on its way.
pub const GRACE_MS: u64 = 60 * 60 * 1_000;

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
    /// Stores `bytes`, durably, unless they are there already. Either way they count as put now.
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

    /// All blobs, in no order.
    ///
    /// # Errors
    /// When the store cannot be asked.
    async fn list(&self) -> Result<Vec<BlobRef>, LogError>;

    /// Removes the blob, unless it was put after `not_after`; whether it was there and is gone. Nobody may need it: whoever
    /// asks for this has made sure that no event names it, and leaves alone what was put since.
    ///
    /// # Errors
    /// When the store cannot be asked, or not be changed.
    async fn remove(&self, hash: Hash, not_after: Timestamp) -> Result<bool, LogError>;
}

/// Whether `range` asks for all of a blob of `size_bytes`.
pub(crate) const fn is_whole(range: &Range<u64>, size_bytes: u64) -> bool {
    range.start == 0 && range.end >= size_bytes
}

/// The error for a blob whose bytes do not have its hash.
pub(crate) fn damaged_blob(hash: Hash) -> LogError {
    LogError::Damaged { stream: format!("blob {hash}"), seq: 0, what: "its bytes do not have its hash".to_owned() }
}
