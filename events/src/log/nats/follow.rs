//! Following the log: pages for what is there, and an ordered consumer to hear that there is more.
//!
//! The consumer only wakes us; its messages carry no bodies and are not kept. The events come from the same complete
//! reading as everything else, so that a message the server cannot read any more becomes an error here too and not a
//! consumer that hangs for ever. Should the consumer itself fall silent, we look by ourselves now and then.

use super::STREAM;
use super::api::{Remote, subject_of};
use super::read::Limits;
use crate::log::chain::Chain;
use crate::log::{LogError, Position, Positioned, StreamFilter};
use async_nats::jetstream::consumer::{DeliverPolicy, push};
use futures::FutureExt;
use futures::stream::{self, BoxStream, StreamExt};
use std::sync::Arc;
use std::time::Duration;

/// How much is read at a time.
const FOLLOW: Limits = Limits { events: 512, bytes: 8 * 1024 * 1024 };

/// How long to wait for the consumer before looking without it.
const LOOK: Duration = Duration::from_secs(1);

/// The consumer's messages, of which only the fact that they came is used.
type Wakes = BoxStream<'static, ()>;

struct Following {
    remote: Arc<Remote>,
    subject: String,
    after: u64,
    chain: Chain,
    wakes: Wakes,
    /// Whether to look before the consumer says anything.
    look: bool,
}

/// As [`crate::log::EventLog::follow`].
pub(super) async fn follow(
    remote: Arc<Remote>,
    filter: &StreamFilter,
    after: Position,
) -> Result<BoxStream<'static, Result<Positioned, LogError>>, LogError> {
    let subject = subject_of(filter);
    // The consumer first, then the first look: nothing falls between the two.
    let wakes = wakes(&remote, &subject).await?;
    let start = Following { remote, subject, after: after.0, chain: Chain::default(), wakes, look: true };
    let pages = stream::unfold(Some(start), |following| async {
        let mut following = following?;
        match following.next_page().await {
            Ok(events) => Some((events.into_iter().map(Ok).collect::<Vec<_>>(), Some(following))),
            Err(e) => Some((vec![Err(e)], None)),
        }
    });
    Ok(pages.flat_map(stream::iter).boxed())
}

impl Following {
    async fn next_page(&mut self) -> Result<Vec<Positioned>, LogError> {
        loop {
            if !self.look && matches!(tokio::time::timeout(LOOK, self.wakes.next()).await, Ok(None)) {
                self.wakes = wakes(&self.remote, &self.subject).await?;
            }
            // Several wakes that have come by now are one.
            while let Some(Some(())) = self.wakes.next().now_or_never() {}
            let page = self.remote.page(&self.subject, self.after, FOLLOW, &mut self.chain).await?;
            self.look = page.more;
            if let Some((position, _)) = page.events.last() {
                self.after = position.0;
                return Ok(page.events);
            }
        }
    }
}

async fn wakes(remote: &Remote, subject: &str) -> Result<Wakes, LogError> {
    let config = push::OrderedConfig {
        deliver_subject: remote.client.new_inbox(),
        filter_subject: subject.to_owned(),
        headers_only: true,
        deliver_policy: DeliverPolicy::New,
        ..Default::default()
    };
    let consumer =
        remote.context.create_consumer_on_stream(config, STREAM).await.map_err(|e| remote.unavailable(&e))?;
    let messages = consumer.messages().await.map_err(|e| remote.unavailable(&e))?;
    // An error ends the wakes, and they are begun anew.
    Ok(messages.take_while(|message| futures::future::ready(message.is_ok())).map(|_| ()).boxed())
}
