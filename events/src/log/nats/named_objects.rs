//! Named objects in the bucket of the blobs, told from them by the first letters of their names.

use super::object_blobs::{ObjectBlobs, PUT, SILENCE, SLOWEST, STEP_BYTES};
use super::storage::BUCKET;
use crate::blob::{NamedObject, NamedObjects, ObjectReader, ObjectWriter};
use crate::id::Timestamp;
use crate::log::LogError;
use async_nats::header::NATS_ROLLUP;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::{GetErrorKind, InfoErrorKind, ObjectInfo, ObjectMetadata};
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use async_trait::async_trait;
use base64::{Engine as _, engine::general_purpose::URL_SAFE};
use futures::TryStreamExt;
use std::collections::HashMap;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// What the names of our objects begin with; those of blobs are hexadecimal.
const PREFIX: &str = "named.";

/// The entry of an object's metadata that holds the note.
const NOTE: &str = "note";

#[async_trait]
impl NamedObjects for ObjectBlobs {
    async fn put_object(
        &self,
        name: &str,
        note: &str,
        content: ObjectReader<'_>,
        size_bytes: u64,
    ) -> Result<(), LogError> {
        let metadata = HashMap::from([(NOTE.to_owned(), note.to_owned())]);
        let about = ObjectMetadata { name: full(name), metadata, ..ObjectMetadata::default() };
        let time = PUT + Duration::from_secs(size_bytes / SLOWEST);
        let mut content = content.take(size_bytes);
        match tokio::time::timeout(time, self.store.put(about, &mut content)).await {
            Ok(Ok(info)) if info.size as u64 == size_bytes => Ok(()),
            Ok(Ok(info)) => {
                self.remove_object(name, Timestamp(u64::MAX)).await?;
                Err(self.unavailable(&format!("{name} ended after {} of {size_bytes} bytes", info.size)))
            }
            Ok(Err(e)) => Err(self.put_failed(&e)),
            Err(_) => Err(self.unavailable(&"storing an object took too long")),
        }
    }

    async fn get_object(&self, name: &str, into: ObjectWriter<'_>) -> Result<Option<NamedObject>, LogError> {
        let mut object = match self.store.get(full(name)).await {
            Ok(object) => object,
            Err(e) if e.kind() == GetErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(self.unavailable(&e)),
        };
        let Some(about) = described(object.info()) else { return Ok(None) };
        let mut step = vec![0; STEP_BYTES];
        let mut done = 0_u64;
        loop {
            let count = match tokio::time::timeout(SILENCE, object.read(&mut step)).await {
                Ok(Ok(count)) => count,
                Ok(Err(e)) if e.kind() == std::io::ErrorKind::InvalidData => return Err(damaged(name)),
                Ok(Err(e)) => return Err(self.unavailable(&e)),
                Err(_) => return Err(self.unavailable(&format!("{name} cannot be read on after {done} bytes"))),
            };
            if count == 0 {
                break;
            }
            done += count as u64;
            let written = into.write_all(step.get(..count).unwrap_or_default()).await;
            written.map_err(|e| crate::blob::io_failed(std::path::Path::new(name), &e))?;
        }
        if done == about.size_bytes { Ok(Some(about)) } else { Err(damaged(name)) }
    }

    async fn object(&self, name: &str) -> Result<Option<NamedObject>, LogError> {
        match self.store.info(full(name)).await {
            Ok(info) => Ok(described(&info)),
            Err(e) if e.kind() == InfoErrorKind::NotFound => Ok(None),
            Err(e) => Err(self.unavailable(&e)),
        }
    }

    async fn list_objects(&self, prefix: &str) -> Result<Vec<NamedObject>, LogError> {
        let infos = self.infos().await?;
        Ok(infos.iter().filter_map(described).filter(|object| object.name.starts_with(prefix)).collect())
    }

    async fn remove_object(&self, name: &str, not_after: Timestamp) -> Result<bool, LogError> {
        self.remove_named(&full(name), not_after).await
    }
}

impl ObjectBlobs {
    /// All that is in the bucket.
    pub(super) async fn infos(&self) -> Result<Vec<ObjectInfo>, LogError> {
        let listed = self.store.list().await.map_err(|e| self.unavailable(&e))?;
        let infos: Vec<ObjectInfo> = listed.try_collect().await.map_err(|e| self.unavailable(&e))?;
        Ok(infos.into_iter().filter(|info| !info.deleted).collect())
    }

    /// Removes what has this name in the bucket, unless it was put after `not_after`. The library's own way would also remove
    /// what somebody puts at the same moment; here the server refuses to remove anything but what was looked at.
    pub(super) async fn remove_named(&self, name: &str, not_after: Timestamp) -> Result<bool, LogError> {
        let unavailable = |e: &dyn std::fmt::Display| self.unavailable(e);
        let bucket = self.context.get_stream_no_info(format!("OBJ_{BUCKET}")).await.map_err(|e| unavailable(&e))?;
        let subject = format!("$O.{BUCKET}.M.{}", URL_SAFE.encode(name));
        let message = match bucket.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => message,
            Err(e) if e.kind() == LastRawMessageErrorKind::NoMessageFound => return Ok(false),
            Err(e) => return Err(unavailable(&e)),
        };
        let mut info: ObjectInfo = serde_json::from_slice(&message.payload).map_err(|e| unavailable(&e))?;
        if info.deleted || modified(&info) > not_after {
            return Ok(false);
        }
        (info.chunks, info.size, info.deleted) = (0, 0, true);
        let note = serde_json::to_vec(&info).map_err(|e| unavailable(&e))?;
        let publish = PublishMessage::build()
            .payload(note.into())
            .header(NATS_ROLLUP, "sub")
            .expected_last_subject_sequence(message.sequence);
        let sent = self.context.send_publish(subject, publish).await.map_err(|e| unavailable(&e))?;
        match sent.await {
            Ok(_) => {}
            // It was put again.
            Err(e) if e.kind() == PublishErrorKind::WrongLastSequence => return Ok(false),
            Err(e) => return Err(unavailable(&e)),
        }
        let chunks = bucket.purge().filter(format!("$O.{BUCKET}.C.{}", info.nuid));
        chunks.await.map(|_| true).map_err(|e| unavailable(&e))
    }
}

/// When an object was put. One that does not say counts as new: it stays.
pub(super) fn modified(info: &ObjectInfo) -> Timestamp {
    let ms = info.modified.map_or(i128::MAX, |at| at.unix_timestamp_nanos() / 1_000_000);
    Timestamp(u64::try_from(ms).unwrap_or(u64::MAX))
}

fn described(info: &ObjectInfo) -> Option<NamedObject> {
    let name = info.name.strip_prefix(PREFIX).filter(|_| !info.deleted)?.to_owned();
    let note = info.metadata.get(NOTE).cloned().unwrap_or_default();
    Some(NamedObject { name, note, size_bytes: info.size as u64, put_at: modified(info) })
}

fn full(name: &str) -> String {
    format!("{PREFIX}{name}")
}

fn damaged(name: &str) -> LogError {
    let what = "its bytes do not have its hash, or some are missing".to_owned();
    LogError::Damaged { stream: format!("object {name}"), seq: 0, what }
}
