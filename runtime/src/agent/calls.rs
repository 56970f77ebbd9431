//! Tool calls: logged, carried out (side by side where they only look), and their results logged as they come in.

use super::agent_handle::Agent;
use super::error::AgentError;
use super::live::Live;
use super::step::step;
use crate::tools::{ToolContext, ToolFailure, ToolResult, effect_of};
use futures::stream::{FuturesUnordered, StreamExt};
use retrace_events::fold::{CallProgress, OpenCall};
use retrace_events::payload::sandbox::SandboxLimitHit;
use retrace_events::payload::tool::{ToolCalled, ToolEffect, ToolFinished, ToolOutcomeUnknown};
use retrace_events::{CallId, EventId, Payload};
use std::sync::Arc;
use std::time::Instant;

/// What the model is told of a call whose end nobody saw.
const UNKNOWN: &str = "Interrupted: it is not known whether, or how far, this call was carried out. \
Look at the actual state before doing it again.";

impl Agent {
    /// Carries out `calls` side by side. False when the sandbox died under them.
    pub(super) async fn run_calls(&mut self, calls: Vec<OpenCall>) -> Result<bool, AgentError> {
        self.log_begun(&calls).await?;
        let mut running: FuturesUnordered<_> = calls.into_iter().map(|call| self.carry_out(call)).collect();
        let mut sandbox_lives = true;
        while let Some((call, outcome, duration_ms)) = running.next().await {
            step("after effect");
            match outcome {
                Ok(result) => self.log_result(call.id, result, duration_ms).await?,
                Err(ToolFailure::Log(error)) => return Err(error.into()),
                // The caller settles what was cancelled, all at once.
                Err(ToolFailure::Cancelled) => {}
                Err(ToolFailure::SandboxGone(why)) => {
                    sandbox_lives = false;
                    if effect_of(&call.tool) == ToolEffect::Writes {
                        self.log_unknown(call.id, &why).await?;
                    }
                }
            }
        }
        Ok(sandbox_lives)
    }

    async fn log_begun(&mut self, calls: &[OpenCall]) -> Result<(), AgentError> {
        let answer = self.state.last_answer.unwrap_or(EventId(uuid::Uuid::nil()));
        let request = self.state.last_request.unwrap_or(EventId(uuid::Uuid::nil()));
        let batch: Vec<(Payload, Option<EventId>)> = calls
            .iter()
            .filter(|call| call.progress == CallProgress::Asked)
            .map(|call| {
                let OpenCall { id, tool, input, .. } = call.clone();
                let effect = effect_of(&tool);
                (ToolCalled { call: id, tool, input, request, effect }.into(), Some(answer))
            })
            .collect();
        if !batch.is_empty() {
            self.append(batch).await?;
        }
        Ok(())
    }

    /// The work of one call, as a future that borrows nothing of the agent, so that results can be logged meanwhile.
    fn carry_out(
        &self,
        call: OpenCall,
    ) -> impl Future<Output = (OpenCall, Result<ToolResult, ToolFailure>, u64)> + use<> {
        let tool = self.tools.iter().find(|tool| tool.name() == call.tool).cloned();
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name()).collect();
        let missing = format!("there is no tool `{}`; there are: {}", call.tool, names.join(", "));
        let context = self.tool_context(&call.id);
        async move {
            step("before effect");
            let begun = Instant::now();
            let outcome = match (tool, serde_json::from_str(&call.input)) {
                (None, _) => Ok(ToolResult::error(missing)),
                (_, Err(error)) => Ok(ToolResult::error(format!("the input is not JSON: {error}"))),
                (Some(tool), Ok(input)) => tool.run(&context, input).await,
            };
            (call, outcome, u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX))
        }
    }

    fn tool_context(&self, call: &CallId) -> ToolContext {
        let outputs = self.state.outputs.clone();
        let (live, id) = (self.parts.live.clone(), call.clone());
        ToolContext {
            call: call.clone(),
            sandbox: self.sandbox.clone(),
            log: Arc::clone(&self.parts.log),
            command_timeout_ms: self.settings.command_timeout_ms,
            redactor: Arc::clone(&self.parts.redactor),
            outputs: Arc::new(move |call| outputs.get(call).copied()),
            progress: Arc::new(move |text| live.send(Live::ToolOutput { call: id.clone(), text: text.to_owned() })),
            cancel: self.parts.cancel.child_token(),
        }
    }

    async fn log_result(&mut self, call: CallId, result: ToolResult, duration_ms: u64) -> Result<(), AgentError> {
        let mut batch: Vec<(Payload, Option<EventId>)> = Vec::new();
        if let Some((limit, detail)) = result.limit_hit {
            batch.push((SandboxLimitHit { call: Some(call.clone()), limit, detail }.into(), None));
        }
        let finished = ToolFinished {
            call,
            is_error: result.is_error,
            content: self.parts.redactor.redact(&result.content).into_owned(),
            exit: result.exit,
            output: result.output,
            changed: result.changed,
            duration_ms,
        };
        // The result comes first: a kill point is named after a batch's first event.
        batch.insert(0, (finished.into(), None));
        self.append(batch).await?;
        Ok(())
    }

    pub(super) async fn log_unknown(&mut self, call: CallId, why: &str) -> Result<(), AgentError> {
        let content = format!("{UNKNOWN} ({why})");
        self.append(vec![(ToolOutcomeUnknown { call, content }.into(), None)]).await?;
        Ok(())
    }
}
