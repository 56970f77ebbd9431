//! How calls and their results change a session's state.

use super::SessionState;
use super::calls::{CallApproval, CallProgress, OpenCall};
use super::transcript::TranscriptItem;
use super::turn_state::Stage;
use crate::id::{CallId, Timestamp};
use crate::payload::{Tool, tool};

impl SessionState {
    pub(super) fn apply_tool(&mut self, event: &Tool) {
        match event {
            Tool::Called(called) => {
                self.totals.calls += 1;
                if let Some(call) = self.asked_call(&called.call) {
                    call.progress = CallProgress::Begun(called.effect);
                }
            }
            Tool::ApprovalAsked(asked) => {
                if let Some(call) = self.asked_call(&asked.call) {
                    call.approval = CallApproval::Asked;
                }
            }
            Tool::Approved(approved) => {
                if let Some(call) = self.asked_call(&approved.call) {
                    call.approval = CallApproval::Given;
                }
            }
            Tool::Denied(denied) => self.apply_result(&denied.call, true, &denied.content, false),
            Tool::Finished(tool::ToolFinished { call, is_error, content, output, changed, .. }) => {
                if let Some(blob) = output {
                    self.outputs.insert(call.clone(), *blob);
                }
                self.apply_result(call, *is_error, content, !changed.is_empty());
            }
            Tool::OutcomeUnknown(unknown) => {
                self.apply_result(&unknown.call, true, &unknown.content, true);
            }
            Tool::BackgroundStarted(started) => self.background.push((started.call.clone(), started.command.clone())),
            Tool::BackgroundEnded(ended) => self.apply_background_end(ended),
        }
    }

    /// The call, while nothing was done for it.
    fn asked_call(&mut self, call: &CallId) -> Option<&mut OpenCall> {
        self.calls.iter_mut().find(|open| open.id == *call && open.progress == CallProgress::Asked)
    }

    fn apply_background_end(&mut self, ended: &tool::ToolBackgroundEnded) {
        if let Some(blob) = ended.output {
            self.outputs.insert(ended.call.clone(), blob);
        }
        let Some(place) = self.background.iter().position(|(call, _)| *call == ended.call) else { return };
        let (call, command) = self.background.remove(place);
        let here = self.here();
        self.transcript.push(here, TranscriptItem::BackgroundEnded { call, command, why: ended.why.clone() });
    }

    fn apply_result(&mut self, call: &CallId, is_error: bool, content: &str, wrote: bool) {
        let images = self.images.take(Some(call));
        let open = self.calls.iter_mut().find(|open| open.id == *call && open.progress != CallProgress::Done);
        // A second result for a call, or one for no call, never reaches the model: the API would refuse it.
        let Some(open) = open else { return };
        open.progress = CallProgress::Done;
        if let Some(step) = self.steps.back_mut() {
            step.finished(call, content, is_error, wrote);
        }
        let here = self.here();
        let result = TranscriptItem::Result { call: call.clone(), is_error, content: content.to_owned(), images };
        self.transcript.push(here, result);
        if self.calls.iter().all(|open| open.progress == CallProgress::Done) {
            self.transcript.sort_last_results();
            self.calls.clear();
            self.set_stage(Stage::Ask { not_before: Timestamp(0) });
        }
    }
}
