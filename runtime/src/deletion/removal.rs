//! Deleting the streams of sessions.

use crate::agent::step::step;
use retrace_events::blob::referenced_blobs;
use retrace_events::log::{Deletion, StreamFilter};
use retrace_events::mint::Mint;
use retrace_events::{Class, Event, EventLog, Hash, LogError, StreamId, Timestamp};
use std::collections::HashMap;

/// How many events are read at a time.
const PAGE: usize = 500;

/// The streams of a session, in the order in which they are deleted.
const CLASSES: [Class; 3] = [Class::Session, Class::Control, Class::Summary];

/// Blobs that sessions name which are to be deleted, and when the last event that names each was made.
pub(crate) type Candidates = HashMap<Hash, Timestamp>;

/// What has been deleted of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Finished {
    /// Events.
    pub(crate) events: u64,
}

/// The blobs that events of `sessions` need, what was said to them and written about them included. What cannot be read is
/// passed over: a damaged session can be deleted, too.
///
/// # Errors
/// When the log cannot be asked.
pub(crate) async fn candidates(log: &dyn EventLog, sessions: &[StreamId]) -> Result<Candidates, LogError> {
    let mut candidates = Candidates::new();
    for stream in sessions.iter().flat_map(streams_of) {
        let mut next = 0;
        loop {
            let page = match log.read(&stream, next, PAGE).await {
                Ok(page) => page,
                Err(LogError::Damaged { .. } | LogError::NoSuchBlob(_) | LogError::Codec(_)) => break,
                Err(error) => return Err(error),
            };
            let full = page.len() == PAGE;
            for envelope in page {
                next = envelope.seq + 1;
                let (own, at) = (Hash::of(&envelope.payload), envelope.at);
                let named = Event::decode(envelope).ok();
                let named = named.as_ref().and_then(|event| event.payload.known()).map(referenced_blobs);
                for blob in named.unwrap_or_default().into_iter().map(|blob| blob.hash).chain([own]) {
                    let last = candidates.entry(blob).or_insert(at);
                    *last = at.max(*last);
                }
            }
            if !full {
                break;
            }
        }
    }
    Ok(candidates)
}

/// Deletes `sessions`, in their order, each with what was said to it and written about it. Asked for again, it finishes.
///
/// # Errors
/// When the log cannot be asked; some may be deleted by then.
pub(crate) async fn remove(log: &dyn EventLog, mint: &dyn Mint, sessions: &[StreamId]) -> Result<Finished, LogError> {
    let mut finished = Finished::default();
    for session in sessions {
        for stream in streams_of(session) {
            finished.events += log.head(&stream).await?.map_or(0, |head| head.seq + 1);
            step("delete before");
            log.delete(&Deletion { stream, id: mint.event_id(), at: mint.now() }).await?;
            step("delete after");
        }
    }
    Ok(finished)
}

/// Finishes all deletions that were broken off: of streams whose bytes are not all gone, and of what was said to sessions that
/// are deleted and written about them.
///
/// # Errors
/// As [`remove`].
pub(crate) async fn finish_all(log: &dyn EventLog, mint: &dyn Mint) -> Result<Finished, LogError> {
    let filter = StreamFilter { class: Some(Class::Session), ..StreamFilter::default() };
    let deleted: Vec<StreamId> = log.deleted(&filter).await?.into_iter().map(|info| info.stream).collect();
    remove(log, mint, &deleted).await
}

fn streams_of(session: &StreamId) -> impl Iterator<Item = StreamId> + use<> {
    let session = session.clone();
    CLASSES.into_iter().map(move |class| session.sibling(class))
}
