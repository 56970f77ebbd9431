//! The conversation of the present epoch, item by item, as the renderer needs it. It only grows until a new epoch begins.

use crate::id::{CallId, EventId};
use crate::payload::context::ContextPassage;

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptItem {
    /// By the user.
    Prompt {
        /// The words.
        text: String,
    },
    /// By the model: the content blocks as raw JSON.
    Answer {
        /// The event that holds it.
        event: EventId,
        /// A JSON array, byte for byte as it came.
        content: String,
        /// Its calls, in order.
        calls: Vec<CallId>,
    },
    /// By a tool.
    Result {
        /// The call it answers.
        call: CallId,
        /// Whether it failed.
        is_error: bool,
        /// What the model is told.
        content: String,
    },
    /// Put in by retrieval.
    Passages(Vec<ContextPassage>),
    /// The turn was stopped by the user.
    Interruption,
}

/// The conversation since the present epoch began.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transcript {
    items: Vec<TranscriptItem>,
}

impl Transcript {
    /// All items, oldest first.
    #[must_use]
    pub fn items(&self) -> &[TranscriptItem] {
        &self.items
    }

    pub(super) fn push(&mut self, item: TranscriptItem) {
        self.items.push(item);
    }

    /// Results of parallel calls are logged as they come in; the conversation has them in the order of the calls.
    pub(super) fn sort_last_results(&mut self) {
        let Some(answer) = self.items.iter().rposition(|item| matches!(item, TranscriptItem::Answer { .. })) else {
            return;
        };
        let (before, after) = self.items.split_at_mut(answer + 1);
        let Some(TranscriptItem::Answer { calls, .. }) = before.last() else { return };
        after.sort_by_key(|item| match item {
            TranscriptItem::Result { call, .. } => calls.iter().position(|id| id == call).unwrap_or(usize::MAX),
            TranscriptItem::Prompt { .. }
            | TranscriptItem::Answer { .. }
            | TranscriptItem::Passages(_)
            | TranscriptItem::Interruption => usize::MAX,
        });
    }
}
