//! A node of the summary tree: a stretch of a session, its digest, and perhaps words that a model found for it.

use super::digest::Digest;
use super::digest_item::DigestKind;
use super::{digest_text, excerpt};
use crate::{Document, DocumentKind};
use retrace_events::payload::summary::SummaryWritten;
use retrace_events::payload::{Payload, Summary};
use retrace_events::{Event, EventId, StreamId};
use serde::{Deserialize, Serialize};

/// How many nodes have a parent.
pub const GROUP: u64 = 8;

/// What a node is by whose words are those of its digest.
pub const EXTRACTIVE: &str = "extractive";

/// The longest words of a model that are taken, in bytes.
pub const MAX_WORDS_BYTES: usize = 8 * 1024;

/// The longest text of a document, in characters.
const DOCUMENT_CHARS: usize = 6_000;

/// The most files a document names.
const MAX_PATHS: usize = 48;

/// The longest name of whatever wrote the words, in bytes.
const MAX_BY_BYTES: usize = 200;

/// A node of a session's summary tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryNode {
    /// The session's stream.
    pub stream: StreamId,
    /// 0 for a step.
    pub level: u32,
    /// Its place among the nodes of its level, from 0.
    pub index: u64,
    /// The first event it covers.
    pub first_seq: u64,
    /// The last event it covers.
    pub last_seq: u64,
    /// The id of the first event it covers.
    pub first_event: EventId,
    /// When its first event was made, in milliseconds since 1970.
    pub first_at_ms: i64,
    /// When its last event was made.
    pub last_at_ms: i64,
    /// Whether it still grows: the step that is going on. All others never change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
    /// What is remembered.
    pub digest: Digest,
    /// What found the words: [`EXTRACTIVE`], or a model's id.
    pub by: String,
    /// A model's words, redacted; `None` while the digest is all there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
}

impl SummaryNode {
    /// The parent of a full group; `None` for nodes that are not one.
    pub(super) fn parent(children: &[Self]) -> Option<Self> {
        let (first, last) = (children.first()?, children.last()?);
        let level = first.level + 1;
        let last_at_ms = children.iter().map(|child| child.last_at_ms).max()?;
        Some(Self {
            stream: first.stream.clone(),
            level,
            index: first.index / GROUP,
            first_seq: first.first_seq,
            last_seq: last.last_seq,
            first_event: first.first_event,
            first_at_ms: first.first_at_ms,
            last_at_ms,
            open: false,
            digest: Digest::merged(children.iter().map(|child| &child.digest), level),
            by: EXTRACTIVE.to_owned(),
            words: None,
        })
    }

    /// The first step it covers, and how many there are.
    #[must_use]
    pub fn steps(&self) -> (u64, u64) {
        let each = GROUP.saturating_pow(self.level);
        (self.index.saturating_mul(each), each)
    }

    /// Whether `written` are words for this node, and not for another one of its place.
    #[must_use]
    pub fn is_meant_by(&self, written: &SummaryWritten) -> bool {
        written.session == self.stream
            && (written.level, written.index) == (self.level, self.index)
            && (written.first_seq, written.last_seq) == (self.first_seq, self.last_seq)
    }

    /// The same node with a model's words, cut to [`MAX_WORDS_BYTES`]; without them when they are meant for another.
    #[must_use]
    pub fn with_words(mut self, written: &SummaryWritten) -> Self {
        if self.is_meant_by(written) && !written.text.trim().is_empty() {
            self.words = Some(excerpt::cut(written.text.trim(), MAX_WORDS_BYTES));
            self.by = excerpt::line(&written.by, MAX_BY_BYTES);
        }
        self
    }

    /// The node that a `summary.written` event gives words to, without its digest: for whoever indexes such events as they
    /// come. Its times are those of the writing.
    #[must_use]
    pub fn of_written(event: &Event) -> Option<Self> {
        let Some(Payload::Summary(Summary::Written(written))) = event.payload.known() else { return None };
        let at_ms = i64::try_from(event.envelope.at.0).unwrap_or(i64::MAX);
        let bare = Self {
            stream: written.session.clone(),
            level: written.level,
            index: written.index,
            first_seq: written.first_seq,
            last_seq: written.last_seq,
            first_event: event.envelope.id,
            first_at_ms: at_ms,
            last_at_ms: at_ms,
            open: false,
            digest: Digest::default(),
            by: EXTRACTIVE.to_owned(),
            words: None,
        };
        Some(bare.with_words(written)).filter(|node| node.words.is_some())
    }

    /// Its name in the index. A model's words stand beside what they were made of, not in its place.
    #[must_use]
    pub fn key(&self) -> String {
        let own = format!("summary/{}/{}.{}", self.stream, self.level, self.index);
        if self.words.is_some() && self.digest.is_empty() { format!("{own}/{}", self.by) } else { own }
    }

    /// What can be found of it. `position` is that of its last event (or of the event with its words) over all streams.
    #[must_use]
    pub fn to_document(&self, position: u64, workspace: &str) -> Document {
        let mut paths = self.digest.changed_files();
        let searches = |text: &str| text.starts_with("search `");
        let read = self.digest.of_kind(DigestKind::Read).map(|item| item.text.clone());
        paths.extend(read.filter(|path| !searches(path)));
        paths.dedup();
        paths.truncate(MAX_PATHS);
        Document {
            key: self.key(),
            kind: DocumentKind::Summary,
            stream: self.stream.to_string(),
            workspace: workspace.to_owned(),
            seq: self.first_seq,
            event: self.first_event.to_string(),
            position,
            at_ms: self.last_at_ms,
            // Beyond those of the session's parts, so that its neighbours are the summaries beside it.
            ordinal: (u64::from(self.level) + 1) << 32 | self.index & 0xffff_ffff,
            step: u64::from(self.level),
            paths,
            text: self.text(DOCUMENT_CHARS),
            ..Document::default()
        }
    }

    /// What it says, in at most `max_chars` characters: a heading with its events, a model's words where there are some,
    /// and of the digest the most important that fits.
    #[must_use]
    pub fn text(&self, max_chars: usize) -> String {
        digest_text::node(self, max_chars)
    }
}
