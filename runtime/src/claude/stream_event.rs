//! The events of a streaming answer, parsed just as far as the assembler needs them.
//!
//! Unknown events and unknown deltas become [`StreamEvent::Unknown`] and [`BlockDelta::Unknown`]; they are not errors.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::raw::RawFields;

/// One event of the stream.
#[derive(Debug)]
pub(super) enum StreamEvent {
    MessageStart(MessageHead),
    BlockStart {
        index: u64,
        block: RawFields,
    },
    BlockDelta {
        index: u64,
        delta: BlockDelta,
    },
    BlockStop {
        index: u64,
    },
    MessageDelta {
        stop_reason: Option<String>,
        stop_sequence: Option<String>,
        stop_details: Option<String>,
        usage: Value,
    },
    MessageStop,
    Error {
        error_type: String,
        message: String,
    },
    /// A ping, or an event newer than this program.
    Unknown,
}

/// What `message_start` says about the message.
#[derive(Debug, Deserialize)]
pub(super) struct MessageHead {
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    pub(super) model: String,
    #[serde(default)]
    pub(super) usage: Value,
}

/// One piece of a block.
#[derive(Debug)]
pub(super) enum BlockDelta {
    Text(String),
    InputJson(String),
    Thinking(String),
    Signature(String),
    Citation(String),
    Compaction(RawFields),
    Unknown,
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct MessageStartJson {
    message: MessageHead,
}

#[derive(Deserialize)]
struct BlockStartJson {
    index: u64,
    content_block: RawFields,
}

#[derive(Deserialize)]
struct BlockDeltaJson<'a> {
    index: u64,
    #[serde(borrow)]
    delta: &'a RawValue,
}

#[derive(Deserialize)]
struct BlockStopJson {
    index: u64,
}

#[derive(Deserialize)]
struct MessageDeltaJson {
    delta: StopJson,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct StopJson {
    stop_reason: Option<String>,
    stop_sequence: Option<String>,
    stop_details: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct ErrorJson {
    error: ErrorBody,
}

#[derive(Deserialize)]
struct ErrorBody {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    message: String,
}

/// Parses the data of one server-sent event.
///
/// # Errors
/// When it is not JSON, or an event of a known type lacks what that type must have.
pub(super) fn parse(data: &str) -> Result<StreamEvent, serde_json::Error> {
    let Kind { kind } = serde_json::from_str(data)?;
    Ok(match kind.as_str() {
        "message_start" => StreamEvent::MessageStart(serde_json::from_str::<MessageStartJson>(data)?.message),
        "content_block_start" => {
            let BlockStartJson { index, content_block } = serde_json::from_str(data)?;
            StreamEvent::BlockStart { index, block: content_block }
        }
        "content_block_delta" => {
            let BlockDeltaJson { index, delta } = serde_json::from_str(data)?;
            StreamEvent::BlockDelta { index, delta: parse_delta(delta.get())? }
        }
        "content_block_stop" => StreamEvent::BlockStop { index: serde_json::from_str::<BlockStopJson>(data)?.index },
        "message_delta" => {
            let MessageDeltaJson { delta, usage } = serde_json::from_str(data)?;
            StreamEvent::MessageDelta {
                stop_reason: delta.stop_reason,
                stop_sequence: delta.stop_sequence,
                stop_details: delta.stop_details.map(|raw| raw.get().to_owned()).filter(|raw| raw != "null"),
                usage,
            }
        }
        "message_stop" => StreamEvent::MessageStop,
        "error" => {
            let ErrorBody { kind, message } = serde_json::from_str::<ErrorJson>(data)?.error;
            StreamEvent::Error { error_type: kind, message }
        }
        _ => StreamEvent::Unknown,
    })
}

fn parse_delta(json: &str) -> Result<BlockDelta, serde_json::Error> {
    #[derive(Deserialize)]
    struct TextJson {
        text: String,
    }
    #[derive(Deserialize)]
    struct InputJson {
        partial_json: String,
    }
    #[derive(Deserialize)]
    struct ThinkingJson {
        thinking: String,
    }
    #[derive(Deserialize)]
    struct SignatureJson {
        signature: String,
    }
    #[derive(Deserialize)]
    struct CitationJson {
        citation: Box<RawValue>,
    }
    let Kind { kind } = serde_json::from_str(json)?;
    Ok(match kind.as_str() {
        "text_delta" => BlockDelta::Text(serde_json::from_str::<TextJson>(json)?.text),
        "input_json_delta" => BlockDelta::InputJson(serde_json::from_str::<InputJson>(json)?.partial_json),
        "thinking_delta" => BlockDelta::Thinking(serde_json::from_str::<ThinkingJson>(json)?.thinking),
        "signature_delta" => BlockDelta::Signature(serde_json::from_str::<SignatureJson>(json)?.signature),
        "citations_delta" => {
            BlockDelta::Citation(serde_json::from_str::<CitationJson>(json)?.citation.get().to_owned())
        }
        "compaction_delta" => BlockDelta::Compaction(serde_json::from_str(json)?),
        _ => BlockDelta::Unknown,
    })
}
