//! A line of a transcript, as far as it is of interest. A field that is not what it should be counts as missing: nothing in
//! a line is certain, and one odd field is no reason to lose the rest.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The year 2100: what claims to be later would stand before everything that happens here.
const MAX_MS: u64 = 4_102_444_800_000;

/// A line.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::import) struct Record<'a> {
    #[serde(rename = "type", deserialize_with = "lenient")]
    pub(super) kind: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) subtype: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) uuid: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) parent_uuid: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) session_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) agent_id: Option<String>,
    #[serde(rename = "timestamp", deserialize_with = "moment")]
    pub(super) at_ms: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) cwd: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) version: Option<String>,
    #[serde(deserialize_with = "flag")]
    pub(super) is_sidechain: bool,
    #[serde(deserialize_with = "flag")]
    pub(super) is_meta: bool,
    #[serde(deserialize_with = "flag")]
    pub(super) is_compact_summary: bool,
    #[serde(deserialize_with = "flag")]
    pub(super) is_api_error_message: bool,
    #[serde(deserialize_with = "lenient")]
    pub(super) request_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) summary: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) leaf_uuid: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) custom_title: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) ai_title: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) retry_in_ms: Option<f64>,
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_use_result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) data: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) attachment: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) compact_metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

impl<'a> Record<'a> {
    /// The line's object; `None` when it is none.
    pub(in crate::import) fn of(line: &'a str) -> Option<Self> {
        object(line)
    }

    /// Its own name, if it has one.
    pub(in crate::import) fn name(&self) -> Option<String> {
        self.uuid.clone().filter(|uuid| !uuid.is_empty())
    }

    /// Its kind, or nothing.
    pub(super) fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or_default()
    }

    /// Whether it is a part of a conversation.
    pub(super) fn is_conversation(&self) -> bool {
        matches!(self.kind(), "user" | "assistant") && self.message.is_some()
    }

    /// The message in it.
    pub(super) fn message(&self) -> Option<Message<'a>> {
        self.message.and_then(|raw| object(raw.get()))
    }
}

/// A message of the API.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(deserialize_with = "lenient")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) model: Option<String>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(deserialize_with = "lenient")]
    pub(super) stop_reason: Option<String>,
    #[serde(borrow)]
    pub(super) stop_details: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
}

/// A subagent's message inside a progress line.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct AgentProgress<'a> {
    #[serde(rename = "type", deserialize_with = "lenient")]
    pub(super) kind: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) agent_id: Option<String>,
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
}

/// Reads an object. (Of a list a struct could be made too, in the order of its fields, which means nothing.)
pub(super) fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Option<T> {
    json.trim_start().starts_with('{').then(|| serde_json::from_str(json).ok()).flatten()
}

/// A value of another type counts as none.
pub(super) fn lenient<'de, D: Deserializer<'de>, T: serde::de::DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

/// As [`lenient`], for what is false unless it says that it is true.
fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(lenient(deserializer)?.unwrap_or_default())
}

/// A moment in RFC 3339, in milliseconds since 1970.
fn moment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let text: Option<String> = lenient(deserializer)?;
    let moment = text.and_then(|text| text.parse::<jiff::Timestamp>().ok());
    let ms = moment.and_then(|moment| u64::try_from(moment.as_millisecond()).ok());
    Ok(ms.filter(|ms| *ms < MAX_MS))
}
