//! Outputs that are kept beside their event, as blobs. The cursor names them, the caller reads them, and here they become
//! documents that go on where the event's own end.

use super::clean::LeftOut;
use super::parting::part;
use crate::document::Document;
use retrace_events::BlobRef;

/// How much of an output is read, in bytes. The end of a longer one stands in the event itself.
pub(crate) const MAX_BODY_BYTES: u64 = 1024 * 1024;

/// An output to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Body {
    /// What to read: up to [`MAX_BODY_BYTES`] from its beginning.
    pub(crate) blob: BlobRef,
    /// The number of its first part.
    pub(super) first_part: u32,
    /// A document of it without words.
    pub(super) blank: Document,
    /// What the event itself shows of it.
    pub(super) shown: String,
}

/// The documents of an output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct BodyDocuments {
    /// In the order of their parts.
    pub(crate) documents: Vec<Document>,
    /// What is in none of them.
    pub(crate) left_out: LeftOut,
}

impl IntoIterator for BodyDocuments {
    type Item = Document;
    type IntoIter = std::vec::IntoIter<Document>;

    fn into_iter(self) -> Self::IntoIter {
        self.documents.into_iter()
    }
}

/// The documents of `body`, whose first bytes (all, or up to [`MAX_BODY_BYTES`]) are `bytes`. Pieces that the event shows are
/// not made again. The output was redacted as a whole before it was kept.
pub(crate) fn body_documents(body: &Body, bytes: &[u8]) -> BodyDocuments {
    let size = usize::try_from(MAX_BODY_BYTES).unwrap_or(usize::MAX).min(bytes.len());
    let mut read = &bytes[..size];
    let missing = body.blob.size_bytes.saturating_sub(size as u64);
    if missing > 0
        && let Some(end) = read.iter().rposition(|byte| *byte == b'\n')
    {
        // The last line may have been cut in the middle of a character.
        read = &read[..=end];
    }
    let parted = part(&String::from_utf8_lossy(read));
    let number = |index: usize| body.first_part.saturating_add(u32::try_from(index).unwrap_or(u32::MAX));
    let pieces = parted.pieces.into_iter().enumerate();
    let documents = pieces
        .filter(|(_, piece)| !body.shown.contains(piece.as_str()))
        .map(|(index, piece)| body.blank.part(number(index), piece))
        .collect();
    let mut left_out = parted.left_out;
    left_out.bytes += missing + (size - read.len()) as u64;
    if left_out != LeftOut::default() {
        let LeftOut { lines, bytes } = left_out;
        tracing::debug!(event = %body.blank.event, lines, bytes, "a part of a long output is not indexed");
    }
    BodyDocuments { documents, left_out }
}
