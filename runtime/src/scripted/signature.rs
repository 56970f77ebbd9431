//! Signatures of thinking blocks, and their check when they come back.
//!
//! A signature is base64 of two keyed BLAKE3 tags of 16 bytes: one over the thinking text alone, one over the text and
//! everything that stood before the block (system, tools, earlier blocks). Every model checks the first; models with
//! preserved thinking check the second too, so an altered, moved or left-out block before it is found.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::api_error::ApiError;
use super::canonical::texts_or_blocks;
use super::prefix_hash::PrefixHash;
use super::summarized::Summarized;

const TAG_BYTES: usize = 16;

/// The key that signs thinking. A constant by default, so that a server started anew knows its old blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct SigningKey([u8; 32]);

impl Default for SigningKey {
    fn default() -> Self {
        Self(blake3::derive_key("retrace scripted server: thinking signatures v1", b""))
    }
}

impl SigningKey {
    /// The signature of `thinking` produced after `prefix`.
    pub(super) fn sign(&self, prefix: &PrefixHash, thinking: &str) -> String {
        STANDARD.encode(self.tags(prefix, thinking))
    }

    /// A tag over `parts`.
    pub(super) fn tag(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut tag = blake3::Hasher::new_keyed(&self.0);
        for part in parts {
            tag.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        *tag.finalize().as_bytes()
    }

    fn tags(&self, prefix: &PrefixHash, thinking: &str) -> Vec<u8> {
        let text = blake3::keyed_hash(&self.0, thinking.as_bytes());
        let mut bound = blake3::Hasher::new_keyed(&self.0);
        bound.update(&prefix.digest());
        bound.update(thinking.as_bytes());
        [&text.as_bytes()[..TAG_BYTES], &bound.finalize().as_bytes()[..TAG_BYTES]].concat()
    }
}

/// Checks every thinking block of `request` over its actual prefix, and a summary over its words, and returns the hash over the whole conversation.
pub(super) fn verify(request: &Value, key: &SigningKey, preserved: bool) -> Result<PrefixHash, ApiError> {
    let mut prefix = PrefixHash::new(request);
    let messages = request.get("messages").and_then(Value::as_array);
    for (index, message) in messages.into_iter().flatten().enumerate() {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        for (position, block) in texts_or_blocks(message.get("content")).iter().enumerate() {
            let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
            let signed = match text("type") {
                "thinking" => Some(("signature", text("thinking"))),
                "redacted_thinking" => Some(("data", "")),
                _ => None,
            };
            if text("type") == "compaction" {
                // It stands first, or the request was refused before.
                prefix = Summarized::verified(key, block)?.prefix(request);
                continue;
            }
            if let Some((field, thinking)) = signed {
                let came = STANDARD.decode(text(field)).unwrap_or_default();
                let due = key.tags(&prefix, thinking);
                let at = format!("messages.{index}.content.{position}: Invalid `{field}` in `{}` block", text("type"));
                if came.len() != due.len() || came[..TAG_BYTES] != due[..TAG_BYTES] {
                    return Err(ApiError::invalid(at));
                }
                if preserved && came != due {
                    return Err(ApiError::invalid(format!(
                        "{at}. The block is bound to a different conversation. Remove the block, or set \
                         `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
                    )));
                }
            }
            prefix.add(role, block);
        }
    }
    Ok(prefix)
}
