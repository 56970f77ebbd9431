//! The steps of the open turn as they came. The fold only keeps them; what they came to ([`StepRecord`]) is worked out by whoever
//! asks, since a fold over a long session asks for none of its turns that are over.

use super::calls::OpenCall;
use super::step_record::StepRecord;
use crate::id::CallId;
use serde::{Deserialize, Serialize};

/// One answer, and the results of its calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepText {
    content: String,
    calls: Vec<OpenCall>,
    results: Vec<StepResult>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StepResult {
    call: CallId,
    content: String,
    is_error: bool,
    wrote: bool,
}

impl StepText {
    /// An answer, as raw JSON blocks, with its calls. No call has a result yet.
    pub(super) fn answered(content: &str, calls: &[OpenCall]) -> Self {
        Self { content: content.to_owned(), calls: calls.to_vec(), results: Vec::new() }
    }

    /// The result of one of its calls.
    pub(super) fn finished(&mut self, call: &CallId, content: &str, is_error: bool, wrote: bool) {
        self.results.push(StepResult { call: call.clone(), content: content.to_owned(), is_error, wrote });
    }

    /// One of its calls is made of others, which take its place.
    pub(super) fn parted(&mut self, call: &CallId, parts: &[OpenCall]) {
        if let Some(place) = self.calls.iter().position(|open| open.id == *call) {
            self.calls.splice(place..=place, parts.iter().cloned());
        }
    }

    /// What it came to.
    #[must_use]
    pub fn record(&self) -> StepRecord {
        let mut record = StepRecord::answered(&self.content, &self.calls);
        for StepResult { call, content, is_error, wrote } in &self.results {
            record.finished(call, content, *is_error, *wrote);
        }
        record
    }
}
