//! One event as it is read: what is foreign in it is redacted, whole, before anything else is done with it.

use super::digest_item::{DigestItem, DigestKind};
use super::excerpt;
use retrace_events::EventId;
use retrace_events::redact::Redactor;
use std::borrow::Cow;

/// One event being read.
pub(super) struct Reading<'a> {
    pub(super) redactor: &'a Redactor,
    pub(super) workspace: &'a str,
    pub(super) seq: u64,
    pub(super) event: EventId,
}

impl Reading<'_> {
    /// A foreign text without secrets. It is redacted whole and then cut: half a secret is not recognised.
    pub(super) fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redactor.redact(text)
    }

    /// The same on one line.
    pub(super) fn line(&self, text: &str) -> String {
        excerpt::line(&self.redacted(text), usize::MAX)
    }

    /// An item of this event.
    pub(super) fn item(&self, kind: DigestKind, text: &str, weight: u8) -> DigestItem {
        let text = self.redacted(text);
        let max_bytes = kind.max_bytes(0);
        let text = match kind {
            DigestKind::Words => excerpt::ends(&text, max_bytes),
            DigestKind::Decision | DigestKind::Error | DigestKind::Changed | DigestKind::Command | DigestKind::Read => {
                excerpt::line(&text, max_bytes)
            }
        };
        DigestItem::new(kind, self.seq, self.event, text, weight)
    }
}
