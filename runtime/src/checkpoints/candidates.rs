//! Which checkpoints fit a session's history: those of any of its streams, the nearest first, each held against the log.

use super::fold_id::Kind;
use super::sealed::Mark;
use super::session_shelf::SessionShelf;
use super::thinning;
use retrace_events::{EventLog, History, LogError, StreamId};
use std::path::Path;

/// What one stream contributes to a history.
struct Span {
    stream: StreamId,
    first_place: u64,
    /// How many of its events; `u64::MAX` is all there are.
    events: u64,
}

/// A place that lacks a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lacking {
    /// Where its file belongs.
    pub(super) stream: StreamId,
    /// The place behind its last event.
    pub(super) next_place: u64,
}

fn spans(history: &History) -> Vec<Span> {
    let mut first_place: u64 = 0;
    let span = |(stream, events): (StreamId, u64)| {
        let span = Span { stream, first_place, events };
        first_place = first_place.saturating_add(events);
        span
    };
    history.spans().into_iter().map(span).collect()
}

/// The nearest checkpoint of `history` that `read` can make something of: it is given the bytes, the event they belong to, and the
/// place behind that.
pub(super) async fn nearest<T: Send + 'static>(
    log_folder: &Path,
    log: &dyn EventLog,
    history: &History,
    kind: Kind,
    read: impl Fn(&[u8], Mark, u64) -> Option<T> + Clone + Send + 'static,
) -> Option<T> {
    for Span { stream, first_place, events } in spans(history).into_iter().rev() {
        let shelf = SessionShelf::of(log_folder, &stream);
        let listed = shelf.clone();
        let seqs = tokio::task::spawn_blocking(move || listed.seqs(kind)).await.unwrap_or_default();
        for seq in seqs.range(..events).rev().copied() {
            // What is wrong with the log there is said by whoever folds it.
            let Ok(mark) = event_at(log, &stream, seq).await else { continue };
            let (shelf, read) = (shelf.clone(), read.clone());
            let next_place = first_place.saturating_add(seq).saturating_add(1);
            let taken = tokio::task::spawn_blocking(move || {
                let made = mark.and_then(|mark| read(&shelf.take(kind, mark)?, mark, next_place));
                if made.is_none() {
                    shelf.drop_at(kind, seq);
                }
                made
            });
            if let Ok(Some(made)) = taken.await {
                return Some(made);
            }
        }
    }
    None
}

/// Event `seq` of `stream` as the log has it.
async fn event_at(log: &dyn EventLog, stream: &StreamId, seq: u64) -> Result<Option<Mark>, LogError> {
    let Some(envelope) = log.read(stream, seq, 1).await?.into_iter().next() else { return Ok(None) };
    Ok(Some(Mark { seq, hash: envelope.hash()? }))
}

/// The places of `history` behind `from` that lack a checkpoint, in order.
///
/// # Errors
/// When the log cannot be asked.
pub(super) async fn lacking(
    log_folder: &Path,
    log: &dyn EventLog,
    history: &History,
    from: u64,
    kind: Kind,
) -> Result<Vec<Lacking>, LogError> {
    let mut all = Vec::new();
    for Span { stream, first_place, events } in spans(history) {
        let end = first_place.saturating_add(events);
        if events < kind.interval || end <= from.saturating_add(1) {
            continue;
        }
        let Some(newest) = log.head(&stream).await?.map(|head| head.seq) else { continue };
        let events = events.min(newest.saturating_add(1));
        let shelf = SessionShelf::of(log_folder, &stream);
        let there = tokio::task::spawn_blocking(move || shelf.seqs(kind)).await.unwrap_or_default();
        let places = thinning::lacking(&there, events, newest, kind.interval).into_iter();
        let places = places.map(|seq| first_place.saturating_add(seq).saturating_add(1)).filter(|place| *place > from);
        all.extend(places.map(|next_place| Lacking { stream: stream.clone(), next_place }));
    }
    Ok(all)
}
