//! What a session's events tell of its conversation: who said what, which calls were made, and what came of them. What a context
//! was made of (epochs, retrieved passages, images) is no conversation and is left out. The one reader of events that the
//! working set and the benchmark of contexts share; it keeps nothing.

use super::happening::Speaker;
use retrace_events::payload::tool::ToolExit;
use retrace_events::payload::{Context, Payload, Session, Tool, Turn};
use retrace_events::{CallId, Event};
use serde::Deserialize;
use serde_json::value::RawValue;

/// One thing that an event tells.
pub(crate) enum Told<'a> {
    /// Where the session works, as an absolute path.
    Workspace(&'a str),
    /// Words.
    Said(Speaker, &'a str),
    /// A call in an answer; the input is raw JSON.
    Called { id: &'a str, tool: &'a str, input: &'a str },
    /// The same call is carried out. An answer that was taken from elsewhere need not hold its calls.
    Begun { id: &'a str, tool: &'a str, input: &'a str },
    /// A call is made of others, which are told as calls of their own: it adds nothing to what these tell.
    Parted { call: &'a CallId },
    /// What came of a call.
    Came { call: &'a CallId, text: &'a str, failed: bool, exit: Option<&'a ToolExit> },
    /// Nobody knows what came of it.
    Lost { call: &'a CallId, text: &'a str },
}

/// A block of an answer.
#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    thinking: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Box<RawValue>>,
}

/// Gives `take` all that `event` tells, in order.
pub(crate) fn told(event: &Event, take: &mut dyn FnMut(Told<'_>)) {
    match event.payload.known() {
        Some(Payload::Session(Session::Started(started))) => take(Told::Workspace(&started.workspace)),
        Some(Payload::Session(Session::Forked(forked))) => take(Told::Workspace(&forked.workspace)),
        Some(Payload::Turn(turn)) => told_by_turn(turn, take),
        Some(Payload::Tool(tool)) => told_by_tool(tool, take),
        Some(Payload::Context(Context::Compacted(compacted))) => take(Told::Said(Speaker::Summary, &compacted.summary)),
        Some(
            Payload::Session(
                Session::Configured(_)
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
                | Context::CompactionRequested(_)
                | Context::CompactionAnswered(_)
                | Context::CompactionFailed(_),
            )
            | Payload::Sandbox(_)
            | Payload::Workspace(_)
            | Payload::Summary(_)
            | Payload::Job(_)
            | Payload::Control(_),
        )
        | None => {}
    }
}

fn told_by_turn(turn: &Turn, take: &mut dyn FnMut(Told<'_>)) {
    match turn {
        Turn::Prompted(prompt) => take(Told::Said(Speaker::User, &prompt.text)),
        Turn::Warned(warned) => take(Told::Said(Speaker::Program, &warned.note)),
        Turn::Answered(answer) => {
            let blocks: Vec<Block> = serde_json::from_str(&answer.content).unwrap_or_default();
            blocks.iter().for_each(|block| told_by_block(block, take));
        }
        Turn::Requested(_) | Turn::Failed(_) | Turn::Interrupted(_) | Turn::Ended(_) | Turn::Queued(_) => {}
    }
}

fn told_by_block(block: &Block, take: &mut dyn FnMut(Told<'_>)) {
    match block.kind.as_str() {
        "text" => take(Told::Said(Speaker::Model, block.text.as_deref().unwrap_or_default())),
        "thinking" => take(Told::Said(Speaker::Thought, block.thinking.as_deref().unwrap_or_default())),
        "tool_use" => {
            let input = block.input.as_deref().map_or("{}", RawValue::get);
            let (id, tool) = (block.id.as_deref().unwrap_or_default(), block.name.as_deref().unwrap_or_default());
            take(Told::Called { id, tool, input });
        }
        _ => {}
    }
}

fn told_by_tool(tool: &Tool, take: &mut dyn FnMut(Told<'_>)) {
    match tool {
        Tool::Called(called) => take(Told::Begun { id: &called.call.0, tool: &called.tool, input: &called.input }),
        Tool::Finished(done) => {
            take(Told::Came { call: &done.call, text: &done.content, failed: done.is_error, exit: done.exit.as_ref() })
        }
        Tool::Denied(denied) => {
            take(Told::Came { call: &denied.call, text: &denied.content, failed: true, exit: None });
        }
        Tool::OutcomeUnknown(unknown) => take(Told::Lost { call: &unknown.call, text: &unknown.content }),
        Tool::Parted(parted) => take(Told::Parted { call: &parted.call }),
        Tool::Approved(_)
        | Tool::ApprovalAsked(_)
        | Tool::BackgroundStarted(_)
        | Tool::BackgroundEnded(_)
        | Tool::ResultReused(_)
        | Tool::Refused(_) => {}
    }
}
