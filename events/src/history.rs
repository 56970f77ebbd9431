//! A session's history: its ancestors' events up to where it was forked, then its own.
//!
//! ```text
//!   root      0 ── 1 ── 2 ── 3 ── 4          seq in each stream
//!                       └── fork   0 ── 1
//!   history   0 ── 1 ── 2 ──── 3 ── 4        place: the number in the joined order
//! ```
//!
//! A fork copies nothing: its first event names the parent's event it goes on from, and its hash. What is read here is checked
//! for that: an ancestor that is not the one the fork was made of is damage, and one that is not in the log is said by name.

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;

use crate::codec::Decoded;
use crate::envelope::{Envelope, Event};
use crate::hash::Hash;
use crate::id::StreamId;
use crate::log::{EventLog, LogError};
use crate::payload::session::SessionForked;
use crate::payload::{Payload, Session};

/// The longest line of forks that is followed; anything longer is a circle made by hand.
const MAX_GENERATIONS: usize = 10_000;

/// How many events [`History::for_each`] reads at a time.
const PAGE: usize = 500;

/// The line of streams that make up a session's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// The oldest first; the last is the session itself.
    parts: Vec<Part>,
}

/// What one stream contributes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    stream: StreamId,
    /// The place of its event 0.
    first_place: u64,
    /// How many of its events belong to the history; `None` is all there are and will be.
    events: Option<u64>,
    /// The hash of the last of them.
    last_hash: Option<Hash>,
}

/// An ancestor of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestor {
    /// Its stream.
    pub stream: StreamId,
    /// The last of its events that belongs to the history.
    pub last_seq: u64,
}

impl History {
    /// The history of `stream`, all generations of it.
    ///
    /// # Errors
    /// When the log cannot be read, an ancestor is not in it ([`LogError::NoParent`]), or a fork's first event is damaged.
    pub async fn of(log: &dyn EventLog, stream: &StreamId) -> Result<Self, LogError> {
        let mut line: Vec<(StreamId, Option<(u64, Hash)>)> = vec![(stream.clone(), None)];
        let mut at = stream.clone();
        while let Some(forked) = forked_from(log, &at).await? {
            let SessionForked { parent, parent_seq, parent_hash, .. } = forked;
            if line.len() >= MAX_GENERATIONS || line.iter().any(|(known, _)| *known == parent) {
                return Err(damaged(&at, 0, "its line of forks is a circle"));
            }
            if log.head(&parent).await?.is_none_or(|head| head.seq < parent_seq) {
                return Err(LogError::NoParent { session: at.id.to_string(), parent: parent.id.to_string() });
            }
            line.push((parent.clone(), Some((parent_seq, parent_hash))));
            at = parent;
        }
        let mut first_place = 0;
        let mut parts = Vec::with_capacity(line.len());
        for (stream, last) in line.into_iter().rev() {
            let events = last.map(|(seq, _)| seq + 1);
            parts.push(Part { stream, first_place, events, last_hash: last.map(|(_, hash)| hash) });
            first_place += events.unwrap_or_default();
        }
        Ok(Self { parts })
    }

    /// Only the session's own events, whatever it comes from.
    #[must_use]
    pub fn alone(stream: StreamId) -> Self {
        Self { parts: vec![Part { stream, first_place: 0, events: None, last_hash: None }] }
    }

    /// Whose history it is.
    #[must_use]
    pub fn stream(&self) -> &StreamId {
        // There is always the session itself.
        &self.parts[self.parts.len() - 1].stream
    }

    /// The place of the session's own first event: how many events are its ancestors'.
    #[must_use]
    pub fn own_from(&self) -> u64 {
        self.parts[self.parts.len() - 1].first_place
    }

    /// The sessions it comes from, the nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = Ancestor> {
        let of = |part: &Part| Some(Ancestor { stream: part.stream.clone(), last_seq: part.events?.saturating_sub(1) });
        self.parts.iter().rev().skip(1).filter_map(of)
    }

    /// The stream that holds the event at `place`, and the event's number there.
    #[must_use]
    pub fn at(&self, place: u64) -> (&StreamId, u64) {
        let part = &self.parts[self.part_at(place)];
        (&part.stream, place - part.first_place)
    }

    /// The streams that make it up, the oldest first, each with how many of its events do; as many as there are for `u64::MAX`.
    #[must_use]
    pub fn spans(&self) -> Vec<(StreamId, u64)> {
        self.parts.iter().map(|part| (part.stream.clone(), part.events.unwrap_or(u64::MAX))).collect()
    }

    /// The history up to event `last_seq` of the session itself and no further, as a fork of it would have it.
    #[must_use]
    pub fn until(mut self, last_seq: u64) -> Self {
        if let Some(own) = self.parts.last_mut() {
            own.events = Some(last_seq + 1);
        }
        self
    }

    /// Up to `limit` events from place `from` on, in order. Fewer than `limit` are returned at the end of each stream, none at
    /// the end of the history.
    ///
    /// # Errors
    /// When the log cannot be read, an event is damaged, or an ancestor is not the one that was forked.
    pub async fn read(&self, log: &dyn EventLog, from: u64, limit: usize) -> Result<Vec<Envelope>, LogError> {
        let part = &self.parts[self.part_at(from)];
        let from_seq = from - part.first_place;
        let left = part.events.map_or(u64::MAX, |events| events.saturating_sub(from_seq));
        let limit = limit.min(usize::try_from(left).unwrap_or(usize::MAX));
        let page = log.read(&part.stream, from_seq, limit).await?;
        if let (Some(events), Some(hash)) = (part.events, part.last_hash)
            && let Some(last) = page.last().filter(|last| last.seq + 1 == events)
            && last.hash()? != hash
        {
            return Err(damaged(&part.stream, last.seq, "it is not the event that was forked"));
        }
        Ok(page)
    }

    /// Calls `each` with the events from place `from` on and their places, in order, until it fails. Returns the place behind the
    /// last.
    ///
    /// # Errors
    /// As [`Self::read`], when an event cannot be decoded, or `each` fails.
    pub async fn for_each<E: From<LogError>>(
        &self,
        log: &dyn EventLog,
        from: u64,
        mut each: impl FnMut(u64, &Event) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut place = from;
        loop {
            let page = self.read(log, place, PAGE).await?;
            if page.is_empty() {
                return Ok(place);
            }
            for envelope in page {
                each(place, &Event::decode(envelope).map_err(LogError::from)?)?;
                place += 1;
            }
        }
    }

    /// The part with `place`; behind the end it is the last.
    fn part_at(&self, place: u64) -> usize {
        self.parts.partition_point(|part| part.first_place <= place).saturating_sub(1)
    }
}

/// What the first event of `stream` says of its parent; `None` when it has none.
///
/// # Errors
/// When the log cannot be read, or the event is damaged.
pub async fn forked_from(log: &dyn EventLog, stream: &StreamId) -> Result<Option<SessionForked>, LogError> {
    let Some(first) = log.read(stream, 0, 1).await?.into_iter().next() else { return Ok(None) };
    if first.kind != "session.forked" {
        return Ok(None);
    }
    let event = Event::decode(first)?;
    let Decoded::Known(payload) = event.payload else {
        return Err(LogError::Newer { what: format!("{}, event 0,", stream.subject()) });
    };
    match *payload {
        Payload::Session(Session::Forked(forked)) if forked.parent_hash == event.envelope.prev_hash => Ok(Some(forked)),
        Payload::Session(Session::Forked(_)) => {
            Err(damaged(stream, 0, "its link to the event it was forked from is not the one it names"))
        }
        _ => Ok(None),
    }
}

/// The session that the first event of `stream` names as its parent, whatever else that event says; `None` where there is none, or
/// only a newer version understands it.
///
/// # Errors
/// When the log cannot be read, or the event cannot be decoded.
pub async fn parent_of(log: &dyn EventLog, stream: &StreamId) -> Result<Option<StreamId>, LogError> {
    let Some(first) = log.read(stream, 0, 1).await?.into_iter().next() else { return Ok(None) };
    Ok(match Event::decode(first)?.payload.known() {
        Some(Payload::Session(Session::Forked(forked))) => Some(forked.parent.clone()),
        _ => None,
    })
}

fn damaged(stream: &StreamId, seq: u64, what: &str) -> LogError {
    LogError::Damaged { stream: stream.subject(), seq, what: what.to_owned() }
}
