//! Many events in a log: recorded sessions, again and again, each time with other words, until there are as many as asked for.
//!
//! The same events would make an index look small and quick: its dictionary would not grow. So each copy but the first has
//! some of its longer words changed, always the same ones for the same copy, and is a week later than the copy before it.

use crate::recorded::RecordedSession;
use retrace_events::log::MAX_BATCH_EVENTS;
use retrace_events::{Envelope, EventLog, Hash, LogError, StreamId};
use std::time::{Duration, Instant};

/// A week, in hours.
const WEEK_HOURS: i64 = 7 * 24;
/// The most payload bytes of one append; a log takes at least as many.
const BATCH_BYTES: usize = 16 * 1024 * 1024;
/// Words of fewer letters stay.
const SHORTEST: usize = 5;
/// One word of so many is changed.
const ONE_OF: u8 = 8;

/// What was put into a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scaled {
    /// Events.
    pub events: u64,
    /// Sessions.
    pub sessions: u64,
    /// Bytes of payload.
    pub payload_bytes: u64,
    /// Time spent in the log, without making the events.
    pub appending: Duration,
}

/// Appends `sessions` to `log` as often as it takes to have `events` events; whole sessions, so there may be a few more.
/// `progress` hears of each session how many events there are by then.
///
/// # Errors
/// When the log fails, or there is nothing to append.
pub async fn fill(
    log: &dyn EventLog,
    sessions: &[RecordedSession],
    events: u64,
    progress: &mut (dyn FnMut(u64) + Send),
) -> Result<Scaled, LogError> {
    let mut scaled = Scaled::default();
    let mut copy = 0;
    while scaled.events < events {
        let before = scaled.events;
        for session in sessions {
            if scaled.events >= events {
                break;
            }
            let varied = later(session, copy);
            append(log, &varied.events(&stream(session, copy), &|text| vary(text, copy))?, &mut scaled).await?;
            scaled.sessions += 1;
            progress(scaled.events);
        }
        if scaled.events == before {
            return Err(LogError::InvalidBatch("no session has any events".to_owned()));
        }
        copy += 1;
    }
    Ok(scaled)
}

/// The stream of a session's copy.
#[must_use]
pub fn stream(session: &RecordedSession, copy: u32) -> StreamId {
    crate::stream(&format!("{}-{copy}", session.id))
}

/// Appends a session's events in as few batches as a log takes.
async fn append(log: &dyn EventLog, events: &[Envelope], scaled: &mut Scaled) -> Result<(), LogError> {
    let (mut first, mut bytes) = (0, 0);
    for (place, event) in events.iter().enumerate() {
        let is_full = place - first >= MAX_BATCH_EVENTS || (bytes + event.payload.len() > BATCH_BYTES && place > first);
        if is_full {
            timed(log, &events[first..place], scaled).await?;
            (first, bytes) = (place, 0);
        }
        bytes += event.payload.len();
        scaled.payload_bytes += event.payload.len() as u64;
    }
    scaled.events += events.len() as u64;
    timed(log, &events[first..], scaled).await
}

async fn timed(log: &dyn EventLog, batch: &[Envelope], scaled: &mut Scaled) -> Result<(), LogError> {
    let begun = Instant::now();
    log.append(batch).await?;
    scaled.appending += begun.elapsed();
    Ok(())
}

/// The session, so many weeks later.
fn later(session: &RecordedSession, weeks: u32) -> RecordedSession {
    let mut session = session.clone();
    let hours = WEEK_HOURS * i64::from(weeks);
    for line in &mut session.lines {
        let at = line.ts.parse::<jiff::Timestamp>().ok();
        if let Some(at) = at.and_then(|at| at.checked_add(jiff::SignedDuration::from_hours(hours)).ok()) {
            line.ts = at.to_string();
        }
    }
    session
}

/// `text` as copy number `copy` has it: some longer words get an ending. Names of fields in JSON stay, so that a call's input is
/// still one.
#[must_use]
pub fn vary(text: &str, copy: u32) -> String {
    if copy == 0 {
        return text.to_owned();
    }
    let ending: String = copy.to_string().bytes().map(|digit| char::from(b'a' + digit - b'0')).collect();
    let mut varied = String::with_capacity(text.len() + text.len() / 16);
    let mut rest = text;
    while let Some(begin) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let (before, from) = rest.split_at(begin);
        let end = from.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        varied.push_str(before);
        varied.push_str(word);
        let in_name = after.starts_with("\":") || after.starts_with('_') || before.ends_with(['_', '\\']);
        if word.len() >= SHORTEST && !in_name && is_chosen(word, copy) {
            varied.push_str(&ending);
        }
        rest = after;
    }
    varied + rest
}

fn is_chosen(word: &str, copy: u32) -> bool {
    let hash = Hash::of(format!("{copy}/{word}").as_bytes());
    hash.as_bytes()[0].is_multiple_of(ONE_OF)
}

#[cfg(test)]
#[path = "scale_tests.rs"]
mod tests;
