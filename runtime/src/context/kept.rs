//! Which of the newest steps a fresh epoch keeps word for word.

use retrace_events::fold::{Transcript, TranscriptItem};

/// The sequence number of the first event that is kept: of the oldest step from which on everything together has at most
/// `budget_bytes`. `None` when not even the newest step fits. A step is an answer with the results of its calls; a prompt
/// begins one of its own, so that neither a call without its result nor a result without its call is kept.
#[must_use]
pub fn kept_from(transcript: &Transcript, budget_bytes: u64) -> Option<u64> {
    let mut kept = None;
    let mut bytes = 0_u64;
    for (item, seq) in transcript.items().iter().zip(transcript.seqs()).rev() {
        bytes = bytes.saturating_add(size_of(item));
        if bytes > budget_bytes {
            break;
        }
        if begins_step(item) {
            kept = Some(*seq);
        }
    }
    kept
}

/// About how many bytes of a request the whole conversation takes.
#[must_use]
pub fn conversation_bytes(transcript: &Transcript) -> u64 {
    transcript.items().iter().map(size_of).fold(0, u64::saturating_add)
}

fn begins_step(item: &TranscriptItem) -> bool {
    match item {
        TranscriptItem::Prompt { .. } | TranscriptItem::Answer { .. } => true,
        TranscriptItem::Result { .. }
        | TranscriptItem::Passages(_)
        | TranscriptItem::Interruption
        | TranscriptItem::Warning { .. }
        | TranscriptItem::BackgroundEnded { .. } => false,
    }
}

/// About how many bytes of a request the item takes. Thinking does not come along, but is counted: the estimate is high.
fn size_of(item: &TranscriptItem) -> u64 {
    let size = match item {
        TranscriptItem::Prompt { text, images } => text.len() + images_size(images),
        TranscriptItem::Answer { content, .. } => content.len(),
        TranscriptItem::Result { content, images, .. } => content.len() + images_size(images),
        TranscriptItem::Passages(passages) => passages.iter().map(|passage| passage.text.len()).sum(),
        TranscriptItem::Interruption => 0,
        TranscriptItem::Warning { note } => note.len(),
        TranscriptItem::BackgroundEnded { command, why, .. } => command.len() + why.len(),
    };
    // What stands around it.
    size as u64 + 100
}

fn images_size(images: &[retrace_events::fold::Image]) -> usize {
    images.iter().map(|image| image.data_base64.len()).sum()
}
