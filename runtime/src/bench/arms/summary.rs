//! Only the summary: the nodes of the extractive summary tree that cover the history, the newest first until the budget is
//! used up. No word of the history itself.

use super::summary_events::ItemEvents;
use super::{Arm, Ask, Composer};
use crate::bench::characters::{CHARS_PER_TOKEN, length, tokens_of};
use crate::bench::composed::{Composed, Piece};
use crate::bench::session::BenchSession;
use retrace_events::redact::Redactor;
use retrace_indexer::{SummaryCover, SummaryCursor, SummaryNode};

/// The longest text of one node, in characters.
const MAX_NODE_CHARS: usize = 16_000;

/// With less room no other node is begun, in characters: heading and a line.
const MIN_NODE_CHARS: usize = 160;

/// The summary tree.
pub(super) struct SummaryArm;

impl Arm for SummaryArm {
    fn name(&self) -> &'static str {
        "summary"
    }

    fn about(&self) -> &'static str {
        "the extractive summary tree alone"
    }

    fn open<'s>(&self, session: &'s BenchSession) -> Box<dyn Composer + 's> {
        let redactor = Redactor::new(Vec::new());
        Box::new(SummaryComposer { session, redactor, tree: Tree::of(&session.id), nodes: Vec::new() })
    }
}

/// A summary tree that grows with the session.
struct Tree {
    events: ItemEvents,
    cursor: SummaryCursor,
    cover: SummaryCover,
    /// How many items it has read.
    at: usize,
}

impl Tree {
    fn of(session: &str) -> Self {
        let events = ItemEvents::new(session);
        let cursor = SummaryCursor::new(events.stream().clone());
        Self { events, cursor, cover: SummaryCover::default(), at: 0 }
    }
}

struct SummaryComposer<'s> {
    session: &'s BenchSession,
    redactor: Redactor,
    tree: Tree,
    /// The nodes that cover what the tree has read, the oldest first.
    nodes: Vec<SummaryNode>,
}

impl SummaryComposer<'_> {
    fn read_to(&mut self, at: usize) {
        if at < self.tree.at {
            self.tree = Tree::of(&self.session.id);
        }
        if at == self.tree.at {
            return;
        }
        for item in self.session.items.iter().take(at).skip(self.tree.at) {
            let event = self.tree.events.event(item);
            for node in self.tree.cursor.apply(&event, &self.redactor) {
                self.tree.cover.add(node);
            }
        }
        self.tree.at = at;
        self.nodes = self.tree.cover.nodes(self.tree.cursor.open());
    }
}

impl Composer for SummaryComposer<'_> {
    fn compose(&mut self, ask: Ask) -> Composed<'_> {
        self.read_to(ask.at);
        let (mut used, mut pieces) = (0, Vec::new());
        for node in self.nodes.iter().rev() {
            let room = usize::try_from(ask.budget_tokens.saturating_sub(used + 1)).unwrap_or(usize::MAX);
            let chars = room.saturating_mul(CHARS_PER_TOKEN).min(MAX_NODE_CHARS);
            if chars < MIN_NODE_CHARS {
                break;
            }
            let text = node.text(chars);
            let cost = tokens_of(length(&text));
            used += cost;
            pieces.push(Piece::text(text, cost));
        }
        pieces.reverse();
        pieces.into()
    }
}
