//! Puts drafts into a session's stream that may hold some of them already.
//!
//! What the log holds and the drafts must agree, event by event, as far as both go; then the rest is appended, in batches, so
//! that the log always holds a beginning of the session. Nothing is appended to a session that has gone on here, that
//! another process runs, or whose events differ.

use super::draft::Draft;
use super::error::{ImportError, holder};
use crate::agent::step::step;
use crate::config::TrustList;
use retrace_events::log::{Claim, Holder, StreamFilter};
use retrace_events::{Envelope, EventId, EventLog, Hash, LogError, Payload, StreamId, Timestamp};
use std::path::PathBuf;
use std::sync::Arc;

/// Events and bytes of one append.
const BATCH_EVENTS: usize = 200;
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// How many events are read at a time.
const PAGE: usize = 500;

/// Why a session's new events are not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It was gone on with here, from this event on.
    GoneOn {
        /// The first event that is not the source's.
        seq: u64,
    },
    /// The log has other events of it, from this one on.
    Differs {
        /// The first event that differs.
        seq: u64,
    },
    /// Another process has it.
    InUse {
        /// Who, in words.
        by: String,
    },
    /// It was here and was deleted.
    Deleted,
}

/// What became of a session's drafts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Taken {
    /// Events appended.
    pub stored: u64,
    /// Events that were there already.
    pub present: u64,
    /// Events that were not taken.
    pub left: u64,
    /// Why not.
    pub refusal: Option<Refusal>,
}

/// An event that the log holds already.
struct Held {
    id: EventId,
    cause: Option<EventId>,
}

/// Takes the drafts of one session.
pub struct Intake {
    log: Arc<dyn EventLog>,
    stream: StreamId,
    who: Holder,
    imported_list: PathBuf,
    held: Vec<Held>,
    /// The `session.imported` event, which is the cause of all that follow it.
    origin: Option<EventId>,
    next: (u64, Hash),
    batch: Vec<Envelope>,
    batch_bytes: usize,
    claim: Option<Claim>,
    taken: Taken,
}

impl Intake {
    /// Begins, and reads what the log holds of `stream`. `imported_list` is where sessions are noted that came from files.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn begin(
        log: Arc<dyn EventLog>,
        stream: StreamId,
        who: Holder,
        imported_list: PathBuf,
    ) -> Result<Self, ImportError> {
        let (mut held, mut next) = (Vec::new(), (0, Hash::GENESIS));
        loop {
            let page = log.read(&stream, next.0, PAGE).await?;
            if page.is_empty() {
                break;
            }
            for envelope in page {
                next = (envelope.seq + 1, envelope.hash()?);
                held.push(Held { id: envelope.id, cause: envelope.cause });
            }
        }
        let (batch, claim, taken) = (Vec::new(), None, Taken::default());
        Ok(Self { log, stream, who, imported_list, held, origin: None, next, batch, batch_bytes: 0, claim, taken })
    }

    /// The session.
    #[must_use]
    pub const fn stream(&self) -> &StreamId {
        &self.stream
    }

    /// Takes the next draft.
    ///
    /// # Errors
    /// When the log fails.
    pub async fn take(&mut self, draft: Draft) -> Result<(), ImportError> {
        let id = draft.id(&self.stream);
        let cause = self.origin;
        if matches!(&draft.payload, Payload::Session(retrace_events::payload::Session::Imported(_))) {
            self.origin = Some(id);
        }
        if self.taken.refusal.is_some() {
            self.taken.left += 1;
            return Ok(());
        }
        let at = usize::try_from(self.taken.present).unwrap_or(usize::MAX);
        match self.held.get(at) {
            Some(held) if held.id == id => self.taken.present += 1,
            Some(held) => {
                let seq = self.taken.present;
                let ours = at >= 2 && held.cause != self.origin;
                self.refuse(if ours { Refusal::GoneOn { seq } } else { Refusal::Differs { seq } });
            }
            None => self.append(id, cause, draft).await?,
        }
        Ok(())
    }

    /// Stores what is left, and tells what became of all.
    ///
    /// # Errors
    /// When the log fails.
    pub async fn finish(mut self) -> Result<Taken, ImportError> {
        self.flush().await?;
        Ok(self.taken)
    }

    fn refuse(&mut self, why: Refusal) {
        self.taken.left += 1;
        self.taken.refusal = Some(why);
    }

    async fn append(&mut self, id: EventId, cause: Option<EventId>, draft: Draft) -> Result<(), ImportError> {
        if self.claim.is_none() {
            match self.log.claim(&self.stream, &self.who).await {
                Ok(claim) => self.claim = Some(claim),
                Err(error) => {
                    let by = holder(error)?;
                    self.refuse(Refusal::InUse { by });
                    return Ok(());
                }
            }
            // A folder is imported again and again: what somebody deleted does not come back with it.
            if !self.log.deleted(&StreamFilter::only(&self.stream)).await?.is_empty() {
                self.refuse(Refusal::Deleted);
                return Ok(());
            }
            // Before the first event is there: a crash must not leave a foreign session that passes for the user's own.
            TrustList::load(self.imported_list.clone())?.set(&self.stream.subject(), true)?;
        }
        for blob in &draft.blobs {
            self.log.blobs().put(blob).await?;
        }
        let kind = draft.payload.kind();
        let envelope = Envelope {
            id,
            stream: self.stream.clone(),
            seq: self.next.0,
            at: Timestamp(draft.at_ms),
            kind: kind.to_owned(),
            schema: Payload::schema_of(kind).unwrap_or_default(),
            cause,
            prev_hash: self.next.1,
            payload: draft.payload.encode()?,
        };
        if self.batch.len() >= BATCH_EVENTS || self.batch_bytes + envelope.payload.len() > BATCH_BYTES {
            self.flush().await?;
            if self.taken.refusal.is_some() {
                self.taken.left += 1;
                return Ok(());
            }
        }
        self.next = (envelope.seq + 1, envelope.hash()?);
        self.batch_bytes += envelope.payload.len();
        self.batch.push(envelope);
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), ImportError> {
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        step("import batch");
        match self.log.append(&batch).await {
            Ok(()) => {
                self.taken.stored += batch.len() as u64;
                Ok(())
            }
            // Somebody was faster: what they wrote stands, and nothing of this batch does.
            Err(LogError::Fenced { actual_next, .. }) => {
                self.taken.left += batch.len() as u64;
                self.taken.refusal = Some(Refusal::GoneOn { seq: actual_next.saturating_sub(1) });
                Ok(())
            }
            Err(LogError::Deleted { .. }) => {
                self.taken.left += batch.len() as u64;
                self.taken.refusal = Some(Refusal::Deleted);
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}
