//! Commands that are not run again: the user's settings say that their results depend on the files alone, and the same ran to its end on
//! the very same files under the same sandbox and limits. What can be repeated is in the log alone ([`PastRuns`]); what the files
//! are now is looked at each time, and where that cannot be said for sure the command is run.
//!
//! [`PastRuns`]: retrace_events::fold::PastRuns

use super::agent_handle::Agent;
use super::error::AgentError;
use retrace_events::fold::{CallProgress, OpenCall, PastRun};
use retrace_events::payload::tool::{ToolFinished, ToolResultReused};
use retrace_events::payload::{Payload, Tool};
use retrace_events::{Event, History, LogError};

/// What stands below the first line of a result that is repeated, up to the number of the event.
const NOTE: &str = "[same command, same files as in event ";

impl Agent {
    /// Whether the user says of this call that its result depends on the files alone.
    pub(super) fn may_be_repeated(&self, call: &OpenCall) -> bool {
        call.progress == CallProgress::Asked
            && self.parts.snapshots.is_some()
            && call.tool == "bash"
            && self.parts.permissions.is_pure(&call.input)
    }

    /// Writes down the result of the same command on the same files, and is done; or that the call begins, and says false. Either way
    /// the log has the files as they are now before it.
    pub(super) async fn repeat_or_begin(&mut self, call: &OpenCall, by: Option<&str>) -> Result<bool, AgentError> {
        let (found, tree) = self.files_now().await;
        let mut batch = self.begun(&[(call.clone(), by.map(str::to_owned))], found);
        let wants_fresh = serde_json::from_str::<serde_json::Value>(&call.input)
            .is_ok_and(|input| input["fresh"].as_bool() == Some(true));
        let earlier = match tree {
            Some(tree) if !wants_fresh => self.earlier(call, &tree).await?.map(|earlier| (earlier, tree)),
            Some(_) | None => None,
        };
        let Some(((run, finished, place), tree)) = earlier else {
            self.append(batch).await?;
            return Ok(false);
        };
        let reused = ToolResultReused { call: call.id.clone(), from: run.finished.0, tree };
        let content = self.parts.redactor.redact(&repeated(&finished.content, &place)).into_owned();
        let (content, output) = self.fit_part(&call.id, content, finished.output).await?;
        batch.push((reused.into(), None));
        let again =
            ToolFinished { call: call.id.clone(), content, output, changed: Vec::new(), duration_ms: 0, ..finished };
        batch.push((again.into(), None));
        self.append(batch).await?;
        Ok(true)
    }

    /// The result that stands for running `call` on the files of `tree`, and where it is, in words.
    async fn earlier(
        &mut self,
        call: &OpenCall,
        tree: &str,
    ) -> Result<Option<(PastRun, ToolFinished, String)>, AgentError> {
        let Some(key) = self.state.run_key(&call.input, tree) else { return Ok(None) };
        let is_pure = |input: &str| self.parts.permissions.is_pure(input);
        let Some(run) = self.state.past_runs.find(&key, is_pure).cloned() else { return Ok(None) };
        let shared = std::sync::Arc::clone(&self.parts.log);
        let log = shared.as_ref();
        let history = History::of(log, self.writer.stream()).await?;
        let Some(envelope) = history.read(log, run.finished.1, 1).await?.into_iter().next() else { return Ok(None) };
        let event = Event::decode(envelope).map_err(LogError::from)?;
        let (stream, seq) = history.at(run.finished.1);
        let place =
            if stream == self.writer.stream() { seq.to_string() } else { format!("{seq} of session {}", stream.id) };
        Ok(match event.payload.known() {
            Some(Payload::Tool(Tool::Finished(finished))) if event.envelope.id == run.finished.0 => {
                Some((run, finished.clone(), place))
            }
            _ => None,
        })
    }
}

/// A result with the note that it is one of then.
fn repeated(content: &str, place: &str) -> String {
    let (first, rest) = content.split_once('\n').unwrap_or((content, ""));
    format!("{first}\n{NOTE}{place}: result repeated, not run again]\n{rest}")
}

/// The note in a result that was repeated, and the result without it.
#[must_use]
pub(crate) fn without_note(content: &str) -> (Option<&str>, String) {
    let parts = content.split_once('\n').and_then(|(first, rest)| {
        let (note, rest) = rest.split_once('\n').unwrap_or((rest, ""));
        note.starts_with(NOTE).then_some((first, note, rest))
    });
    match parts {
        Some((first, note, "")) => (Some(note), first.to_owned()),
        Some((first, note, rest)) => (Some(note), format!("{first}\n{rest}")),
        None => (None, content.to_owned()),
    }
}
