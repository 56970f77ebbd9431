//! The words that are in the log already.

use retrace_events::payload::summary::SummaryWritten;
use retrace_events::payload::{Payload, Summary};
use retrace_events::{Class, Event, EventLog, Hash, LogError, StreamId};
use retrace_indexer::{MAX_WORDS_BYTES, SummaryNode};
use std::collections::HashMap;

/// How many events are read at a time.
const PAGE: usize = 500;

/// The words in a session's stream of summaries, as far as it was read. Of several for one node the newest hold.
#[derive(Debug)]
pub struct KnownSummaries {
    stream: StreamId,
    /// Place and hash of the last event.
    last: Option<(u64, Hash)>,
    words: HashMap<(u32, u64), SummaryWritten>,
}

impl KnownSummaries {
    /// Of a session; nothing is read yet.
    #[must_use]
    pub fn of(session: &StreamId) -> Self {
        Self { stream: session.sibling(Class::Summary), last: None, words: HashMap::new() }
    }

    /// The stream of the summaries.
    #[must_use]
    pub const fn stream(&self) -> &StreamId {
        &self.stream
    }

    /// Place and hash of the last event that was read.
    #[must_use]
    pub const fn last(&self) -> Option<(u64, Hash)> {
        self.last
    }

    /// Reads what has come since.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn refresh(&mut self, log: &dyn EventLog) -> Result<(), LogError> {
        loop {
            let from_seq = self.last.map_or(0, |(seq, _)| seq + 1);
            let page = log.read(&self.stream, from_seq, PAGE).await?;
            let full = page.len() == PAGE;
            for envelope in page {
                self.take(&Event::decode(envelope)?);
            }
            if !full {
                return Ok(());
            }
        }
    }

    /// Takes in an event of the stream.
    pub(super) fn take(&mut self, event: &Event) {
        self.last = Some((event.envelope.seq, event.hash));
        if let Some(Payload::Summary(Summary::Written(written))) = event.payload.known() {
            let mut written = written.clone();
            written.text.truncate(written.text.floor_char_boundary(MAX_WORDS_BYTES));
            self.words.insert((written.level, written.index), written);
        }
    }

    /// Whether there are words for a node.
    #[must_use]
    pub fn has(&self, node: &SummaryNode) -> bool {
        self.words.get(&(node.level, node.index)).is_some_and(|written| node.is_meant_by(written))
    }

    /// The node with its words, where it has some.
    #[must_use]
    pub fn applied(&self, node: SummaryNode) -> SummaryNode {
        match self.words.get(&(node.level, node.index)) {
            Some(written) => node.with_words(written),
            None => node,
        }
    }
}
