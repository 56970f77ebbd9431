//! Content of messages: the blocks of an answer as they came, and what a user's message holds.

use super::outcome::Outcome;
use super::record::object;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A block, as far as it is of interest.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(rename = "type", deserialize_with = "super::record::lenient")]
    pub(super) kind: Option<String>,
    #[serde(deserialize_with = "super::record::lenient")]
    pub(super) text: Option<String>,
    #[serde(deserialize_with = "super::record::lenient")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "super::record::lenient")]
    pub(super) name: Option<String>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(deserialize_with = "super::record::lenient")]
    pub(super) tool_use_id: Option<String>,
    #[serde(deserialize_with = "super::record::lenient")]
    pub(super) is_error: Option<bool>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) source: Option<&'a RawValue>,
}

impl<'a> Block<'a> {
    /// The block in raw JSON; `None` when it is no object.
    pub(super) fn of(raw: &'a RawValue) -> Option<Self> {
        object(raw.get())
    }

    /// Its kind, or nothing.
    pub(super) fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or_default()
    }
}

/// An image in base64, as a message holds it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct ImageSource {
    /// Its bytes in base64.
    pub(super) data: String,
}

/// What content is made of.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Texts, in order.
    pub(super) texts: Vec<String>,
    /// Images.
    pub(super) images: Vec<ImageSource>,
    /// What came of calls.
    pub(super) outcomes: Vec<Outcome>,
    /// Blocks of other kinds, by kind.
    pub(super) others: Vec<String>,
}

impl Content {
    /// Reads the content of a user's message, or of a result: a text, or blocks.
    pub(super) fn of(raw: Option<&RawValue>) -> Self {
        let mut content = Self::default();
        let Some(raw) = raw else { return content };
        if let Ok(text) = serde_json::from_str::<String>(raw.get()) {
            content.texts.push(text);
            return content;
        }
        for raw in raw_blocks(raw) {
            let Some(block) = Block::of(raw) else {
                content.others.push("unknown".to_owned());
                continue;
            };
            match block.kind() {
                "text" => content.texts.extend(block.text),
                "image" => match block.source.and_then(|raw| object(raw.get())) {
                    Some(image) => content.images.push(image),
                    None => content.others.push("image".to_owned()),
                },
                "tool_result" => content.outcomes.push(Outcome::of(&block)),
                other => content.others.push(other.chars().take(40).collect()),
            }
        }
        content
    }

    /// All its words.
    pub(super) fn text(&self) -> String {
        self.texts.join("\n\n")
    }

    /// A line for each thing that is not taken over.
    pub(super) fn left_out(&self) -> String {
        self.others.iter().map(|kind| format!("\n[{kind}: not taken over]")).collect()
    }
}

/// The elements of an array; none when it is something else.
pub(super) fn raw_blocks(raw: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}
