//! Where a session comes from. A fork copies nothing, so what it knows of its past is found in the streams it was forked from.

use retrace_events::codec::Decoded;
use retrace_events::payload::{Payload, Session};
use retrace_events::{Event, EventLog, LogError, StreamId};

/// The most generations that are followed.
const MAX_GENERATIONS: usize = 100;

/// The sessions that `stream` was forked from, the nearest first, each with the last of its events that belongs to `stream` too.
/// Ends early where a parent is not in the log (an import may lack it) or cannot be understood.
///
/// # Errors
/// When the log cannot be asked.
pub async fn lineage(log: &dyn EventLog, stream: &StreamId) -> Result<Vec<(StreamId, u64)>, LogError> {
    let mut parents: Vec<(StreamId, u64)> = Vec::new();
    let mut stream = stream.clone();
    while parents.len() < MAX_GENERATIONS {
        let first = log.read(&stream, 0, 1).await?.into_iter().next();
        let Some(Ok(first)) = first.map(Event::decode) else { break };
        let Some((parent, parent_seq)) = forked_from(&first) else { break };
        if parents.iter().any(|(known, _)| *known == parent) {
            break;
        }
        parents.push((parent.clone(), parent_seq));
        stream = parent;
    }
    Ok(parents)
}

/// What a fork's first event says; `None` for other events.
fn forked_from(event: &Event) -> Option<(StreamId, u64)> {
    let Decoded::Known(payload) = &event.payload else { return None };
    let Payload::Session(Session::Forked(forked)) = payload.as_ref() else { return None };
    Some((forked.parent.clone(), forked.parent_seq))
}
