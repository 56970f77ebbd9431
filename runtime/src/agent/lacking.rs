//! What an epoch lacks of the session's own work, put at its tail before each request: windows of files and outputs that the next
//! step most likely needs and that do not stand in it. An epoch that holds the whole conversation lacks nothing.

use super::agent_handle::Agent;
use super::error::AgentError;
use super::fullness::Fullness;
use crate::context::working::MissingRoom;
use crate::context::{EpochRooms, Past};
use retrace_events::SessionState;
use retrace_events::fold::{Stage, TranscriptItem};
use retrace_events::payload::context::ContextRetrieved;
use std::sync::Arc;

/// What a passage costs beside its lines, in bytes.
const FRAME_BYTES: usize = 180;

/// Of an epoch's budget so much may be retrieved into its tail, in percent.
const EPOCH_PERCENT: u64 = 25;

/// The most that is added before one request, and the most of the best windows that are looked at; in tokens.
const TURN_TOKENS: usize = 1_500;
const HORIZON_TOKENS: usize = 16_000;

/// What is looked for, as the log has it.
pub(crate) const QUERY: &str = "what the next step most likely needs of this session's work";

/// The room for what the epoch lacks; `None` where there is none.
pub(crate) fn lacking_room(state: &SessionState, fullness: &Fullness) -> Option<MissingRoom> {
    // An epoch of so large a budget has about two thirds of it on average.
    let mut rooms = EpochRooms::of(fullness.budget_tokens * 2 / 3);
    rooms.turn = rooms.turn.min(TURN_TOKENS);
    rooms.horizon = rooms.horizon.min(HORIZON_TOKENS);
    let spent: u64 = state.transcript.passages().map(|passage| u64::from(passage.tokens)).sum();
    let added = rooms.turn as u64;
    let is_over = fullness.due().is_some() || fullness.tokens + added > fullness.budget_tokens;
    let fits = !is_over && spent + added <= fullness.budget_tokens * EPOCH_PERCENT / 100;
    fits.then(|| rooms.missing(FRAME_BYTES))
}

impl Agent {
    /// Puts what the epoch lacks at the tail, once before each request.
    pub(super) async fn look_around(&mut self) -> Result<(), AgentError> {
        let began_whole = self.state.epoch.as_ref().is_none_or(|epoch| epoch.start.from_seq == 0);
        let asks = self.state.turn.as_ref().is_some_and(|turn| matches!(turn.stage, Stage::Ask { .. }));
        let is_done = matches!(self.state.transcript.items().last(), Some(TranscriptItem::Passages(_)));
        if began_whole || !asks || is_done || self.ears.told_to_stop() {
            return Ok(());
        }
        let Some(fullness) = self.fullness().await? else { return Ok(()) };
        let Some(room) = lacking_room(&self.state, &fullness) else { return Ok(()) };
        let redactor = Arc::clone(&self.parts.redactor);
        let passages = self.past_now().await?.lacking(room, &redactor);
        self.past.rest();
        if !passages.is_empty() && !self.ears.told_to_stop() {
            let retrieved = ContextRetrieved { query: QUERY.to_owned(), passages, index_position: 0 };
            self.append(vec![(retrieved.into(), None)]).await?;
        }
        Ok(())
    }

    /// The session's past up to now.
    pub(super) async fn past_now(&mut self) -> Result<&Past, AgentError> {
        Ok(self.past.now(self.parts.log.as_ref()).await?)
    }
}
