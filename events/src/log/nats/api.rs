//! What the rest of this backend asks the server: each question in one place, its errors in the log's words.

use super::connect::{Connection, REQUEST};
use super::message::Incoming;
use super::object_blobs::ObjectBlobs;
use super::presence::Held;
use super::{ALL_EVENTS, STREAM};
use crate::id::StreamId;
use crate::log::batch::Ending;
use crate::log::chain::damaged;
use crate::log::{Head, LogError};
use async_nats::jetstream::{self, stream::RawMessageBuilder, stream::RawMessageErrorKind};
use async_nats::{Client, HeaderMap, Request, RequestErrorKind};
use bytes::Bytes;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;

/// The most streams whose heads are remembered.
const MAX_KNOWN: usize = 10_000;

/// How many publish at a time to a stream with several copies, whose servers take them together. A stream with one
/// copy syncs for each message, and slows down to a third when several wait for it (measured).
const TURNS: usize = 64;

/// The server, seen from one handle.
pub(super) struct Remote {
    pub(super) client: Client,
    pub(super) context: jetstream::Context,
    pub(super) stream: jetstream::stream::Stream<()>,
    pub(super) location: String,
    pub(super) blobs: ObjectBlobs,
    pub(super) connection: Connection,
    known: Mutex<HashMap<StreamId, Last>>,
    /// How many publish at a time.
    pub(super) turns: Semaphore,
    /// Positions the server said are deleted.
    pub(super) deleted: Mutex<Arc<HashSet<u64>>>,
    /// Streams that this handle began again, and the position of the tombstone that was there.
    pub(super) begun_again: Mutex<HashMap<StreamId, u64>>,
    /// Streams that are held through this handle.
    pub(super) held: Held,
}

/// The last event of a stream and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Last {
    pub(super) head: Head,
    pub(super) position: u64,
    /// Whether it is a tombstone.
    pub(super) is_deleted: bool,
}

impl Last {
    /// What a fence compares.
    pub(super) const fn ending(&self) -> Ending {
        Ending { seq: self.head.seq, hash: self.head.hash, is_deleted: self.is_deleted }
    }
}

/// What is known of the JetStream stream.
#[derive(Debug, Default, Deserialize)]
pub(super) struct StreamState {
    pub(super) first_seq: u64,
    pub(super) last_seq: u64,
    #[serde(default)]
    pub(super) num_deleted: u64,
    #[serde(default)]
    pub(super) deleted: Option<Vec<u64>>,
}

/// The answer to a publish.
#[derive(Debug, Deserialize)]
pub(super) struct Ack {
    pub(super) error: Option<jetstream::Error>,
    #[serde(default)]
    pub(super) seq: u64,
    #[serde(default)]
    pub(super) duplicate: bool,
}

impl Remote {
    /// `replicas` is how many copies the stream has.
    pub(super) fn new(
        connection: Connection,
        context: jetstream::Context,
        stream: jetstream::stream::Stream<()>,
        blobs: ObjectBlobs,
        replicas: usize,
    ) -> Self {
        Self {
            client: connection.client.clone(),
            context,
            stream,
            location: connection.location.clone(),
            blobs,
            connection,
            known: Mutex::default(),
            turns: Semaphore::new(if replicas > 1 { TURNS } else { 1 }),
            deleted: Mutex::default(),
            begun_again: Mutex::default(),
            held: Held::default(),
        }
    }

    /// The server did not answer, or not in a way that says what happened.
    pub(super) fn unavailable(&self, why: &dyn std::fmt::Display) -> LogError {
        self.connection.unavailable(why)
    }

    /// The last event of `stream`, as the leader has it. When this handle has seen more of the stream than is there,
    /// and it was not purged, the server has lost what it had acknowledged.
    pub(super) async fn last_of(&self, stream: &StreamId) -> Result<Option<Last>, LogError> {
        // Looked up before asking: another task may append meanwhile.
        let seen = self.recall(stream);
        let last = self.last_message(&stream.subject()).await?.map(|message| message.last()).transpose()?;
        if let Some(seen) = seen.filter(|seen| last.is_none_or(|last| last.position < seen.position))
            && (last.is_some() || self.stream_state(false).await?.last_seq < seen.position)
        {
            let what = format!(
                "it was acknowledged and is gone: the server at {} has lost the end of the stream",
                self.location
            );
            return Err(damaged(&stream.subject(), last.map_or(0, |last| last.head.seq + 1), &what));
        }
        match last {
            Some(last) => self.remember(stream, last),
            None => self.forget(stream),
        }
        Ok(last)
    }

    /// The last message of a subject, which may hold wildcards, as the leader has it.
    pub(super) async fn last_message(&self, subject: &str) -> Result<Option<Incoming>, LogError> {
        twice(|| self.ask_leader(self.stream.raw_message_builder().last_by_subject(subject))).await
    }

    /// The first message of a subject, which may hold wildcards, from `position` on, as the leader has it.
    pub(super) async fn next_message(&self, subject: &str, position: u64) -> Result<Option<Incoming>, LogError> {
        twice(|| self.ask_leader(self.stream.raw_message_builder().next_by_subject(subject).sequence(position))).await
    }

    async fn ask_leader(&self, question: RawMessageBuilder) -> Result<Option<Incoming>, LogError> {
        match self.unless_broken(question.send()).await? {
            Ok(message) => {
                Incoming::new(message.sequence, &message.subject, &message.headers, message.payload).map(Some)
            }
            Err(e) => match e.kind() {
                RawMessageErrorKind::NoMessageFound => Ok(None),
                RawMessageErrorKind::JetStream(error) if error.error_code().0 == STREAM_NOT_FOUND => Err(self.gone()),
                RawMessageErrorKind::JetStream(_)
                | RawMessageErrorKind::InvalidSubject
                | RawMessageErrorKind::Other => Err(self.unavailable(&e)),
            },
        }
    }

    /// The state of the JetStream stream, as the leader has it.
    pub(super) async fn stream_state(&self, with_deleted: bool) -> Result<StreamState, LogError> {
        twice(|| self.ask_state(with_deleted)).await
    }

    async fn ask_state(&self, with_deleted: bool) -> Result<StreamState, LogError> {
        #[derive(Deserialize)]
        struct Info {
            error: Option<jetstream::Error>,
            #[serde(default)]
            state: StreamState,
        }
        let question = serde_json::json!({ "deleted_details": with_deleted });
        let answer = self.context.request(format!("STREAM.INFO.{STREAM}"), &question);
        let info: Info = self.unless_broken(answer).await?.map_err(|e| self.unavailable(&e))?;
        match info.error {
            None => Ok(info.state),
            Some(error) if error.error_code().0 == STREAM_NOT_FOUND => Err(self.gone()),
            Some(error) => Err(self.unavailable(&error)),
        }
    }

    /// The last event of `stream`, unless it was deleted.
    pub(super) async fn living(&self, stream: &StreamId) -> Result<Option<Last>, LogError> {
        Ok(self.last_of(stream).await?.filter(|last| !last.is_deleted))
    }

    /// Removes the messages of `stream` that stand before `position`.
    pub(super) async fn purge(&self, stream: &StreamId, position: u64) -> Result<(), LogError> {
        let purge = || async {
            let purged = self.stream.purge().filter(stream.subject()).sequence(position).into_future();
            self.unless_broken(purged).await?.map_err(|e| self.unavailable(&e))
        };
        twice(purge).await.map(drop)
    }

    /// Publishes a message and waits for its ack. `None` when there was no answer.
    pub(super) async fn publish(
        &self,
        subject: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Option<Ack>, LogError> {
        let request = Request::new().headers(headers).payload(body).timeout(Some(REQUEST));
        let answer = self.connection.signals.unless_broken(self.client.send_request(subject.to_owned(), request)).await;
        let Some(answer) = answer else { return Ok(None) };
        match answer {
            // The first messages of an atomic batch are answered with nothing.
            Ok(answer) if answer.payload.is_empty() => Ok(Some(Ack { error: None, seq: 0, duplicate: false })),
            Ok(answer) => serde_json::from_slice(&answer.payload).map(Some).map_err(|e| self.unavailable(&e)),
            Err(e) => match e.kind() {
                RequestErrorKind::NoResponders => Err(self.gone()),
                RequestErrorKind::TimedOut | RequestErrorKind::Other => Ok(None),
                RequestErrorKind::InvalidSubject | RequestErrorKind::MaxPayloadExceeded => Err(self.unavailable(&e)),
            },
        }
    }

    /// The answer to a question, unless the connection breaks before it comes.
    pub(super) async fn unless_broken<T>(&self, answer: impl Future<Output = T>) -> Result<T, LogError> {
        let answer = self.connection.signals.unless_broken(answer).await;
        answer.ok_or_else(|| self.unavailable(&"the connection broke"))
    }

    fn gone(&self) -> LogError {
        let why = format!(
            "the stream `{STREAM}` is not there, or JetStream is not running\nhint: `nats stream info {STREAM}` tells more"
        );
        self.unavailable(&why)
    }

    /// What this handle saw last of `stream`, which others may have written since.
    pub(super) fn recall(&self, stream: &StreamId) -> Option<Last> {
        self.known().get(stream).copied()
    }

    /// Notes the last event of `stream`.
    pub(super) fn remember(&self, stream: &StreamId, last: Last) {
        let mut known = self.known();
        if known.len() >= MAX_KNOWN && !known.contains_key(stream) {
            known.clear();
        }
        let entry = known.entry(stream.clone()).or_insert(last);
        // Tasks of this process may hear of their appends in another order than they were stored in.
        if entry.position < last.position {
            *entry = last;
        }
    }

    /// Forgets a stream that was purged.
    fn forget(&self, stream: &StreamId) {
        self.known().remove(stream);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<StreamId, Last>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Remote {
    /// The client's own form is pages long.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("location", &self.location).finish_non_exhaustive()
    }
}

impl Connection {
    /// The server did not answer, or not in a way that says what happened.
    pub(super) fn unavailable(&self, why: &dyn std::fmt::Display) -> LogError {
        let why = match self.signals.complaint() {
            Some(complaint) => format!("{why} (the server said: {complaint})"),
            None => why.to_string(),
        };
        LogError::Unavailable { location: self.location.clone(), why }
    }
}

/// Asks a second time when there was no answer: a question that was under way when the connection broke is lost, and
/// the client does not say so.
pub(super) async fn twice<T, F: Future<Output = Result<T, LogError>>>(ask: impl Fn() -> F) -> Result<T, LogError> {
    match ask().await {
        Err(LogError::Unavailable { location, why }) => {
            tracing::debug!(%location, %why, "asking again");
            ask().await
        }
        other => other,
    }
}

/// The server has no such stream.
const STREAM_NOT_FOUND: u64 = 10_059;

/// The subject of the streams that `filter` means, with wildcards.
pub(super) fn subject_of(filter: &crate::log::StreamFilter) -> String {
    if *filter == crate::log::StreamFilter::default() {
        return ALL_EVENTS.to_owned();
    }
    let token = |token: &Option<crate::id::Token>| token.as_ref().map_or("*", |token| token.as_str()).to_owned();
    let class = filter.class.map_or("*", crate::id::Class::as_str);
    format!("ev.{}.{}.{class}.{}", token(&filter.tenant), token(&filter.project), token(&filter.id))
}
