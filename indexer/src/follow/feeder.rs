//! From an event to the index: what it says becomes documents, what it completes becomes summaries, and the commit that
//! holds them holds the position too. So after a crash nothing is missing and nothing is there twice.

use super::follow_error::FollowError;
use super::index_note::IndexNote;
use super::kill_point::kill_point;
use super::session_memory::{Memories, deletion_key};
use crate::documents::{MAX_BODY_BYTES, body_documents};
use crate::keyword::{KeywordIndex, KeywordWriter};
use crate::summary::SummaryNode;
use retrace_events::log::{Deletion, Position};
use retrace_events::redact::Redactor;
use retrace_events::{Class, Envelope, Event, EventLog, LogError, StreamId};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Feeds one index with the events of one log, in the order of their positions.
pub(crate) struct Feeder {
    folder: PathBuf,
    writer: KeywordWriter,
    index: Option<KeywordIndex>,
    memories: Memories,
    redactor: Arc<Redactor>,
    note: IndexNote,
    pending: Pending,
    /// Whether the note says more than the last commit's.
    dirty: bool,
}

/// What was fed since the last commit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pending {
    /// Events.
    pub(crate) events: u64,
    /// Documents.
    pub(crate) documents: u64,
    /// Bytes of their texts.
    pub(crate) text_bytes: u64,
}

impl fmt::Debug for Feeder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feeder").field("folder", &self.folder).field("note", &self.note).finish_non_exhaustive()
    }
}

impl Feeder {
    /// Feeds the index in `keyword`, going on where its last commit ended.
    ///
    /// # Errors
    /// When it cannot be opened; a damaged one, or one of another version, has to be removed first.
    pub(crate) fn open(keyword: &Path, redactor: Arc<Redactor>, memory_bytes: usize) -> Result<Self, FollowError> {
        let writer = KeywordWriter::open_or_create(keyword, memory_bytes, 1)?;
        let index = KeywordIndex::open(keyword)?;
        let text = index.as_ref().map(KeywordIndex::note).unwrap_or_default();
        let note = if text.is_empty() { Some(IndexNote::empty()) } else { IndexNote::parse(&text) };
        let note = note.ok_or_else(|| FollowError::Outdated(keyword.to_path_buf()))?;
        let folder = keyword.to_path_buf();
        Ok(Self {
            folder,
            writer,
            index,
            memories: Memories::default(),
            redactor,
            note,
            pending: Pending::default(),
            dirty: false,
        })
    }

    /// What the index has seen, commits to come included.
    pub(crate) const fn note(&self) -> &IndexNote {
        &self.note
    }

    /// What the next commit will hold.
    pub(crate) const fn pending(&self) -> Pending {
        self.pending
    }

    /// Whether the index is not committed as it is, or was never committed.
    pub(crate) const fn is_dirty(&self) -> bool {
        self.dirty || self.index.is_none()
    }

    /// Feeds one event.
    ///
    /// # Errors
    /// When the index cannot be written, or a large output cannot be read because the log does not answer.
    pub(crate) async fn feed(
        &mut self,
        log: &dyn EventLog,
        position: Position,
        envelope: Envelope,
    ) -> Result<(), FollowError> {
        let id = envelope.id.to_string();
        let class = envelope.stream.class;
        if Deletion::stands_in(&envelope) {
            if class == Class::Session {
                self.forget(position, &envelope.stream)?;
            }
            self.pending.events += 1;
            self.dirty = true;
            kill_point("index feed");
            let hash = envelope.hash().map_err(LogError::from)?.to_string();
            self.note.saw(position, id, hash, &envelope);
            return Ok(());
        }
        let Ok(event) = Event::decode(envelope) else {
            // Its hash was right, so it was written like this: an event that says nothing to us.
            self.skip(position);
            return Ok(());
        };
        match class {
            Class::Session => self.feed_session(log, position, &event).await?,
            Class::Summary => self.feed_summary(position, &event)?,
            Class::Control | Class::Job => {}
        }
        self.pending.events += 1;
        self.dirty = true;
        kill_point("index feed");
        self.note.saw(position, id, event.hash.to_string(), &event.envelope);
        Ok(())
    }

    /// Leaves out the event at `position`, which cannot be read.
    pub(crate) const fn skip(&mut self, position: Position) {
        self.note.position = position;
        self.note.unreadable += 1;
        self.dirty = true;
    }

    /// Makes everything fed so far visible and lasting.
    ///
    /// # Errors
    /// When it cannot be written; the index is then what it was at the last commit.
    pub(crate) fn commit(&mut self) -> Result<(), FollowError> {
        kill_point("index before commit");
        self.memories.store(&mut self.writer)?;
        self.writer.commit(&self.note.to_text())?;
        kill_point("index after commit");
        match &self.index {
            Some(index) => index.reload()?,
            None => self.index = KeywordIndex::open(&self.folder)?,
        }
        self.memories.trim();
        self.pending = Pending::default();
        self.dirty = false;
        Ok(())
    }

    /// Waits for the segments to be merged, and lets the index go.
    ///
    /// # Errors
    /// When merging fails.
    pub(crate) fn finish(self) -> Result<IndexNote, FollowError> {
        self.writer.wait_merges()?;
        Ok(self.note)
    }

    /// Takes a session out: its documents, its summaries, its cursors. What else was made of them is told by a record.
    fn forget(&mut self, position: Position, stream: &StreamId) -> Result<(), FollowError> {
        let name = stream.to_string();
        self.writer.delete_stream(&name);
        self.memories.forget(stream, &mut self.writer);
        self.writer.put_record(&deletion_key(&name), position.0.to_string().as_bytes())?;
        Ok(())
    }

    async fn feed_session(&mut self, log: &dyn EventLog, position: Position, event: &Event) -> Result<(), FollowError> {
        let stream = &event.envelope.stream;
        if event.envelope.seq == 0 && self.memories.is_known(stream, self.index.as_ref())? {
            // It was deleted and begins again, and its tombstone was gone before it was read.
            self.forget(position, stream)?;
        }
        let memory = self.memories.of(stream, self.index.as_ref())?;
        memory.begun = true;
        let extracted = memory.documents.apply(position, event, &self.redactor);
        let workspace = memory.documents.workspace().to_owned();
        let nodes = memory.summary.apply(event, &self.redactor);
        for document in &extracted.documents {
            self.add(document)?;
        }
        for body in &extracted.bodies {
            let bytes = match log.blobs().read(body.blob.hash, 0..MAX_BODY_BYTES).await {
                Ok(bytes) => bytes,
                // It is gone for good or is not what it was: what the event itself holds is in the index.
                Err(LogError::NoSuchBlob { .. } | LogError::Damaged { .. }) => continue,
                Err(error) => return Err(error.into()),
            };
            for document in body_documents(body, &bytes) {
                self.add(&document)?;
            }
        }
        for node in &nodes {
            self.put_summary(node, position, &workspace)?;
        }
        Ok(())
    }

    /// The words a model found for a summary stand beside what was extracted.
    fn feed_summary(&mut self, position: Position, event: &Event) -> Result<(), FollowError> {
        let Some(mut node) = SummaryNode::of_written(event) else { return Ok(()) };
        node.words = node.words.map(|words| self.redactor.redact(&words).into_owned());
        let memory = self.memories.of(&node.stream, self.index.as_ref())?;
        let workspace = memory.documents.workspace().to_owned();
        self.put_summary(&node, position, &workspace)
    }

    fn put_summary(&mut self, node: &SummaryNode, position: Position, workspace: &str) -> Result<(), FollowError> {
        let document = node.to_document(position.0, workspace);
        self.pending.documents += 1;
        self.pending.text_bytes += document.text.len() as u64;
        self.writer.put(&document)?;
        Ok(())
    }

    fn add(&mut self, document: &crate::Document) -> Result<(), FollowError> {
        self.pending.documents += 1;
        self.pending.text_bytes += document.text.len() as u64;
        self.writer.add(document)?;
        Ok(())
    }
}
