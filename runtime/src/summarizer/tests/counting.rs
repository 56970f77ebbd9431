//! A summarizer that counts what it is asked, and does as the test says.

use async_trait::async_trait;
use retrace_events::log::MemoryLog;
use retrace_events::{Envelope, EventLog};
use retrace_indexer::{Summarize, SummarizeError, SummaryGroup, SummaryWords};
use std::collections::VecDeque;
use std::sync::Mutex;

/// What becomes of a question.
#[derive(Debug)]
pub(super) enum Fate {
    /// No words; whether they might come later.
    Refused { is_transient: bool },
    /// Meanwhile another process appends this.
    Overtaken(MemoryLog, Box<Envelope>),
}

/// Counts.
#[derive(Debug, Default)]
pub(super) struct Counting {
    /// Level and place of each node that was asked for, and the text of what is below it.
    pub(super) asked: Mutex<Vec<(u32, u64, String)>>,
    /// What becomes of the next questions; then there are words.
    pub(super) fates: Mutex<VecDeque<Fate>>,
}

impl Counting {
    pub(super) fn meeting(fates: impl IntoIterator<Item = Fate>) -> Self {
        Self { fates: Mutex::new(fates.into_iter().collect()), ..Self::default() }
    }

    pub(super) fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

#[async_trait]
impl Summarize for Counting {
    async fn summarize(&self, group: SummaryGroup<'_>) -> Result<SummaryWords, SummarizeError> {
        assert_eq!(group.children.len(), 8, "a whole group");
        assert!(group.children.iter().all(|child| child.level + 1 == group.node.level));
        let below = group.children.iter().map(|child| child.text(500)).collect();
        self.asked.lock().unwrap().push((group.node.level, group.node.index, below));
        let fate = self.fates.lock().unwrap().pop_front();
        match fate {
            Some(Fate::Refused { is_transient }) => {
                return Err(SummarizeError { why: "no words".to_owned(), is_transient, cost_microusd: 7 });
            }
            Some(Fate::Overtaken(log, event)) => log.append(&[*event]).await.unwrap(),
            None => {}
        }
        let text = format!("words for {}.{}", group.node.level, group.node.index);
        Ok(SummaryWords { text, by: "counting".to_owned(), cost_microusd: 10 })
    }
}
