//! A summary that the API is asked for beside the turn: whether one is on its way, has come, or may be asked for again. It
//! belongs to an epoch and is forgotten with it.

use crate::id::{EventId, Timestamp};
use crate::payload::context::{ContextCompactionAnswered, ContextCompactionFailed, ContextCompactionRequested};
use crate::payload::turn::TurnFailure;
use serde::{Deserialize, Serialize};

/// What has come of asking for a summary in the present epoch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// A request that has neither answer nor failure.
    pub asked: Option<AskedCompaction>,
    /// The summary, once it is there; the next request begins with it.
    pub came: Option<CameCompaction>,
    /// Attempts that came to nothing, those that a crash of our own took excepted.
    pub failed_attempts: u32,
    /// When it may be asked for again; `None` is not in this epoch.
    pub again_at: Option<Timestamp>,
}

/// A request for a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedCompaction {
    /// Its event.
    pub request: EventId,
    /// The first event that is not summarized.
    pub until_seq: u64,
    /// The most it can cost, in millionths of a US dollar.
    pub cost_bound_microusd: u64,
}

/// A summary that has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CameCompaction {
    /// The event that holds it.
    pub event: EventId,
    /// The first event that is not summarized.
    pub until_seq: u64,
    /// The API's block as raw JSON.
    pub block: String,
}

impl Default for Compaction {
    fn default() -> Self {
        Self { asked: None, came: None, failed_attempts: 0, again_at: Some(Timestamp(0)) }
    }
}

impl Compaction {
    pub(super) fn requested(&mut self, event: EventId, request: &ContextCompactionRequested) {
        let ContextCompactionRequested { until_seq, cost_bound_microusd, .. } = *request;
        self.asked = Some(AskedCompaction { request: event, until_seq, cost_bound_microusd });
        self.came = None;
    }

    /// An answer to a request of an epoch that is over changes nothing here.
    pub(super) fn answered(&mut self, event: EventId, answer: &ContextCompactionAnswered) {
        let Some(asked) = self.asked.take_if(|asked| asked.request == answer.request) else { return };
        match &answer.block {
            Some(block) => {
                self.came = Some(CameCompaction { event, until_seq: asked.until_seq, block: block.clone() });
            }
            None => {
                self.failed_attempts += 1;
                self.again_at = None;
            }
        }
    }

    pub(super) fn failed(&mut self, at: Timestamp, failed: &ContextCompactionFailed) {
        if self.asked.take_if(|asked| asked.request == failed.request).is_none() {
            return;
        }
        self.again_at = failed.retry_in_ms.map(|wait_ms| Timestamp(at.0.saturating_add(wait_ms)));
        // A crash of our own says nothing about the server.
        self.failed_attempts += u32::from(failed.failure != TurnFailure::Lost);
    }
}
