//! Putting a context together when the log is long: the past of one session, the seed of a fresh epoch, what the index finds for
//! it, and the bytes of the next request. A log of `INDEX_EVENTS` (20,000) events, a tenth of them in the session that is measured.
//!
//! The log is made here and measured in a process of its own, so that its memory is the measured work's and nothing else's.

use super::bare;
use super::figures::{memory, rate, resident, size, timed};
use super::number;
use super::points::Points;
use retrace_benches::logged_session::LoggedSession;
use retrace_benches::made::made_sessions;
use retrace_benches::recorded::{RecordedSession, recorded_sessions};
use retrace_benches::{scale, stream};
use retrace_events::log::{Holder, SqliteLog};
use retrace_events::redact::Redactor;
use retrace_events::{Event, EventLog, StreamId, Timestamp, fold};
use retrace_indexer::{Follower, IndexFolder, KeywordIndex};
use retrace_runtime::context::Past;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

/// The folder that the second process measures.
pub(crate) const MEASURED: &str = "ASSEMBLY_OF";
/// The session that is measured is one of so many events.
const SHARE: u64 = 10;
const DEFAULT_EVENTS: u64 = 20_000;
/// How many events are read at a time.
const PAGE: usize = 2_000;
/// What the writer of the comparison may use, in bytes.
const MEMORY_BYTES: usize = 64 * 1024 * 1024;

/// Makes the log and its index, and has another process measure them.
pub(crate) async fn prepare(data: Option<&Path>) {
    let scratch = tempfile::tempdir().unwrap();
    let folder =
        std::env::var_os("INDEX_LOG").map_or_else(|| scratch.path().to_path_buf(), PathBuf::from).join("assembly");
    let log = open(&folder);
    if log.read(&long(), 0, 1).await.unwrap().is_empty() {
        let sessions = data.map_or_else(
            || made_sessions(8, 2_000, 20_261_121),
            |data| recorded_sessions(&data.join("agent-sessions/events.jsonl.gz")).unwrap(),
        );
        let events = number("INDEX_EVENTS").unwrap_or(DEFAULT_EVENTS);
        fill(log.as_ref(), &sessions, events).await;
    }
    index(&folder, &log).await;
    drop(log);
    let mut measuring = Command::new(std::env::current_exe().unwrap());
    // The allocator's settings, as `retrace` makes them when it starts.
    measuring.env("MALLOC_ARENA_MAX", "2").env("MALLOC_MMAP_THRESHOLD_", "131072");
    assert!(measuring.env(MEASURED, &folder).status().unwrap().success(), "the measuring process failed");
}

fn open(folder: &Path) -> Arc<dyn EventLog> {
    Arc::new(SqliteLog::open(&folder.join("log")).unwrap())
}

fn long() -> StreamId {
    stream("long")
}

fn redactor() -> Arc<Redactor> {
    Arc::new(Redactor::new(Vec::new()))
}

async fn fill(log: &dyn EventLog, sessions: &[RecordedSession], events: u64) {
    let begun = Instant::now();
    let wanted = events / SHARE;
    let scaled = scale::fill(log, sessions, events - wanted, &mut |_| {}).await.unwrap();
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
    println!(
        "assembly: {} events in {} sessions, {} in the measured one; {:.0} s",
        scaled.events + session.len(),
        scaled.sessions + 1,
        session.len(),
        begun.elapsed().as_secs_f64()
    );
}

async fn index(folder: &Path, log: &Arc<dyn EventLog>) {
    let index = IndexFolder::of_log(folder, &log.location());
    let holder = Holder::this_process("bench", Timestamp(0));
    let begun = Instant::now();
    let mut follower = Follower::open(Arc::clone(log), &index, redactor(), &holder).await.unwrap();
    let mut events = 0;
    follower.catch_up(&mut |progress| events = progress.events).await.unwrap();
    let keyword = KeywordIndex::open(&index.keyword()).unwrap().unwrap();
    println!(
        "assembly: indexed {}; {} documents, {}",
        rate(events, begun.elapsed()),
        keyword.count().unwrap(),
        size(keyword.size_bytes().unwrap())
    );
    let peer = folder.join("bare");
    if !peer.exists() {
        let streams = log.streams(&retrace_events::log::StreamFilter::default()).await.unwrap();
        let documents = streams.iter().flat_map(|info| keyword.documents_of(&info.stream.subject()).unwrap());
        bare::index(&peer, documents.map(|document| (document.key, document.text)), MEMORY_BYTES);
    }
}

/// Measures the log in `folder`.
pub(crate) async fn measure(folder: &Path) {
    let log = open(folder);
    println!("assembly: memory at the beginning: {}", memory());
    let before = resident();
    let begun = Instant::now();
    let mut past = Past::new(long(), redactor());
    past.catch_up(log.as_ref()).await.unwrap();
    let caught_up = begun.elapsed();
    let used = resident().saturating_sub(before);
    drop(past);
    let begun = Instant::now();
    let (events, bytes) = read(log.as_ref()).await;
    println!(
        "assembly, the past read from nothing: events {}, {} of payload; {} of memory",
        rate(events, caught_up),
        size(bytes),
        size(used)
    );
    println!("assembly, the same events only read and decoded: {}", rate(events, begun.elapsed()));
    let begun = Instant::now();
    fold::load(log.as_ref(), &long()).await.unwrap();
    println!("assembly, the session's state, as a resume reads it: {}", rate(events, begun.elapsed()));

    let index = IndexFolder::of_log(folder, &log.location());
    let mut points = Points::new(long(), redactor(), index, folder.join("bare"), events);
    let mut next = 0;
    loop {
        let page = log.read(&long(), next, PAGE).await.unwrap();
        let is_last = page.len() < PAGE;
        for envelope in page {
            next = envelope.seq + 1;
            points.take(Event::decode(envelope).unwrap()).await;
        }
        if is_last {
            break;
        }
    }
    points.print();
    println!("assembly: memory at the end: {}", memory());
    let (_, freed) = timed(|| drop(points));
    println!("assembly: all of it freed in {:.1} ms", freed.as_secs_f64() * 1_000.0);
}

/// Reads the session and does nothing with it; its events, and the bytes of their payloads.
async fn read(log: &dyn EventLog) -> (u64, u64) {
    let (mut next, mut bytes) = (0, 0);
    loop {
        let page = log.read(&long(), next, PAGE).await.unwrap();
        let is_last = page.len() < PAGE;
        for envelope in page {
            next = envelope.seq + 1;
            bytes += envelope.payload.len() as u64;
            drop(std::hint::black_box(Event::decode(envelope).unwrap()));
        }
        if is_last {
            return (next, bytes);
        }
    }
}
