use retrace_events::log::*;
use retrace_events::testing::*;
use std::sync::Arc;
use std::time::Instant;
async fn measure(name: &str, log: Arc<dyn EventLog>, writers: u64, each: u64) {
    let t = Instant::now();
    let tasks: Vec<_> = (0..writers).map(|w| { let log = log.clone(); tokio::spawn(async move {
        let s = example_stream(&format!("b-{writers}-{w}")); let mut m = EventMaker::new(s, 7_000 + writers * 100 + w);
        let mut lat = vec![];
        for _ in 0..each { let e = m.opaque("x.y", 1000); let t = Instant::now(); log.append(&[e]).await.unwrap(); lat.push(t.elapsed()); }
        lat
    })}).collect();
    let mut lat = vec![]; for t in tasks { lat.extend(t.await.unwrap()); }
    lat.sort(); let n = (writers * each) as f64;
    println!("{name}: {writers} writers: {:.0}/s p50 {:?} p95 {:?}", n / t.elapsed().as_secs_f64(), lat[lat.len()/2], lat[lat.len()*95/100]);
}
#[tokio::test(flavor = "multi_thread")]
async fn bench() {
    let dir = tempfile::tempdir().unwrap();
    // fsync alone
    use std::io::Write; let mut f = std::fs::File::create(dir.path().join("f")).unwrap(); let mut l = vec![];
    for _ in 0..300 { f.write_all(&[7; 1200]).unwrap(); let t = Instant::now(); f.sync_data().unwrap(); l.push(t.elapsed()); } l.sort();
    println!("fdatasync p50 {:?} p95 {:?}", l[150], l[285]);
    let sq: Arc<dyn EventLog> = Arc::new(SqliteLog::open(dir.path()).unwrap());
    let server = NatsServer::start();
    let na: Arc<dyn EventLog> = Arc::new(NatsLog::connect(&NatsOptions::new(&server.url())).await.unwrap());
    for r in 0..2 { let _ = r;
    }
    measure("sqlite", sq.clone(), 1, 1000).await; measure("sqlite", sq.clone(), 16, 500).await;
    measure("nats", na.clone(), 1, 1000).await; measure("nats", na.clone(), 16, 200).await;
    for (name, log) in [("sqlite", sq), ("nats", na)] {
        let s = example_stream("batches"); let mut m = EventMaker::new(s.clone(), 1);
        let t = Instant::now();
        for _ in 0..40 { let b: Vec<_> = (0..100).map(|_| m.opaque("x.y", 1000)).collect(); log.append(&b).await.unwrap(); }
        println!("{name} batches of 100: {:.0}/s", 4000.0 / t.elapsed().as_secs_f64());
        let t = Instant::now(); let n = log.read(&s, 0, 1000).await.unwrap().len(); println!("{name} read {n}: {:?}", t.elapsed());
        let t = Instant::now(); let n = log.read(&s, 3900, 1000).await.unwrap().len(); println!("{name} read tail {n}: {:?}", t.elapsed());
        let t = Instant::now(); let n = log.read_all(Position(0), 100_000).await.unwrap().len(); println!("{name} read_all {n}: {:?}", t.elapsed());
        let t = Instant::now(); let n = log.streams(&Default::default()).await.unwrap().len(); println!("{name} streams {n}: {:?}", t.elapsed());
    }
}
