//! The running hash over a conversation in its canonical form.

use serde_json::Value;

use super::canonical::{texts_or_blocks, unmarked, write_canonical};

/// A hash over system, tools and blocks in order, readable at any point, and resumable from its chain: what stood before a
/// summary is known by that alone.
#[derive(Debug, Clone)]
pub(super) struct PrefixHash {
    /// Over what stands before the first message.
    head: [u8; 32],
    /// Over the blocks, each link over the one before it.
    chain: [u8; 32],
}

impl PrefixHash {
    /// Starts with what stands before the first message.
    pub(super) fn new(request: &Value) -> Self {
        Self::resume(request, [0; 32])
    }

    /// As [`Self::new`], with the blocks that `chain` is over.
    pub(super) fn resume(request: &Value, chain: [u8; 32]) -> Self {
        let mut head = blake3::Hasher::new_derive_key("retrace scripted server: conversation head v1");
        for block in texts_or_blocks(request.get("system")) {
            update(&mut head, "system", &block);
        }
        for tool in request.get("tools").and_then(Value::as_array).into_iter().flatten() {
            update(&mut head, "tool", &unmarked(tool));
        }
        Self { head: *head.finalize().as_bytes(), chain }
    }

    /// Adds one block (already without marks) of a message by `role`.
    pub(super) fn add(&mut self, role: &str, block: &Value) {
        let mut link = blake3::Hasher::new_derive_key("retrace scripted server: conversation prefix v1");
        link.update(&self.chain);
        update(&mut link, role, block);
        self.chain = *link.finalize().as_bytes();
    }

    /// The hash of the blocks alone.
    pub(super) const fn chain(&self) -> [u8; 32] {
        self.chain
    }

    /// The hash of all that was added so far.
    pub(super) fn digest(&self) -> [u8; 32] {
        *blake3::Hasher::new().update(&self.head).update(&self.chain).finalize().as_bytes()
    }
}

fn update(hasher: &mut blake3::Hasher, role: &str, block: &Value) {
    let mut text = String::new();
    write_canonical(block, &mut text);
    for part in [role, &text] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
}
