//! [`PartedCall`]: a call that is made of others, and what has come of these so far. The model hears of all of them with the
//! result of the whole.

use super::SessionState;
use super::calls::OpenCall;
use super::transcript::Image;
use crate::id::{CallId, Timestamp};
use serde::{Deserialize, Serialize};

/// A call that is made of others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartedCall {
    /// The whole.
    pub call: CallId,
    /// When it was begun.
    pub began_at: Timestamp,
    parts: Vec<(CallId, Option<PartResult>)>,
}

/// What came of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartResult {
    /// Whether it failed.
    pub is_error: bool,
    /// What the model is told of it.
    pub content: String,
    /// The images that came with it.
    pub images: Vec<Image>,
}

impl PartedCall {
    pub(super) fn new(call: CallId, parts: &[OpenCall], began_at: Timestamp) -> Self {
        Self { call, began_at, parts: parts.iter().map(|part| (part.id.clone(), None)).collect() }
    }

    /// Its parts in order, each with its result when it has one.
    pub fn parts(&self) -> impl Iterator<Item = (&CallId, Option<&PartResult>)> {
        self.parts.iter().map(|(call, result)| (call, result.as_ref()))
    }

    /// Whether `call` is one of its parts.
    #[must_use]
    pub fn has(&self, call: &CallId) -> bool {
        self.parts.iter().any(|(part, _)| part == call)
    }

    /// Whether each part has its result.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.parts.iter().all(|(_, result)| result.is_some())
    }

    pub(super) fn came(&mut self, call: &CallId, result: PartResult) {
        if let Some((_, known)) = self.parts.iter_mut().find(|(part, _)| part == call) {
            *known = Some(result);
        }
    }

    pub(super) fn into_images(self) -> impl Iterator<Item = Image> {
        self.parts.into_iter().filter_map(|(_, result)| result).flat_map(|result| result.images)
    }
}

impl SessionState {
    /// What a call is made of; `None` when it is not made of others, or is over.
    #[must_use]
    pub fn parted_call(&self, whole: &CallId) -> Option<&PartedCall> {
        self.parted.iter().find(|parted| parted.call == *whole)
    }

    /// The call that `part` is a part of.
    #[must_use]
    pub fn whole_of(&self, part: &CallId) -> Option<&PartedCall> {
        self.parted.iter().find(|parted| parted.has(part))
    }
}
