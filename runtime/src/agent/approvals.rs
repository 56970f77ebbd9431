//! Calls that somebody, or a rule, decides on before anything is done for them.

use super::agent_handle::Agent;
use super::error::AgentError;
use crate::tools;
use retrace_events::CallId;
use retrace_events::fold::OpenCall;
use retrace_events::payload::tool::{ToolApprovalAsked, ToolDenied};

/// What an unattended agent tells the model in place of asking.
pub(super) const NOBODY: &str = "nobody to ask";

impl Agent {
    /// Writes down that `call` waits for somebody's word, with what there is to see of it.
    pub(super) async fn ask_approval(&mut self, call: OpenCall, why: String) -> Result<(), AgentError> {
        let tool = tools::named(&call.tool);
        let input = serde_json::from_str(&call.input).unwrap_or_default();
        let sandbox = self.sandbox().await?;
        let context = self.tool_context(&call.id, sandbox);
        let summary = tool.as_ref().map(|tool| tool.summary(&input)).unwrap_or_default();
        let look = async {
            match &tool {
                Some(tool) => tool.preview(&context, &input).await,
                None => None,
            }
        };
        let preview = self.attend(look).await?.unwrap_or_else(|| summary.clone());
        if self.ears.told_to_stop() || self.open_call(&call.id).is_err() {
            return Ok(());
        }
        let redact = |text: &str| self.parts.redactor.redact(text).into_owned();
        let asked = ToolApprovalAsked {
            rule: self.rule_of(&call.id).unwrap_or_default(),
            call: call.id,
            summary: redact(&summary),
            preview: redact(&preview),
            tool: call.tool,
            why,
        };
        self.append(vec![(asked.into(), None)]).await?;
        Ok(())
    }

    /// Gives `call` a refusal as its result.
    pub(super) async fn deny(&mut self, call: CallId, by: String, content: String) -> Result<(), AgentError> {
        self.append(vec![(ToolDenied { call, by, content }.into(), None)]).await?;
        Ok(())
    }
}
