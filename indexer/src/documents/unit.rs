//! A unit: one thing that an event says, before it is parted into documents. And what an event becomes.

use super::body::Body;
use super::clean::LeftOut;
use super::parting::part;
use crate::document::{Document, DocumentKind};
use retrace_events::BlobRef;
use retrace_events::redact::Redactor;

/// How much of a text is looked at, in bytes; of a longer one, head and tail.
pub(super) const MAX_UNIT_BYTES: usize = 512 * 1024;
/// The most documents that an event becomes, outputs kept beside it aside.
pub(super) const MAX_EVENT_DOCUMENTS: usize = 512;

/// What an event becomes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Extracted {
    /// In the order of their parts.
    pub(crate) documents: Vec<Document>,
    /// Outputs kept beside the event, to be read by the caller.
    pub(crate) bodies: Vec<Body>,
    /// What is in no document.
    pub(crate) left_out: LeftOut,
}

/// One thing that an event says.
#[derive(Debug, Default)]
pub(super) struct Unit {
    pub(super) kind: DocumentKind,
    pub(super) tool: Option<String>,
    pub(super) paths: Vec<String>,
    pub(super) exit: Option<i64>,
    pub(super) is_error: bool,
    pub(super) text: String,
    /// The whole output, when `text` is only a part of it.
    pub(super) output: Option<BlobRef>,
}

impl Unit {
    pub(super) fn note(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub(super) fn failure(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::note(text) }
    }

    /// Adds the unit's documents to those of its event; `blank` is one of them without what the unit knows. Returns whether
    /// there is anything of it.
    pub(super) fn extract(self, blank: &Document, redactor: &Redactor, into: &mut Extracted) -> bool {
        // A secret may stand where a text is cut, so it is taken out first.
        let text = redactor.redact(&self.text);
        let (head, tail) = ends(&text);
        let blank = Document {
            kind: self.kind,
            tool: self.tool,
            paths: self.paths,
            exit: self.exit,
            is_error: self.is_error,
            ..blank.clone()
        };
        let before = into.documents.len();
        for text in [head, tail] {
            let parted = part(text);
            into.left_out.add(parted.left_out);
            for piece in parted.pieces {
                if into.documents.len() >= MAX_EVENT_DOCUMENTS {
                    into.left_out.bytes += piece.len() as u64;
                    continue;
                }
                let number = u32::try_from(into.documents.len()).unwrap_or(u32::MAX);
                into.documents.push(blank.part(number, piece));
            }
        }
        into.left_out.bytes += (text.len() - head.len() - tail.len()) as u64;
        if let Some(blob) = self.output {
            let first_part = u32::try_from(into.documents.len()).unwrap_or(u32::MAX);
            let shown = text.into_owned();
            into.bodies.push(Body { blob, first_part, blank, shown });
            return true;
        }
        into.documents.len() > before
    }
}

impl Document {
    /// A part of the same unit.
    pub(super) fn part(&self, part: u32, text: String) -> Self {
        Self { key: format!("{}/{}.{part}", self.stream, self.seq), part, text, ..self.clone() }
    }
}

/// What is looked at of a text: all of it, or a head and a tail.
fn ends(text: &str) -> (&str, &str) {
    if text.len() <= MAX_UNIT_BYTES {
        return (text, "");
    }
    let head = &text[..text.floor_char_boundary(MAX_UNIT_BYTES / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - MAX_UNIT_BYTES / 2)..];
    (head, tail)
}
