//! Reading a session's events for the commands that show them.

use super::exit::{CliError, Exit};
use super::render::clean;
use retrace_events::redact::Redactor;
use retrace_events::{Event, EventLog, History, StreamId, jsonl};
use serde_json::Value;

/// How many events are read at a time.
pub(crate) const PAGE: usize = 500;

/// Calls `each` with all events of `stream` from `from_seq` on, until it fails.
///
/// # Errors
/// When the log cannot be read, or `each` fails.
pub(crate) async fn for_each(
    log: &dyn EventLog,
    stream: &StreamId,
    from_seq: u64,
    mut each: impl FnMut(&Event) -> Result<(), CliError>,
) -> Result<u64, CliError> {
    let mut next = from_seq;
    loop {
        let page = log.read(stream, next, PAGE).await?;
        let full = page.len() == PAGE;
        for envelope in page {
            let event = Event::decode(envelope).map_err(retrace_events::LogError::from)?;
            each(&event)?;
            next += 1;
        }
        if !full {
            return Ok(next);
        }
    }
}

/// As [`for_each`], for all events of the session's history: its ancestors' first. `each` is told which are the session's own.
///
/// # Errors
/// As [`for_each`], and when an ancestor is not in the log.
pub(crate) async fn for_each_of_history(
    log: &dyn EventLog,
    stream: &StreamId,
    mut each: impl FnMut(&Event, bool) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let history = History::of(log, stream).await?;
    history.for_each(log, 0, |place, event| each(event, place >= history.own_from())).await.map(drop)
}

/// An event as a redacted line of the open format.
///
/// # Errors
/// When its payload cannot be decoded.
pub(crate) fn json_line(event: &Event, redactor: &Redactor) -> Result<String, CliError> {
    let line = jsonl::export_line_redacted(&event.envelope, redactor).map_err(retrace_events::LogError::from)?;
    Ok(format!("{}\n", clean::json(&line)))
}

/// As [`json_line`], as a value.
///
/// # Errors
/// As [`json_line`].
pub(crate) fn json_value(event: &Event, redactor: &Redactor) -> Result<Value, CliError> {
    let line = json_line(event, redactor)?;
    serde_json::from_str(&line).map_err(|error| CliError::new(Exit::Failed, format!("not JSON: {error}")))
}
