//! Objects by name: things too large for memory that several hosts share beside a log, such as snapshots of workspaces.
//!
//! Unlike a blob, an object is named by whoever puts it, and its bytes say nothing about its name: whoever gets one checks
//! what it holds.

use crate::id::Timestamp;
use crate::log::LogError;
use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};

/// Where an object's bytes come from.
pub type ObjectReader<'a> = &'a mut (dyn AsyncRead + Send + Unpin);

/// Where an object's bytes go to.
pub type ObjectWriter<'a> = &'a mut (dyn AsyncWrite + Send + Unpin);

/// What is known of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedObject {
    /// Its name.
    pub name: String,
    /// What whoever put it wants to be known of it.
    pub note: String,
    /// How many bytes it has.
    pub size_bytes: u64,
    /// When it was put, by the clock of whoever did.
    pub put_at: Timestamp,
}

/// Where objects are kept. Names are of letters, digits, `.` and `-`, 100 at most; notes have 1,000 bytes at most. An object
/// appears whole or not at all.
#[async_trait]
pub trait NamedObjects: Send + Sync {
    /// Puts the `size_bytes` bytes that `content` has under `name`, in place of what is there. Needs little memory.
    ///
    /// # Errors
    /// When they cannot be stored ([`LogError::Full`] when there is no space), or `content` ends too early.
    async fn put_object(
        &self,
        name: &str,
        note: &str,
        content: ObjectReader<'_>,
        size_bytes: u64,
    ) -> Result<(), LogError>;

    /// Writes an object's bytes to `into`; `None` when there is none of this name. Needs little memory.
    ///
    /// # Errors
    /// [`LogError::Damaged`] when they are not what was put; what was written so far is then worth nothing.
    async fn get_object(&self, name: &str, into: ObjectWriter<'_>) -> Result<Option<NamedObject>, LogError>;

    /// What is known of an object; `None` when there is none of this name.
    ///
    /// # Errors
    /// When the store cannot be asked.
    async fn object(&self, name: &str) -> Result<Option<NamedObject>, LogError>;

    /// All objects whose names begin with `prefix`, in no order.
    ///
    /// # Errors
    /// When the store cannot be asked.
    async fn list_objects(&self, prefix: &str) -> Result<Vec<NamedObject>, LogError>;

    /// Removes an object, unless it was put after `not_after`; whether it was there and is gone.
    ///
    /// # Errors
    /// When the store cannot be asked, or not be changed.
    async fn remove_object(&self, name: &str, not_after: Timestamp) -> Result<bool, LogError>;
}
