//! Summaries that the API writes on demand: a request with the field `compaction` is answered by one block, which later
//! requests send first, byte for byte as it came.

use super::{Answer, Block, StopReason};
use serde_json::Value;

/// The beta that a request for a summary must name, and every request that sends one back.
pub const COMPACTION_BETA: &str = "compact-2026-09-04";

/// The largest summary that is taken, in bytes.
const MAX_SUMMARY_BYTES: usize = 1024 * 1024;

/// The summary in an answer to a request for one, as raw JSON of its block; `None` where the API wrote none that can be sent
/// back, whatever the reason.
#[must_use]
pub fn summary_in(answer: &Answer) -> Option<&str> {
    if answer.stop_reason != StopReason::Compaction {
        return None;
    }
    let [Block::Other { kind, json }] = answer.blocks.as_slice() else { return None };
    let fields: Value = serde_json::from_str(json).ok()?;
    let says_something = fields.get("content").and_then(Value::as_str).is_some_and(|words| !words.trim().is_empty());
    (kind == "compaction" && says_something && json.len() <= MAX_SUMMARY_BYTES).then_some(json)
}
