//! A session's events as they come: first those that are there, then new ones, by whatever process.

use futures::StreamExt;
use futures::stream::{self, BoxStream, TryStreamExt};
use retrace_events::log::{Deletion, StreamFilter};
use retrace_events::{Event, EventLog, LogError, StreamId};
use std::sync::Arc;

/// How many events are read at a time.
const PAGE: usize = 200;

/// The events of `stream` from `from_seq` on, each once, in order. Ends only with an error.
pub(crate) fn follow(
    log: Arc<dyn EventLog>,
    stream: StreamId,
    from_seq: u64,
) -> BoxStream<'static, Result<Event, LogError>> {
    let held = Arc::clone(&log);
    let begin = async move {
        // Where the live part begins is fixed before the past is read: nothing falls between the two.
        let end = log.end().await?;
        let live = log.follow(StreamFilter::only(&stream), end).await?;
        let past = stream::try_unfold((log, stream, from_seq), |(log, stream, seq)| async move {
            let page = log.read(&stream, seq, PAGE).await?;
            let next = seq + page.len() as u64;
            let more = (!page.is_empty()).then(|| (stream::iter(page.into_iter().map(Ok)), (log, stream, next)));
            Ok::<_, LogError>(more)
        });
        Ok::<_, LogError>(past.try_flatten().chain(live.map_ok(|(_, envelope)| envelope)))
    };
    let mut next_seq = from_seq;
    let once = move |envelope: retrace_events::Envelope| {
        let is_next = envelope.seq >= next_seq;
        next_seq = next_seq.max(envelope.seq + 1);
        futures::future::ready(Ok(is_next.then_some(envelope)))
    };
    let decode = move |envelope| {
        // A log that nobody holds any more is closed, and tells nothing.
        let _ = &held;
        futures::future::ready(if Deletion::stands_in(&envelope) {
            Err(LogError::Deleted { stream: envelope.stream })
        } else {
            Event::decode(envelope).map_err(LogError::from)
        })
    };
    stream::once(begin).try_flatten().try_filter_map(once).and_then(decode).boxed()
}
