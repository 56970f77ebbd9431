//! Calls that are made of others: begun like any call, ended when all parts are done. The parts are calls of their own, decided on,
//! logged and carried out as such; the model hears of them in the one result of the whole.

use super::agent_handle::Agent;
use super::error::AgentError;
use crate::tools::{cut_part, joined, part_share_bytes};
use retrace_events::fold::PartResult;
use retrace_events::payload::tool::ToolFinished;
use retrace_events::{BlobRef, CallId, SessionState};

impl Agent {
    /// The result of a part as far as it has room in the whole, and where the whole of it is kept when that is not all. The result of any
    /// other call stays as it is.
    pub(super) async fn fit_part(
        &mut self,
        call: &CallId,
        content: String,
        output: Option<BlobRef>,
    ) -> Result<(String, Option<BlobRef>), AgentError> {
        let Some(whole) = self.state.whole_of(call) else { return Ok((content, output)) };
        let used = whole.parts().filter_map(|(_, result)| result).map(|result| result.content.len()).sum();
        let share = part_share_bytes(used, whole.parts().filter(|(_, result)| result.is_none()).count());
        if content.len() <= share {
            return Ok((content, output));
        }
        let output = match output {
            Some(output) => output,
            None => self.parts.log.blobs().put(content.as_bytes()).await?,
        };
        Ok((cut_part(&content, share, call), Some(output)))
    }

    /// Gives a call its result, all of whose parts have theirs.
    pub(super) async fn end_parts(&mut self, call: &CallId) -> Result<(), AgentError> {
        let Some(whole) = self.state.parted_call(call) else { return Ok(()) };
        let content = whole_result(&self.state, call, |_| String::new());
        let finished = ToolFinished {
            call: call.clone(),
            is_error: whole.parts().all(|(_, result)| result.is_some_and(|result| result.is_error)),
            content: self.parts.redactor.redact(&content).into_owned(),
            exit: None,
            output: None,
            changed: Vec::new(),
            duration_ms: self.parts.mint.now().since_ms(whole.began_at),
        };
        self.append(vec![(finished.into(), None)]).await.map(drop)
    }
}

/// What the model is told of a call that is made of others: the results of all. `open` says what it is told of one that has none.
pub(super) fn whole_result(state: &SessionState, call: &CallId, open: impl Fn(&CallId) -> String) -> String {
    let Some(whole) = state.parted_call(call) else { return String::new() };
    let told = |(part, result): (&CallId, Option<&PartResult>)| {
        let asked = state.calls.iter().find(|open| open.id == *part);
        let (tool, input) = asked.map_or(("?", "{}"), |asked| (asked.tool.as_str(), asked.input.as_str()));
        match result {
            Some(result) => (tool, input, result.is_error, result.content.clone()),
            None => (tool, input, true, open(part)),
        }
    };
    let parts: Vec<(&str, &str, bool, String)> = whole.parts().map(told).collect();
    joined(parts.iter().map(|(tool, input, failed, content)| (*tool, *input, *failed, content.as_str())))
}
