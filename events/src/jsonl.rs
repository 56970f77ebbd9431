//! The open format: a session as lines of JSON, one event a line, for other tools and for moving between logs.
//!
//! An event's line holds the payload twice: readable (`payload`), and as it is stored (`payload_bytes`, base64), so
//! that the chain of hashes can be verified by anyone. What is imported is `payload_bytes`; the readable form is for
//! readers and is `null` for kinds this version does not know. A blob's line stands before the first event that
//! names it. A redacted export leaves the stored bytes out: it can be read and searched, but not imported.
//!
//! Snapshots of workspaces are one stream of bytes that this crate does not look into, in pieces of bounded size, a piece a
//! line, numbered from 0 to the last one. A file may hold several such streams, one behind the other, anywhere between
//! other lines.

#[cfg(test)]
mod tests;

use crate::blob::{BlobRef, referenced_blobs};
use crate::codec::{CodecError, Decoded};
use crate::envelope::{Envelope, Event};
use crate::hash::Hash;
use crate::id::{EventId, StreamId, Timestamp};
use crate::log::{EventLog, LogError};
use crate::redact::Redactor;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;

/// The longest line that is read, in bytes.
pub const MAX_LINE_BYTES: usize = 512 * 1024 * 1024;

/// The largest piece of a stream of snapshots, in bytes.
pub const MAX_PIECE_BYTES: usize = 1024 * 1024;

/// How many events are exported from one page of the log.
const PAGE: usize = 100;

/// A line of the open format, understood and verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// An event, whose hash is what the line says.
    Event(Box<Envelope>),
    /// A blob, whose bytes have its hash. It belongs into the blob store before the events that follow.
    Blob {
        /// Its address.
        hash: Hash,
        /// Its content.
        bytes: Vec<u8>,
    },
    /// A piece of a stream of snapshots.
    Snapshots(SnapshotPiece),
}

/// A piece of a stream of snapshots. What it holds is checked by whoever takes in the whole stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotPiece {
    /// Its number in its stream, from 0.
    pub number: u64,
    /// Whether the stream ends with it.
    pub is_last: bool,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Why a line was not taken.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It is not JSON of this format.
    #[error("not a line of an export: {0}")]
    Malformed(String),
    /// It comes from a redacted export.
    #[error("this is a redacted export, which leaves out what an import needs\nhint: export again without redaction")]
    Redacted,
    /// The event or blob is not the one its hash was made of.
    #[error("{what} was changed: its hash is {found}, the line says {claimed}")]
    Changed {
        /// Which.
        what: String,
        /// As the line says.
        claimed: Hash,
        /// As computed.
        found: Hash,
    },
    /// The line is too long.
    #[error("a line of {size_bytes} bytes is over the limit of {limit_bytes}")]
    TooLong {
        /// Its length.
        size_bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
    /// The event cannot be encoded.
    #[error(transparent)]
    Codec(#[from] CodecError),
}

/// An event's line as JSON.
#[derive(Debug, Serialize, Deserialize)]
struct EventLine {
    id: EventId,
    /// The subject form, `ev.<tenant>.<project>.<class>.<id>`.
    stream: String,
    seq: u64,
    /// RFC 3339, for readers; `at_ms` is what counts.
    at: String,
    at_ms: u64,
    kind: String,
    schema: u16,
    cause: Option<EventId>,
    prev_hash: Hash,
    hash: Hash,
    #[serde(default)]
    payload: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payload_bytes: Option<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    redacted: bool,
}

/// A blob's line as JSON.
#[derive(Debug, Serialize, Deserialize)]
struct BlobLine {
    blob: Hash,
    size_bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
    /// In a redacted export: the content, when it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    redacted: bool,
}

/// A line with a piece of a stream of snapshots, as JSON.
#[derive(Debug, Serialize, Deserialize)]
struct SnapshotsLine {
    /// The piece's number.
    snapshots: u64,
    #[serde(default, skip_serializing_if = "is_false")]
    last: bool,
    bytes: String,
}

/// The line of an event, without a line end.
///
/// # Errors
/// When the payload is not what its kind says.
pub fn export_line(envelope: &Envelope) -> Result<String, CodecError> {
    let mut line = event_line(envelope)?;
    line.payload_bytes = Some(STANDARD.encode(&envelope.payload));
    Ok(to_json(&line))
}

/// The line of an event with every text in its payload redacted, and without the stored bytes.
///
/// # Errors
/// As [`export_line`].
pub fn export_line_redacted(envelope: &Envelope, redactor: &Redactor) -> Result<String, CodecError> {
    let mut line = event_line(envelope)?;
    redact_value(&mut line.payload, redactor);
    line.redacted = true;
    Ok(to_json(&line))
}

/// The line of a blob; with a `redactor` its redacted text instead of its bytes.
#[must_use]
pub fn export_blob_line(hash: Hash, bytes: &[u8], redactor: Option<&Redactor>) -> String {
    let size_bytes = bytes.len() as u64;
    let line = match redactor {
        None => BlobLine { blob: hash, size_bytes, bytes: Some(STANDARD.encode(bytes)), text: None, redacted: false },
        Some(redactor) => {
            let text = std::str::from_utf8(bytes).ok().map(|text| redactor.redact(text).into_owned());
            BlobLine { blob: hash, size_bytes, bytes: None, text, redacted: true }
        }
    };
    to_json(&line)
}

/// The line of a piece of a stream of snapshots; at most [`MAX_PIECE_BYTES`] of it are taken again.
#[must_use]
pub fn export_snapshot_line(number: u64, bytes: &[u8], is_last: bool) -> String {
    to_json(&SnapshotsLine { snapshots: number, last: is_last, bytes: STANDARD.encode(bytes) })
}

/// Reads a line and verifies its hash.
///
/// # Errors
/// When it is something else, was changed, or comes from a redacted export.
pub fn import_line(line: &str) -> Result<Line, ImportError> {
    if line.len() > MAX_LINE_BYTES {
        return Err(ImportError::TooLong { size_bytes: line.len(), limit_bytes: MAX_LINE_BYTES });
    }
    /// Tells the kinds of line apart before one is read in full.
    #[derive(Deserialize)]
    struct Probe<'a> {
        #[serde(borrow)]
        blob: Option<&'a serde_json::value::RawValue>,
        #[serde(borrow)]
        snapshots: Option<&'a serde_json::value::RawValue>,
    }
    let probe: Probe<'_> = serde_json::from_str(line).map_err(|e| malformed(&e))?;
    match (probe.blob, probe.snapshots) {
        (Some(_), _) => import_blob(line),
        (None, Some(_)) => import_snapshots(line),
        (None, None) => import_event(line),
    }
}

/// All lines of a stream's export, each blob once and before the first event that names it.
pub fn export_stream<'a>(
    log: &'a dyn EventLog,
    stream: &'a StreamId,
    redactor: Option<&'a Redactor>,
) -> BoxStream<'a, Result<String, LogError>> {
    let pages = stream::try_unfold((0_u64, HashSet::new()), move |(from_seq, mut seen)| async move {
        let page = log.read(stream, from_seq, PAGE).await?;
        let Some(last) = page.last() else { return Ok::<_, LogError>(None) };
        let next = last.seq + 1;
        let mut lines = Vec::with_capacity(page.len());
        for envelope in page {
            let event = Event::decode(envelope)?;
            let blobs = event.payload.known().map(referenced_blobs).unwrap_or_default();
            for BlobRef { hash, .. } in blobs {
                if seen.insert(hash) {
                    lines.push(export_blob_line(hash, &log.blobs().read(hash, 0..u64::MAX).await?, redactor));
                }
            }
            lines.push(match redactor {
                None => export_line(&event.envelope)?,
                Some(redactor) => export_line_redacted(&event.envelope, redactor)?,
            });
        }
        Ok(Some((stream::iter(lines.into_iter().map(Ok)), (next, seen))))
    });
    pages.try_flatten().boxed()
}

fn event_line(envelope: &Envelope) -> Result<EventLine, CodecError> {
    let payload = match crate::codec::decode_payload(&envelope.kind, envelope.schema, &envelope.payload)? {
        Decoded::Known(payload) => payload.to_json(),
        Decoded::Newer => Value::Null,
    };
    Ok(EventLine {
        id: envelope.id,
        stream: envelope.stream.subject(),
        seq: envelope.seq,
        at: envelope.at.to_string(),
        at_ms: envelope.at.0,
        kind: envelope.kind.clone(),
        schema: envelope.schema,
        cause: envelope.cause,
        prev_hash: envelope.prev_hash,
        hash: envelope.hash()?,
        payload,
        payload_bytes: None,
        redacted: false,
    })
}

fn import_event(line: &str) -> Result<Line, ImportError> {
    let line: EventLine = serde_json::from_str(line).map_err(|e| malformed(&e))?;
    if line.redacted {
        return Err(ImportError::Redacted);
    }
    let bytes = line.payload_bytes.ok_or_else(|| ImportError::Malformed("it has no `payload_bytes`".to_owned()))?;
    let envelope = Envelope {
        id: line.id,
        stream: line.stream.parse().map_err(|e| malformed(&e))?,
        seq: line.seq,
        at: Timestamp(line.at_ms),
        kind: line.kind,
        schema: line.schema,
        cause: line.cause,
        prev_hash: line.prev_hash,
        payload: STANDARD.decode(bytes).map_err(|e| malformed(&e))?,
    };
    let found = envelope.hash()?;
    if found != line.hash {
        let what = format!("event {} of {}", envelope.seq, envelope.stream);
        return Err(ImportError::Changed { what, claimed: line.hash, found });
    }
    Ok(Line::Event(Box::new(envelope)))
}

fn import_blob(line: &str) -> Result<Line, ImportError> {
    let line: BlobLine = serde_json::from_str(line).map_err(|e| malformed(&e))?;
    if line.redacted {
        return Err(ImportError::Redacted);
    }
    let bytes = line.bytes.ok_or_else(|| ImportError::Malformed("it has no `bytes`".to_owned()))?;
    let bytes = STANDARD.decode(bytes).map_err(|e| malformed(&e))?;
    let found = Hash::of(&bytes);
    if found != line.blob {
        return Err(ImportError::Changed { what: "a blob".to_owned(), claimed: line.blob, found });
    }
    Ok(Line::Blob { hash: line.blob, bytes })
}

fn import_snapshots(line: &str) -> Result<Line, ImportError> {
    let line: SnapshotsLine = serde_json::from_str(line).map_err(|e| malformed(&e))?;
    // Before it is decoded: base64 has four letters for three bytes.
    let size_bytes = line.bytes.len() / 4 * 3;
    if size_bytes > MAX_PIECE_BYTES + 3 {
        return Err(ImportError::TooLong { size_bytes, limit_bytes: MAX_PIECE_BYTES });
    }
    let bytes = STANDARD.decode(line.bytes).map_err(|e| malformed(&e))?;
    Ok(Line::Snapshots(SnapshotPiece { number: line.snapshots, is_last: line.last, bytes }))
}

/// Redacts every text inside `value`; names of fields are ours and stay.
fn redact_value(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => {
            if let std::borrow::Cow::Owned(cleaned) = redactor.redact(text) {
                *text = cleaned;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redact_value(item, redactor)),
        Value::Object(fields) => fields.values_mut().for_each(|field| redact_value(field, redactor)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Lines are plain structs of texts and numbers, which JSON always holds.
fn to_json(line: &impl Serialize) -> String {
    serde_json::to_string(line).unwrap_or_default()
}

fn malformed(error: &impl std::fmt::Display) -> ImportError {
    ImportError::Malformed(error.to_string())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}
