//! The cursor: follows a session's events and gives out the nodes of its summary tree as they become final.

use super::open_step::{OpenStep, Standing};
use super::summary_node::{EXTRACTIVE, GROUP, SummaryNode};
use retrace_events::redact::Redactor;
use retrace_events::{Event, StreamId};
use serde::{Deserialize, Serialize};

/// How far a session's tree has grown: the open step, and on each level the nodes that wait for their parent. Kept as it is
/// and restored, it goes on as if it had never stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryCursor {
    stream: StreamId,
    next_seq: u64,
    standing: Standing,
    step: OpenStep,
    /// By level: at most seven each.
    levels: Vec<Level>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Level {
    next_index: u64,
    waiting: Vec<SummaryNode>,
}

impl SummaryCursor {
    /// A cursor at the beginning of a session's stream.
    #[must_use]
    pub fn new(stream: StreamId) -> Self {
        let (standing, step) = (Standing::default(), OpenStep::default());
        Self { stream, next_seq: 0, standing, step, levels: Vec::new() }
    }

    /// The session's stream.
    #[must_use]
    pub const fn stream(&self) -> &StreamId {
        &self.stream
    }

    /// The same cursor as that of a fork of the session, which goes on from here.
    #[must_use]
    pub fn of_fork(mut self, fork: &StreamId) -> Self {
        let nodes = self.levels.iter_mut().flat_map(|level| &mut level.waiting);
        nodes.for_each(|node| node.stream.clone_from(fork));
        self.stream.clone_from(fork);
        self
    }

    /// The event it wants next. Those before it are ignored when they come again.
    #[must_use]
    pub const fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// The workspace as the session names it; empty before its first event.
    #[must_use]
    pub fn workspace(&self) -> &str {
        &self.standing.workspace
    }

    /// Takes in the next event and returns the nodes that it makes final: leaves, and behind the eighth of a group its
    /// parent. `redactor` takes secrets out of all that is kept.
    pub fn apply(&mut self, event: &Event, redactor: &Redactor) -> Vec<SummaryNode> {
        let mut nodes = Vec::new();
        if event.envelope.stream != self.stream || event.envelope.seq < self.next_seq {
            return nodes;
        }
        self.next_seq = event.envelope.seq.saturating_add(1);
        if self.step.begun && OpenStep::begins(event) {
            let late = self.step.late_calls(event);
            self.close_step(&mut nodes);
            self.step.open_with(late, event);
        }
        self.step.take(event, &mut self.standing, redactor);
        if self.step.begun && OpenStep::ends(event) {
            self.close_step(&mut nodes);
        }
        nodes
    }

    /// What happened since the last leaf, as the leaf it would be now; `None` when nothing did.
    #[must_use]
    pub fn open(&self) -> Option<SummaryNode> {
        let mut leaf = leaf(&self.stream, &self.step, self.levels.first().map_or(0, |level| level.next_index))?;
        leaf.open = true;
        Some(leaf)
    }

    /// The fewest nodes that cover the whole session, the oldest first; the last one may be open.
    #[must_use]
    pub fn edge(&self) -> Vec<SummaryNode> {
        self.levels.iter().rev().flat_map(|level| level.waiting.iter().cloned()).chain(self.open()).collect()
    }

    fn close_step(&mut self, nodes: &mut Vec<SummaryNode>) {
        let step = std::mem::take(&mut self.step);
        let index = self.levels.first().map_or(0, |level| level.next_index);
        let mut node = leaf(&self.stream, &step, index);
        let mut place = 0;
        while let Some(closed) = node.take() {
            nodes.push(closed.clone());
            if self.levels.len() == place {
                self.levels.push(Level::default());
            }
            let Some(level) = self.levels.get_mut(place) else { return };
            level.next_index += 1;
            level.waiting.push(closed);
            if level.waiting.len() as u64 == GROUP {
                node = SummaryNode::parent(&level.waiting);
                level.waiting.clear();
            }
            place += 1;
        }
    }
}

/// The leaf that a step is; `None` before its first event.
fn leaf(stream: &StreamId, step: &OpenStep, index: u64) -> Option<SummaryNode> {
    let span = step.span?;
    Some(SummaryNode {
        stream: stream.clone(),
        level: 0,
        index,
        first_seq: span.first_seq,
        last_seq: span.last_seq,
        first_event: span.first_event,
        first_at_ms: span.first_at_ms,
        last_at_ms: span.last_at_ms,
        open: false,
        digest: step.digest(),
        by: EXTRACTIVE.to_owned(),
        words: None,
    })
}
