//! Names of events, as people write them: `<session>@<event>`, where the event is its number in the session, a tag, or the
//! beginning of its id. Without `@` the newest event is meant.

use super::exit::{CliError, Exit};
use super::render::clean;
use super::{events, session_name};
use crate::forking::tags_of;
use retrace_events::{Event, EventId, EventLog, StreamId};

/// An event that somebody named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventName {
    /// The session.
    pub(crate) stream: StreamId,
    /// The event's number there; `None` is the newest.
    pub(crate) seq: Option<u64>,
}

/// The event that `name` means.
///
/// # Errors
/// When there is no such session or event, or more than one.
pub(crate) async fn find(log: &dyn EventLog, name: &str) -> Result<EventName, CliError> {
    let (session, event) = match name.split_once('@') {
        Some((session, event)) => (session, Some(event.trim())),
        None => (name, None),
    };
    let stream = session_name::find(log, session).await?;
    let seq = match event {
        Some(event) => Some(number(log, &stream, event).await?),
        None => None,
    };
    Ok(EventName { stream, seq })
}

/// The number of the event that `event` means in `stream`.
async fn number(log: &dyn EventLog, stream: &StreamId, event: &str) -> Result<u64, CliError> {
    let last = log.head(stream).await?.map_or(0, |head| head.seq);
    // A tag may look like anything, so it comes first.
    if let Some(tag) = tags_of(log, stream).await?.into_iter().find(|tag| tag.name == event) {
        return place(log, stream, |id| id == tag.event)
            .await?
            .first()
            .copied()
            .ok_or_else(|| unknown(stream, event, last));
    }
    if let Ok(seq) = event.parse::<u64>() {
        return if seq <= last { Ok(seq) } else { Err(unknown(stream, event, last)) };
    }
    let beginning = event.to_lowercase();
    let is_id = beginning.len() >= 4 && beginning.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let found = if is_id { place(log, stream, |id| id.to_string().starts_with(&beginning)).await? } else { Vec::new() };
    match found[..] {
        [seq] => Ok(seq),
        [] => Err(unknown(stream, event, last)),
        _ => {
            let what =
                format!("{} events of session {} begin with `{}`", found.len(), stream.id, clean::short(event, 80));
            Err(CliError::new(Exit::NotFound, what).hint("write more of its id, or its number"))
        }
    }
}

/// The numbers of the events whose id is `meant`.
async fn place(log: &dyn EventLog, stream: &StreamId, meant: impl Fn(EventId) -> bool) -> Result<Vec<u64>, CliError> {
    let mut found = Vec::new();
    let look = |event: &Event| {
        if meant(event.envelope.id) {
            found.push(event.envelope.seq);
        }
        Ok(())
    };
    events::for_each(log, stream, 0, look).await?;
    Ok(found)
}

fn unknown(stream: &StreamId, event: &str, last: u64) -> CliError {
    let what = format!("session {} has no event `{}`", stream.id, clean::short(event, 80));
    CliError::new(Exit::NotFound, what).hint(format!(
        "its events are 0 to {last}; `retrace show {} --full` numbers them, `retrace tag {}` lists its tags",
        stream.id, stream.id
    ))
}
