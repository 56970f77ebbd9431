//! Epochs as the loop begins them, and what instruction files add to one that has begun.

use super::agent_handle::Agent;
use super::error::AgentError;
use super::live::Live;
use super::seeding::{Seed, ends_with_answer};
use crate::context::{EpochPlan, Instructions, RENDERER, differs, instructions, known_instructions, new_epoch};
use crate::tools;
use retrace_events::payload::context::ContextRetrieved;
use retrace_events::payload::turn::TurnWarned;
use retrace_events::{EventId, Payload};
use std::sync::Arc;

/// What the model is told when its answer did not fit beside the context.
const CUT: &str =
    "your last answer was cut, because the context was full. The context is smaller now: go on from there.";

impl Agent {
    /// Why the present epoch does not fit the settings any more; `None` while it does.
    pub(super) fn outdated(&self) -> Option<String> {
        let epoch = self.state.epoch.as_ref()?;
        differs(&epoch.start, &self.settings, &self.parts.models.row(&self.settings.model))
    }

    /// Begins an epoch. Where there is room, a later one keeps the whole conversation; otherwise a seed stands for the older
    /// part. Thinking is lost either way: it is bound to what stood before.
    pub(super) async fn begin_epoch(&mut self, why: String) -> Result<(), AgentError> {
        // What it would sum up is about to be gone.
        self.give_up_summary().await?;
        let (sandbox, redactor) = (self.sandbox().await?, Arc::clone(&self.parts.redactor));
        let backend = sandbox.backend_name();
        let folder = self.parts.user_instructions.clone();
        let Instructions { passages, notices } =
            self.attend(instructions::collect(&sandbox, &folder, &redactor)).await?;
        if self.ears.told_to_stop() {
            return Ok(());
        }
        self.tell(notices);
        let Seed { passages: past, from_seq } = self.seed().await?;
        if self.ears.told_to_stop() {
            return Ok(());
        }
        let row = self.parts.models.row(&self.settings.model);
        let plan = EpochPlan {
            number: self.state.epoch.as_ref().map_or(1, |epoch| epoch.start.number + 1),
            settings: &self.settings,
            row: &row,
            tools_json: tools::tools_json(&tools::all()),
            workspace: sandbox.workspace_inside(),
            backend,
            network: &self.parts.sandboxes.network,
            seed: passages.into_iter().chain(past).collect(),
            from_seq,
            why,
        };
        let (epoch, warning) = new_epoch(plan)?;
        let mut batch: Vec<(Payload, Option<EventId>)> = vec![(epoch.into(), None)];
        if from_seq > 0 && ends_with_answer(&self.state) {
            // The conversation has to go on with words of ours.
            let warned = TurnWarned { rule: "context".to_owned(), note: CUT.to_owned() };
            batch.push((warned.into(), None));
        }
        self.append(batch).await?;
        self.wishes_compaction = false;
        self.tell(warning);
        Ok(())
    }

    /// Puts the instruction files of folders that were touched for the first time at the tail.
    pub(super) async fn instruct(&mut self) -> Result<(), AgentError> {
        let present = self.state.epoch.as_ref().is_some_and(|epoch| epoch.start.renderer == RENDERER);
        if self.touched.is_empty() || !present || !self.between_steps() || self.ears.told_to_stop() {
            return Ok(());
        }
        let touched = std::mem::take(&mut self.touched);
        let known = known_instructions(&self.state);
        let (sandbox, redactor) = (self.sandbox().await?, Arc::clone(&self.parts.redactor));
        let Instructions { passages, notices } =
            self.attend(instructions::nested(&sandbox, &redactor, &touched, &known)).await?;
        self.tell(notices);
        if !passages.is_empty() {
            let query = "instructions for the folders that were touched".to_owned();
            self.append(vec![(ContextRetrieved { query, passages, index_position: 0 }.into(), None)]).await?;
        }
        Ok(())
    }

    pub(super) fn tell(&self, notices: impl IntoIterator<Item = String>) {
        for notice in notices {
            self.parts.live.send(Live::Notice(notice));
        }
    }
}
