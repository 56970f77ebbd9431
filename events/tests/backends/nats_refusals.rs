//! Servers that must not hold a log, and addresses that lead nowhere.

use retrace_events::log::{Durability, EventLog, LogError, LogLocation, NatsLog, NatsOptions, open_log};
use retrace_events::testing::{EventMaker, NatsConfig, NatsServer, example_stream};
use std::time::{Duration, Instant};

async fn connect(server: &NatsServer, parameters: &str) -> Result<NatsLog, LogError> {
    NatsLog::connect(&format!("{}?{parameters}", server.url()).parse::<NatsOptions>().unwrap()).await
}

#[tokio::test]
async fn a_server_that_acks_before_it_syncs_is_refused() {
    let server = NatsServer::start_with(NatsConfig { durable: false, ..NatsConfig::default() });
    for parameters in ["", "durable=assert"] {
        let error = connect(&server, parameters).await.unwrap_err();
        let LogError::Unfit { why, .. } = &error else { panic!("{error}") };
        assert!(why.contains("server test acks before it syncs") && why.contains("hint:"), "{why}");
    }
    let log = connect(&server, "durable=accept-nondurable").await.unwrap();
    assert!(matches!(log.durability(), Durability::ProcessCrash(why) if why.contains("sync_interval")));
    log.append(&EventMaker::new(example_stream("risky"), 1).prompts(1)).await.unwrap();
}

#[tokio::test]
async fn a_server_that_cannot_be_asked_is_refused_unless_somebody_vouches() {
    let server = NatsServer::start_with(NatsConfig { may_ask: false, ..NatsConfig::default() });
    let started = Instant::now();
    let error = connect(&server, "").await.unwrap_err();
    assert!(
        matches!(&error, LogError::Unfit { why, .. } if why.contains("is not known") && why.contains("durable=assert")),
        "{error}"
    );
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(connect(&server, "durable=assert").await.unwrap().durability(), Durability::PowerLoss);
    let accepted = connect(&server, "durable=accept-nondurable").await.unwrap();
    assert!(matches!(accepted.durability(), Durability::ProcessCrash(_)));
}

#[tokio::test]
async fn an_address_without_a_server_is_unavailable_soon() {
    let mut server = NatsServer::start();
    let url = server.url();
    server.kill();
    // A listener that never says a word, as a wrong port would be.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("nats://{}", silent.local_addr().unwrap());
    for url in [url, silent, "nats://no-such-host.invalid:4222".to_owned()] {
        let started = Instant::now();
        let error = NatsLog::connect(&NatsOptions::new(&url)).await.unwrap_err();
        assert!(matches!(&error, LogError::Unavailable { why, .. } if why.contains("hint:")), "{url}: {error}");
        assert!(started.elapsed() < Duration::from_secs(8), "{url}");
    }
}

#[tokio::test]
async fn wrong_credentials_are_refused_and_not_shown() {
    let server = NatsServer::start_with(NatsConfig { wants_password: true, ..NatsConfig::default() });
    let url = format!("nats://retrace:wrong-password@127.0.0.1:{}", server.port());
    let error = NatsLog::connect(&NatsOptions::new(&url)).await.unwrap_err();
    assert!(matches!(&error, LogError::Unfit { .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains("wrong-password"));
    let url = format!("nats://retrace:retrace-test-only@127.0.0.1:{}", server.port());
    let log = NatsLog::connect(&NatsOptions::new(&url)).await.unwrap();
    assert_eq!(log.location(), server.url());
    assert!(!format!("{log:?}").contains("retrace-test-only"), "{log:?}");
    let missing = NatsOptions { credentials: Some("/no/such/file".into()), ..NatsOptions::new(&server.url()) };
    let error = NatsLog::connect(&missing).await.unwrap_err();
    assert!(matches!(&error, LogError::Unfit { why, .. } if why.contains("/no/such/file")), "{error}");
}

#[tokio::test]
async fn a_stream_made_otherwise_is_refused() {
    let server = NatsServer::start();
    let context = async_nats::jetstream::new(async_nats::connect(server.url()).await.unwrap());
    let foreign = async_nats::jetstream::stream::Config {
        name: "retrace".to_owned(),
        subjects: vec!["ev.>".to_owned()],
        max_age: Duration::from_secs(3_600),
        ..Default::default()
    };
    context.create_stream(foreign.clone()).await.unwrap();
    let error = connect(&server, "").await.unwrap_err();
    let LogError::Unfit { why, .. } = &error else { panic!("{error}") };
    for expected in ["not made by retrace", "by age", "discards old events", "atomic batches"] {
        assert!(why.contains(expected), "{why}");
    }
    context.delete_stream("retrace").await.unwrap();
    let metadata = [("retrace_layout".to_owned(), "2".to_owned())].into();
    context.create_stream(async_nats::jetstream::stream::Config { metadata, ..foreign }).await.unwrap();
    let error = connect(&server, "").await.unwrap_err();
    assert!(matches!(&error, LogError::Newer { .. }), "{error}");
}

#[tokio::test]
async fn a_stream_that_is_full_refuses_and_says_so() {
    let server = NatsServer::start();
    let log = connect(&server, "max_bytes=20000000").await.unwrap();
    let stream = example_stream("full");
    let mut maker = EventMaker::new(stream.clone(), 1);
    let mut stored = 0;
    let refused = loop {
        let event = maker.opaque("future.body", 600_000);
        match log.append(std::slice::from_ref(&event)).await {
            Ok(()) => stored += 1,
            Err(e) => {
                assert!(matches!(&e, LogError::Full { why, .. } if why.contains("max_bytes")), "{e}");
                break event;
            }
        }
    };
    assert!(stored > 20, "{stored}");
    let mut batch = vec![refused.clone()];
    batch.extend(maker.prompts(3));
    let error = log.append(&batch).await.unwrap_err();
    assert!(matches!(&error, LogError::Full { .. }), "{error}");
    assert_eq!(retrace_events::verify::verify_stream(&log, &stream).await.unwrap().events, stored);
    // Somebody makes room: the same handle goes on with the same batch.
    let context = async_nats::jetstream::new(async_nats::connect(server.url()).await.unwrap());
    let mut config = context.get_stream("retrace").await.unwrap().cached_info().config.clone();
    config.max_bytes *= 2;
    context.update_stream(&config).await.unwrap();
    log.append(&batch).await.unwrap();
    assert_eq!(retrace_events::verify::verify_stream(&log, &stream).await.unwrap().events, stored + 4);
}

#[tokio::test]
async fn a_log_is_opened_by_its_location() {
    let (server, dir) = (NatsServer::start(), tempfile::tempdir().unwrap());
    let locations = [server.url(), dir.path().join("log").display().to_string()];
    for location in locations {
        let log = open_log(&location.parse::<LogLocation>().unwrap()).await.unwrap();
        assert_eq!(log.location(), location);
        log.append(&EventMaker::new(example_stream("opened"), 1).prompts(1)).await.unwrap();
        assert_eq!(log.durability(), Durability::PowerLoss);
    }
}
