//! What came of a call against what the log has: its words, its exit, and the files behind it.

use super::comparison::{CallOutcome, Likeness, compare};
use super::difference::difference;
use super::execute_error::ExecuteError;
use super::execution::Execution;
use super::files::{FilesLikeness, compare_files};
use super::not_compared::NotCompared;
use super::pointers::pointed_at;
use super::recorded_call::RecordedCall;
use super::replayed_call::{CallVerdict, ReplayedCall};
use super::stage::blocking;
use super::stage::text_of;
use crate::tools::ToolResult;
use retrace_events::payload::tool::{ToolEffect, ToolFinished};
use retrace_events::payload::{Payload, Tool};
use retrace_events::{BlobRef, Event, Hash};
use retrace_sandbox::snapshot::TreeId;

/// Larger outputs are compared as far as the model was shown them.
const MAX_WHOLE_BYTES: u64 = 4 * 1024 * 1024;

impl Execution {
    /// The result against the logged one.
    pub(super) async fn judge(
        &self,
        finished: &ToolFinished,
        images: &[String],
        result: ToolResult,
        replayed: &mut ReplayedCall,
    ) -> Result<CallVerdict, ExecuteError> {
        let Some((content, output)) = self.said(finished).await? else {
            return Ok(CallVerdict::NotCompared(NotCompared::PointerLost));
        };
        let whole = match (output, result.output) {
            // What was left out in the middle depends on the length of what is normalised.
            (None, None) => None,
            (then, now) => {
                let then = self.whole(then, &content).await?;
                let now = match now {
                    Some(output) => {
                        self.stage.output(output, MAX_WHOLE_BYTES).await?.map(|text| joined(&result.content, &text))
                    }
                    None => Some(result.content.clone()),
                };
                then.zip(now)
            }
        };
        let (then, now) = whole.unwrap_or_else(|| (content, result.content.clone()));
        let logged =
            CallOutcome { text: then, is_error: finished.is_error, exit: finished.exit, images: images.to_vec() };
        let now = CallOutcome {
            text: self.stage.redacted(&now),
            is_error: result.is_error,
            exit: result.exit,
            images: result.images.iter().map(|image| Hash::of(&image.bytes).to_string()).collect(),
        };
        let likeness = compare(&logged, &now, &self.places);
        if likeness == Likeness::Differs {
            replayed.difference = difference(&logged, &now, &self.places);
            replayed.outcomes = Some((logged, now));
        }
        Ok(CallVerdict::Compared(likeness))
    }

    /// The words and the whole output of a logged result; those of the one that it points at. `None` when that is not there.
    async fn said(&self, finished: &ToolFinished) -> Result<Option<(String, Option<BlobRef>)>, ExecuteError> {
        let Some(pointed) = pointed_at(&finished.content) else {
            return Ok(Some((finished.content.clone(), finished.output)));
        };
        let Some(place) = self.outline.results.get(&pointed) else { return Ok(None) };
        let page = self.history.read(self.log.as_ref(), *place, 1).await?;
        let Some(envelope) = page.into_iter().next() else { return Ok(None) };
        Ok(match Event::decode(envelope)?.payload.known() {
            Some(Payload::Tool(Tool::Finished(earlier))) => Some((earlier.content.clone(), earlier.output)),
            _ => None,
        })
    }

    /// A logged result with its whole output; `None` when that is too large or gone.
    async fn whole(&self, output: Option<BlobRef>, content: &str) -> Result<Option<String>, ExecuteError> {
        let Some(output) = output else { return Ok(Some(content.to_owned())) };
        let text = text_of(self.log.as_ref(), output, MAX_WHOLE_BYTES).await?;
        Ok(text.map(|text| joined(content, &text)))
    }

    /// The files behind a call against the logged ones; after a divergence they are brought to these.
    pub(super) async fn judge_files(
        &self,
        recorded: &RecordedCall,
        replayed: &ReplayedCall,
    ) -> Result<FilesLikeness, ExecuteError> {
        let (ToolEffect::Writes, Some(logged)) = (recorded.effect, recorded.files[1]) else {
            return Ok(FilesLikeness::NotCompared);
        };
        // How far a command in the background has come by now is chance.
        if self.stage.has_background() || !self.has(logged).await? {
            return Ok(FilesLikeness::NotCompared);
        }
        let now = self.stage.tree().await?;
        let likeness = self.compare_trees(logged, now).await?;
        if now != logged && (likeness.differs() || replayed.diverges()) {
            self.stage.bring(logged).await?;
        }
        Ok(likeness)
    }

    async fn compare_trees(&self, logged: TreeId, now: TreeId) -> Result<FilesLikeness, ExecuteError> {
        let (store, places) = (self.stage.store().clone(), self.places.clone());
        blocking(move || compare_files(&store, &logged, &now, &places)).await
    }
}

/// The first line of a result, and then all that the command wrote.
fn joined(content: &str, output: &str) -> String {
    let first = content.lines().next().unwrap_or_default();
    format!("{first}\n{}", output.trim_end_matches('\n'))
}
