//! Where a fork begins: which event, and with which files.

use crate::checkpoints::Checkpoints;
use retrace_events::codec::CodecError;
use retrace_events::fold::FilesAt;
use retrace_events::payload::tool::ToolEffect;
use retrace_events::payload::{Payload, Tool, Turn, Workspace};
use retrace_events::{Event, EventLog, Hash, History, LogError, SessionState, StreamId};

/// How many events are read at a time.
const PAGE: usize = 500;

/// A place in a session at which a fork can begin.
#[derive(Debug, Clone)]
pub struct ForkPoint {
    /// The session.
    pub stream: StreamId,
    /// The last of its events that the fork has too.
    pub seq: u64,
    /// That event's hash.
    pub hash: Hash,
    /// The event that was asked for, when that was inside a call: the fork begins just before the call.
    pub moved_from: Option<u64>,
    /// The session as it was then.
    pub state: SessionState,
    /// The files as they were then.
    pub files: FilesAt,
}

/// Why a fork cannot begin there.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// There is no such event.
    #[error("session {} has no event {seq}; its last is {last}", stream.id)]
    NoEvent {
        /// The session.
        stream: StreamId,
        /// What was asked for.
        seq: u64,
        /// Its last event.
        last: u64,
    },
    /// There is no such session.
    #[error("there is no session {0}")]
    NoSession(StreamId),
    /// Its events up to there are not all understood.
    #[error("session {} cannot be forked by this version: it contains {what}", stream.id)]
    Newer {
        /// The session.
        stream: StreamId,
        /// What is not understood.
        what: String,
    },
}

impl From<CodecError> for ForkError {
    fn from(error: CodecError) -> Self {
        Self::Log(error.into())
    }
}

impl ForkPoint {
    /// The place at event `seq` of `stream`; its newest for `None`. A session may be running meanwhile: what is appended later
    /// changes nothing.
    ///
    /// # Errors
    /// When there is no such event, or the log cannot be read.
    pub async fn find(log: &dyn EventLog, stream: &StreamId, seq: Option<u64>) -> Result<Self, ForkError> {
        Self::find_with(&Checkpoints::none(), log, stream, seq).await
    }

    /// The same, without reading what stands before a checkpoint.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub async fn find_with(
        checkpoints: &Checkpoints,
        log: &dyn EventLog,
        stream: &StreamId,
        seq: Option<u64>,
    ) -> Result<Self, ForkError> {
        let head = log.head(stream).await?.ok_or_else(|| ForkError::NoSession(stream.clone()))?;
        let seq = seq.unwrap_or(head.seq);
        if seq > head.seq {
            return Err(ForkError::NoEvent { stream: stream.clone(), seq, last: head.seq });
        }
        let history = History::of(log, stream).await?.until(seq);
        let mut state = checkpoints.state(log, &history).await?;
        let mut moved_from = None;
        if state.is_in_a_call() {
            let before = before_calls(log, &state, stream, seq).await?;
            state = checkpoints.state(log, &history.until(before)).await?;
            moved_from = Some(seq);
        }
        if let Some(what) = state.newer.clone() {
            return Err(ForkError::Newer { stream: stream.clone(), what });
        }
        let (seq, hash) = state.head.map_or((seq, Hash::GENESIS), |(seq, hash, _)| (seq, hash));
        // What a turn found is in the log only when it is about to change it.
        let ahead = match (&state.files, &state.turn) {
            (FilesAt::Unknown, _) => found_ahead(log, stream, &state, seq + 1).await?,
            (_, Some(turn)) if !turn.files_told => found_ahead(log, stream, &state, seq + 1).await?,
            (FilesAt::At(_) | FilesAt::Failed(_), _) => None,
        };
        let files = ahead.unwrap_or_else(|| state.files.clone());
        Ok(Self { stream: stream.clone(), seq, hash, moved_from, state, files })
    }
}

/// The last event at or before `seq` at which no call was begun and unfinished. A call never stands open across a fork, so it is
/// looked for in the session's own events alone, from the answer on that asked for the calls.
async fn before_calls(log: &dyn EventLog, state: &SessionState, stream: &StreamId, seq: u64) -> Result<u64, ForkError> {
    let mut open: Vec<String> = Vec::new();
    let mut next = last_answer(log, state, stream, seq).await?;
    let mut quiet = next;
    while next <= seq {
        let limit = usize::try_from(seq + 1 - next).unwrap_or(PAGE).min(PAGE);
        let page = log.read(stream, next, limit).await?;
        if page.is_empty() {
            break;
        }
        for envelope in page {
            next = envelope.seq + 1;
            // Nothing but tool events opens or ends a call.
            if envelope.kind.starts_with("tool.") {
                let event = Event::decode(envelope)?;
                if let Some(Payload::Tool(tool)) = event.payload.known() {
                    follow(&mut open, tool);
                }
            }
            if open.is_empty() {
                quiet = next - 1;
            }
        }
    }
    Ok(quiet)
}

/// The number of the newest answer, which came at or before `seq`; 0 when that was in a session that this one comes from.
async fn last_answer(log: &dyn EventLog, state: &SessionState, stream: &StreamId, seq: u64) -> Result<u64, LogError> {
    let mut end = seq + 1;
    while end > 0 {
        let from = end.saturating_sub(PAGE as u64);
        let page = log.read(stream, from, usize::try_from(end - from).unwrap_or(PAGE)).await?;
        if let Some(answer) = page.iter().rev().find(|envelope| Some(envelope.id) == state.last_answer) {
            return Ok(answer.seq);
        }
        end = from;
    }
    Ok(0)
}

fn follow(open: &mut Vec<String>, tool: &Tool) {
    let ended = match tool {
        Tool::Called(called) => {
            open.push(called.call.0.clone());
            return;
        }
        Tool::Finished(finished) => &finished.call,
        Tool::OutcomeUnknown(unknown) => &unknown.call,
        Tool::Denied(denied) => &denied.call,
        Tool::ApprovalAsked(_)
        | Tool::Approved(_)
        | Tool::BackgroundStarted(_)
        | Tool::BackgroundEnded(_)
        | Tool::Parted(_)
        | Tool::ResultReused(_)
        | Tool::Refused(_) => return,
    };
    open.retain(|call| *call != ended.0);
}

/// The files that the turn at `state` found, when the log says so only behind it: at its first call that may write, or at its end.
/// Before a session's first turn they are those of that turn.
async fn found_ahead(
    log: &dyn EventLog,
    stream: &StreamId,
    state: &SessionState,
    from: u64,
) -> Result<Option<FilesAt>, ForkError> {
    let mut next = from;
    loop {
        let page = log.read(stream, next, PAGE).await?;
        let full = page.len() == PAGE;
        for envelope in page {
            next = envelope.seq + 1;
            // Most events say nothing of files, and need not be decoded.
            let matters = ["workspace.", "turn.", "tool.called"].iter().any(|kind| envelope.kind.starts_with(kind));
            if !matters {
                continue;
            }
            let event = Event::decode(envelope)?;
            match event.payload.known() {
                Some(Payload::Workspace(Workspace::Snapshotted(taken))) if taken.after.is_some() => return Ok(None),
                Some(Payload::Workspace(workspace)) => return Ok(Some(FilesAt::of(workspace))),
                Some(Payload::Tool(Tool::Called(called))) if called.effect == ToolEffect::Writes => return Ok(None),
                Some(Payload::Turn(Turn::Ended(_) | Turn::Interrupted(_))) if state.files != FilesAt::Unknown => {
                    return Ok(None);
                }
                _ => {}
            }
        }
        if !full {
            return Ok(None);
        }
    }
}
