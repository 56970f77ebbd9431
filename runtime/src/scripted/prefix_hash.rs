//! The running hash over a conversation in its canonical form.

use serde_json::Value;

use super::canonical::{texts_or_blocks, unmarked, write_canonical};

/// A hash over system, tools and blocks in order, readable at any point.
#[derive(Debug, Clone)]
pub(super) struct PrefixHash(blake3::Hasher);

impl PrefixHash {
    /// Starts with what stands before the first message.
    pub(super) fn new(request: &Value) -> Self {
        let mut prefix = Self(blake3::Hasher::new_derive_key("retrace scripted server: conversation prefix v1"));
        for block in texts_or_blocks(request.get("system")) {
            prefix.add("system", &block);
        }
        for tool in request.get("tools").and_then(Value::as_array).into_iter().flatten() {
            prefix.add("tool", &unmarked(tool));
        }
        prefix
    }

    /// Adds one block (already without marks) of a message by `role`.
    pub(super) fn add(&mut self, role: &str, block: &Value) {
        let mut text = String::new();
        write_canonical(block, &mut text);
        for part in [role, &text] {
            self.0.update(&(part.len() as u64).to_le_bytes());
            self.0.update(part.as_bytes());
        }
    }

    /// The hash of all that was added so far.
    pub(super) fn digest(&self) -> [u8; 32] {
        *self.0.finalize().as_bytes()
    }
}
