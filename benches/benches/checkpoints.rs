//! How long it takes to resume a long session and to fork it far back, with and without checkpoints, on both backends; and what
//! the checkpoints take. One session of `CHECKPOINT_EVENTS` (100,000) events of recorded sessions, as retrace would have logged
//! them; with `RETRACE_EVAL_DATA=folder` those of `agent-sessions/events.jsonl.gz`, otherwise made-up ones.
//!
//! Fork: find event 90% of the way, write the fork's first event, and load its state: what stands before its first request apart
//! from its files.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use retrace_benches::logged_session::LoggedSession;
use retrace_benches::made::made_sessions;
use retrace_benches::recorded::{RecordedSession, recorded_sessions};
use retrace_benches::{scale, stream};
use retrace_events::log::{NatsLog, NatsOptions, SqliteLog};
use retrace_events::mint::SystemMint;
use retrace_events::payload::session::SessionForkReason;
use retrace_events::redact::Redactor;
use retrace_events::testing::NatsServer;
use retrace_events::{EventLog, SessionState, StreamId, Timestamp, codec, fold};
use retrace_runtime::checkpoints::Checkpoints;
use retrace_runtime::context::Past;
use retrace_runtime::forking::{ForkPoint, NewFork};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const TIMES: usize = 5;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let events = std::env::var("CHECKPOINT_EVENTS").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000);
        let data = std::env::var_os("RETRACE_EVAL_DATA").map(PathBuf::from);
        let sessions = data.map_or_else(
            || made_sessions(8, 2_000, 20_261_122),
            |data| recorded_sessions(&data.join("agent-sessions/events.jsonl.gz")).unwrap(),
        );
        let folder = tempfile::tempdir().unwrap();
        let embedded: Arc<dyn EventLog> = Arc::new(SqliteLog::open(&folder.path().join("log")).unwrap());
        fill(embedded.as_ref(), &sessions, events).await;
        measure("embedded", &embedded, &folder.path().join("embedded"), events).await;
        let server = NatsServer::start();
        let nats: Arc<dyn EventLog> = Arc::new(NatsLog::connect(&NatsOptions::new(&server.url())).await.unwrap());
        fill(nats.as_ref(), &sessions, events).await;
        measure("jetstream", &nats, &folder.path().join("jetstream"), events).await;
    });
}

fn long() -> StreamId {
    stream("long")
}

async fn fill(log: &dyn EventLog, sessions: &[RecordedSession], wanted: u64) {
    let mut session = LoggedSession::begin(long(), Timestamp(0)).unwrap();
    let mut copy = 0;
    while session.len() < wanted {
        for line in sessions.iter().flat_map(|session| &session.lines) {
            if session.len() < wanted {
                session.add(line, &|text| scale::vary(text, copy)).unwrap();
            }
        }
        for batch in session.take().chunks(100) {
            log.append(batch).await.unwrap();
        }
        copy += 1;
    }
}

/// The median time of some runs.
async fn median<T, F: Future<Output = T>>(mut work: impl FnMut() -> F) -> Duration {
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let begun = Instant::now();
        drop(std::hint::black_box(work().await));
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    times[TIMES / 2]
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1_000.0)
}

async fn measure(name: &str, log: &Arc<dyn EventLog>, folder: &Path, events: u64) {
    let (log_ref, whose, redactor) = (log.as_ref(), long(), Arc::new(Redactor::new(Vec::new())));
    let checkpoints = Checkpoints::of_log(folder, &log.identity());
    let none = Checkpoints::none();
    let begun = Instant::now();
    let state = checkpoints.load(log_ref, &whose).await.unwrap();
    let first = begun.elapsed();
    checkpoints.settled().await;
    let written = begun.elapsed();
    let begun = Instant::now();
    drop(checkpoints.past(log_ref, &whose, &redactor).await.unwrap());
    let past_first = begun.elapsed();

    let without = median(|| fold::load(log_ref, &whose)).await;
    let with = median(|| checkpoints.load(log_ref, &whose)).await;
    println!(
        "{name}: resume at event {}: {} without, {} with; {} when they are made on the way ({} until all are on the disk)",
        state.next_seq(),
        ms(without),
        ms(with),
        ms(first),
        ms(written)
    );
    let at = events * 9 / 10;
    for at in at..at + 3 {
        let without = median(|| forked(&none, log, at)).await;
        let with = median(|| forked(&checkpoints, log, at)).await;
        println!("{name}: fork at event {at}: {} without, {} with", ms(without), ms(with));
    }
    let past_without = median(|| read(log_ref, &redactor)).await;
    let past_with = median(|| checkpoints.past(log_ref, &whose, &redactor)).await;
    println!(
        "{name}: the past: {} without, {} with; {} when they are made on the way",
        ms(past_without),
        ms(past_with),
        ms(past_first)
    );
    bytes(name, &state, folder).await;
}

async fn read(log: &dyn EventLog, redactor: &Arc<Redactor>) -> Past {
    let mut past = Past::new(long(), Arc::clone(redactor));
    past.catch_up(log).await.unwrap();
    past
}

/// A fork's state behind its first event.
async fn forked(checkpoints: &Checkpoints, log: &Arc<dyn EventLog>, at: u64) -> SessionState {
    let point = ForkPoint::find_with(checkpoints, log.as_ref(), &long(), Some(at)).await.unwrap();
    let stream = stream(&format!("fork-{}", uuid::Uuid::now_v7().simple()));
    let fork = NewFork {
        stream: stream.clone(),
        reason: SessionForkReason::Fork,
        title: String::new(),
        workspace: PathBuf::from("/work"),
        settings: point.state.settings.clone().unwrap(),
        leaves_turn: true,
        replaced: None,
    };
    fork.write(Arc::clone(log), Arc::new(SystemMint), &point).await.unwrap();
    checkpoints.load(log.as_ref(), &stream).await.unwrap()
}

async fn bytes(name: &str, state: &SessionState, folder: &Path) {
    let encoding = median(|| async { codec::encode_derived(state).unwrap() }).await;
    let copying = median(|| async { state.clone() }).await;
    let encoded = codec::encode_derived(state).unwrap();
    let decoding = median(|| async { codec::decode_derived::<SessionState>("a state", &encoded).unwrap() }).await;
    println!(
        "{name}: the state: {:.2} MB as bytes; copied in {}, encoded in {}, decoded in {}",
        encoded.len() as f64 / 1e6,
        ms(copying),
        ms(encoding),
        ms(decoding)
    );
    let (mut open, mut sizes) = (vec![folder.to_owned()], std::collections::BTreeMap::<String, Vec<u64>>::new());
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let (meta, file) = (entry.metadata().unwrap(), entry.file_name().to_string_lossy().into_owned());
            match file.split_once('-') {
                _ if meta.is_dir() => open.push(entry.path()),
                Some((kind, _)) => sizes.entry(kind.to_owned()).or_default().push(meta.len()),
                None => {}
            }
        }
    }
    for (kind, sizes) in sizes {
        let (sum, most) = (sizes.iter().sum::<u64>() as f64 / 1e6, *sizes.iter().max().unwrap() as f64 / 1e6);
        println!("{name}: {} files `{kind}`, {sum:.1} MB, the largest {most:.2} MB", sizes.len());
    }
}
