//! How calls and their results change a session's state.

use super::SessionState;
use super::calls::{CallApproval, CallProgress, OpenCall};
use super::parted_call::{PartResult, PartedCall};
use super::transcript::TranscriptItem;
use super::turn_state::Stage;
use crate::envelope::Envelope;
use crate::id::{CallId, Timestamp};
use crate::payload::{Tool, tool};

impl SessionState {
    pub(super) fn apply_tool(&mut self, envelope: &Envelope, event: &Tool) {
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
            Tool::Parted(parted) => self.apply_parting(parted, envelope.at),
            Tool::ResultReused(_) | Tool::Refused(_) => {}
        }
    }

    /// A call that was begun is made of others: they stand behind it, to be decided on and carried out.
    fn apply_parting(&mut self, parted: &tool::ToolParted, at: Timestamp) {
        let begun = |open: &OpenCall| open.id == parted.call && matches!(open.progress, CallProgress::Begun(_));
        let Some(place) = self.calls.iter().position(begun) else { return };
        let mut parts: Vec<OpenCall> = Vec::new();
        for part in &parted.parts {
            let known = |open: &OpenCall| open.id == part.call;
            if !self.calls.iter().any(known) && !parts.iter().any(known) {
                let (progress, approval) = (CallProgress::Asked, CallApproval::Undecided);
                let (id, tool, input) = (part.call.clone(), part.tool.clone(), part.input.clone());
                parts.push(OpenCall { id, tool, input, progress, approval });
            }
        }
        if let Some(step) = self.steps.back_mut() {
            step.parted(&parted.call, &parts);
        }
        self.parted.push(PartedCall::new(parted.call.clone(), &parts, at));
        self.calls.splice(place + 1..=place, parts);
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
        let mut images = self.images.take(Some(call));
        let open = self.calls.iter_mut().find(|open| open.id == *call && open.progress != CallProgress::Done);
        // A second result for a call, or one for no call, never reaches the model: the API would refuse it.
        let Some(open) = open else { return };
        open.progress = CallProgress::Done;
        if let Some(step) = self.steps.back_mut() {
            step.finished(call, content, is_error, wrote);
        }
        if let Some(whole) = self.parted.iter_mut().find(|parted| parted.has(call)) {
            // The model hears of it with the whole.
            whole.came(call, PartResult { is_error, content: content.to_owned(), images });
            return;
        }
        if let Some(place) = self.parted.iter().position(|parted| parted.call == *call) {
            let whole = self.parted.remove(place);
            self.end_parts(&whole, content);
            images.extend(whole.into_images());
        }
        let here = self.here();
        let result = TranscriptItem::Result { call: call.clone(), is_error, content: content.to_owned(), images };
        self.transcript.push(here, result);
        if self.calls.iter().all(|open| open.progress == CallProgress::Done) {
            self.transcript.sort_last_results();
            self.calls.clear();
            self.parted.clear();
            self.set_stage(Stage::Ask { not_before: Timestamp(0) });
        }
    }

    /// With the whole its parts are over, whether they had results or not.
    fn end_parts(&mut self, whole: &PartedCall, content: &str) {
        for open in self.calls.iter_mut().filter(|open| whole.has(&open.id) && open.progress != CallProgress::Done) {
            open.progress = CallProgress::Done;
            if let Some(step) = self.steps.back_mut() {
                step.finished(&open.id, content, true, true);
            }
        }
    }
}
