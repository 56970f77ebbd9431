//! A simulation of the prompt cache, for the `usage` of answers.
//!
//! As at the API: prefixes are written at `cache_control` marks, found again up to 20 blocks before a mark, live for
//! their `ttl` from their last use, and are not kept when shorter than the model's minimum. Tokens are estimated.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::canonical::{texts_or_blocks, unmarked};

/// How many blocks before a mark are looked at for a prefix that is already cached.
const LOOK_BACK: usize = 20;

/// About how many bytes of JSON make a token.
const BYTES_PER_TOKEN: u64 = 4;

/// The most prefixes kept; beyond it expired ones are dropped, then all.
const MAX_ENTRIES: usize = 100_000;

/// How the input tokens of one request divide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct InputTokens {
    pub(super) fresh: u64,
    pub(super) read: u64,
    pub(super) written_5m: u64,
    pub(super) written_1h: u64,
}

/// The prefixes that are cached.
#[derive(Debug, Default)]
pub(super) struct PromptCache {
    entries: HashMap<[u8; 32], Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    lifetime: Lifetime,
    expires: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lifetime {
    FiveMinutes,
    OneHour,
}

impl Lifetime {
    fn duration(self) -> Duration {
        match self {
            Self::FiveMinutes => Duration::from_mins(5),
            Self::OneHour => Duration::from_hours(1),
        }
    }
}

/// A prefix of the request: its hash, its tokens, and the mark at its end.
struct Prefix {
    hash: [u8; 32],
    tokens: u64,
    mark: Option<Lifetime>,
}

/// The estimated input tokens of `request`.
pub(super) fn count_tokens(request: &Value) -> u64 {
    prefixes(request).last().map_or(0, |prefix| prefix.tokens)
}

impl PromptCache {
    /// Divides the input tokens of `request` and takes over what it writes.
    pub(super) fn account(&mut self, request: &Value, min_tokens: u64, now: Instant) -> InputTokens {
        if self.entries.len() > MAX_ENTRIES {
            self.entries.retain(|_, entry| entry.expires > now);
            if self.entries.len() > MAX_ENTRIES {
                self.entries.clear();
            }
        }
        let prefixes = prefixes(request);
        let total = prefixes.last().map_or(0, |prefix| prefix.tokens);
        let mut tokens = InputTokens { read: self.read(&prefixes, now), ..InputTokens::default() };
        let mut done = tokens.read;
        for prefix in &prefixes {
            let Some(lifetime) = prefix.mark.filter(|_| prefix.tokens >= min_tokens) else { continue };
            let written = prefix.tokens.saturating_sub(done);
            match lifetime {
                Lifetime::FiveMinutes => tokens.written_5m += written,
                Lifetime::OneHour => tokens.written_1h += written,
            }
            done = done.max(prefix.tokens);
            self.entries.insert(prefix.hash, Entry { lifetime, expires: now + lifetime.duration() });
        }
        tokens.fresh = total - done;
        tokens
    }

    /// The tokens of the longest cached prefix within reach of a mark, whose life begins anew.
    fn read(&mut self, prefixes: &[Prefix], now: Instant) -> u64 {
        let marks = prefixes.iter().enumerate().filter(|(_, prefix)| prefix.mark.is_some());
        let within_reach = marks.flat_map(|(mark, _)| (mark + 1).saturating_sub(LOOK_BACK)..=mark);
        let alive = |at: &usize| self.entries.get(&prefixes[*at].hash).is_some_and(|entry| entry.expires > now);
        let Some(found) = within_reach.filter(alive).max() else { return 0 };
        if let Some(entry) = self.entries.get_mut(&prefixes[found].hash) {
            entry.expires = now + entry.lifetime.duration();
        }
        prefixes[found].tokens
    }
}

/// Every prefix of `request` that ends with a block, in the API's order: tools, system, messages.
fn prefixes(request: &Value) -> Vec<Prefix> {
    let mut list = PrefixList::new(request);
    for tool in request.get("tools").and_then(Value::as_array).into_iter().flatten() {
        list.add("tool", &unmarked(tool), mark_of(tool));
    }
    list.add_content("system", request.get("system"));
    for message in request.get("messages").and_then(Value::as_array).into_iter().flatten() {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        list.add_content(role, message.get("content"));
    }
    // A mark on the request itself stands for one on its last block.
    if let Some(lifetime) = mark_of(request)
        && let Some(last) = list.prefixes.last_mut()
    {
        last.mark = last.mark.or(Some(lifetime));
    }
    list.prefixes
}

struct PrefixList {
    hasher: blake3::Hasher,
    size_bytes: u64,
    prefixes: Vec<Prefix>,
}

impl PrefixList {
    fn new(request: &Value) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("retrace scripted server: prompt cache v1");
        // A cache belongs to one model.
        hasher.update(request.get("model").and_then(Value::as_str).unwrap_or_default().as_bytes());
        Self { hasher, size_bytes: 0, prefixes: Vec::new() }
    }

    fn add(&mut self, role: &str, block: &Value, mark: Option<Lifetime>) {
        let text = block.to_string();
        for part in [role, &text] {
            self.hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        self.size_bytes += text.len() as u64;
        let hash = *self.hasher.finalize().as_bytes();
        self.prefixes.push(Prefix { hash, tokens: self.size_bytes.div_ceil(BYTES_PER_TOKEN), mark });
    }

    fn add_content(&mut self, role: &str, content: Option<&Value>) {
        let marks = content.and_then(Value::as_array).map(|blocks| blocks.iter().map(mark_within).collect::<Vec<_>>());
        for (index, block) in texts_or_blocks(content).iter().enumerate() {
            let mark = marks.as_ref().and_then(|marks| marks.get(index).copied().flatten());
            self.add(role, block, mark);
        }
    }
}

/// The mark of a block, or the last one of the blocks inside it.
fn mark_within(block: &Value) -> Option<Lifetime> {
    let inside = || block.get("content").and_then(Value::as_array)?.iter().rev().find_map(mark_of);
    mark_of(block).or_else(inside)
}

fn mark_of(value: &Value) -> Option<Lifetime> {
    let mark = value.get("cache_control").filter(|mark| mark.is_object())?;
    let hour = mark.get("ttl").and_then(Value::as_str) == Some("1h");
    Some(if hour { Lifetime::OneHour } else { Lifetime::FiveMinutes })
}
