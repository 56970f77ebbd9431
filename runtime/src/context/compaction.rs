//! Asking the API for a summary of the older part of a conversation.
//!
//! What is summarized is exactly what a request that was answered held. So the body is that request's, but for the wish
//! itself: the cache is read, and the thinking in what follows, which was given behind that prefix, stays valid behind the
//! summary of it.

use super::body::{Message, Purpose};
use super::carried::as_it_came;
use super::render::{RENDERER, RenderError};
use super::render_third::{begin, render_for};
use retrace_events::SessionState;
use retrace_events::fold::{Epoch, TranscriptItem};

/// The first event that a summary made now would not cover, so that what follows it takes at most what is kept from `keep_from`
/// on; the newest such place where there is none. `None` while nothing can be summarized: in an epoch of another renderer, or
/// before this epoch had an answer of its own.
#[must_use]
pub fn compactable_until(state: &SessionState, keep_from: u64) -> Option<u64> {
    let epoch = state.epoch.as_ref().filter(|epoch| epoch.start.renderer == RENDERER)?;
    let places = places(epoch, state).ok()?;
    let newest = *places.last()?;
    let answers = state.transcript.items().iter().zip(state.transcript.seqs());
    let own =
        answers.filter(|(item, _)| matches!(item, TranscriptItem::Answer { .. })).any(|(_, seq)| *seq > epoch.seq);
    own.then(|| places.into_iter().find(|seq| *seq >= keep_from).unwrap_or(newest))
}

/// The request for a summary of everything in the conversation that is older than event `until_seq`.
///
/// # Errors
/// When that is no place which [`compactable_until`] could name, or the log holds something this version cannot render.
pub fn render_compaction(state: &SessionState, until_seq: u64) -> Result<Vec<u8>, RenderError> {
    let epoch = state.epoch.as_ref().ok_or(RenderError::NoEpoch)?;
    if epoch.start.renderer != RENDERER {
        return Err(RenderError::UnknownRenderer(epoch.start.renderer));
    }
    if !places(epoch, state)?.contains(&until_seq) {
        return Err(RenderError::NotCompactable(until_seq));
    }
    let end = state.transcript.seqs().partition_point(|seq| *seq < until_seq);
    render_for(epoch, &state.transcript.items()[..end], Purpose::Summary)
}

/// The answers before which a summary may end, by their events: those that say something, that were given in this kind of
/// epoch with their thinking, and that follow words of ours.
fn places(epoch: &Epoch, state: &SessionState) -> Result<Vec<u64>, RenderError> {
    let mut conversation = begin(epoch)?;
    let mut places = Vec::new();
    for (item, seq) in state.transcript.items().iter().zip(state.transcript.seqs()) {
        if let TranscriptItem::Answer { content, carried_over: false, .. } = item
            && matches!(conversation.messages.last(), Some(Message::User { .. }))
            && as_it_came(content)?.is_some()
        {
            places.push(*seq);
        }
        conversation.add(item)?;
    }
    Ok(places)
}
