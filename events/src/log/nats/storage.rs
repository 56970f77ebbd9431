//! The JetStream stream and the bucket: finding them, making them, and refusing ones that were made differently.

use super::api::Remote;
use super::connect::{Connection, QUESTION, REQUEST};
use super::nats_options::{DEFAULT_MAX_BYTES, NatsOptions};
use super::object_blobs::ObjectBlobs;
use super::servers;
use super::{ALL_EVENTS, STREAM};
use crate::log::LogError;
use async_nats::jetstream::context::{CreateStreamErrorKind, GetStreamErrorKind};
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{Config, DiscardPolicy, Info, PersistenceMode, RetentionPolicy, StorageType};
use async_nats::jetstream::{Context, context::ContextBuilder};
use std::time::Duration;

/// The bucket of the blobs.
pub(super) const BUCKET: &str = "retrace_blobs";

/// The version of the message layout, kept with the stream.
const LAYOUT: u32 = 1;
const LAYOUT_KEY: &str = "retrace_layout";

/// How long the server remembers message ids.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);

/// A stream that has to be smaller than this, in bytes, is not worth making.
const MIN_BYTES: u64 = 16 * 1024 * 1024;

/// The server cannot reserve as much as was asked for.
const TOO_LARGE: [&str; 4] = ["error code 10002", "error code 10023", "error code 10028", "error code 10047"];
/// A cluster answers in words: among the reasons why it has no place for the copies is this one.
const TOO_LARGE_IN_WORDS: &str = "insufficient storage";
/// The cluster has not as many servers as copies were asked for.
const TOO_FEW_SERVERS: [u64; 2] = [10_005, 10_074];
/// The stream is there already, made a little differently.
const NAME_IN_USE: u64 = 10_058;

/// The stream and the bucket on the server behind `connection`.
pub(super) async fn open(connection: Connection, options: &NatsOptions) -> Result<(Remote, Info), LogError> {
    let context = ContextBuilder::new().timeout(QUESTION).ack_timeout(REQUEST).build(connection.client.clone());
    let found = find(&connection, &context).await?;
    let may_shrink = found.is_none() && options.max_bytes == DEFAULT_MAX_BYTES;
    let info = match found {
        Some(info) => info,
        None => create(&connection, &context, options).await?,
    };
    check(&connection.location, &info)?;
    let store = bucket(&connection, &context, &info.config, may_shrink).await?;
    let stream = context.get_stream_no_info(STREAM).await.map_err(|e| connection.unavailable(&e))?;
    let blobs = ObjectBlobs::new(store, context.clone(), connection.location.clone());
    Ok((Remote::new(connection, context, stream, blobs, info.config.num_replicas), info))
}

async fn find(connection: &Connection, context: &Context) -> Result<Option<Info>, LogError> {
    match context.get_stream(STREAM).await {
        Ok(stream) => Ok(Some(stream.cached_info().clone())),
        Err(e) => match e.kind() {
            GetStreamErrorKind::JetStream(error) if error.code() == 404 => Ok(None),
            GetStreamErrorKind::JetStream(error) if error.code() == 503 => Err(no_jetstream(connection, &error)),
            _ => Err(connection.unavailable(&e)),
        },
    }
}

/// Makes the stream, as large and with as many copies as the server has room for when nothing else was asked for.
async fn create(connection: &Connection, context: &Context, options: &NatsOptions) -> Result<Info, LogError> {
    let is_cluster = connection.client.server_info().cluster.is_some();
    let replicas = options.replicas.unwrap_or(if is_cluster { 3 } else { 1 });
    let mut max_bytes = options.max_bytes;
    if max_bytes == DEFAULT_MAX_BYTES {
        // Less than half of what is free, so that the bucket of the blobs has the same room.
        let free_bytes = servers::ask(connection, None).await?.values().map(|server| server.free_bytes).min();
        max_bytes = free_bytes.map_or(max_bytes, |free| max_bytes.min((free / 5 * 2).max(MIN_BYTES)));
    }
    loop {
        let error = match context.create_stream(wanted(replicas, max_bytes)).await {
            Ok(stream) => return Ok(stream.cached_info().clone()),
            Err(e) => e,
        };
        let CreateStreamErrorKind::JetStream(reply) = error.kind() else { return Err(connection.unavailable(&error)) };
        let code = reply.error_code().0;
        if code == NAME_IN_USE
            && let Some(info) = find(connection, context).await?
        {
            // Another process made it in between, with its own options.
            return Ok(info);
        }
        let is_too_large = is_too_large(&reply.to_string());
        if is_too_large && options.max_bytes == DEFAULT_MAX_BYTES && max_bytes / 2 >= MIN_BYTES {
            max_bytes /= 2;
        } else if is_too_large {
            let why = format!("{reply}\nhint: ask for less with ?max_bytes=…, or raise the server's max_file_store");
            return Err(LogError::Full { location: connection.location.clone(), why });
        } else if TOO_FEW_SERVERS.contains(&code) {
            // A log that has one copy because a server happened to be away would have one for ever.
            let why = format!("{reply}\nhint: start all servers of the cluster, or ask for one copy with ?replicas=1");
            return Err(LogError::Unfit { location: connection.location.clone(), why });
        } else if reply.code() == 503 {
            return Err(no_jetstream(connection, &reply));
        } else {
            let why = format!("cannot make the stream `{STREAM}`: {reply}");
            return Err(LogError::Unfit { location: connection.location.clone(), why });
        }
    }
}

fn wanted(replicas: u8, max_bytes: u64) -> Config {
    Config {
        name: STREAM.to_owned(),
        description: Some("the event log of retrace".to_owned()),
        subjects: vec![ALL_EVENTS.to_owned()],
        storage: StorageType::File,
        retention: RetentionPolicy::Limits,
        discard: DiscardPolicy::New,
        max_bytes: i64::try_from(max_bytes).unwrap_or(i64::MAX),
        max_messages: -1,
        max_messages_per_subject: -1,
        max_consumers: -1,
        num_replicas: usize::from(replicas),
        duplicate_window: DUPLICATE_WINDOW,
        allow_direct: true,
        allow_atomic_publish: true,
        deny_delete: true,
        metadata: [(LAYOUT_KEY.to_owned(), LAYOUT.to_string())].into(),
        ..Config::default()
    }
}

/// Refuses a stream that would lose events or lacks what we need, and warns of one that is nearly full.
fn check(location: &str, info: &Info) -> Result<(), LogError> {
    let config = &info.config;
    let layout: Option<u32> = config.metadata.get(LAYOUT_KEY).and_then(|layout| layout.parse().ok());
    if let Some(layout) = layout.filter(|layout| *layout > LAYOUT) {
        return Err(LogError::Newer {
            what: format!("the log at {location} (layout {layout}, this version knows {LAYOUT})"),
        });
    }
    let needs = [
        (layout == Some(LAYOUT), "it was not made by retrace"),
        (config.subjects == [ALL_EVENTS], "its subjects are not `ev.>`"),
        (config.storage == StorageType::File, "its storage is not `file`"),
        (config.retention == RetentionPolicy::Limits, "its retention is not `limits`"),
        (config.discard == DiscardPolicy::New, "it discards old events"),
        (config.max_age.is_zero(), "it discards events by age"),
        (config.max_messages <= 0 && config.max_messages_per_subject <= 0, "it limits the number of messages"),
        (config.allow_direct && config.allow_atomic_publish, "it does not allow direct get and atomic batches"),
        (
            config.persist_mode != Some(PersistenceMode::Async),
            "its `persist_mode` is `async`, which acks what is not stored",
        ),
        (!config.no_ack && !config.sealed, "it does not take or acknowledge messages"),
    ];
    let wrong: Vec<&str> = needs.iter().filter(|(met, _)| !met).map(|(_, what)| *what).collect();
    if !wrong.is_empty() {
        let why = format!(
            "its stream `{STREAM}` is not fit: {}\nhint: use another account, or rename that stream",
            wrong.join("; ")
        );
        return Err(LogError::Unfit { location: location.to_owned(), why });
    }
    let limit = u64::try_from(config.max_bytes).unwrap_or(u64::MAX);
    if info.state.bytes > limit / 5 * 4 {
        tracing::warn!(%location, bytes = info.state.bytes, limit, "the log is nearly full: raise the stream's max_bytes");
    }
    // Deleted sessions are among them: `log verify` tells what is missing.
    tracing::debug!(%location, deleted = info.state.deleted_count.unwrap_or_default(), "messages that are gone from the log");
    Ok(())
}

/// Finds or makes the bucket. With `may_shrink` the stream of the events was made just now, as large as there was
/// room: it gives up half of that when there is none left for the bucket.
async fn bucket(
    connection: &Connection,
    context: &Context,
    events: &Config,
    may_shrink: bool,
) -> Result<ObjectStore, LogError> {
    match context.get_object_store(BUCKET).await {
        Ok(store) => return Ok(store),
        Err(e) if is_timeout(&e) => return Err(connection.unavailable(&e)),
        Err(_) => {}
    }
    let mut max_bytes = events.max_bytes;
    loop {
        let config = object_store::Config {
            bucket: BUCKET.to_owned(),
            description: Some("large bodies of retrace's events".to_owned()),
            max_bytes,
            storage: StorageType::File,
            num_replicas: events.num_replicas,
            ..object_store::Config::default()
        };
        let error = match context.create_object_store(config).await {
            Ok(store) => return Ok(store),
            Err(e) => e,
        };
        let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        let is_too_large = is_too_large(&why);
        if is_too_large && max_bytes.unsigned_abs() / 2 >= MIN_BYTES {
            max_bytes /= 2;
            if may_shrink {
                let smaller = Config { max_bytes, ..events.clone() };
                context.update_stream(&smaller).await.map_err(|e| connection.unavailable(&e))?;
            }
        } else if let Ok(store) = context.get_object_store(BUCKET).await {
            // Another process made it in between, with another size.
            return Ok(store);
        } else if is_too_large {
            return Err(LogError::Full { location: connection.location.clone(), why });
        } else {
            return Err(connection.unavailable(&why));
        }
    }
}

/// Whether the server's refusal says that it has not that much room. For buckets the library gives it as text only.
fn is_too_large(refusal: &str) -> bool {
    refusal.contains(TOO_LARGE_IN_WORDS) || TOO_LARGE.iter().any(|code| refusal.contains(code))
}

fn is_timeout(error: &impl std::error::Error) -> bool {
    error.source().is_some_and(|source| source.to_string().contains("timed out"))
}

fn no_jetstream(connection: &Connection, error: &dyn std::fmt::Display) -> LogError {
    let why = format!(
        "it has no JetStream for this account: {error}\nhint: start nats-server with -js, and enable it for the account"
    );
    LogError::Unfit { location: connection.location.clone(), why }
}
