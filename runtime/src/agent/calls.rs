//! Tool calls: logged, carried out (side by side where they only look), and their results logged as they come in.

use super::agent_handle::{Agent, attached};
use super::error::AgentError;
use super::image_room;
use super::live::Live;
use super::repeats::pointer;
use super::step::step;
use crate::context::{RENDERER, touched_paths};
use crate::tools::{ToolContext, ToolFailure, ToolResult, all, effect_of, named};
use futures::stream::{FuturesUnordered, StreamExt};
use retrace_events::fold::{CallProgress, OpenCall};
use retrace_events::payload::sandbox::SandboxLimitHit;
use retrace_events::payload::session::{PlanItem, SessionPlanned};
use retrace_events::payload::tool::{
    ToolApprovalScope, ToolApproved, ToolBackgroundStarted, ToolCalled, ToolEffect, ToolFinished, ToolOutcomeUnknown,
};
use retrace_events::{CallId, EventId, Payload};
use retrace_sandbox::Sandbox;
use std::sync::Arc;
use std::time::Instant;

/// What the model is told of a call whose end nobody saw.
const UNKNOWN: &str = "Interrupted: it is not known whether, or how far, this call was carried out. \
Look at the actual state before doing it again.";

/// What a call came to, and how long it took in milliseconds.
type Outcome = (OpenCall, Result<ToolResult, ToolFailure>, u64);

impl Agent {
    /// Carries out `calls` side by side, each with the rule that allows it. False when the sandbox died under them.
    pub(super) async fn run_calls(&mut self, calls: Vec<(OpenCall, Option<String>)>) -> Result<bool, AgentError> {
        let sandbox = self.sandbox().await?;
        self.log_begun(&calls).await?;
        let mut running: FuturesUnordered<_> =
            calls.into_iter().map(|(call, _)| self.carry_out(call, sandbox.clone())).collect();
        let mut sandbox_lives = true;
        while let Some((call, outcome, duration_ms)) = self.attend(running.next()).await? {
            step("after effect");
            self.ears.calls.remove(&call.id);
            match outcome {
                Ok(result) => {
                    self.touched.extend(touched_paths(&call.tool, &call.input, &result.changed));
                    self.log_result(call.id, result, duration_ms).await?;
                }
                Err(ToolFailure::Log(error)) => return Err(error.into()),
                // Of the whole turn: the caller settles what was cancelled, all at once.
                Err(ToolFailure::Cancelled) if self.ears.told_to_stop() => {}
                Err(ToolFailure::Cancelled) => self.log_cancelled(call).await?,
                Err(ToolFailure::SandboxGone(why)) => {
                    sandbox_lives = false;
                    if effect_of(&call.tool) == ToolEffect::Writes {
                        self.log_unknown(call.id, &why).await?;
                    }
                }
            }
        }
        self.ears.calls.clear();
        Ok(sandbox_lives)
    }

    /// Writes down that the calls are about to be carried out, and which rules allow it.
    pub(super) async fn log_begun(&mut self, calls: &[(OpenCall, Option<String>)]) -> Result<(), AgentError> {
        let answer = self.state.last_answer.unwrap_or(EventId(uuid::Uuid::nil()));
        let request = self.state.last_request.unwrap_or(EventId(uuid::Uuid::nil()));
        let mut batch: Vec<(Payload, Option<EventId>)> = Vec::new();
        let mut approvals: Vec<(Payload, Option<EventId>)> = Vec::new();
        for (call, by) in calls.iter().filter(|(call, _)| call.progress == CallProgress::Asked) {
            let OpenCall { id, tool, input, .. } = call.clone();
            if let Some(by) = by {
                let scope = ToolApprovalScope::Once;
                approvals.push((ToolApproved { call: id.clone(), by: by.clone(), scope }.into(), Some(answer)));
            }
            let effect = effect_of(&tool);
            batch.push((ToolCalled { call: id, tool, input, request, effect }.into(), Some(answer)));
        }
        let writes = calls.iter().any(|(call, _)| effect_of(&call.tool) == ToolEffect::Writes);
        if writes && !batch.is_empty() {
            approvals.extend(self.files_as_found().await);
        }
        approvals.extend(batch);
        if !approvals.is_empty() {
            self.append(approvals).await?;
        }
        Ok(())
    }

    /// The work of one call, as a future that borrows nothing of the agent, so that results can be logged meanwhile.
    fn carry_out(&mut self, call: OpenCall, sandbox: Sandbox) -> impl Future<Output = Outcome> + use<> {
        let tool = named(&call.tool);
        let names: Vec<&str> = all().iter().map(|tool| tool.name()).collect();
        let missing = format!("there is no tool `{}`; there are: {}", call.tool, names.join(", "));
        let context = self.tool_context(&call.id, sandbox);
        self.ears.calls.insert(call.id.clone(), context.cancel.clone());
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

    pub(super) fn tool_context(&self, call: &CallId, sandbox: Sandbox) -> ToolContext {
        let outputs = self.state.outputs.clone();
        let (live, id) = (self.parts.live.clone(), call.clone());
        ToolContext {
            session: self.writer.stream().clone(),
            call: call.clone(),
            sandbox,
            log: Arc::clone(&self.parts.log),
            command_timeout_ms: self.settings.command_timeout_ms,
            redactor: Arc::clone(&self.parts.redactor),
            outputs: Arc::new(move |call| outputs.get(call).copied()),
            progress: Arc::new(move |text| live.send(Live::ToolOutput { call: id.clone(), text: text.to_owned() })),
            cancel: self.ears.step.child_token(),
            memory: Arc::clone(&self.parts.memory),
            background: Arc::clone(&self.background),
        }
    }

    async fn log_result(&mut self, call: CallId, mut result: ToolResult, duration_ms: u64) -> Result<(), AgentError> {
        let shows = self.state.epoch.as_ref().is_some_and(|epoch| epoch.start.renderer == RENDERER);
        let room =
            if shows { Ok(()) } else { Err("this conversation was begun by a version without images".to_owned()) };
        if let Err(why) = room.and_then(|()| image_room::check(&self.state, &result.images))
            && !result.images.is_empty()
        {
            result.images.clear();
            result.is_error = true;
            result.content = format!("The image is not shown: {why}. ({})", result.content);
        }
        let redactor = Arc::clone(&self.parts.redactor);
        let mut shown = redactor.redact(&result.content).into_owned();
        if !result.is_error && result.images.is_empty() {
            shown = pointer(&self.state, &call, &shown).unwrap_or(shown);
        }
        let redact = |text: &str| redactor.redact(text).into_owned();
        // Images stand before the result they belong to; the fold gives them to it.
        let images = result.images.into_iter().map(|image| (attached(image, Some(call.clone())).into(), None));
        let writes = self.state.calls.iter().any(|open| open.id == call && open.may_have_written());
        let mut batch = if writes { self.files_after(&call).await } else { Vec::new() };
        batch.extend(images);
        let finished = ToolFinished {
            call: call.clone(),
            is_error: result.is_error,
            content: shown,
            exit: result.exit,
            output: result.output,
            changed: result.changed,
            duration_ms,
        };
        batch.push((finished.into(), None));
        if let Some((limit, detail)) = result.limit_hit {
            batch.push((SandboxLimitHit { call: Some(call.clone()), limit, detail }.into(), None));
        }
        batch.extend(self.connections());
        if let Some(items) = result.plan {
            let items = items.into_iter().map(|item| PlanItem { text: redact(&item.text), ..item }).collect();
            batch.push((SessionPlanned { call: call.clone(), items }.into(), None));
        }
        if let Some(command) = result.background {
            batch.push((ToolBackgroundStarted { call, command: redact(&command) }.into(), None));
        }
        self.append(batch).await?;
        Ok(())
    }

    /// A call that the user ended while the turn goes on.
    async fn log_cancelled(&mut self, call: OpenCall) -> Result<(), AgentError> {
        if effect_of(&call.tool) == ToolEffect::Writes {
            return self.log_unknown(call.id, "the user cancelled it").await;
        }
        self.deny(call.id, "user".to_owned(), "The user cancelled this call.".to_owned()).await
    }

    pub(super) async fn log_unknown(&mut self, call: CallId, why: &str) -> Result<(), AgentError> {
        let content = format!("{UNKNOWN} ({why})");
        let mut batch = self.files_after(&call).await;
        batch.push((ToolOutcomeUnknown { call, content }.into(), None));
        self.append(batch).await?;
        Ok(())
    }
}
