//! The sending end: appends to a stream that others write too.
//!
//! The fence lets one of several go on; the others look where the stream ends by now and try again. [`LogError::Fenced`]
//! alone does not mean that nothing was stored: the ack may have been lost and somebody else have written since. So what
//! stands in the event's place is looked at before it gets another one.

use super::control_stream;
use crate::codec::Decoded;
use crate::envelope::{Envelope, Event};
use crate::hash::Hash;
use crate::id::{EventId, StreamId, Timestamp};
use crate::log::{EventLog, Head, LogError};
use crate::mint::Mint;
use crate::payload::Payload;
use crate::writer::append_surely;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

/// How long to go on while others are quicker.
const CONTENTION: Duration = Duration::from_secs(30);

/// The longest pause between two tries, in milliseconds.
const MAX_PAUSE_MS: u64 = 64;

/// Sends control events to a session. Any number of them, in any number of processes, may send to one session.
#[derive(Debug)]
pub struct ControlSender {
    log: Arc<dyn EventLog>,
    mint: Arc<dyn Mint>,
    stream: StreamId,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The stream's last event as far as is known; `None` when it was not looked at yet.
    end: Option<Option<Head>>,
    /// The event whose fate the caller was told is unknown.
    doubtful: Option<Envelope>,
}

/// What came of a try.
enum Tried {
    Stored,
    /// Somebody else's event stands in its place.
    Overtaken,
}

impl ControlSender {
    /// A sender to `session`.
    #[must_use]
    pub fn new(log: Arc<dyn EventLog>, mint: Arc<dyn Mint>, session: &StreamId) -> Self {
        Self { log, mint, stream: control_stream(session), state: Mutex::default() }
    }

    /// The control stream it writes.
    #[must_use]
    pub const fn stream(&self) -> &StreamId {
        &self.stream
    }

    /// Appends `payload` to the control stream of the session and gives the event as it was stored. Calls of several
    /// tasks are served in the order they came in.
    ///
    /// # Errors
    /// [`LogError::InvalidBatch`] when it is no `control.*` payload. [`LogError::Fenced`] when others were quicker for
    /// 30 seconds: nothing is stored. [`LogError::Unavailable`] when it is not known whether it is stored: whoever sends the
    /// same payload next through this sender repeats the same event, which is stored once. Otherwise as
    /// [`EventLog::append`].
    pub async fn send(&self, payload: Payload) -> Result<Event, LogError> {
        if !matches!(payload, Payload::Control(_)) {
            return Err(LogError::InvalidBatch(format!("`{}` is nothing to tell a session", payload.kind())));
        }
        let bytes = payload.encode()?;
        let mut state = self.state.lock().await;
        let doubtful = state.doubtful.take();
        let mut attempted = doubtful.filter(|event| event.kind == payload.kind() && event.payload == bytes);
        // One id for all tries: no log stores it twice.
        let id = attempted.as_ref().map_or_else(|| self.mint.event_id(), |event| event.id);
        let until = Instant::now() + CONTENTION;
        let mut pause_ms = 1;
        loop {
            let envelope = match attempted.take() {
                Some(envelope) => envelope,
                None => self.envelope(&mut state, id, payload.kind(), &bytes).await?,
            };
            let hash = envelope.hash()?;
            match self.attempt(&envelope, hash).await {
                Ok(Tried::Stored) => {
                    state.end = Some(Some(Head { seq: envelope.seq, hash, at: envelope.at }));
                    return Ok(Event { envelope, hash, payload: Decoded::Known(Box::new(payload)) });
                }
                Ok(Tried::Overtaken) => state.end = None,
                Err(e) => {
                    state.end = None;
                    if matches!(e, LogError::Unavailable { .. }) {
                        state.doubtful = Some(envelope);
                    }
                    return Err(e);
                }
            }
            if Instant::now() >= until {
                let actual_next = self.log.head(&self.stream).await?.map_or(0, |head| head.seq + 1);
                return Err(LogError::Fenced { stream: self.stream.clone(), tried: envelope.seq, actual_next });
            }
            // Several that were refused together must not come back together.
            sleep(Duration::from_millis(rand::random_range(0..=pause_ms))).await;
            pause_ms = (pause_ms * 2).min(MAX_PAUSE_MS);
        }
    }

    /// The event, behind the last one.
    async fn envelope(&self, state: &mut State, id: EventId, kind: &str, payload: &[u8]) -> Result<Envelope, LogError> {
        let end = match state.end {
            Some(end) => end,
            None => self.log.head(&self.stream).await?,
        };
        let (seq, prev_hash, not_before) =
            end.map_or((0, Hash::GENESIS, Timestamp(0)), |head| (head.seq + 1, head.hash, head.at));
        Ok(Envelope {
            id,
            stream: self.stream.clone(),
            seq,
            // Senders have clocks of their own, and time does not go backwards in a stream.
            at: self.mint.now().max(not_before),
            kind: kind.to_owned(),
            schema: Payload::schema_of(kind).unwrap_or_default(),
            cause: None,
            prev_hash,
            payload: payload.to_vec(),
        })
    }

    /// Appends `envelope`, the same again when the log does not answer, and finds out what became of it.
    async fn attempt(&self, envelope: &Envelope, hash: Hash) -> Result<Tried, LogError> {
        match append_surely(self.log.as_ref(), std::slice::from_ref(envelope)).await {
            Ok(()) => Ok(Tried::Stored),
            Err(LogError::Fenced { .. }) => self.look(envelope, hash).await,
            Err(e) => Err(e),
        }
    }

    /// Whether `envelope` stands in its place.
    async fn look(&self, envelope: &Envelope, hash: Hash) -> Result<Tried, LogError> {
        let there = self.log.read(&self.stream, envelope.seq, 1).await?;
        match there.first() {
            Some(other) if other.hash()? == hash => Ok(Tried::Stored),
            Some(_) | None => Ok(Tried::Overtaken),
        }
    }
}
