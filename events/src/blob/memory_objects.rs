//! Named objects in memory, for the log in memory. They are gone when it is dropped.

use super::io_failed;
use super::named_objects::{NamedObject, NamedObjects, ObjectReader, ObjectWriter};
use crate::id::Timestamp;
use crate::log::LogError;
use crate::mint::{Mint, SystemMint};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Named objects in memory.
#[derive(Debug, Default)]
pub(crate) struct MemoryObjects {
    objects: Mutex<BTreeMap<String, (NamedObject, Vec<u8>)>>,
}

impl MemoryObjects {
    fn objects(&self) -> MutexGuard<'_, BTreeMap<String, (NamedObject, Vec<u8>)>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl NamedObjects for MemoryObjects {
    async fn put_object(
        &self,
        name: &str,
        note: &str,
        content: ObjectReader<'_>,
        size_bytes: u64,
    ) -> Result<(), LogError> {
        let mut bytes = Vec::new();
        content.take(size_bytes).read_to_end(&mut bytes).await.map_err(|e| io_failed(Path::new(name), &e))?;
        if bytes.len() as u64 != size_bytes {
            let why = format!("{name} ended after {} of {size_bytes} bytes", bytes.len());
            return Err(LogError::Unavailable { location: "memory".to_owned(), why });
        }
        let about = NamedObject { name: name.to_owned(), note: note.to_owned(), size_bytes, put_at: SystemMint.now() };
        self.objects().insert(name.to_owned(), (about, bytes));
        Ok(())
    }

    async fn get_object(&self, name: &str, into: ObjectWriter<'_>) -> Result<Option<NamedObject>, LogError> {
        let found = self.objects().get(name).cloned();
        let Some((about, bytes)) = found else { return Ok(None) };
        into.write_all(&bytes).await.map_err(|e| io_failed(Path::new(name), &e))?;
        Ok(Some(about))
    }

    async fn object(&self, name: &str) -> Result<Option<NamedObject>, LogError> {
        Ok(self.objects().get(name).map(|(about, _)| about.clone()))
    }

    async fn list_objects(&self, prefix: &str) -> Result<Vec<NamedObject>, LogError> {
        let objects = self.objects();
        Ok(objects.values().map(|(about, _)| about).filter(|about| about.name.starts_with(prefix)).cloned().collect())
    }

    async fn remove_object(&self, name: &str, not_after: Timestamp) -> Result<bool, LogError> {
        let mut objects = self.objects();
        let is_old = objects.get(name).is_some_and(|(about, _)| about.put_at <= not_after);
        Ok(is_old && objects.remove(name).is_some())
    }
}
