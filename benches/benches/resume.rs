//! How long it takes to read and fold a session of 100, 10,000 and 100,000 events, on both backends, beside reading the same
//! number of bytes from a file.

#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use retrace_benches::{session, stream};
use retrace_events::log::{NatsLog, NatsOptions, SqliteLog};
use retrace_events::mint::SystemMint;
use retrace_events::testing::NatsServer;
use retrace_events::{EventLog, Hash, StreamId, Writer, fold};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

const SIZES: [usize; 3] = [100, 10_000, 100_000];

async fn fill(log: &Arc<dyn EventLog>, events: usize) -> StreamId {
    let stream = stream(&format!("resume{events}"));
    let mut writer = Writer::create(Arc::clone(log), Arc::new(SystemMint), stream.clone(), Hash::GENESIS);
    for batch in session(events).chunks(500) {
        writer.append(batch.iter().map(|payload| (payload.clone(), None)).collect()).await.unwrap();
    }
    stream
}

fn logs(c: &mut Criterion, runtime: &Runtime, name: &str, log: &Arc<dyn EventLog>) {
    let mut group = c.benchmark_group("resume");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    for events in SIZES {
        let stream = runtime.block_on(fill(log, events));
        group.bench_function(BenchmarkId::new(name, events), |bencher| {
            bencher.iter(|| {
                let state = runtime.block_on(fold::load(log.as_ref(), &stream)).unwrap();
                assert_eq!(state.next_seq(), events as u64);
            });
        });
    }
    group.finish();
}

/// The peer: the bytes of as many events, read from a file in one go and hashed.
fn bare_read(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let mut group = c.benchmark_group("resume");
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    for events in SIZES {
        let bytes: Vec<u8> = session(events).iter().flat_map(|payload| payload.encode().unwrap()).collect();
        let path = dir.path().join(events.to_string());
        std::fs::write(&path, bytes).unwrap();
        group.bench_function(BenchmarkId::new("a file read and hashed", events), |bencher| {
            bencher.iter(|| Hash::of(&std::fs::read(&path).unwrap()));
        });
    }
    group.finish();
}

fn benches(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    bare_read(c);
    let dir = tempfile::tempdir().unwrap();
    let embedded: Arc<dyn EventLog> = Arc::new(SqliteLog::open(dir.path()).unwrap());
    logs(c, &runtime, "embedded", &embedded);
    let server = NatsServer::start();
    let options = NatsOptions::new(&server.url());
    let nats: Arc<dyn EventLog> = Arc::new(runtime.block_on(NatsLog::connect(&options)).unwrap());
    logs(c, &runtime, "jetstream", &nats);
}

criterion_group!(all, benches);
criterion_main!(all);
