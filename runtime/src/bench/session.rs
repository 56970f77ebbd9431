//! A recorded session, as the benchmark plays it again.

use super::item::{Item, ItemKind};

/// A session and what happened in it, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchSession {
    /// Its id.
    pub id: String,
    /// What happened.
    pub items: Vec<Item>,
}

/// A request that was sent while the session was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedRequest {
    /// The first item of its answer; the request held those before it.
    pub at: usize,
    /// When it was sent, in milliseconds since 1970: when the item before it had come.
    pub sent_ms: u64,
}

impl BenchSession {
    /// The tokens of everything in it.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.items.iter().map(|item| item.tokens).sum()
    }

    /// The requests that led to its answers: one wherever the model began to speak after somebody else did.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        let mut requests = Vec::new();
        for (at, pair) in self.items.windows(2).enumerate() {
            if let [before, answer] = pair
                && answer.kind.is_answer()
                && !before.kind.is_answer()
            {
                requests.push(RecordedRequest { at: at + 1, sent_ms: before.at_ms });
            }
        }
        requests
    }

    /// The newest item before `at` that is of one of `kinds`.
    #[must_use]
    pub fn newest(&self, at: usize, kinds: &[ItemKind]) -> Option<&Item> {
        self.items.iter().take(at).rev().find(|item| kinds.contains(&item.kind))
    }
}
