//! Which nodes to show of a long session: coarse for the old, fine for the new, and few.

use super::summary_node::{GROUP, SummaryNode};
use retrace_events::StreamId;
use serde::{Deserialize, Serialize};

/// Picks, out of nodes as the cursor gives them out, those that cover the session: at least the last eight steps one by
/// one, at least the last eight groups before them by their parents, and so on up. So a session of n steps is covered by
/// fewer than 16 nodes for each of its log₈ n levels, and no more than these are kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SummaryCover {
    /// By level, the newest nodes, beginning with a whole group.
    levels: Vec<Vec<SummaryNode>>,
}

impl SummaryCover {
    /// Takes in the next node.
    pub fn add(&mut self, node: SummaryNode) {
        let place = usize::try_from(node.level).unwrap_or(usize::MAX).min(GROUP.ilog2() as usize * 8);
        while self.levels.len() <= place {
            self.levels.push(Vec::new());
        }
        let Some(level) = self.levels.get_mut(place) else { return };
        level.push(node);
        // The older of two full groups has its parent a level higher.
        let group = usize::try_from(GROUP).unwrap_or(usize::MAX);
        if level.len() >= 2 * group {
            level.drain(..group);
        }
    }

    /// The same nodes as those of a fork of the session, which has them too.
    #[must_use]
    pub fn of_fork(mut self, fork: &StreamId) -> Self {
        self.levels.iter_mut().flatten().for_each(|node| node.stream.clone_from(fork));
        self
    }

    /// The nodes that cover the session, the oldest first; behind them the step that is going on, when it is given.
    #[must_use]
    pub fn nodes(&self, open: Option<SummaryNode>) -> Vec<SummaryNode> {
        let mut cover: Vec<SummaryNode> = open.into_iter().collect();
        let mut from_seq = cover.first().map_or(u64::MAX, |node| node.first_seq);
        for level in &self.levels {
            let older: Vec<&SummaryNode> = level.iter().filter(|node| node.last_seq < from_seq).collect();
            from_seq = older.first().map_or(from_seq, |node| node.first_seq);
            // Backwards for now: the newest come first.
            cover.extend(older.into_iter().rev().cloned());
        }
        cover.reverse();
        cover
    }
}
