//! Commands in the background, as the log sees them.

use super::agent_handle::Agent;
use super::error::AgentError;
use crate::context::RENDERER;
use crate::tools::BackgroundEnd;
use retrace_events::payload::sandbox::SandboxLimitHit;
use retrace_events::payload::tool::ToolBackgroundEnded;
use retrace_events::{EventId, Payload};

impl Agent {
    /// Writes down which commands in the background have ended, where the conversation can take it.
    pub(super) async fn log_background_ends(&mut self) -> Result<(), AgentError> {
        let present = self.state.epoch.as_ref().is_none_or(|epoch| epoch.start.renderer == RENDERER);
        if !present || !self.between_steps() {
            return Ok(());
        }
        while let Some(end) = self.ended.pop_front().or_else(|| self.background.try_ended()) {
            let BackgroundEnd { call, exit, output, limit_hit, why } = end;
            let ended = ToolBackgroundEnded { call: call.clone(), exit, output, why };
            let mut batch: Vec<(Payload, Option<EventId>)> = vec![(ended.into(), None)];
            if let Some((limit, detail)) = limit_hit {
                batch.push((SandboxLimitHit { call: Some(call), limit, detail }.into(), None));
            }
            self.append(batch).await?;
        }
        Ok(())
    }
}
