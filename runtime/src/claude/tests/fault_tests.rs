//! Every fault that the scripted server can play, as the client sees it.

use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::json;

use super::{ask, client, endpoint, quick, send, serve};
use crate::claude::{Answer, Block, ClaudeClient, Failure, FailureKind, RetryPolicy, Sent, Timeouts};

const TEXT: &str = "Grüße aus 東京 🦀, and a little more so that there are several deltas.";

/// Events of the answer below.
const EVENTS: usize = 17;

fn script(fault: &str) -> String {
    format!(
        r#"
[[step]]
[[step.block]]
type = "thinking"
text = "naïve 思考"
[[step.block]]
type = "text"
text = "{TEXT}"
[[step.block]]
type = "tool_use"
name = "bash"
input = {{ command = "echo 'ü'" }}
{fault}
"#
    )
}

async fn first_attempt(fault: &str, timeouts: Timeouts) -> Result<Answer, Failure> {
    let server = serve(&script(fault)).await;
    let client = ClaudeClient::new(&endpoint(&server.base_url(), timeouts)).unwrap();
    let result = send(&client, &ask("x")).await.0;
    if result.is_err() {
        // The fault is used up: the same request now gets the answer that it would have got.
        let again = send(&client, &ask("x")).await.0.unwrap();
        let plain = serve(&script("")).await;
        let unspoiled = send(&super::client(&plain.base_url()), &ask("x")).await.0.unwrap();
        assert_eq!(again.content_json, unspoiled.content_json, "{fault}");
        let attempts: Vec<_> =
            server.requests().iter().map(|record| (record.attempt, record.fault.is_some())).collect();
        assert_eq!(attempts, [(Some(0), true), (Some(1), false)]);
    }
    result
}

async fn fails(fault: &str) -> Failure {
    first_attempt(fault, quick()).await.unwrap_err()
}

#[tokio::test]
async fn error_statuses_with_their_headers() {
    let failure = fails("[[step.fault]]\nstatus = 429\nretry_after = 61").await;
    assert_eq!((failure.kind, failure.status, failure.sent), (FailureKind::RateLimited, Some(429), Sent::Refused));
    assert_eq!((failure.retry_after_ms, failure.should_retry), (Some(61_000), None));
    assert_eq!(failure.error_type.as_deref(), Some("rate_limit_error"));
    assert_eq!(failure.request_id.as_deref(), Some("req_scripted_000000"));
    assert_eq!(failure.partial, None);

    let failure = fails("[[step.fault]]\nstatus = 529\nretry_after_ms = 20\nretry_after = 9\nmessage = 'busy'").await;
    assert_eq!((failure.kind, failure.retry_after_ms), (FailureKind::Overloaded, Some(20)));
    assert_eq!(failure.message, "529 overloaded_error: busy");

    let failure = fails("[[step.fault]]\nstatus = 500\nshould_retry = false").await;
    assert_eq!((failure.kind, failure.is_retryable()), (FailureKind::Server, false));
    let failure = fails("[[step.fault]]\nstatus = 400\nshould_retry = true").await;
    assert_eq!((failure.kind, failure.is_retryable()), (FailureKind::InvalidRequest, true));
    let failure = fails("[[step.fault]]\nstatus = 401").await;
    assert_eq!((failure.kind, failure.is_retryable()), (FailureKind::Authentication, false));
    let failure = fails("[[step.fault]]\nstatus = 503\nretry_after = 'Wed, 21 Oct 2015 07:28:00 GMT'").await;
    assert_eq!(failure.retry_after_ms, Some(0), "a date in the past");
    let failure = fails("[[step.fault]]\nstatus = 403\nerror_type = 'billing_error'").await;
    assert_eq!((failure.kind, failure.error_type.as_deref()), (FailureKind::Permission, Some("billing_error")));
}

#[tokio::test]
async fn errors_in_mid_stream() {
    let failure =
        fails("[[step.fault]]\nerror_mid_stream = 'overloaded_error'\nafter_events = 5\nmessage = 'Overloaded'").await;
    assert_eq!((failure.kind, failure.status, failure.sent), (FailureKind::Overloaded, Some(200), Sent::Partly));
    assert_eq!(failure.message, "overloaded_error: Overloaded");
    assert!(failure.is_retryable());
    assert!(failure.partial.unwrap().content_json.starts_with(r#"[{"type":"thinking""#));

    let failure = fails("[[step.fault]]\nerror_mid_stream = 'api_error'\nafter_bytes = 900").await;
    assert_eq!((failure.kind, failure.error_type.as_deref()), (FailureKind::Server, Some("api_error")));
    let failure = fails("[[step.fault]]\nerror_mid_stream = 'invalid_request_error'\nafter_events = 0").await;
    assert_eq!((failure.kind, failure.is_retryable()), (FailureKind::InvalidRequest, false));
}

#[tokio::test]
async fn cut_connections_and_early_ends() {
    for events in 0..EVENTS {
        let failure = fails(&format!("[[step.fault]]\ncut_after_events = {events}")).await;
        assert_eq!(failure.kind, FailureKind::Unfinished, "{events}: {}", failure.message);
        assert_eq!(failure.sent, if events == 0 { Sent::Accepted } else { Sent::Partly }, "{events}");
        assert_eq!(failure.partial.is_some(), events > 0, "what was sent before the cut has arrived");
        assert!(failure.is_retryable());
    }
    let whole = first_attempt(&format!("[[step.fault]]\ncut_after_events = {EVENTS}"), quick()).await;
    assert!(whole.is_ok(), "a cut behind message_stop loses nothing");
    for bytes in [1, 50, 500, 1_001] {
        let failure = fails(&format!("[[step.fault]]\ncut_after_bytes = {bytes}")).await;
        assert_eq!(failure.kind, FailureKind::Unfinished, "{bytes}");
    }
    for events in [0, 1, 5, 15] {
        let failure = fails(&format!("[[step.fault]]\nend_after_events = {events}")).await;
        assert_eq!(failure.kind, FailureKind::Unfinished);
        assert_eq!(failure.message, "the answer ended before it was complete");
    }
}

#[tokio::test]
async fn silence() {
    let failure = fails("[[step.fault]]\nhang = true").await;
    assert_eq!((failure.kind, failure.sent, failure.status), (FailureKind::Timeout, Sent::Unanswered, None));
    let failure = fails("[[step.fault]]\nstall_after_events = 0").await;
    assert_eq!((failure.kind, failure.sent, failure.status), (FailureKind::Timeout, Sent::Accepted, Some(200)));
    let failure = fails("[[step.fault]]\nstall_after_events = 6").await;
    assert_eq!((failure.kind, failure.sent), (FailureKind::Timeout, Sent::Partly));
}

#[tokio::test]
async fn odd_but_legal_deliveries_change_nothing() {
    let plain = first_attempt("", quick()).await.unwrap();
    assert_eq!(plain.blocks[1], Block::Text { text: TEXT.to_owned() });
    for delivery in [
        "delivery = { split = 1 }",
        "delivery = { split = 3 }",
        "delivery = { split = 7, odd = true }",
        "delivery = { odd = true, delta_chars = 1 }",
        "delivery = { delta_chars = 100000 }",
        "delivery = { split = 400, delay_ms = 2 }",
    ] {
        let script = script("").replace("[[step]]\n", &format!("[[step]]\n{delivery}\n"));
        let server = serve(&script).await;
        let (answer, deltas) = send(&client(&server.base_url()), &ask("x")).await;
        assert_eq!(answer.unwrap().content_json, plain.content_json, "{delivery}");
        assert!(deltas.len() >= 6, "{delivery}");
    }
}

#[tokio::test]
async fn slow_bytes_are_waited_for_as_long_as_they_come() {
    let script = script("").replace("[[step]]\n", "[[step]]\ndelivery = { split = 200, delay_ms = 40 }\n");
    let server = serve(&script).await;
    let timeouts = Timeouts { idle: Duration::from_millis(300), ..Timeouts::default() };
    let client = ClaudeClient::new(&endpoint(&server.base_url(), timeouts)).unwrap();
    let began = std::time::Instant::now();
    assert!(send(&client, &ask("x")).await.0.is_ok());
    assert!(began.elapsed() > timeouts.idle, "the whole took longer than the idle limit");
}

#[tokio::test]
async fn faults_come_one_an_attempt_and_a_policy_gets_through() {
    let faults = "
[[step.fault]]
status = 429
retry_after_ms = 1
[[step.fault]]
status = 529
times = 2
[[step.fault]]
cut_after_events = 3
";
    let server = serve(&script(faults)).await;
    let client = client(&server.base_url());
    let policy = RetryPolicy { base: Duration::from_millis(1), ..RetryPolicy::default() };
    let mut rng = StdRng::seed_from_u64(1);
    let mut kinds = Vec::new();
    let mut attempt = 0;
    let answer = loop {
        attempt += 1;
        match send(&client, &ask("x")).await.0 {
            Ok(answer) => break answer,
            Err(failure) => {
                kinds.push(failure.kind);
                let wait = policy.next(attempt, &failure, &mut rng).expect("another attempt");
                assert!(wait <= Duration::from_millis(8), "{wait:?}");
            }
        }
    };
    use FailureKind::{Overloaded, RateLimited, Unfinished};
    assert_eq!(kinds, [RateLimited, Overloaded, Overloaded, Unfinished]);
    assert_eq!(answer.blocks.len(), 3);
    // Another body starts with the first fault again.
    assert_eq!(send(&client, &ask("y")).await.0.unwrap_err().kind, RateLimited);
}

#[tokio::test]
async fn broken_tool_json_comes_as_it_is() {
    let server = serve(
        "
[[step]]
stop_reason = 'max_tokens'
[[step.block]]
type = 'tool_use'
name = 'bash'
raw_input = '{\"command\": \"l'
",
    )
    .await;
    let client = client(&server.base_url());
    let answer = send(&client, &ask("x")).await.0.unwrap();
    let Block::ToolUse { id, broken_input, .. } = &answer.blocks[0] else { panic!("{:?}", answer.blocks) };
    assert_eq!(broken_input.as_deref(), Some(r#"{"command": "l"#));
    assert_eq!(answer.stop_reason.as_str(), "max_tokens");
    // What is kept of it can be sent back.
    let content: serde_json::Value = serde_json::from_str(&answer.content_json).unwrap();
    let mut next = ask("x");
    next["messages"].as_array_mut().unwrap().extend([
        json!({ "role": "assistant", "content": content }),
        json!({
            "role": "user",
            "content": [{ "type": "tool_result", "tool_use_id": id, "is_error": true, "content": "no" }],
        }),
    ]);
    let failure = send(&client, &next).await.0.unwrap_err();
    assert!(failure.message.contains("no step fits turn 2"), "only the script ends here: {}", failure.message);
}
