//! Passages under a budget.

use retrace_events::payload::context::{ContextPassage, ContextSource};
use retrace_events::payload::session::{PlanItem, PlanStatus};
use retrace_indexer::SummaryNode;

/// About how many bytes make a token.
const BYTES_PER_TOKEN: usize = 4;
/// What stands around a passage in a request, in tokens.
const FRAME_TOKENS: u64 = 40;
/// With less room than this, nothing is begun; in tokens.
const CRUMB_TOKENS: u64 = 60;
/// How much one summary says, in characters.
const NODE_CHARS: usize = 2_000;

/// The room that is left.
pub(super) struct Room<'a> {
    whole: Option<&'a mut u64>,
    left: u64,
}

impl Room<'_> {
    pub(super) const fn new(tokens: u64) -> Self {
        Room { whole: None, left: tokens }
    }

    /// A part of what is left, in percent; what is not used of it stays.
    pub(super) fn share(&mut self, percent: u64) -> Room<'_> {
        let left = self.left * percent.min(100) / 100;
        Room { whole: Some(&mut self.left), left }
    }

    pub(super) const fn left_tokens(&self) -> u64 {
        self.left
    }

    pub(super) fn left_bytes(&self) -> usize {
        usize::try_from(self.left.saturating_sub(FRAME_TOKENS)).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN)
    }

    /// The passage, when there is room for it.
    pub(super) fn take(&mut self, passage: ContextPassage) -> Option<ContextPassage> {
        let cost = u64::from(passage.tokens) + FRAME_TOKENS;
        if cost > self.left || passage.text.trim().is_empty() {
            return None;
        }
        self.left -= cost;
        if let Some(whole) = &mut self.whole {
            **whole -= cost;
        }
        Some(passage)
    }
}

/// The plan.
pub(super) fn plan(items: &[PlanItem], room: &mut Room<'_>) -> Option<ContextPassage> {
    let line = |item: &PlanItem| {
        let mark = match item.status {
            PlanStatus::Pending => ' ',
            PlanStatus::InProgress => '~',
            PlanStatus::Done => 'x',
        };
        format!("[{mark}] {}\n", item.text)
    };
    let text: String = items.iter().map(line).collect();
    let text = cut(&text, room.left_bytes());
    room.take(ContextPassage::new(text, ContextSource::Notes("plan".to_owned()), 0))
}

/// What the steps before `kept_from` were, the newest for sure.
pub(super) fn summaries(nodes: &[SummaryNode], kept_from: u64, room: &mut Room<'_>) -> Vec<ContextPassage> {
    let mut passages = Vec::new();
    for node in nodes.iter().rev().filter(|node| node.first_seq < kept_from) {
        if room.left_bytes() < CRUMB_TOKENS as usize * BYTES_PER_TOKEN {
            break;
        }
        let text = node.text(NODE_CHARS.min(room.left_bytes()));
        let Some(taken) = room.take(ContextPassage::new(text, ContextSource::Summary(node.key()), 0)) else { break };
        passages.push(taken);
    }
    passages.reverse();
    passages
}

/// The text when it has at most `bytes`; otherwise its beginning and its end, and between them how much is missing.
pub(super) fn cut(text: &str, bytes: usize) -> String {
    const NOTE_BYTES: usize = 40;
    if text.len() <= bytes {
        return text.to_owned();
    }
    let half = bytes.saturating_sub(NOTE_BYTES) / 2;
    let (head, tail) = (text.floor_char_boundary(half), text.ceil_char_boundary(text.len() - half));
    format!("{}\n[… {} bytes left out …]\n{}", &text[..head], tail - head, &text[tail..])
}
