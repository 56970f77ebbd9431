//! An event as a message: the canonical envelope is the body; headers carry its hash and place.
//!
//! ```text
//!   Nats-Msg-Id      the event's id            Retrace-Hash     the hash of the canonical envelope
//!   Retrace-Seq      its place in its stream   Retrace-Payload  the blob that holds the payload, when the body does not
//! ```

use super::api::Last;
use crate::codec;
use crate::envelope::Envelope;
use crate::hash::Hash;
use crate::id::StreamId;
use crate::log::batch::CheckedEvent;
use crate::log::chain::{StoredEvent, damaged};
use crate::log::{Deletion, Head, LogError};
use async_nats::{HeaderMap, HeaderValue, header::NATS_MESSAGE_ID};
use bytes::Bytes;
use std::str::FromStr;

const HASH: &str = "Retrace-Hash";
const SEQ: &str = "Retrace-Seq";
const PAYLOAD: &str = "Retrace-Payload";

/// An event on its way to the server.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Outgoing {
    /// The message of `event`, whose payload is in `payload_blob` when that is given. `life` tells the event from the same
    /// one before its stream was deleted, which the server may remember.
    pub(super) fn new(
        event: CheckedEvent<'_>,
        payload_blob: Option<Hash>,
        life: Option<u64>,
    ) -> Result<Self, LogError> {
        let mut headers = HeaderMap::new();
        let id = event.envelope.id;
        headers.insert(NATS_MESSAGE_ID, life.map_or_else(|| id.to_string(), |life| format!("{id}.{life}")));
        headers.insert(HASH, event.hash.to_string());
        headers.insert(SEQ, event.envelope.seq.to_string());
        let body = match payload_blob {
            None => event.bytes,
            Some(blob) => {
                headers.insert(PAYLOAD, blob.to_string());
                StoredEvent::stub(event.envelope)?
            }
        };
        Ok(Self { headers, body: body.into() })
    }
}

/// A message from the server, not checked yet.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) position: u64,
    pub(super) subject: String,
    pub(super) seq: u64,
    pub(super) stored: StoredEvent,
}

impl Incoming {
    /// Reads the headers.
    pub(super) fn new(position: u64, subject: &str, headers: &HeaderMap, body: Bytes) -> Result<Self, LogError> {
        let seq = parsed(headers, SEQ).ok_or_else(|| foreign(subject, position))?;
        let hash = parsed(headers, HASH).ok_or_else(|| foreign(subject, position))?;
        let payload_blob = match headers.get(PAYLOAD) {
            None => None,
            Some(_) => Some(parsed(headers, PAYLOAD).ok_or_else(|| foreign(subject, position))?),
        };
        Ok(Self {
            position,
            subject: subject.to_owned(),
            seq,
            stored: StoredEvent { bytes: body.into(), hash, payload_blob },
        })
    }

    /// The head it is, when it is the last of its stream. The bytes are checked as far as they are here.
    pub(super) fn last(&self) -> Result<Last, LogError> {
        let envelope = match self.stored.payload_blob {
            None => self.stored.restore(&self.subject, self.seq, None)?,
            Some(_) => self.stub()?,
        };
        let head = Head { seq: self.seq, hash: self.stored.hash, at: envelope.at };
        Ok(Last { head, position: self.position, is_deleted: Deletion::stands_in(&envelope) })
    }

    /// Whether it is a tombstone.
    pub(super) fn is_tombstone(&self) -> bool {
        codec::decode_envelope(&self.stored.bytes).is_ok_and(|envelope| Deletion::stands_in(&envelope))
    }

    /// Its stream.
    pub(super) fn stream(&self) -> Result<StreamId, LogError> {
        self.subject.parse().map_err(|_| foreign(&self.subject, self.position))
    }

    /// The envelope of a message whose payload is elsewhere, as far as it can be checked without that.
    fn stub(&self) -> Result<Envelope, LogError> {
        let wrong = |what: &str| damaged(&self.subject, self.seq, what);
        let envelope = codec::decode_envelope(&self.stored.bytes).map_err(|e| wrong(&e.to_string()))?;
        if envelope.seq != self.seq || envelope.stream.subject() != self.subject {
            return Err(wrong("another event stands in its place"));
        }
        Ok(envelope)
    }
}

/// A header's value, when it is there and a `T`.
pub(super) fn parsed<T: FromStr>(headers: &HeaderMap, name: &str) -> Option<T> {
    headers.get_last(name).map(HeaderValue::as_str)?.parse().ok()
}

/// Somebody else published to a subject of ours.
fn foreign(subject: &str, position: u64) -> LogError {
    damaged(subject, 0, &format!("message {position} was not written by retrace, or its headers are broken"))
}
