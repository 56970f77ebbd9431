//! Summaries on demand: the answer to a request with the field `compaction`, and the check of its block when it comes back.
//!
//! A block's signature holds what is needed to go on as if the summarized messages were still there: the running hash over
//! them (so that the thinking in what follows still verifies) and where the script had got to. Two keyed tags guard it: one over
//! that alone, one over the summary's words too.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::api_error::ApiError;
use super::prefix_hash::PrefixHash;
use super::signature::SigningKey;

/// The beta that must be named.
pub(super) const BETA: &str = "compact-2026-09-04";

const TAG_BYTES: usize = 16;
const NONE: u32 = u32::MAX;

/// What a block stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Summarized {
    /// The running hash over the messages.
    pub(super) chain: [u8; 32],
    /// How many answers they held, and those before them.
    pub(super) turns: usize,
    /// The step of the newest answer among them.
    pub(super) previous: Option<usize>,
    /// The step that answers them, when they ended with the user's words.
    pub(super) due: Option<usize>,
    /// Whether they ended with the user's words.
    pub(super) ended_with_user: bool,
    /// Whether the model that wrote the summary binds thinking to its prefix.
    pub(super) preserved: bool,
}

impl Summarized {
    fn payload(&self) -> Vec<u8> {
        let number = |index: Option<usize>| index.and_then(|index| u32::try_from(index).ok()).unwrap_or(NONE);
        let mut bytes = self.chain.to_vec();
        for value in [number(Some(self.turns)), number(self.previous), number(self.due)] {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend([u8::from(self.ended_with_user), u8::from(self.preserved)]);
        bytes
    }

    /// The signature of a block with these words.
    pub(super) fn sign(&self, key: &SigningKey, content: &str) -> String {
        let mut bytes = self.payload();
        let tags = tags(key, &bytes, content);
        bytes.extend(tags);
        STANDARD.encode(bytes)
    }

    /// What the block says it stands for, unchecked.
    fn read(block: &Value) -> Option<(Self, Vec<u8>)> {
        let bytes = STANDARD.decode(block.get("signature")?.as_str()?).ok()?;
        let (payload, tags) = bytes.split_at_checked(32 + 3 * 4 + 2)?;
        let (chain, rest) = payload.split_first_chunk::<32>()?;
        let mut numbers = rest.chunks_exact(4).map(|bytes| bytes.try_into().map(u32::from_le_bytes).unwrap_or(NONE));
        let mut number = || numbers.next().filter(|value| *value != NONE).and_then(|value| usize::try_from(value).ok());
        let (turns, previous, due) = (number().unwrap_or_default(), number(), number());
        let [ended_with_user, preserved] = *rest.last_chunk::<2>()?;
        let read = Self {
            chain: *chain,
            turns,
            previous,
            due,
            ended_with_user: ended_with_user == 1,
            preserved: preserved == 1,
        };
        Some((read, tags.to_vec()))
    }

    /// What the block that `request` begins with stands for, unchecked; `None` when it begins with none.
    pub(super) fn first_in(request: &Value) -> Option<Self> {
        let block = request.get("messages")?.get(0)?.get("content")?.get(0)?;
        (block.get("type")?.as_str()? == "compaction").then(|| Self::read(block).map(|(read, _)| read)).flatten()
    }

    /// What `block` stands for, when it is as it was given out.
    ///
    /// # Errors
    /// When its signature or its words are others.
    pub(super) fn verified(key: &SigningKey, block: &Value) -> Result<Self, ApiError> {
        let at = "messages.0.content.0";
        let content = block.get("content").and_then(Value::as_str).unwrap_or_default();
        let invalid =
            || ApiError::at(at, "Invalid `signature` in `compaction` block").coded("compaction_signature_invalid");
        let (read, came) = Self::read(block).ok_or_else(invalid)?;
        let due = tags(key, &read.payload(), content);
        if came.len() != due.len() || came[..TAG_BYTES] != due[..TAG_BYTES] {
            return Err(invalid());
        }
        if came != due {
            let what = "the `content` of the `compaction` block is not what its `signature` was made for";
            return Err(ApiError::at(at, what).coded("compaction_content_mismatch"));
        }
        Ok(read)
    }

    /// The hash over the conversation up to the end of the summary. Thinking does not verify behind it where the API would not
    /// take it: behind a summary by a model that binds none, or when the next message would be joined to the last summarized.
    pub(super) fn prefix(&self, request: &Value) -> PrefixHash {
        let mut prefix = PrefixHash::resume(request, self.chain);
        if self.is_joined(request) || !self.preserved {
            prefix.add("summary", &Value::from("cut elsewhere"));
        }
        prefix
    }

    fn is_joined(&self, request: &Value) -> bool {
        let alone = request["messages"][0]["content"].as_array().is_some_and(|blocks| blocks.len() == 1);
        let next = &request["messages"][usize::from(alone)]["role"];
        next.as_str().is_some_and(|role| (role == "user") == self.ended_with_user)
    }
}

fn tags(key: &SigningKey, payload: &[u8], content: &str) -> Vec<u8> {
    let alone = key.tag(&[b"summary", payload]);
    let whole = key.tag(&[b"summary and words", payload, content.as_bytes()]);
    [&alone[..TAG_BYTES], &whole[..TAG_BYTES]].concat()
}

/// A summary without a model: what the user said, shortened.
pub(super) fn summary_of(request: &Value) -> String {
    let messages = request.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let before = messages.first().map(|message| &message["content"][0]).filter(|block| block["type"] == "compaction");
    let mut lines = vec![format!("Summary of {} messages.", messages.len())];
    lines.extend(before.and_then(|block| block["content"].as_str()).map(|words| format!("Before them: {words}")));
    for message in messages.iter().filter(|message| message["role"] == "user") {
        let texts = super::canonical::texts_or_blocks(message.get("content"));
        for words in texts.iter().filter_map(|block| block.get("text").and_then(Value::as_str)) {
            lines.push(format!("The user said: {}", words.chars().take(300).collect::<String>()));
        }
    }
    lines.truncate(40);
    lines.join("\n")
}
