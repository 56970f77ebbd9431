//! What comes of each event of the control stream. It is handled in the batch that holds what came of it: a crash can neither
//! lose nor double it.

use super::agent_handle::{Agent, attached};
use super::error::AgentError;
use super::hearing::Stop;
use super::image_room;
use super::live::Live;
use crate::tools::{self, ToolImage};
use retrace_events::codec::Decoded;
use retrace_events::fold::{CallApproval, CallProgress, OpenCall, PartedCall};
use retrace_events::payload::control::{
    ControlApprovalGiven, ControlCancelRequested, ControlPromptSent, ControlQuestionAnswered,
};
use retrace_events::payload::session::{SessionControlHandled, SessionRuleAdded};
use retrace_events::payload::tool::{ToolApprovalScope, ToolApproved, ToolDenied, ToolFinished};
use retrace_events::payload::turn::{PromptSource, TurnQueued};
use retrace_events::payload::{Control, Payload, Session};
use retrace_events::{CallId, Event, EventId, LogError};

/// How many prompts may wait.
const MAX_QUEUED: usize = 1_000;
/// How long the words of an approval or an answer may be, in bytes.
const MAX_WORDS_BYTES: usize = 64 * 1024;

type Batch = Vec<(Payload, Option<EventId>)>;

/// What comes of a control event: what is to be logged, or why nothing comes of it.
type Verdict = Result<(Batch, String), String>;

impl Agent {
    /// Handles the next event of the control stream.
    pub(super) async fn handle_control(&mut self, event: Event) -> Result<(), AgentError> {
        let (id, seq) = (event.envelope.id, event.envelope.seq);
        if seq < self.state.control_next {
            return Ok(());
        }
        let mut always = false;
        let verdict = match &event.payload {
            Decoded::Newer => Err("it was written by a newer version of retrace".to_owned()),
            Decoded::Known(payload) => match payload.as_ref() {
                Payload::Control(Control::PromptSent(sent)) => self.queue(id, sent).await?,
                Payload::Control(Control::ApprovalGiven(given)) => {
                    always = given.allow == Some(ToolApprovalScope::Always);
                    self.decided(id, given)
                }
                Payload::Control(Control::QuestionAnswered(answered)) => self.answered(id, answered),
                Payload::Control(Control::CancelRequested(cancel)) => match self.cancelled(id, seq, cancel) {
                    // It is handled with the interruption itself.
                    None => return Ok(()),
                    Some(verdict) => verdict,
                },
                Payload::Control(Control::Tagged(tagged)) => Ok((Vec::new(), format!("tagged `{}`", tagged.tag))),
                Payload::Session(_)
                | Payload::Turn(_)
                | Payload::Context(_)
                | Payload::Tool(_)
                | Payload::Sandbox(_)
                | Payload::Workspace(_)
                | Payload::Summary(_)
                | Payload::Job(_) => Err("it does not belong into a control stream".to_owned()),
            },
        };
        let (mut batch, accepted, note) = match verdict {
            Ok((batch, note)) => (batch, true, note),
            Err(why) => (Vec::new(), false, why),
        };
        // Before it is handled: a crash in between asks for the same rule again, which changes nothing.
        if always && let Some(rule) = batch.iter().find_map(|(payload, _)| added_rule(payload)) {
            self.remember(rule);
        }
        batch.push((SessionControlHandled { event: id, seq, accepted, note }.into(), Some(id)));
        match self.append(batch).await {
            // What cannot be logged must not be tried again with every start.
            Err(AgentError::Log(error @ (LogError::InvalidBatch(_) | LogError::Codec(_)))) => {
                let handled = SessionControlHandled { event: id, seq, accepted: false, note: error.to_string() };
                self.append(vec![(handled.into(), Some(id))]).await.map(drop)
            }
            other => other.map(drop),
        }
    }

    async fn queue(&mut self, id: EventId, sent: &ControlPromptSent) -> Result<Verdict, AgentError> {
        if sent.text.trim().is_empty() {
            return Ok(Err("the prompt has no words".to_owned()));
        }
        if self.state.queue.len() >= MAX_QUEUED {
            return Ok(Err(format!("{MAX_QUEUED} prompts are waiting already")));
        }
        let images = match self.attached_images(sent).await? {
            Ok(images) => images,
            Err(why) => return Ok(Err(why)),
        };
        let mut batch: Batch = images.into_iter().map(|image| (attached(image, None).into(), Some(id))).collect();
        let text = self.parts.redactor.redact(&sent.text).into_owned();
        let queued = TurnQueued { text, source: PromptSource::Control, attachments: sent.attachments.clone() };
        batch.push((queued.into(), Some(id)));
        Ok(Ok((batch, "queued".to_owned())))
    }

    /// The images that came with a prompt. What is wrong with them is said to whoever sent it; it must not end the session.
    async fn attached_images(
        &mut self,
        sent: &ControlPromptSent,
    ) -> Result<Result<Vec<ToolImage>, String>, AgentError> {
        let mut images = Vec::new();
        for attachment in &sent.attachments {
            let blob = attachment.blob;
            if blob.size_bytes > tools::MAX_IMAGE_BYTES {
                return Ok(Err(format!("{} is too large for an image", attachment.name)));
            }
            let bytes = match self.parts.log.blobs().read(blob.hash, 0..blob.size_bytes).await {
                Ok(bytes) => bytes,
                Err(error @ LogError::Unavailable { .. }) => return Err(error.into()),
                Err(error) => return Ok(Err(format!("{} cannot be read: {error}", attachment.name))),
            };
            match tools::image_of(&attachment.name, bytes) {
                Ok(image) => images.push(image),
                Err(why) => return Ok(Err(why)),
            }
            if let Err(why) = image_room::check(&self.state, &images) {
                return Ok(Err(why));
            }
        }
        Ok(Ok(images))
    }

    fn decided(&self, id: EventId, given: &ControlApprovalGiven) -> Verdict {
        let call = self.open_call(&given.call)?;
        if call.progress != CallProgress::Asked || call.approval != CallApproval::Asked {
            return Err(format!("call {} does not wait for an approval", given.call));
        }
        let (call, by) = (given.call.clone(), "user".to_owned());
        let Some(scope) = given.allow else {
            let words = self.words(&given.note)?;
            let said = if words.is_empty() { String::new() } else { format!(" The user says: {words}") };
            let content = format!("The user did not allow this call; it was not carried out.{said}");
            return Ok((vec![(ToolDenied { call, by, content }.into(), Some(id))], "denied".to_owned()));
        };
        if scope == ToolApprovalScope::Once {
            let approved = ToolApproved { call, by, scope };
            return Ok((vec![(approved.into(), Some(id))], "allowed".to_owned()));
        }
        // Where no rule can cover the call, it is allowed all the same, once.
        let Some(rule) = self.rule_of(&given.call) else {
            let approved = ToolApproved { call, by, scope: ToolApprovalScope::Once };
            return Ok((vec![(approved.into(), Some(id))], "allowed once: no rule can cover this call".to_owned()));
        };
        let approved = ToolApproved { call, by: by.clone(), scope };
        let added = SessionRuleAdded { rule, by };
        Ok((vec![(approved.into(), Some(id)), (added.into(), Some(id))], "allowed".to_owned()))
    }

    /// The rule that goes beyond this call; none when it would write a secret down.
    pub(super) fn rule_of(&self, call: &CallId) -> Option<String> {
        let call = self.open_call(call).ok()?;
        let rule = self.parts.permissions.rule_like(&call.tool, &call.input);
        (!rule.is_empty() && self.parts.redactor.redact(&rule) == rule.as_str()).then_some(rule)
    }

    fn remember(&self, rule: &str) {
        if let Err(error) = self.parts.permissions.remember(rule) {
            self.parts.live.send(Live::Notice(format!("`{rule}` holds for this session only: {error}")));
        }
    }

    fn answered(&self, id: EventId, answered: &ControlQuestionAnswered) -> Verdict {
        let call = self.open_call(&answered.call)?;
        if !tools::waits_for_user(&call.tool) {
            return Err(format!("call {} asks nothing", answered.call));
        }
        let words = self.words(&answered.text)?;
        if words.is_empty() {
            return Err("the answer has no words".to_owned());
        }
        let input = serde_json::from_str(&call.input).unwrap_or_default();
        let finished = ToolFinished {
            call: answered.call.clone(),
            is_error: false,
            content: tools::answer_content(&input, &words),
            exit: None,
            output: None,
            changed: Vec::new(),
            duration_ms: 0,
        };
        Ok((vec![(finished.into(), Some(id))], "answered".to_owned()))
    }

    /// `None` when the turn is to be interrupted, which handles the event as well.
    fn cancelled(&mut self, id: EventId, seq: u64, cancel: &ControlCancelRequested) -> Option<Verdict> {
        let Some(call) = &cancel.call else {
            if self.state.turn.is_none() {
                return Some(Err("nothing is going on".to_owned()));
            }
            self.ears.stop = Some(Stop { by: "control".to_owned(), asked: (id, seq) });
            self.ears.step.cancel();
            return None;
        };
        if let Some(token) = self.ears.calls.get(call) {
            token.cancel();
            return Some(Ok((Vec::new(), "the call is being ended".to_owned())));
        }
        if let Some(whole) = self.state.parted_call(call) {
            return Some(Ok((self.cancelled_parts(id, whole), "the calls in it are being ended".to_owned())));
        }
        let open = match self.open_call(call) {
            Ok(open) => open,
            Err(why) => return Some(Err(why)),
        };
        if open.progress != CallProgress::Asked && !tools::waits_for_user(&open.tool) {
            return Some(Err(format!("call {call} is not running")));
        }
        Some(Ok((vec![(not_carried_out(call).into(), Some(id))], "cancelled".to_owned())))
    }

    /// Ends the parts of a call that are being carried out; those that were not begun are not carried out any more.
    fn cancelled_parts(&self, id: EventId, whole: &PartedCall) -> Batch {
        let mut batch = Batch::new();
        for (part, _) in whole.parts() {
            match (self.ears.calls.get(part), self.open_call(part)) {
                (Some(token), _) => token.cancel(),
                (None, Ok(open)) if open.progress == CallProgress::Asked => {
                    batch.push((not_carried_out(part).into(), Some(id)));
                }
                (None, Ok(_) | Err(_)) => {}
            }
        }
        batch
    }

    /// The call, while it has no result.
    pub(super) fn open_call(&self, call: &CallId) -> Result<&OpenCall, String> {
        let open = self.state.calls.iter().find(|open| open.id == *call && open.progress != CallProgress::Done);
        open.ok_or_else(|| format!("call {call} is over, or was never made"))
    }

    /// What a person wrote, redacted.
    fn words(&self, text: &str) -> Result<String, String> {
        if text.len() > MAX_WORDS_BYTES {
            return Err(format!("more than {MAX_WORDS_BYTES} bytes of words"));
        }
        Ok(self.parts.redactor.redact(text.trim()).into_owned())
    }
}

fn not_carried_out(call: &CallId) -> ToolDenied {
    let content = "The user cancelled this call; it was not carried out.".to_owned();
    ToolDenied { call: call.clone(), by: "user".to_owned(), content }
}

fn added_rule(payload: &Payload) -> Option<&str> {
    match payload {
        Payload::Session(Session::RuleAdded(added)) => Some(&added.rule),
        _ => None,
    }
}
