//! Claims on a server: holders that hang, answers that are none, servers that restart, accounts that may not ask.

use async_nats::{Client, Subscriber};
use futures::StreamExt;
use retrace_events::StreamId;
use retrace_events::log::{Claim, ClaimError, EventLog, Holder, LogError, NatsLog, NatsOptions};
use retrace_events::testing::conformance::example_holder;
use retrace_events::testing::{EventMaker, NatsConfig, NatsServer, example_stream};
use std::time::{Duration, Instant};

async fn log(server: &NatsServer) -> NatsLog {
    NatsLog::connect(&NatsOptions::new(&server.url())).await.unwrap()
}

fn subject(stream: &StreamId) -> String {
    format!("retrace.holder.{stream}")
}

fn held_by(outcome: Result<Claim, ClaimError>) -> Holder {
    match outcome {
        Err(ClaimError::Held(holder)) => holder,
        other => panic!("not held: {other:?}"),
    }
}

/// Somebody who listens where a holder would, as far as the server is concerned.
async fn listener(server: &NatsServer, stream: &StreamId) -> (Client, Subscriber) {
    let client = async_nats::connect(server.url()).await.unwrap();
    let questions = client.subscribe(subject(stream)).await.unwrap();
    // The server has taken the subscription when it answers what was sent behind it.
    async_nats::jetstream::new(client.clone()).query_account().await.unwrap();
    (client, questions)
}

#[tokio::test]
async fn a_holder_that_does_not_answer_is_an_unknown_one() {
    let (server, stream) = (NatsServer::start(), example_stream("hanging"));
    let log = log(&server).await;
    let (_client, questions) = listener(&server, &stream).await;
    let started = Instant::now();
    assert!(held_by(log.claim(&stream, &example_holder(1)).await).is_unknown());
    assert!((1_500..4_000).contains(&started.elapsed().as_millis()), "{:?}", started.elapsed());
    // Others are not affected.
    let started = Instant::now();
    let _other = log.claim(&example_stream("hanging-2"), &example_holder(1)).await.unwrap();
    assert!(started.elapsed() < Duration::from_millis(600));
    drop(questions);
    let until = Instant::now() + Duration::from_secs(20);
    while let Err(e) = log.claim(&stream, &example_holder(1)).await {
        assert!(Instant::now() < until, "{e}");
    }
}

#[tokio::test]
async fn an_answer_that_is_none_is_a_holder_all_the_same() {
    let (server, stream) = (NatsServer::start(), example_stream("odd"));
    let log = log(&server).await;
    let (client, mut questions) = listener(&server, &stream).await;
    let mine = example_holder(1);
    let long = format!(r#"{{"held":{{"host":"h","pid":1,"command":"{}","since":1}}}}"#, "x".repeat(500_000));
    let answers = ["", "{", "null", r#"{"held":null}"#, r#"{"held":{"host":"h"}}"#, "\u{0}\u{1b}[2J", long.as_str()];
    for answer in answers {
        let claiming = log.claim(&stream, &mine);
        let answering = async {
            let question = questions.next().await.unwrap();
            client.publish(question.reply.unwrap(), answer.to_owned().into()).await.unwrap();
        };
        let (outcome, ()) = tokio::join!(claiming, answering);
        assert!(held_by(outcome).is_unknown(), "{}", &answer[..answer.len().min(80)]);
    }
    // Words without end in an answer that is one are cut.
    let claiming = log.claim(&stream, &mine);
    let answering = async {
        let question = questions.next().await.unwrap();
        let answer = format!(r#"{{"held":{{"host":"h","pid":1,"command":"{}","since":1}}}}"#, "x".repeat(9_000));
        client.publish(question.reply.unwrap(), answer.into()).await.unwrap();
    };
    let (outcome, ()) = tokio::join!(claiming, answering);
    assert_eq!(held_by(outcome).command.len(), 1_000);
}

/// Somebody says for ever that the stream is free, and listens on.
#[tokio::test]
async fn one_that_never_goes_is_not_waited_for_for_ever() {
    let (server, stream) = (NatsServer::start(), example_stream("leaving"));
    let log = log(&server).await;
    let (client, mut questions) = listener(&server, &stream).await;
    let answering = tokio::spawn(async move {
        while let Some(question) = questions.next().await {
            client.publish(question.reply.unwrap(), "\"free\"".into()).await.unwrap();
        }
    });
    let started = Instant::now();
    assert!(held_by(log.claim(&stream, &example_holder(1)).await).is_unknown());
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    answering.abort();
}

/// Questions that are none are answered by a holder, and do it no harm.
#[tokio::test]
async fn a_holder_bears_odd_questions() {
    let (server, stream) = (NatsServer::start(), example_stream("asked"));
    let log = log(&server).await;
    let claim = log.claim(&stream, &example_holder(1)).await.unwrap();
    let client = async_nats::connect(server.url()).await.unwrap();
    for question in ["", "{", r#"{"number":-1,"listens":7}"#, r#"{"number":0,"listens":true}"#, &"x".repeat(900_000)] {
        // Without a place to answer to, too.
        client.publish(subject(&stream), question.to_owned().into()).await.unwrap();
        let answer = client.request(subject(&stream), question.to_owned().into()).await.unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&answer.payload).unwrap();
        assert_eq!(answer["held"], serde_json::to_value(example_holder(1)).unwrap());
    }
    drop(claim);
    // Its messages were no events: nothing of all that is stored.
    assert_eq!(log.end().await.unwrap().0, 0);
    let _claim = log.claim(&stream, &example_holder(2)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_survives_a_server_that_restarts() {
    let (mut server, stream) = (NatsServer::start(), example_stream("restart"));
    let holding = log(&server).await;
    let claim = holding.claim(&stream, &example_holder(1)).await.unwrap();
    let mut maker = EventMaker::new(stream.clone(), 1);
    for round in 0..3 {
        server.restart();
        // When it can append again it is connected again, and listens again.
        let event = maker.prompts(1);
        let until = Instant::now() + Duration::from_secs(30);
        while let Err(e) = holding.append(&event).await {
            assert!(matches!(e, LogError::Unavailable { .. }) && Instant::now() < until, "round {round}: {e}");
        }
        let other = log(&server).await;
        assert_eq!(held_by(other.claim(&stream, &example_holder(2)).await), example_holder(1));
        assert_eq!(held_by(holding.claim(&stream, &example_holder(2)).await), example_holder(1));
    }
    drop(claim);
    let _claim = log(&server).await.claim(&stream, &example_holder(2)).await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_away_is_no_holder() {
    let (mut server, stream) = (NatsServer::start(), example_stream("away"));
    let log = log(&server).await;
    server.kill();
    let error = log.claim(&stream, &example_holder(1)).await.unwrap_err();
    assert!(matches!(&error, ClaimError::Log(LogError::Unavailable { .. })), "{error}");
    // It has left nothing behind that would count as held.
    server.restart();
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        match log.claim(&stream, &example_holder(1)).await {
            Ok(_) => break,
            Err(ClaimError::Log(LogError::Unavailable { .. })) if Instant::now() < until => {}
            Err(e) => panic!("{e}"),
        }
    }
}

/// Where an account may not ask, sessions run without being told of each other; the fence is what they have.
#[tokio::test]
async fn an_account_that_may_not_ask_runs_sessions_all_the_same() {
    let server = NatsServer::start_with(NatsConfig { may_claim: false, ..NatsConfig::default() });
    let (one, two, stream) = (log(&server).await, log(&server).await, example_stream("forbidden"));
    let _first = one.claim(&stream, &example_holder(1)).await.unwrap();
    let _second = two.claim(&stream, &example_holder(2)).await.unwrap();
    one.append(&EventMaker::new(stream.clone(), 1).prompts(1)).await.unwrap();
    let fenced = two.append(&EventMaker::new(stream, 2).prompts(1)).await;
    assert!(matches!(fenced, Err(LogError::Fenced { .. })), "{fenced:?}");
}
