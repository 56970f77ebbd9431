//! Verifies a stream's hash chain from its first event to its last.

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;

use crate::hash::Hash;
use crate::id::StreamId;
use crate::log::{EventLog, LogError};

/// How many events are read at a time.
const PAGE: usize = 1_000;

/// What a verification found when all is well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// How many events were read.
    pub events: u64,
    /// The hash of the last; [`Hash::GENESIS`] when there is none.
    pub head: Hash,
}

/// Reads all of `stream` and checks that numbers are dense, that every event has the hash of the one before, and that
/// the log's own record of the last event, before and after the reading, agrees. A stream that grows meanwhile is sound.
///
/// # Errors
/// [`LogError::Damaged`] with the first event that is wrong; other errors when the log cannot be read.
pub async fn verify_stream(log: &dyn EventLog, stream: &StreamId) -> Result<Verified, LogError> {
    let damaged = |seq, what: &str| LogError::Damaged { stream: stream.subject(), seq, what: what.to_owned() };
    let disagrees = |seq| damaged(seq, "the log's record of its last event does not agree with the events");
    let before = log.head(stream).await?;
    let (mut next, mut prev) = (0_u64, Hash::GENESIS);
    loop {
        let page = log.read(stream, next, PAGE).await?;
        let full = page.len() == PAGE;
        for envelope in page {
            if envelope.seq != next {
                return Err(damaged(next, &format!("it is missing; event {} follows", envelope.seq)));
            }
            // A fork's first event holds its parent's hash, which is checked where the parent is read.
            let fork = next == 0 && envelope.kind == "session.forked";
            if envelope.prev_hash != prev && !fork {
                return Err(damaged(next, "it does not follow from the event before it (prev_hash differs)"));
            }
            prev = envelope.hash()?;
            if before.is_some_and(|head| head.seq == next && head.hash != prev) {
                return Err(disagrees(next));
            }
            next += 1;
        }
        if !full {
            break;
        }
    }
    if let Some(head) = before.filter(|head| head.seq >= next) {
        return Err(disagrees(head.seq));
    }
    match log.head(stream).await? {
        // Later events are those of a writer that is at work; they were not read.
        Some(head) if head.seq >= next => Ok(Verified { events: next, head: prev }),
        Some(head) if head.seq + 1 < next || head.hash != prev => Err(disagrees(head.seq)),
        Some(_) => Ok(Verified { events: next, head: prev }),
        None if next == 0 => Ok(Verified { events: 0, head: prev }),
        None => Err(damaged(next - 1, "the log says that the stream is empty")),
    }
}
