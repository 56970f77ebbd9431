//! The past of a running session: read when it is first needed, and kept now and then while nobody needs it.

use super::checkpoint_store::Checkpoints;
use crate::context::Past;
use retrace_events::redact::Redactor;
use retrace_events::{EventLog, LogError, StreamId};
use std::sync::Arc;
use tokio::task::JoinHandle;

/// A past, and when it was kept last.
pub(crate) struct KeptPast {
    checkpoints: Checkpoints,
    stream: StreamId,
    redactor: Arc<Redactor>,
    /// It, once somebody has asked for it.
    here: Option<Box<Past>>,
    /// It is being written, by somebody who gives it back.
    away: Option<JoinHandle<Box<Past>>>,
    /// The place it wanted next when it was kept last.
    kept_at: u64,
}

impl KeptPast {
    /// That of `stream`, read when it is asked for.
    pub(crate) const fn new(checkpoints: Checkpoints, stream: StreamId, redactor: Arc<Redactor>) -> Self {
        Self { checkpoints, stream, redactor, here: None, away: None, kept_at: 0 }
    }

    /// The past up to now.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub(crate) async fn now(&mut self, log: &dyn EventLog) -> Result<&Past, LogError> {
        let past = match self.back().await {
            Some(past) => past,
            None => {
                let past = Box::new(self.checkpoints.past(log, &self.stream, &self.redactor).await?);
                self.kept_at = past.next_place();
                past
            }
        };
        let past = self.here.insert(past);
        past.catch_up(log).await?;
        Ok(past)
    }

    /// It is not needed for a while: when much has come since it was kept, it is kept now, by another thread.
    pub(crate) fn rest(&mut self) {
        self.keep_after(1);
    }

    /// It is not needed any more.
    pub(crate) async fn close(mut self) {
        self.keep_after(4);
        drop(self.back().await);
    }

    /// Keeps it when a `share`th of an interval has come.
    fn keep_after(&mut self, share: u64) {
        let Some(interval) = self.checkpoints.past_interval(&self.redactor) else { return };
        let is_due = |past: &mut Box<Past>| past.next_place() >= self.kept_at.saturating_add(interval / share);
        if let Some(past) = self.here.take_if(is_due) {
            self.kept_at = past.next_place();
            self.away = Some(self.checkpoints.keep_past(past, &self.redactor));
        }
    }

    /// Takes it back from whoever has it.
    async fn back(&mut self) -> Option<Box<Past>> {
        match self.away.take() {
            Some(writing) => writing.await.ok(),
            None => self.here.take(),
        }
    }
}
