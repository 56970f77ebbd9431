//! Puts events of a stream into a log that may have some of them already; shared by `import` and `log copy`.
//!
//! A stream is taken when what the log has of it is the same, event by event; then the rest is appended. Anything else is
//! refused before a single event is stored.

use super::exit::{CliError, Exit};
use retrace_events::{Envelope, EventLog, Hash, LogError, StreamId};
use std::collections::HashMap;

/// Events and bytes of one append.
const BATCH_EVENTS: usize = 100;
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// What has become of the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    /// Streams seen.
    pub(crate) streams: u64,
    /// Events stored.
    pub(crate) stored: u64,
    /// Events that were there already.
    pub(crate) present: u64,
    /// Blobs stored, or there already.
    pub(crate) blobs: u64,
    /// Snapshots stored, or there already.
    pub(crate) snapshots: u64,
}

/// How far a stream has come.
struct Progress {
    next_seq: u64,
    prev_hash: Hash,
    /// How many events the log had when the transfer began.
    had: u64,
}

/// Checks, and with `store` also appends, the events of any number of streams, each in order.
pub(crate) struct Transfer<'a> {
    log: &'a dyn EventLog,
    store: bool,
    streams: HashMap<StreamId, Progress>,
    batch: Vec<Envelope>,
    batch_bytes: usize,
    tally: Tally,
}

impl<'a> Transfer<'a> {
    /// A transfer into `log`; without `store` nothing is written and everything is checked.
    pub(crate) fn new(log: &'a dyn EventLog, store: bool) -> Self {
        Self { log, store, streams: HashMap::new(), batch: Vec::new(), batch_bytes: 0, tally: Tally::default() }
    }

    /// Takes the next event of its stream.
    ///
    /// # Errors
    /// When it does not follow from the one before, the log has another in its place, or the log fails.
    pub(crate) async fn event(&mut self, envelope: Envelope) -> Result<(), CliError> {
        let stream = envelope.stream.clone();
        if !self.streams.contains_key(&stream) {
            let had = self.log.head(&stream).await?.map_or(0, |head| head.seq + 1);
            self.tally.streams += 1;
            self.streams.insert(stream.clone(), Progress { next_seq: 0, prev_hash: Hash::GENESIS, had });
        }
        let hash = envelope.hash().map_err(LogError::from)?;
        let Some(progress) = self.streams.get_mut(&stream) else { return Ok(()) };
        follows(progress, &envelope)?;
        (progress.next_seq, progress.prev_hash) = (envelope.seq + 1, hash);
        if envelope.seq < progress.had {
            self.tally.present += 1;
            return self.compare(&envelope, hash).await;
        }
        self.tally.stored += 1;
        if !self.store {
            return Ok(());
        }
        if self.batch.first().is_some_and(|first| first.stream != envelope.stream) || self.is_full() {
            self.flush().await?;
        }
        self.batch_bytes += envelope.payload.len();
        self.batch.push(envelope);
        Ok(())
    }

    /// Takes a blob, which must come before the events that name it.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub(crate) async fn blob(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.tally.blobs += 1;
        if self.store {
            self.log.blobs().put(bytes).await?;
        }
        Ok(())
    }

    /// Stores what is left.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub(crate) async fn finish(mut self) -> Result<(Tally, Vec<StreamId>), CliError> {
        self.flush().await?;
        let grown = |(stream, progress): (StreamId, Progress)| (progress.next_seq > progress.had).then_some(stream);
        Ok((self.tally, self.streams.into_iter().filter_map(grown).collect()))
    }

    fn is_full(&self) -> bool {
        self.batch.len() >= BATCH_EVENTS || self.batch_bytes >= BATCH_BYTES
    }

    async fn flush(&mut self) -> Result<(), CliError> {
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        // Somebody asked for these sessions: one that was deleted here comes back.
        Ok(self.log.begin_again(&batch).await?)
    }

    /// Refuses when the log has another event in this one's place.
    async fn compare(&self, envelope: &Envelope, hash: Hash) -> Result<(), CliError> {
        let held = self.log.read(&envelope.stream, envelope.seq, 1).await?;
        let same = held.first().is_some_and(|held| held.hash().is_ok_and(|held| held == hash));
        if same {
            return Ok(());
        }
        let what = format!("{} exists already, with other events from event {} on", envelope.stream, envelope.seq);
        Err(CliError::new(Exit::Failed, what).hint("nothing was changed; use another log (--log) for this one"))
    }
}

/// Refuses an event that is not the next one of its stream.
fn follows(progress: &Progress, envelope: &Envelope) -> Result<(), CliError> {
    let fork = envelope.seq == 0 && envelope.kind == "session.forked";
    if envelope.seq == progress.next_seq && (envelope.prev_hash == progress.prev_hash || fork) {
        return Ok(());
    }
    Err(LogError::Damaged {
        stream: envelope.stream.subject(),
        seq: progress.next_seq,
        what: format!("event {} does not follow from what stands before it", envelope.seq),
    }
    .into())
}
