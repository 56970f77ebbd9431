//! The JetStream log when acks are lost, the server dies, or its files are damaged.

use super::nats::Nats;
use super::proxy::Proxy;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use retrace_events::log::{EventLog, LogError, NatsLog, NatsOptions, Position, StreamFilter};
use retrace_events::testing::{EventMaker, NatsServer, example_stream};
use retrace_events::verify::verify_stream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

async fn append_while_the_ack_is_lost(size: usize, lose: fn(&Proxy)) {
    let server = NatsServer::start();
    let proxy = Proxy::before(server.port()).await;
    let stream = example_stream("ack");
    let log = NatsLog::connect(&NatsOptions::new(&proxy.url())).await.unwrap();
    let mut maker = EventMaker::new(stream.clone(), 1);
    log.append(&maker.prompts(1)).await.unwrap();
    let batch = maker.prompts(size);
    lose(&proxy);
    // The log itself finds out that it was stored.
    log.append(&batch).await.unwrap();
    assert_eq!(proxy.lost(), 1);
    // So does a writer that died with the ack and repeats the append.
    NatsLog::connect(&NatsOptions::new(&server.url())).await.unwrap().append(&batch).await.unwrap();
    log.append(&maker.prompts(1)).await.unwrap();
    assert_eq!(verify_stream(&log, &stream).await.unwrap().events, 2 + size as u64);
}

#[tokio::test]
async fn a_lost_ack_of_an_event_is_found_out() {
    append_while_the_ack_is_lost(1, Proxy::lose_next_ack).await;
}

#[tokio::test]
async fn a_lost_ack_of_a_batch_is_found_out() {
    append_while_the_ack_is_lost(5, Proxy::lose_next_ack).await;
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_asked_what_it_stored() {
    append_while_the_ack_is_lost(1, Proxy::swallow_next_ack).await;
}

#[tokio::test]
async fn a_server_that_does_not_answer_to_a_batch_is_asked_what_it_stored() {
    append_while_the_ack_is_lost(3, Proxy::swallow_next_ack).await;
}

#[tokio::test]
async fn a_lost_ack_does_not_hide_another_writer() {
    let server = NatsServer::start();
    let proxy = Proxy::before(server.port()).await;
    let stream = example_stream("overtaken");
    let slow = NatsLog::connect(&NatsOptions::new(&proxy.url())).await.unwrap();
    let quick = NatsLog::connect(&NatsOptions::new(&server.url())).await.unwrap();
    let mut maker = EventMaker::new(stream.clone(), 1);
    let batch = maker.prompts(2);
    proxy.lose_next_ack();
    let appending = tokio::spawn(async move { slow.append(&batch).await });
    // As soon as the other has stored its batch, this one goes on behind it.
    let next = maker.prompts(1);
    while quick.append(&next).await.is_err() {
        tokio::task::yield_now().await;
    }
    let outcome = appending.await.unwrap();
    assert!(matches!(outcome, Err(LogError::Fenced { tried: 0, actual_next: 3, .. })), "{outcome:?}");
    assert_eq!(verify_stream(&quick, &stream).await.unwrap().events, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_loses_nothing_that_was_acked() {
    const ROUNDS: usize = 8;
    let mut server = NatsServer::start();
    let stream = example_stream("killed");
    let log = Arc::new(NatsLog::connect(&NatsOptions::new(&server.url())).await.unwrap());
    let acked = Arc::new(AtomicU64::new(0));
    let (writer, count, target) = (Arc::clone(&log), Arc::clone(&acked), stream.clone());
    let writing = tokio::spawn(async move {
        let mut maker = EventMaker::new(target, 1);
        loop {
            let batch = maker.prompts(usize::try_from(count.load(Ordering::SeqCst) % 4).unwrap() + 1);
            // Unavailable is not an answer: the same batch again, until there is one.
            loop {
                match writer.append(&batch).await {
                    Ok(()) => break,
                    Err(LogError::Unavailable { .. }) => {}
                    Err(e) => panic!("{e}"),
                }
            }
            count.fetch_add(batch.len() as u64, Ordering::SeqCst);
        }
    });
    let mut random = StdRng::seed_from_u64(7);
    for round in 0..ROUNDS {
        let until = acked.load(Ordering::SeqCst) + random.random_range(5..80);
        while acked.load(Ordering::SeqCst) < until {
            assert!(!writing.is_finished());
            tokio::task::yield_now().await;
        }
        server.kill();
        let before = acked.load(Ordering::SeqCst);
        server.restart();
        let log = NatsLog::connect(&NatsOptions::new(&server.url())).await.unwrap();
        let found = verify_stream(&log, &stream).await.unwrap().events;
        assert!(found >= before, "round {round}: {found} events, {before} were acked");
    }
    // The writer's own handle has come through all of it.
    let until = acked.load(Ordering::SeqCst) + 10;
    while acked.load(Ordering::SeqCst) < until {
        assert!(!writing.is_finished());
        tokio::task::yield_now().await;
    }
    writing.abort();
    let found = verify_stream(&*log, &stream).await.unwrap().events;
    assert!(found >= until);
    assert_eq!(log.deleted_messages().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_survives_the_death_of_the_server() {
    let mut server = NatsServer::start();
    let stream = example_stream("followed");
    let options = NatsOptions::new(&server.url());
    let reader = NatsLog::connect(&options).await.unwrap();
    let mut tail = reader.follow(StreamFilter::default(), Position(0)).await.unwrap();
    let mut maker = EventMaker::new(stream, 1);
    let first = maker.prompts(2);
    NatsLog::connect(&options).await.unwrap().append(&first).await.unwrap();
    for expected in &first {
        assert_eq!(&next(&mut tail).await.unwrap(), expected);
    }
    server.restart();
    let second = maker.prompts(2);
    NatsLog::connect(&options).await.unwrap().append(&second).await.unwrap();
    // It either goes on or ends with an error that says that the server was away; then one follows again from there.
    match next(&mut tail).await {
        Ok(event) => assert_eq!(event, second[0]),
        Err(e) => {
            assert!(matches!(e, LogError::Unavailable { .. }), "{e}");
            let mut again = reader.follow(StreamFilter::default(), Position(2)).await.unwrap();
            assert_eq!(next(&mut again).await.unwrap(), second[0]);
        }
    }
}

#[tokio::test]
async fn a_flipped_bit_in_the_servers_files_is_found() {
    let mut backend = Nats::new();
    let (stream, other) = (example_stream("flipped"), example_stream("other"));
    let log = backend.log().await;
    let mut maker = EventMaker::new(stream.clone(), 1);
    log.append(&maker.prompts(20)).await.unwrap();
    let marked = maker.prompt("the marked event, whose body is to be found in the file");
    log.append(&[marked]).await.unwrap();
    log.append(&maker.prompts(20)).await.unwrap();
    log.append(&EventMaker::new(other.clone(), 2).prompts(3)).await.unwrap();
    backend.0.kill();
    let block = blocks(&backend.0).into_iter().find_map(|file| {
        let bytes = std::fs::read(&file).unwrap();
        let at = bytes.windows(10).position(|window| window == b"the marked")?;
        Some((file, bytes, at))
    });
    let (file, mut bytes, at) = block.expect("the event is in a block file");
    bytes[at] ^= 1;
    std::fs::write(file, bytes).unwrap();
    backend.0.restart();
    // The server gives up everything from there on, without a word; a handle that knows better is not deceived.
    for outcome in [log.head(&stream).await.map(|_| ()), log.read(&stream, 0, 100).await.map(|_| ())] {
        assert!(
            matches!(&outcome, Err(LogError::Damaged { what, .. }) if what.contains("was acknowledged")),
            "{outcome:?}"
        );
    }
    assert!(matches!(log.append(&maker.prompts(1)).await, Err(LogError::Damaged { .. })));
    // Nor is a reader that knows how far it had come, as an index does.
    let fresh = backend.log().await;
    let error = fresh.read_all(Position(44), 10).await.unwrap_err();
    assert!(matches!(&error, LogError::DamagedStore { .. }), "{error}");
    // What is left is a sound beginning.
    assert!(verify_stream(&fresh, &stream).await.unwrap().events < 41);
}

async fn next(
    tail: &mut futures::stream::BoxStream<'static, Result<(Position, retrace_events::Envelope), LogError>>,
) -> Result<retrace_events::Envelope, LogError> {
    let event = tokio::time::timeout(std::time::Duration::from_secs(20), futures::StreamExt::next(tail)).await;
    event.expect("a tail does not hang").expect("a tail does not end").map(|(_, event)| event)
}

/// The block files of the events' stream.
fn blocks(server: &NatsServer) -> Vec<PathBuf> {
    let files = super::sqlite::walk(&server.store_dir());
    files
        .into_iter()
        .filter(|file| file.extension().is_some_and(|ext| ext == "blk") && file.to_string_lossy().contains("/retrace/"))
        .collect()
}
