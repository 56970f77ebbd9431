//! Verifies a session: its hash chain, and that every request in it is still what the log before it renders to.
//!
//! A fork's requests follow from its history: its ancestors' events are read, and checked to be the ones it was forked from. What
//! they requested is theirs to verify.

use crate::context::{RenderError, render, render_compaction};
use retrace_events::payload::{Context, Payload, Turn};
use retrace_events::{Event, EventId, EventLog, Hash, History, LogError, SessionState, StreamId, fold, verify};

/// How many events are read at a time.
const PAGE: usize = 1_000;

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayReport {
    /// Events in the session's own chain, all of them sound.
    pub events: u64,
    /// Events of its ancestors that belong to its history; sound as well.
    pub inherited_events: u64,
    /// The hash of the last event.
    pub head: Hash,
    /// All requests that retrace made in it, in order.
    pub requests: Vec<RequestCheck>,
    /// Requests that another program made before the session was imported: known by their answers alone, so nothing can be
    /// said about their bytes.
    pub imported: u64,
}

impl ReplayReport {
    /// Whether every request renders to what was sent.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.requests.iter().all(RequestCheck::agrees)
    }
}

/// One request, logged and rendered again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestCheck {
    /// Its event.
    pub event: EventId,
    /// Its number in the session's stream.
    pub seq: u64,
    /// The hash of the body that was sent, as the log has it.
    pub logged: Hash,
    /// The hash of the body that the events before it render to.
    pub rendered: Hash,
    /// The size in bytes of the body rendered now.
    pub body_bytes: u64,
}

impl RequestCheck {
    /// Whether it renders to what was sent.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.logged == self.rendered
    }
}

/// Why a session cannot be verified at all.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The log is damaged, or cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// There is no such session.
    #[error("there is no session {0}")]
    NoSuchSession(StreamId),
    /// A request cannot be rendered again.
    #[error("the request at event {seq} cannot be rendered again: {source}")]
    Render {
        /// Its number in the stream.
        seq: u64,
        /// Why not.
        source: RenderError,
    },
}

/// Reads a session from its first event to its last, checks the chain, and renders every request again.
///
/// # Errors
/// When the chain is broken, the log cannot be read, an ancestor is not in it, or a request cannot be rendered. A request that
/// renders to something else is not an error but part of the report.
pub async fn verify_session(log: &dyn EventLog, stream: &StreamId) -> Result<ReplayReport, ReplayError> {
    let chain = verify::verify_stream(log, stream).await?;
    if chain.events == 0 {
        return Err(ReplayError::NoSuchSession(stream.clone()));
    }
    let history = History::of(log, stream).await?;
    let end = history.own_from() + chain.events;
    let mut state = SessionState::default();
    let (mut requests, mut imported) = (Vec::new(), 0);
    while state.next_place() < end {
        let page = history.read(log, state.next_place(), PAGE).await?;
        if page.is_empty() {
            break;
        }
        for envelope in page {
            fold::follows(&history, &state, &envelope)?;
            let event = Event::decode(envelope).map_err(LogError::from)?;
            if state.next_place() >= history.own_from() {
                requests.extend(check(&state, &event)?);
                imported += u64::from(is_imported(&state, &event));
            }
            state.apply(&event);
        }
    }
    Ok(ReplayReport {
        events: chain.events,
        inherited_events: history.own_from(),
        head: chain.head,
        requests,
        imported,
    })
}

/// Whether `event` is what came of a request that another program made.
fn is_imported(before: &SessionState, event: &Event) -> bool {
    let request = match event.payload.known() {
        Some(Payload::Turn(Turn::Answered(answered))) => Some(answered.request),
        Some(Payload::Turn(Turn::Failed(failed))) => Some(failed.request),
        _ => None,
    };
    request.is_some() && request == before.imported.map(|imported| imported.event)
}

/// Renders `event` from the state before it, when it is a request.
fn check(before: &SessionState, event: &Event) -> Result<Option<RequestCheck>, ReplayError> {
    let seq = event.envelope.seq;
    let (logged, body) = match event.payload.known() {
        Some(Payload::Turn(Turn::Requested(request))) => (request.body_hash, render(before)),
        Some(Payload::Context(Context::CompactionRequested(request))) => {
            (request.body_hash, render_compaction(before, request.until_seq))
        }
        _ => return Ok(None),
    };
    let body = body.map_err(|source| ReplayError::Render { seq, source })?;
    Ok(Some(RequestCheck {
        event: event.envelope.id,
        seq,
        logged,
        rendered: Hash::of(&body),
        body_bytes: body.len() as u64,
    }))
}
