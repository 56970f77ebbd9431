//! Which blobs a payload names: what an export has to carry along and what must be there before the event is.

use super::BlobRef;
use crate::codec::{CodecError, decode_payload};
use crate::envelope::Envelope;
use crate::hash::Hash;
use crate::log::Deletion;
use crate::payload::{Context, Control, Job, Payload, Sandbox, Session, Summary, Tool, Turn, Workspace};

/// The blobs that must stay because of `envelope`: those its payload names, and the one that a log may keep the payload itself
/// in. `None` when it is of a kind that only a newer version knows, so that nobody here can say.
///
/// # Errors
/// When the payload is not what its kind says.
pub fn needed_blobs(envelope: &Envelope) -> Result<Option<Vec<Hash>>, CodecError> {
    let own = Hash::of(&envelope.payload);
    if Deletion::stands_in(envelope) {
        return Ok(Some(vec![own]));
    }
    let decoded = decode_payload(&envelope.kind, envelope.schema, &envelope.payload)?;
    let named = decoded.known().map(|payload| referenced_blobs(payload).into_iter().map(|blob| blob.hash));
    Ok(named.map(|named| named.chain([own]).collect()))
}

/// The blobs that `payload` names. Every kind is listed: whoever adds one has to say here what it names.
#[must_use]
pub fn referenced_blobs(payload: &Payload) -> Vec<BlobRef> {
    match payload {
        Payload::Turn(turn) => match turn {
            Turn::Prompted(prompted) => prompted.attachments.iter().map(|attachment| attachment.blob).collect(),
            Turn::Queued(queued) => queued.attachments.iter().map(|attachment| attachment.blob).collect(),
            Turn::Requested(_)
            | Turn::Answered(_)
            | Turn::Failed(_)
            | Turn::Interrupted(_)
            | Turn::Ended(_)
            | Turn::Warned(_) => Vec::new(),
        },
        Payload::Control(control) => match control {
            Control::PromptSent(sent) => sent.attachments.iter().map(|attachment| attachment.blob).collect(),
            Control::ApprovalGiven(_)
            | Control::QuestionAnswered(_)
            | Control::CancelRequested(_)
            | Control::Tagged(_) => Vec::new(),
        },
        Payload::Tool(tool) => match tool {
            Tool::Finished(finished) => finished.output.into_iter().collect(),
            Tool::BackgroundEnded(ended) => ended.output.into_iter().collect(),
            Tool::Called(_)
            | Tool::Approved(_)
            | Tool::Denied(_)
            | Tool::OutcomeUnknown(_)
            | Tool::ApprovalAsked(_)
            | Tool::BackgroundStarted(_) => Vec::new(),
        },
        Payload::Session(
            Session::Started(_)
            | Session::Forked(_)
            | Session::Configured(_)
            | Session::Closed(_)
            | Session::ControlHandled(_)
            | Session::RuleAdded(_)
            | Session::Planned(_)
            | Session::Imported(_),
        )
        | Payload::Context(
            Context::EpochStarted(_)
            | Context::Retrieved(_)
            | Context::ImageAttached(_)
            | Context::Compacted(_)
            | Context::CompactionRequested(_)
            | Context::CompactionAnswered(_)
            | Context::CompactionFailed(_),
        )
        | Payload::Sandbox(
            Sandbox::Started(_)
            | Sandbox::Stopped(_)
            | Sandbox::LimitHit(_)
            | Sandbox::NetworkAttempted(_)
            | Sandbox::Connection(_),
        )
        | Payload::Workspace(Workspace::Snapshotted(_) | Workspace::SnapshotFailed(_))
        | Payload::Summary(Summary::Written(_))
        | Payload::Job(
            Job::Submitted(_) | Job::Claimed(_) | Job::Progressed(_) | Job::Finished(_) | Job::Cancelled(_),
        ) => Vec::new(),
    }
}
