//! Checks the events that one reading call returns against the hashes beside them and against each other.
//!
//! It knows only what it was shown: the first event of a stream that it sees is taken as it is. The whole chain is
//! checked by [`crate::verify`].

use super::{Deletion, LogError};
use crate::codec;
use crate::envelope::Envelope;
use crate::hash::Hash;
use crate::id::StreamId;
use std::collections::HashMap;

/// The last event of each stream that was shown.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    last: HashMap<StreamId, (u64, Hash)>,
}

impl Chain {
    /// Notes an event whose own hash is right, and compares it with the one before it in its stream.
    ///
    /// A tombstone stands behind what is gone, and a stream that was deleted begins again with 0: neither follows from what
    /// was shown of the stream before.
    pub(crate) fn see(&mut self, envelope: &Envelope, hash: Hash) -> Result<(), LogError> {
        if Deletion::stands_in(envelope) {
            self.last.remove(&envelope.stream);
            return Ok(());
        }
        if envelope.seq == 0 {
            self.last.remove(&envelope.stream);
        }
        if let Some((seq, before)) = self.last.get_mut(&envelope.stream) {
            check_link(&envelope.stream, (*seq, *before), envelope)?;
            (*seq, *before) = (envelope.seq, hash);
        } else {
            self.last.insert(envelope.stream.clone(), (envelope.seq, hash));
        }
        Ok(())
    }
}

/// An event as a backend keeps it, before it is checked.
#[derive(Debug)]
pub(crate) struct StoredEvent {
    /// The canonical envelope; without its payload when that is in the blob store.
    pub(crate) bytes: Vec<u8>,
    /// The hash of the whole canonical envelope.
    pub(crate) hash: Hash,
    /// The payload's blob, when it is in the blob store.
    pub(crate) payload_blob: Option<Hash>,
}

impl StoredEvent {
    /// The canonical bytes of `envelope` without its payload.
    pub(crate) fn stub(envelope: &Envelope) -> Result<Vec<u8>, LogError> {
        let stub =
            Envelope { payload: Vec::new(), kind: envelope.kind.clone(), stream: envelope.stream.clone(), ..*envelope };
        Ok(codec::encode_envelope(&stub)?)
    }

    /// The envelope that `stream` holds at `seq`, when these bytes are it. `payload` is the content of `payload_blob`.
    pub(crate) fn restore(&self, stream: &str, seq: u64, payload: Option<Vec<u8>>) -> Result<Envelope, LogError> {
        let mut envelope = codec::decode_envelope(&self.bytes).map_err(|e| damaged(stream, seq, &e.to_string()))?;
        let found = match payload {
            Some(payload) => {
                envelope.payload = payload;
                envelope.hash()?
            }
            None => Hash::of(&self.bytes),
        };
        if found != self.hash {
            return Err(damaged(stream, seq, "its bytes do not have the hash that is stored beside them"));
        }
        if envelope.seq != seq || envelope.stream.subject() != stream {
            return Err(damaged(stream, seq, &format!("{} {} stands in its place", envelope.stream, envelope.seq)));
        }
        Ok(envelope)
    }
}

/// The content of the blob that holds an event's payload, or why the event is damaged.
pub(crate) fn payload_of(stream: &str, seq: u64, read: Result<Vec<u8>, LogError>) -> Result<Vec<u8>, LogError> {
    read.map_err(|e| match e {
        LogError::NoSuchBlob(hash) => damaged(stream, seq, &format!("its payload, blob {hash}, is missing")),
        LogError::Damaged { stream: blob, what, .. } => damaged(stream, seq, &format!("its payload, {blob}: {what}")),
        other => other,
    })
}

/// Checks that `envelope` follows from `before`, the last event of its stream.
pub(crate) fn check_link(stream: &StreamId, before: (u64, Hash), envelope: &Envelope) -> Result<(), LogError> {
    let (seq, hash) = before;
    if envelope.seq != seq + 1 {
        let what = format!("it is missing; event {} follows event {seq}", envelope.seq);
        return Err(damaged(&stream.subject(), seq + 1, &what));
    }
    if envelope.prev_hash != hash {
        return Err(damaged(
            &stream.subject(),
            envelope.seq,
            "it does not follow from the event before it (prev_hash differs)",
        ));
    }
    Ok(())
}

/// The error for a reader that has seen more than there is.
pub(crate) fn lost_tail(location: String, seen: u64, last: u64) -> LogError {
    let what = format!(
        "a reader has seen position {seen}, and it ends at position {last}: its end is lost, or it is another log"
    );
    LogError::DamagedStore { location, what }
}

/// The error for a wrong event.
pub(crate) fn damaged(stream: &str, seq: u64, what: &str) -> LogError {
    LogError::Damaged { stream: stream.to_owned(), seq, what: what.to_owned() }
}
