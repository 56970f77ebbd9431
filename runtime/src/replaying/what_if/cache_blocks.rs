//! A request's body as the prompt cache sees it: blocks in order, and where it is to be written.

use crate::bench::cache::{CacheLifetime, CacheMark, CacheSegment};
use serde_json::Value;

/// The blocks of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::replaying) struct CacheBlocks {
    /// Hash and length in bytes of each.
    blocks: Vec<([u8; 32], u64)>,
    marks: Vec<CacheMark>,
}

impl CacheBlocks {
    /// The blocks of a body, in the API's order: tools, system, messages.
    pub(in crate::replaying) fn of(body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let mut blocks = Self::default();
        let model = body["model"].as_str().unwrap_or_default();
        for tool in body["tools"].as_array().into_iter().flatten() {
            blocks.add(&format!("tool of {model}"), tool);
        }
        blocks.add_content(&format!("system of {model}"), &body["system"]);
        for message in body["messages"].as_array().into_iter().flatten() {
            blocks.add_content(message["role"].as_str().unwrap_or_default(), &message["content"]);
        }
        if let Some(lifetime) = mark_of(&body)
            && let Some(segment) = blocks.blocks.len().checked_sub(1)
            && blocks.marks.last().is_none_or(|mark| mark.segment != segment)
        {
            blocks.marks.push(CacheMark { segment, lifetime });
        }
        blocks
    }

    /// The blocks as segments of a cache, with `tokens` divided among them as their bytes are; and the marks.
    pub(in crate::replaying) fn segments(&self, tokens: u64) -> (Vec<CacheSegment>, &[CacheMark]) {
        let all: u64 = self.blocks.iter().map(|(_, bytes)| bytes).sum();
        let (mut segments, mut done_bytes, mut done_tokens) = (Vec::with_capacity(self.blocks.len()), 0, 0);
        for (hash, bytes) in &self.blocks {
            done_bytes += bytes;
            // By prefixes, so that what is lost to rounding does not add up.
            let until = super::request_figures::share(tokens, done_bytes, all);
            segments.push(CacheSegment { hash: *hash, tokens: until - done_tokens });
            done_tokens = until;
        }
        (segments, &self.marks)
    }

    fn add(&mut self, role: &str, block: &Value) {
        let lifetime = mark_of(block).or_else(|| block["content"].as_array()?.iter().rev().find_map(mark_of));
        let text = unmarked(block).to_string();
        let hash = *blake3::hash(format!("{role}\n{text}").as_bytes()).as_bytes();
        if let Some(lifetime) = lifetime {
            self.marks.push(CacheMark { segment: self.blocks.len(), lifetime });
        }
        self.blocks.push((hash, text.len() as u64));
    }

    fn add_content(&mut self, role: &str, content: &Value) {
        match content {
            Value::Array(blocks) => blocks.iter().for_each(|block| self.add(role, block)),
            Value::Null => {}
            text => self.add(role, text),
        }
    }
}

/// A block without the marks on it and in it; a call's input is data and stays as it is.
fn unmarked(block: &Value) -> Value {
    let mut block = block.clone();
    if let Some(fields) = block.as_object_mut() {
        fields.remove("cache_control");
        if let Some(Value::Array(inside)) = fields.get_mut("content") {
            inside.iter_mut().filter_map(Value::as_object_mut).for_each(|fields| drop(fields.remove("cache_control")));
        }
    }
    block
}

fn mark_of(value: &Value) -> Option<CacheLifetime> {
    let mark = value.get("cache_control").filter(|mark| mark.is_object())?;
    let hour = mark["ttl"].as_str() == Some("1h");
    Some(if hour { CacheLifetime::OneHour } else { CacheLifetime::FiveMinutes })
}
