//! Durable appends, one writer and sixteen, on both backends, beside what the machine itself can do: a bare write and
//! fsync for the embedded log, a bare durable JetStream publish for the other. All in one run, so compare the ratios.

#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use retrace_benches::{one_kilobyte, stream};
use retrace_events::log::{NatsLog, NatsOptions, SqliteLog};
use retrace_events::mint::SystemMint;
use retrace_events::testing::NatsServer;
use retrace_events::{EventLog, Hash, Writer};
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Numbers streams, so that every measurement writes fresh ones.
static NEXT: AtomicU64 = AtomicU64::new(0);

fn fresh_writer(log: &Arc<dyn EventLog>) -> Writer {
    let name = format!("s{}", NEXT.fetch_add(1, Ordering::Relaxed));
    Writer::create(Arc::clone(log), Arc::new(SystemMint), stream(&name), Hash::GENESIS)
}

/// Appends `total` events, shared evenly among `writers`, each waiting for its ack before the next.
async fn append(log: &Arc<dyn EventLog>, writers: u64, total: u64) -> Duration {
    let begun = Instant::now();
    let tasks: Vec<_> = (0..writers)
        .map(|place| {
            let mut writer = fresh_writer(log);
            let share = total / writers + u64::from(place < total % writers);
            tokio::spawn(async move {
                for _ in 0..share {
                    writer.append(vec![(one_kilobyte(), None)]).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    begun.elapsed()
}

fn logs(c: &mut Criterion, runtime: &Runtime, name: &str, log: &Arc<dyn EventLog>) {
    let mut group = c.benchmark_group("append");
    group.throughput(Throughput::Elements(1)).sample_size(20).measurement_time(Duration::from_secs(6));
    for writers in [1, 16] {
        group.bench_function(BenchmarkId::new(name, format!("{writers} writers")), |bencher| {
            bencher.iter_custom(|total| runtime.block_on(append(log, writers, total)));
        });
    }
    group.finish();
}

/// The peer of the embedded log: 1 KB and fsync, again and again, by nobody but the kernel.
fn bare_fsync(c: &mut Criterion) {
    let dir = tempfile::tempdir_in(disk()).unwrap();
    let mut file = File::create(dir.path().join("bare")).unwrap();
    let mut group = c.benchmark_group("append");
    group.throughput(Throughput::Elements(1)).sample_size(20).measurement_time(Duration::from_secs(6));
    group.bench_function("the disk's bare fsync", |bencher| {
        bencher.iter(|| {
            file.write_all(&[7; 1_024]).unwrap();
            file.sync_data().unwrap();
        });
    });
    group.finish();
}

/// The peer of the JetStream log: a bare publish with its ack, on a server that syncs always.
fn bare_publish(c: &mut Criterion, runtime: &Runtime, url: &str) {
    let context = runtime.block_on(async {
        let context = async_nats::jetstream::new(async_nats::connect(url).await.unwrap());
        let config = async_nats::jetstream::stream::Config {
            name: "bare".into(),
            subjects: vec!["bare".into()],
            ..Default::default()
        };
        context.create_stream(config).await.unwrap();
        context
    });
    let mut group = c.benchmark_group("append");
    group.throughput(Throughput::Elements(1)).sample_size(20).measurement_time(Duration::from_secs(6));
    group.bench_function("a bare durable publish", |bencher| {
        bencher.iter_custom(|total| {
            runtime.block_on(async {
                let begun = Instant::now();
                for _ in 0..total {
                    context.publish("bare", vec![7; 1_024].into()).await.unwrap().await.unwrap();
                }
                begun.elapsed()
            })
        });
    });
    group.finish();
}

/// Where the embedded log would be, so that both sides of a ratio are on the same disk.
fn disk() -> std::path::PathBuf {
    std::env::var_os("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, Into::into)
}

fn benches(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    bare_fsync(c);
    let dir = tempfile::tempdir_in(disk()).unwrap();
    let embedded: Arc<dyn EventLog> = Arc::new(SqliteLog::open(dir.path()).unwrap());
    logs(c, &runtime, "embedded", &embedded);
    let server = NatsServer::start();
    bare_publish(c, &runtime, &server.url());
    let options = NatsOptions::new(&server.url());
    let nats: Arc<dyn EventLog> = Arc::new(runtime.block_on(NatsLog::connect(&options)).unwrap());
    logs(c, &runtime, "jetstream", &nats);
}

criterion_group!(all, benches);
criterion_main!(all);
