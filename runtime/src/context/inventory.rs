//! What a request is made of, part by part: where each is from, what it costs, and how well it fitted when it was put in.

use retrace_events::SessionState;
use retrace_events::fold::{Image, TranscriptItem};
use retrace_events::payload::context::{ContextPassage, ContextSource};
use serde::Serialize;

/// About how many bytes make a token, where no request of the session has been measured.
const BYTES_PER_TOKEN: u64 = 4;

/// A part of a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct ContextPart {
    /// Where in the request it stands: `system`, `tools`, `seed`, `kept` (carried over from an earlier epoch), `tail`.
    pub place: &'static str,
    /// What it is: `prompt`, `answer`, `result`, `instructions`, `file`, `summary`, `event`, `notes` and so on.
    pub what: &'static str,
    /// Where it is from: a path with lines, an event, a call, a summary.
    pub source: String,
    /// How well it fitted, in thousandths of the retrieval's own scale; 0 for what was not found but followed.
    pub score_milli: u32,
    /// Its words, for whoever compares or shows them.
    #[serde(skip)]
    pub text: String,
    /// Its size in bytes, images included.
    pub bytes: u64,
    /// Its tokens, estimated.
    pub tokens: u64,
}

/// The parts of the next request of `state`, in order; none before the first epoch.
#[must_use]
pub fn inventory(state: &SessionState) -> Vec<ContextPart> {
    let Some(epoch) = &state.epoch else { return Vec::new() };
    let start = &epoch.start;
    let tokens = |bytes: u64| state.measured.map_or(bytes.div_ceil(BYTES_PER_TOKEN), |rate| rate.tokens_of(bytes));
    let part = |place, what, source: String, text: &str, bytes: usize, score_milli| ContextPart {
        place,
        what,
        source,
        score_milli,
        text: text.to_owned(),
        bytes: bytes as u64,
        tokens: tokens(bytes as u64),
    };
    let passage = |place, passage: &ContextPassage| {
        let (what, source) = origin(&passage.source);
        part(place, what, source, &passage.text, passage.text.len(), passage.score_milli)
    };
    let mut parts = vec![
        part("tools", "tools", start.model.clone(), &start.tools, start.tools.len(), 0),
        part("system", "system", String::new(), &start.system, start.system.len(), 0),
    ];
    if let Some(block) = &start.compacted {
        let by = "the API".to_owned();
        parts.push(part("seed", "compaction", by, &summary_of(block), block.len(), 0));
    }
    parts.extend(start.seed.iter().map(|seed| passage("seed", seed)));
    let fresh_from = epoch_seq(state);
    for (item, seq) in state.transcript.items().iter().zip(state.transcript.seqs()) {
        let place = if *seq < fresh_from { "kept" } else { "tail" };
        let event = format!("event {seq}");
        match item {
            TranscriptItem::Prompt { text, images } => {
                parts.push(part(place, "prompt", event, text, text.len() + size_of(images), 0));
            }
            TranscriptItem::Answer { content, .. } => {
                parts.push(part(place, "answer", event, &words_of(content), content.len(), 0));
            }
            TranscriptItem::Result { call, content, images, .. } => {
                let source = format!("{event}, call {call}");
                parts.push(part(place, "result", source, content, content.len() + size_of(images), 0));
            }
            TranscriptItem::Passages(passages) => parts.extend(passages.iter().map(|found| passage(place, found))),
            TranscriptItem::Interruption => parts.push(part(place, "interruption", event, "", 0, 0)),
            TranscriptItem::Warning { note } => parts.push(part(place, "warning", event, note, note.len(), 0)),
            TranscriptItem::BackgroundEnded { command, .. } => {
                parts.push(part(place, "command ended", event, command, command.len(), 0));
            }
        }
    }
    parts
}

/// What is older was carried over: an answer that was, says so; the first that was not is the epoch's own. Behind a summary
/// of the API's the epoch's own place tells.
fn epoch_seq(state: &SessionState) -> u64 {
    if let Some(epoch) = state.epoch.as_ref().filter(|epoch| epoch.start.compacted.is_some()) {
        return epoch.seq;
    }
    let items = state.transcript.items().iter().zip(state.transcript.seqs());
    let carried = items.rev().find(|(item, _)| matches!(item, TranscriptItem::Answer { carried_over: true, .. }));
    let Some((TranscriptItem::Answer { calls, .. }, answer)) = carried else { return 0 };
    // Its results came with it.
    let results = state.transcript.items().iter().zip(state.transcript.seqs()).filter(|(item, _)| match item {
        TranscriptItem::Result { call, .. } => calls.contains(call),
        TranscriptItem::Prompt { .. }
        | TranscriptItem::Answer { .. }
        | TranscriptItem::Passages(_)
        | TranscriptItem::Interruption
        | TranscriptItem::Warning { .. }
        | TranscriptItem::BackgroundEnded { .. } => false,
    });
    results.map(|(_, seq)| *seq).max().unwrap_or(*answer) + 1
}

/// An answer in words: what it says, and which tools it calls.
fn words_of(content: &str) -> String {
    let blocks: Vec<serde_json::Value> = serde_json::from_str(content).unwrap_or_default();
    let words = blocks.iter().filter_map(|block| match block["type"].as_str()? {
        "text" => block["text"].as_str().map(str::to_owned),
        "tool_use" => Some(format!("[calls {}]", block["name"].as_str()?)),
        "thinking" | "redacted_thinking" => Some("[thinks]".to_owned()),
        _ => None,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The words of a summary that the API wrote.
fn summary_of(block: &str) -> String {
    let block: serde_json::Value = serde_json::from_str(block).unwrap_or_default();
    block["content"].as_str().unwrap_or_default().to_owned()
}

fn origin(source: &ContextSource) -> (&'static str, String) {
    match source {
        ContextSource::Event(event) => ("event", event.to_string()),
        ContextSource::File { path, first_line, last_line } => ("file", format!("{path}:{first_line}-{last_line}")),
        ContextSource::Summary(node) => ("summary", node.clone()),
        ContextSource::Instructions(path) => ("instructions", path.clone()),
        ContextSource::Prompt(event) => ("prompt", event.to_string()),
        ContextSource::Notes(what) => ("notes", what.clone()),
    }
}

fn size_of(images: &[Image]) -> usize {
    images.iter().map(|image| image.data_base64.len()).sum()
}
