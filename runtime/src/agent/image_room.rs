//! How much room there is for images. All images of a session go with each of its requests, and a request has an end: what
//! would not fit is refused once, with words, rather than sent for ever and refused by the API.

use crate::tools::ToolImage;
use retrace_events::SessionState;
use retrace_events::fold::{Image, TranscriptItem};

/// How many bytes of base64 all images of a session may take; the API takes requests of 32 MB.
const MAX_BASE64_BYTES: usize = 20 * 1024 * 1024;

/// How many images a session may hold: what the API takes with a context window of 200,000 tokens.
const MAX_IMAGES: usize = 100;

/// Whether `more` images fit beside those that the session holds.
///
/// # Errors
/// Says in words why they do not.
pub(super) fn check(state: &SessionState, more: &[ToolImage]) -> Result<(), String> {
    if more.is_empty() {
        return Ok(());
    }
    let queued = state.queue.iter().map(|queued| &queued.images);
    let parts = state.parted.iter().flat_map(|whole| whole.parts()).filter_map(|(_, result)| result);
    let of_parts = parts.map(|result| &result.images);
    let shown = state.transcript.items().iter().filter_map(images);
    let held: Vec<&Image> = shown.chain(queued).chain(of_parts).flatten().collect();
    let (count, bytes) = (held.len() + more.len(), more.iter().map(base64_bytes).sum::<usize>());
    let bytes = held.iter().map(|image| image.data_base64.len()).sum::<usize>() + bytes;
    if count > MAX_IMAGES {
        return Err(format!("the session would hold {count} images, and at most {MAX_IMAGES} go with a request"));
    }
    if bytes > MAX_BASE64_BYTES {
        let (size, limit) = (bytes / 1_000_000, MAX_BASE64_BYTES / 1_000_000);
        return Err(format!("the session's images would take {size} MB of each request, and at most {limit} MB do"));
    }
    Ok(())
}

fn images(item: &TranscriptItem) -> Option<&Vec<Image>> {
    match item {
        TranscriptItem::Prompt { images, .. } | TranscriptItem::Result { images, .. } => Some(images),
        TranscriptItem::Answer { .. }
        | TranscriptItem::Passages(_)
        | TranscriptItem::Interruption
        | TranscriptItem::Warning { .. }
        | TranscriptItem::BackgroundEnded { .. } => None,
    }
}

const fn base64_bytes(image: &ToolImage) -> usize {
    image.bytes.len().div_ceil(3) * 4
}
