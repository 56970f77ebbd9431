//! The conversation of the present epoch, item by item, as the renderer needs it. It only grows until a new epoch begins.

use crate::id::{CallId, EventId};
use crate::payload::context::ContextPassage;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TranscriptItem {
    /// By the user.
    Prompt {
        /// The words.
        text: String,
        /// The images that came with it.
        images: Vec<Image>,
    },
    /// By the model: the content blocks as raw JSON.
    Answer {
        /// The event that holds it.
        event: EventId,
        /// A JSON array, byte for byte as it came.
        content: String,
        /// Its calls, in order.
        calls: Vec<CallId>,
        /// It was given in an earlier epoch: its thinking is bound to a prefix that is gone, and goes with it.
        carried_over: bool,
    },
    /// By a tool.
    Result {
        /// The call it answers.
        call: CallId,
        /// Whether it failed.
        is_error: bool,
        /// What the model is told.
        content: String,
        /// The images that are shown to it.
        images: Vec<Image>,
    },
    /// Put in by retrieval.
    Passages(Vec<ContextPassage>),
    /// The turn was stopped by the user.
    Interruption,
    /// The model is told that it goes round in circles.
    Warning {
        /// In these words.
        note: String,
    },
    /// A command in the background is over.
    BackgroundEnded {
        /// The call that started it.
        call: CallId,
        /// The command.
        command: String,
        /// How it ended.
        why: String,
    },
}

/// An image as a request holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// For example `image/png`.
    pub media_type: String,
    /// Its bytes in base64; shared, since states are copied.
    #[serde(serialize_with = "shared_text", deserialize_with = "text_to_share")]
    pub data_base64: Arc<str>,
}

/// The conversation since the present epoch began.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "StoredTranscript")]
pub struct Transcript {
    items: Vec<TranscriptItem>,
    /// The sequence number of the event behind each item.
    seqs: Vec<u64>,
}

/// A transcript as it is read from somewhere.
#[derive(Deserialize)]
struct StoredTranscript {
    items: Vec<TranscriptItem>,
    seqs: Vec<u64>,
}

impl TryFrom<StoredTranscript> for Transcript {
    type Error = &'static str;
    fn try_from(StoredTranscript { items, seqs }: StoredTranscript) -> Result<Self, Self::Error> {
        if items.len() == seqs.len() { Ok(Self { items, seqs }) } else { Err("not every item has its event") }
    }
}

fn shared_text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

fn text_to_share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
    String::deserialize(deserializer).map(Arc::from)
}

impl Transcript {
    /// All items, oldest first.
    #[must_use]
    pub fn items(&self) -> &[TranscriptItem] {
        &self.items
    }

    /// The sequence number of the event behind each item, in the same order.
    #[must_use]
    pub fn seqs(&self) -> &[u64] {
        &self.seqs
    }

    /// Everything that was put in by retrieval, oldest first.
    pub fn passages(&self) -> impl Iterator<Item = &ContextPassage> {
        self.items.iter().flat_map(|item| match item {
            TranscriptItem::Passages(passages) => passages.as_slice(),
            TranscriptItem::Prompt { .. }
            | TranscriptItem::Answer { .. }
            | TranscriptItem::Result { .. }
            | TranscriptItem::Interruption
            | TranscriptItem::Warning { .. }
            | TranscriptItem::BackgroundEnded { .. } => &[],
        })
    }

    pub(super) fn push(&mut self, seq: u64, item: TranscriptItem) {
        self.items.push(item);
        self.seqs.push(seq);
    }

    /// Begins a new epoch behind a summary that the API wrote: what is older than `from_seq` goes, and the rest stays as it is,
    /// since thinking may stand behind such a summary.
    pub(super) fn drop_before(&mut self, from_seq: u64) {
        let first = self.seqs.partition_point(|seq| *seq < from_seq);
        self.items.drain(..first);
        self.seqs.drain(..first);
    }

    /// Begins a new epoch: what is older than `from_seq` goes, the rest is carried over.
    pub(super) fn carry_over(&mut self, from_seq: u64) {
        self.drop_before(from_seq);
        for item in &mut self.items {
            if let TranscriptItem::Answer { carried_over, .. } = item {
                *carried_over = true;
            }
        }
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
            | TranscriptItem::Interruption
            | TranscriptItem::Warning { .. }
            | TranscriptItem::BackgroundEnded { .. } => usize::MAX,
        });
    }
}
