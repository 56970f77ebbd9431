//! [`Checkpoints`]: the handle by which states and pasts are loaded, and kept.

use super::candidates::{self, Lacking};
use super::fold_id::Kind;
use super::overall_limit;
use super::sealed::Mark;
use super::session_shelf::SessionShelf;
use crate::context::Past;
use retrace_events::codec::{self, CodecError};
use retrace_events::redact::Redactor;
use retrace_events::{EventLog, History, LogError, SessionState, StreamId, fold};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::JoinHandle;

/// How many checkpoints may be on their way to the disk.
const MAX_WRITING: usize = 2;
/// After so many bytes the bound on all checkpoints is looked after.
const BOUND_EVERY_BYTES: u64 = 64 * 1024 * 1024;

/// The checkpoints of the sessions in one log. A copy is the same.
#[derive(Debug, Clone, Default)]
pub struct Checkpoints(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    /// Of all logs.
    root: PathBuf,
    log_folder: PathBuf,
    /// Other intervals than the usual ones, of states and of pasts.
    intervals: Option<(u64, u64)>,
    writing: Mutex<Vec<JoinHandle<()>>>,
    /// Bytes that were written since the bound was looked after.
    unbounded: AtomicU64,
}

impl Checkpoints {
    /// Those of the log with this [identity](EventLog::identity), beneath a user's state folder.
    #[must_use]
    pub fn of_log(state_folder: &Path, identity: &str) -> Self {
        Self::of_log_every(state_folder, identity, None)
    }

    fn of_log_every(state_folder: &Path, identity: &str, intervals: Option<(u64, u64)>) -> Self {
        let root = state_folder.join("checkpoints");
        let log_folder = root.join(&blake3::hash(identity.as_bytes()).to_hex().as_str()[..16]);
        let (writing, unbounded) = (Mutex::new(Vec::new()), AtomicU64::new(BOUND_EVERY_BYTES));
        Self(Some(Arc::new(Inner { root, log_folder, intervals, writing, unbounded })))
    }

    /// The same with one state after so many events, and one past after so many.
    #[cfg(test)]
    pub(crate) fn every(state_folder: &Path, identity: &str, state_events: u64, past_events: u64) -> Self {
        Self::of_log_every(state_folder, identity, Some((state_events, past_events)))
    }

    /// After how many events a past is kept; `None` where nothing is.
    pub(super) fn past_interval(&self, redactor: &Redactor) -> Option<u64> {
        self.0.as_ref().map(|inner| inner.pasts(redactor).interval)
    }

    /// None at all: everything is folded from the first event on.
    #[must_use]
    pub const fn none() -> Self {
        Self(None)
    }

    /// The state of a session after its last event.
    ///
    /// # Errors
    /// As [`fold::load`], for the events that are read.
    pub async fn load(&self, log: &dyn EventLog, stream: &StreamId) -> Result<SessionState, LogError> {
        self.state(log, &History::of(log, stream).await?).await
    }

    /// The state at the end of a history. What a longer one lacks of checkpoints is made on the way.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub async fn state(&self, log: &dyn EventLog, history: &History) -> Result<SessionState, LogError> {
        let mut state = SessionState::default();
        if let Some(inner) = &self.0 {
            let kind = inner.states();
            if let Some(kept) = candidates::nearest(&inner.log_folder, log, history, kind, read_state).await {
                state = kept;
            }
            for Lacking { stream, next_place } in inner.lacking(log, history, state.next_place(), kind).await? {
                fold::continue_until(log, history, &mut state, next_place).await?;
                if state.next_place() != next_place {
                    break;
                }
                inner.wait_for_room().await;
                self.keep_state(&stream, &state);
            }
        }
        fold::continue_from(log, history, &mut state).await?;
        Ok(state)
    }

    /// The past of a session up to its last event.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn past(
        &self,
        log: &dyn EventLog,
        stream: &StreamId,
        redactor: &Arc<Redactor>,
    ) -> Result<Past, LogError> {
        let begun = || Box::new(Past::new(stream.clone(), Arc::clone(redactor)));
        let mut past = begun();
        if let Some(inner) = &self.0 {
            let history = History::of(log, stream).await?;
            let kind = inner.pasts(redactor);
            let (whose, reads) = (stream.clone(), Arc::clone(redactor));
            let read = move |bytes: &[u8], _: Mark, next_place| {
                let past = Past::from_bytes(bytes, whose.clone(), Arc::clone(&reads)).ok()?;
                (past.next_place() == next_place).then(|| Box::new(past))
            };
            if let Some(kept) = candidates::nearest(&inner.log_folder, log, &history, kind, read).await {
                past = kept;
            }
            for Lacking { next_place, .. } in inner.lacking(log, &history, past.next_place(), kind).await? {
                past.catch_up_until(log, next_place).await?;
                if past.next_place() != next_place {
                    break;
                }
                let Ok(back) = self.keep_past(past, redactor).await else {
                    // It is gone with the thread that wrote it.
                    past = begun();
                    break;
                };
                past = back;
            }
        }
        past.catch_up(log).await?;
        Ok(*past)
    }

    /// Keeps a state of `stream`, in the background. Does nothing when the disk is slower than the session.
    pub(crate) fn keep_state(&self, stream: &StreamId, state: &SessionState) {
        let (Some(inner), Some((seq, hash, _))) = (&self.0, state.head) else { return };
        if inner.unfinished() >= MAX_WRITING {
            return;
        }
        let (state, shelf, at) = (state.clone(), SessionShelf::of(&inner.log_folder, stream), Mark { seq, hash });
        let (keeper, kind) = (Arc::clone(inner), inner.states());
        let writing = tokio::task::spawn_blocking(move || keeper.keep(&shelf, kind, at, codec::encode_derived(&state)));
        inner.lock().push(writing);
    }

    /// Keeps a state of `stream` when an interval was passed since its next number was `before`.
    pub(crate) fn passed(&self, stream: &StreamId, before: u64, state: &SessionState) {
        let Some(inner) = &self.0 else { return };
        let interval = inner.states().interval;
        if before / interval != state.next_seq() / interval {
            self.keep_state(stream, state);
        }
    }

    /// Keeps the state that a session is left in, when it is far from what is kept.
    pub(crate) fn left(&self, stream: &StreamId, state: &SessionState) {
        let Some(inner) = &self.0 else { return };
        let interval = inner.states().interval;
        if state.next_seq() % interval >= interval / 4 {
            self.keep_state(stream, state);
        }
    }

    /// Keeps a past, on another thread, which gives it back.
    pub(super) fn keep_past(&self, past: Box<Past>, redactor: &Redactor) -> JoinHandle<Box<Past>> {
        let keeper = self.0.clone().map(|inner| (inner.pasts(redactor), inner));
        tokio::task::spawn_blocking(move || {
            if let (Some((kind, inner)), Some((stream, seq, hash))) = (keeper, past.last()) {
                let shelf = SessionShelf::of(&inner.log_folder, stream);
                inner.keep(&shelf, kind, Mark { seq: *seq, hash: *hash }, past.to_bytes());
            }
            past
        })
    }

    /// Waits until what is being kept is on the disk.
    pub async fn settled(&self) {
        let writing = self.0.as_ref().map(|inner| std::mem::take(&mut *inner.lock()));
        for one in writing.into_iter().flatten() {
            // What was not written is not there; that harms nothing.
            let _ = one.await;
        }
    }

    /// Removes what is kept of a session that is deleted. Blocks.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn forget(&self, stream: &StreamId) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |inner| SessionShelf::of(&inner.log_folder, stream).clear())
    }
}

fn read_state(bytes: &[u8], mark: Mark, next_place: u64) -> Option<SessionState> {
    let state: SessionState = codec::decode_derived("a session's state", bytes).ok()?;
    let is_there = state.head.is_some_and(|(seq, hash, _)| Mark { seq, hash } == mark);
    (is_there && state.next_place() == next_place).then_some(state)
}

impl Inner {
    fn states(&self) -> Kind {
        let kind = Kind::states();
        Kind { interval: self.intervals.map_or(kind.interval, |(states, _)| states), ..kind }
    }

    fn pasts(&self, redactor: &Redactor) -> Kind {
        let kind = Kind::pasts(redactor);
        Kind { interval: self.intervals.map_or(kind.interval, |(_, pasts)| pasts), ..kind }
    }

    async fn lacking(
        &self,
        log: &dyn EventLog,
        history: &History,
        from: u64,
        kind: Kind,
    ) -> Result<Vec<Lacking>, LogError> {
        candidates::lacking(&self.log_folder, log, history, from, kind).await
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unfinished(&self) -> usize {
        let mut writing = self.lock();
        writing.retain(|one| !one.is_finished());
        writing.len()
    }

    async fn wait_for_room(&self) {
        while self.unfinished() >= MAX_WRITING {
            let oldest = {
                let mut writing = self.lock();
                if writing.is_empty() { None } else { Some(writing.remove(0)) }
            };
            if let Some(oldest) = oldest {
                let _ = oldest.await;
            }
        }
    }

    /// Writes one, and says in the diagnostics why it could not.
    fn keep(&self, shelf: &SessionShelf, kind: Kind, mark: Mark, bytes: Result<Vec<u8>, CodecError>) {
        let written = bytes.map_err(io::Error::other).and_then(|bytes| shelf.keep(kind, mark, &bytes));
        match written {
            Ok(bytes) => {
                let sum = self.unbounded.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
                if sum >= BOUND_EVERY_BYTES {
                    self.unbounded.store(0, Ordering::Relaxed);
                    overall_limit::bound(&self.root, overall_limit::MAX_BYTES, shelf.path());
                }
            }
            Err(error) => {
                tracing::debug!(path = %shelf.path().display(), %error, "a checkpoint could not be written");
            }
        }
    }
}
