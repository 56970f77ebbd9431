//! The receiving end: the control events of a session, in order, each once.
//!
//! Invariant: everything before `next_seq` was given or stands in `ahead`. The live events come from a stream that keeps
//! its own place between calls, so that a call that is dropped while it waits loses neither an event nor the time it has
//! waited: a reader that asks again after every other little thing still gets there.

use super::control_stream;
use crate::codec::{self, Decoded};
use crate::envelope::{Envelope, Event};
use crate::id::StreamId;
use crate::log::chain::{Chain, damaged};
use crate::log::{Deletion, EventLog, LogError, StreamFilter};
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// How many events are read at a time: each may be large.
const PAGE: usize = 16;

/// What others have to say to a session, for its holder.
pub struct Inbox {
    log: Arc<dyn EventLog>,
    stream: StreamId,
    /// The first event that was not read yet.
    next_seq: u64,
    /// Read, and not given yet.
    ahead: VecDeque<Event>,
    chain: Chain,
    live: Option<BoxStream<'static, Result<Envelope, LogError>>>,
}

impl Inbox {
    /// The control events of `session` from `from_seq` on. Asks the log nothing yet.
    #[must_use]
    pub fn open(log: Arc<dyn EventLog>, session: &StreamId, from_seq: u64) -> Self {
        let stream = control_stream(session);
        Self { log, stream, next_seq: from_seq, ahead: VecDeque::new(), chain: Chain::default(), live: None }
    }

    /// The control stream it reads.
    #[must_use]
    pub const fn stream(&self) -> &StreamId {
        &self.stream
    }

    /// The sequence number of the event that is given next.
    #[must_use]
    pub fn next_seq(&self) -> u64 {
        self.ahead.front().map_or(self.next_seq, |event| event.envelope.seq)
    }

    /// Waits for the next event. May be dropped while it waits; nothing is lost.
    ///
    /// An event of a kind that this version does not know, or whose payload is not what its kind promises, is given as
    /// [`Decoded::Newer`]: the order goes on behind it.
    ///
    /// # Errors
    /// When the log cannot be asked ([`LogError::Unavailable`]): the next call begins to listen anew, behind the last event
    /// that was given. When an event is damaged or missing.
    pub async fn next(&mut self) -> Result<Event, LogError> {
        loop {
            if let Some(event) = self.ahead.pop_front() {
                return Ok(event);
            }
            let next_seq = self.next_seq;
            let live = self.live.get_or_insert_with(|| follow(Arc::clone(&self.log), self.stream.clone(), next_seq));
            let came = live.next().await.unwrap_or_else(|| {
                let why = "it ended what it was to tell".to_owned();
                Err(LogError::Unavailable { location: self.log.location(), why })
            });
            if let Err(e) = came.and_then(|envelope| self.take(envelope)) {
                self.live = None;
                return Err(e);
            }
        }
    }

    /// The next event when there is one already. Sees all that was acknowledged before the call.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub async fn try_next(&mut self) -> Result<Option<Event>, LogError> {
        self.look().await?;
        Ok(self.ahead.pop_front())
    }

    /// Whether there is a next event already. Sees all that was acknowledged before the call.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub async fn pending(&mut self) -> Result<bool, LogError> {
        self.look().await?;
        Ok(!self.ahead.is_empty())
    }

    /// Reads on when nothing is at hand.
    async fn look(&mut self) -> Result<(), LogError> {
        if self.ahead.is_empty() {
            for envelope in self.log.read(&self.stream, self.next_seq, PAGE).await? {
                self.take(envelope)?;
            }
        }
        Ok(())
    }

    /// Puts an event that was read where it is given from.
    fn take(&mut self, envelope: Envelope) -> Result<(), LogError> {
        if envelope.seq < self.next_seq {
            // It was read already, by another way.
            return Ok(());
        }
        if envelope.seq > self.next_seq {
            let what = format!("it is missing; event {} came in its place", envelope.seq);
            return Err(damaged(&self.stream.subject(), self.next_seq, &what));
        }
        let hash = envelope.hash()?;
        self.chain.see(&envelope, hash)?;
        let payload = codec::decode_payload(&envelope.kind, envelope.schema, &envelope.payload).unwrap_or_else(|e| {
            // Anybody may write here: one that writes nonsense must not keep the others from being heard.
            tracing::warn!(stream = %envelope.stream, seq = envelope.seq, error = %e, "a control event that is none");
            Decoded::Newer
        });
        self.next_seq += 1;
        self.ahead.push_back(Event { envelope, hash, payload });
        Ok(())
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut inbox = f.debug_struct("Inbox");
        inbox.field("stream", &self.stream).field("next_seq", &self.next_seq()).finish_non_exhaustive()
    }
}

/// The events of `stream` from `from_seq` on, some of them twice: those that are there, then new ones.
fn follow(log: Arc<dyn EventLog>, stream: StreamId, from_seq: u64) -> BoxStream<'static, Result<Envelope, LogError>> {
    let begin = async move {
        // Where the live part begins is fixed before the past is read: nothing falls between the two.
        let end = log.end().await?;
        let next = log.head(&stream).await?.map_or(0, |head| head.seq + 1);
        if next < from_seq {
            let what = format!("it was read before, and the stream ends with event {} by now", next.saturating_sub(1));
            return Err(damaged(&stream.subject(), from_seq - 1, &what));
        }
        let live = log.follow(StreamFilter::only(&stream), end).await?;
        let live = live.map(|event| match event {
            Ok((_, envelope)) if Deletion::stands_in(&envelope) => Err(LogError::Deleted { stream: envelope.stream }),
            event => event.map(|(_, envelope)| envelope),
        });
        Ok(past(log, stream, from_seq).chain(live))
    };
    stream::once(begin).try_flatten().boxed()
}

/// The events of `stream` from `from_seq` on, as far as it goes by now.
fn past(
    log: Arc<dyn EventLog>,
    stream: StreamId,
    from_seq: u64,
) -> impl futures::Stream<Item = Result<Envelope, LogError>> + Send {
    let pages = stream::try_unfold((log, stream, from_seq), |(log, stream, seq)| async move {
        let page = log.read(&stream, seq, PAGE).await?;
        let next = seq + page.len() as u64;
        let more = (!page.is_empty()).then(|| (stream::iter(page.into_iter().map(Ok)), (log, stream, next)));
        Ok::<_, LogError>(more)
    });
    pages.try_flatten()
}
