//! The JetStream log: the suite, on a real server.

use async_nats::HeaderMap;
use async_nats::jetstream::{self, stream::Config};
use async_trait::async_trait;
use futures::TryStreamExt;
use retrace_events::StreamId;
use retrace_events::log::{Durability, EventLog, LogError, NatsLog, NatsOptions};
use retrace_events::testing::{Backend, EventMaker, NatsServer, example_stream};
use std::sync::Arc;

pub(crate) struct Nats(pub(crate) NatsServer);

impl Nats {
    pub(crate) fn new() -> Self {
        Self(NatsServer::start())
    }

    pub(crate) async fn log(&self) -> NatsLog {
        NatsLog::connect(&NatsOptions::new(&self.0.url())).await.unwrap()
    }

    pub(crate) async fn jetstream(&self) -> jetstream::Context {
        jetstream::new(async_nats::connect(self.0.url()).await.unwrap())
    }

    /// Makes the stream anew from its messages, as `change` leaves them: what a server would have after losing or
    /// mixing up some.
    async fn rewrite(&self, change: impl Fn(&str, &HeaderMap, Vec<u8>) -> Option<Vec<u8>>) {
        let context = self.jetstream().await;
        let stream = context.get_stream("retrace").await.unwrap();
        let config: Config = stream.cached_info().config.clone();
        let last = stream.cached_info().state.last_sequence;
        let mut messages = Vec::new();
        for position in 1..=last {
            messages.push(stream.get_raw_message(position).await.unwrap());
        }
        context.delete_stream("retrace").await.unwrap();
        context.create_stream(config).await.unwrap();
        for message in messages {
            if let Some(body) = change(&message.subject, &message.headers, message.payload.to_vec()) {
                let mut kept = HeaderMap::new();
                for name in ["Nats-Msg-Id", "Retrace-Hash", "Retrace-Seq", "Retrace-Payload"] {
                    if let Some(value) = message.headers.get(name) {
                        kept.insert(name, value.as_str());
                    }
                }
                context.publish_with_headers(message.subject.clone(), kept, body.into()).await.unwrap().await.unwrap();
            }
        }
    }
}

fn is_event(subject: &str, headers: &HeaderMap, stream: &StreamId, seq: u64) -> bool {
    subject == stream.subject() && headers.get("Retrace-Seq").is_some_and(|value| value.as_str() == seq.to_string())
}

#[async_trait]
impl Backend for Nats {
    async fn open(&self) -> Arc<dyn EventLog> {
        Arc::new(self.log().await)
    }

    async fn flip_byte(&self, stream: &StreamId, seq: u64) {
        self.rewrite(|subject, headers, mut body| {
            if is_event(subject, headers, stream, seq) {
                *body.last_mut().unwrap() ^= 1;
            }
            Some(body)
        })
        .await;
    }

    async fn remove_event(&self, stream: &StreamId, seq: u64) {
        self.rewrite(|subject, headers, body| (!is_event(subject, headers, stream, seq)).then_some(body)).await;
    }
}

retrace_events::conformance_suite!(Nats::new());

#[tokio::test]
async fn the_stream_is_made_as_it_has_to_be() {
    let backend = Nats::new();
    let log = backend.log().await;
    assert_eq!(log.durability(), Durability::PowerLoss);
    assert_eq!(log.location(), backend.0.url());
    let config = backend.jetstream().await.get_stream("retrace").await.unwrap().cached_info().config.clone();
    assert_eq!(config.subjects, ["ev.>"]);
    assert!(config.deny_delete && config.allow_direct && config.allow_atomic_publish);
    assert_eq!(config.discard, jetstream::stream::DiscardPolicy::New);
    assert_eq!(config.storage, jetstream::stream::StorageType::File);
    assert_eq!(config.duplicate_window.as_secs(), 120);
    // 64 GiB were too much for this server; the half of a half that fits is taken, and blobs have room as well.
    assert!(config.max_bytes >= 1 << 30, "{}", config.max_bytes);
    log.blobs().put(b"there is room").await.unwrap();
}

#[tokio::test]
async fn a_purged_session_is_no_damage_to_others() {
    let backend = Nats::new();
    let (log, gone, kept) = (backend.log().await, example_stream("gone"), example_stream("kept"));
    let (mut one, mut two) = (EventMaker::new(gone.clone(), 1), EventMaker::new(kept.clone(), 2));
    for _ in 0..10 {
        log.append(&one.prompts(2)).await.unwrap();
        log.append(&two.prompts(1)).await.unwrap();
    }
    let stream = backend.jetstream().await.get_stream("retrace").await.unwrap();
    stream.purge().filter(gone.subject()).await.unwrap();
    assert_eq!(log.read(&gone, 0, 100).await.unwrap(), []);
    let all = log.read_all(Default::default(), 1_000).await.unwrap();
    assert_eq!(all.len(), 10);
    assert!(all.iter().all(|(_, event)| event.stream == kept));
    assert!(log.deleted_messages().await.unwrap() >= 18);
    log.append(&two.prompts(1)).await.unwrap();
    assert_eq!(log.streams(&Default::default()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_message_that_nobody_of_us_wrote_is_not_taken_for_an_event() {
    let backend = Nats::new();
    let (log, stream) = (backend.log().await, example_stream("foreign"));
    let context = backend.jetstream().await;
    context.publish(stream.subject(), "hello".into()).await.unwrap().await.unwrap();
    for outcome in [log.head(&stream).await.map(|_| ()), log.read(&stream, 0, 10).await.map(|_| ())] {
        assert!(
            matches!(&outcome, Err(LogError::Damaged { what, .. }) if what.contains("not written by")),
            "{outcome:?}"
        );
    }
    assert!(log.append(&EventMaker::new(stream, 1).prompts(1)).await.is_err());
    let sound = example_stream("sound");
    log.append(&EventMaker::new(sound.clone(), 2).prompts(1)).await.unwrap();
    assert_eq!(log.read(&sound, 0, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn events_leave_nothing_behind_but_messages() {
    let backend = Nats::new();
    let (log, stream) = (backend.log().await, example_stream("consumers"));
    log.append(&EventMaker::new(stream.clone(), 1).prompts(3)).await.unwrap();
    log.read(&stream, 0, 10).await.unwrap();
    log.read_all(Default::default(), 10).await.unwrap();
    let stream = backend.jetstream().await.get_stream("retrace").await.unwrap();
    let consumers: Vec<String> = stream.consumer_names().try_collect().await.unwrap();
    assert_eq!(consumers, Vec::<String>::new());
}
