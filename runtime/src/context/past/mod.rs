//! What a session's events say of it, kept so that a fresh epoch can begin with it: the user's words, the plan, summaries of the
//! steps, and the working set: the files, commands and windows that the next step most likely needs.
//!
//! A fold like any other: it does no I/O, reads no clock, and is the same however often it is interrupted. It is only a cache
//! of the log; whoever lost it reads the log again. What it holds is bounded, however long the session is.

mod passages;
mod prompts;
mod stored;

#[cfg(test)]
mod tests;

use super::working::{MissingRoom, WorkingSet};
use prompts::Prompts;
use retrace_events::payload::context::ContextPassage;
use retrace_events::payload::session::PlanItem;
use retrace_events::payload::{Payload, Session, Turn};
use retrace_events::redact::Redactor;
use retrace_events::{Event, EventLog, Hash, History, LogError, StreamId};
use retrace_indexer::{SummaryCover, SummaryCursor};
use std::sync::Arc;

/// How many events are read at a time.
const PAGE: usize = 2_000;

/// A session's past.
pub struct Past {
    stream: StreamId,
    redactor: Arc<Redactor>,
    next_place: u64,
    /// The line of sessions it comes from, once it was looked up.
    history: Option<History>,
    /// The event that was read last: its own stream, its number there, its hash. `None` until something was read here.
    last: Option<(StreamId, u64, Hash)>,
    prompts: Prompts,
    plan: Vec<PlanItem>,
    cursor: SummaryCursor,
    cover: SummaryCover,
    working: WorkingSet,
}

impl Past {
    /// The past of a session nothing of which was read yet.
    #[must_use]
    pub fn new(stream: StreamId, redactor: Arc<Redactor>) -> Self {
        let cursor = SummaryCursor::new(stream.clone());
        Self {
            stream,
            redactor,
            next_place: 0,
            history: None,
            last: None,
            prompts: Prompts::default(),
            plan: Vec::new(),
            cursor,
            cover: SummaryCover::default(),
            working: WorkingSet::of_seeds(),
        }
    }

    /// Reads what the log has beyond what was read before.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn catch_up(&mut self, log: &dyn EventLog) -> Result<(), LogError> {
        self.catch_up_until(log, u64::MAX).await
    }

    /// The same, without what stands at place `until` of the history and behind it.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub(crate) async fn catch_up_until(&mut self, log: &dyn EventLog, until: u64) -> Result<(), LogError> {
        let history = match self.history.take() {
            Some(history) => history,
            None => History::of(log, &self.stream).await?,
        };
        loop {
            let limit = usize::try_from(until.saturating_sub(self.next_place)).unwrap_or(PAGE).min(PAGE);
            let page = if limit == 0 { Vec::new() } else { history.read(log, self.next_place, limit).await? };
            if page.is_empty() {
                self.history = Some(history);
                return Ok(());
            }
            for envelope in page {
                let mut event = Event::decode(envelope)?;
                self.last = Some((event.envelope.stream.clone(), event.envelope.seq, event.hash));
                // To all that is folded here, the line of forks is one session: its own.
                event.envelope.seq = self.next_place;
                event.envelope.stream.clone_from(&self.stream);
                self.apply(&event);
            }
        }
    }

    /// Takes in the next event, numbered by its place in the history.
    pub fn apply(&mut self, event: &Event) {
        self.next_place = event.envelope.seq + 1;
        self.working.apply(event);
        for node in self.cursor.apply(event, &self.redactor) {
            self.cover.add(node);
        }
        match event.payload.known() {
            Some(Payload::Turn(Turn::Prompted(prompt))) => self.prompts.add(&event.envelope, &prompt.text),
            Some(Payload::Session(Session::Planned(planned))) => self.plan.clone_from(&planned.items),
            _ => {}
        }
    }

    /// The place in the history that it wants next.
    pub(crate) const fn next_place(&self) -> u64 {
        self.next_place
    }

    /// The event that was read last, and by whose number in whose stream; `None` while nothing was read since it was restored.
    pub(crate) const fn last(&self) -> Option<&(StreamId, u64, Hash)> {
        self.last.as_ref()
    }

    /// What the present epoch lacks of what the next step most likely needs, within `room`.
    pub(crate) fn lacking(&self, room: MissingRoom, redactor: &Redactor) -> Vec<ContextPassage> {
        self.working.lacking(room, redactor)
    }

    /// What an epoch begins with whose conversation begins at event `kept_from`: at most about `budget_tokens`, the oldest first.
    #[must_use]
    pub fn seed(&self, kept_from: u64, budget_tokens: u64) -> Vec<ContextPassage> {
        let mut room = passages::Room::new(budget_tokens);
        // In the order of what must not be missing; shown in the order in which it is read best.
        let prompts = self.prompts.passages(kept_from, &mut room.share(30));
        let plan = passages::plan(&self.plan, &mut room.share(10));
        let nodes = self.cover.nodes(self.cursor.open());
        let summaries = passages::summaries(&nodes, kept_from, &mut room.share(35));
        // What the next step most likely needs of the files: of all parts the one that pays most.
        let working = self.working.passages(room.left_tokens(), kept_from);
        prompts.into_iter().chain(summaries).chain(plan).chain(working).collect()
    }
}
