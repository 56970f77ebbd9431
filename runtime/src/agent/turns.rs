//! The loop: what to do next, done, and again, until nothing is open; and waiting for what others say in between.

use super::agent_handle::{Agent, TurnEnd};
use super::error::AgentError;
use super::fullness::Fullness;
use super::next::{Next, Outlook, next};
use super::order::AgentOrder;
use retrace_events::fold::{QueuedPrompt, Stage};
use retrace_events::payload::turn::{TurnEnded, TurnOutcome, TurnPrompted, TurnWarned};
use tokio::sync::mpsc;

impl Agent {
    /// Drives what is open and what is queued to its end, wherever it stands, and tells how the last turn ended.
    ///
    /// # Errors
    /// When the log or the sandbox fails; the session can be resumed then.
    pub async fn run(&mut self) -> Result<TurnEnd, AgentError> {
        let mut ran = false;
        loop {
            ran |= self.state.turn.is_some();
            self.hear_all().await?;
            if self.ears.told_to_stop() {
                match self.state.turn {
                    Some(_) => self.interrupt_as_told().await?,
                    None => self.stop_came_late().await?,
                }
            }
            if self.parts.cancel.is_cancelled() {
                return Ok(if ran { self.last_end() } else { TurnEnd::Idle });
            }
            self.log_background_ends().await?;
            self.log_connections().await?;
            self.look_at_files();
            self.tell_of_fork().await?;
            Box::pin(self.attend_to_summaries()).await?;
            self.instruct().await?;
            Box::pin(self.look_back()).await?;
            Box::pin(self.look_around()).await?;
            let fullness = self.fullness().await?;
            let step = next(&self.state, &self.outlook(fullness));
            match step {
                Next::Idle if self.more_was_said().await? => {}
                Next::Idle => return Ok(if ran { self.last_end() } else { TurnEnd::Idle }),
                other => self.take(other).await?,
            }
        }
    }

    /// Runs, and then waits for what others say and goes on, until it is told to leave or the agent is cancelled.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub async fn serve(&mut self, orders: mpsc::Receiver<AgentOrder>) -> Result<(), AgentError> {
        self.ears.take_orders_from(orders);
        while !self.parts.cancel.is_cancelled() {
            self.run().await?;
            self.rest().await?;
        }
        self.take_last_orders().await
    }

    /// How the last turn ended.
    fn last_end(&self) -> TurnEnd {
        match self.state.last_end.clone() {
            Some((outcome, note)) => TurnEnd::Ended { outcome, note },
            None => TurnEnd::Interrupted,
        }
    }

    fn outlook(&self, fullness: Option<Fullness>) -> Outlook<'_> {
        Outlook {
            now: self.parts.mint.now(),
            permissions: &self.parts.permissions,
            attended: self.parts.attended,
            family: self.family.as_ref(),
            outdated: self.outdated(),
            summaries: self.summaries(fullness.as_ref()),
            fullness,
        }
    }

    async fn take(&mut self, step: Next) -> Result<(), AgentError> {
        match step {
            Next::Idle => Ok(()),
            Next::Prompt(queued) => self.begin_queued(*queued).await,
            Next::BeginEpoch { why } => Box::pin(self.begin_epoch(why)).await,
            Next::Compact { why } => Box::pin(self.compact(why)).await,
            Next::AwaitSummary => Box::pin(self.await_summary()).await,
            Next::SettleCompaction(asked) => self.settle_compaction(asked).await,
            Next::BeginCompacted => Box::pin(self.begin_compacted_epoch()).await,
            Next::Request { not_before, attempt } => self.request(not_before, attempt).await,
            Next::SettleRequest { request, cost_bound_microusd } => {
                self.settle_request(request, cost_bound_microusd).await
            }
            Next::Run(calls) => {
                let sandbox_lives = self.run_calls(calls).await?;
                if sandbox_lives { Ok(()) } else { self.restart_sandbox().await }
            }
            Next::SettleCall(call) => self.settle_call(call).await,
            Next::Deny { call, by, content } => self.deny(call, by, content).await,
            Next::AskApproval { call, why } => self.ask_approval(call, why).await,
            Next::AskQuestion(call) => self.log_begun(&[(call, None)]).await,
            Next::AwaitWord => self.rest().await,
            Next::Warn { rule, note } => {
                let note = self.parts.redactor.redact(&note).into_owned();
                self.append(vec![(TurnWarned { rule: rule.to_owned(), note }.into(), None)]).await.map(drop)
            }
            Next::End { outcome, note } => self.end_turn(outcome, note).await,
        }
    }

    async fn begin_queued(&mut self, queued: QueuedPrompt) -> Result<(), AgentError> {
        let QueuedPrompt { event, text, source, attachments, images: _ } = queued;
        self.append(vec![(TurnPrompted { text, source, attachments }.into(), Some(event))]).await?;
        self.restarts = 0;
        self.look_at_family().await
    }

    pub(super) async fn end_turn(&mut self, outcome: TurnOutcome, note: String) -> Result<(), AgentError> {
        let note = self.parts.redactor.redact(&note).into_owned();
        let mut batch = self.files_as_found().await;
        batch.push((TurnEnded { outcome, note }.into(), None));
        self.append(batch).await?;
        Ok(())
    }

    /// Whether something can be put at the tail of the conversation: no request is on its way, no call is open.
    pub(super) fn between_steps(&self) -> bool {
        self.state.turn.as_ref().is_none_or(|turn| match turn.stage {
            Stage::Ask { .. } => true,
            Stage::Waiting { .. } | Stage::Calls | Stage::Answered { .. } | Stage::GaveUp { .. } => false,
        })
    }
}
