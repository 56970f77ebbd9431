//! The client against a server that breaks every rule.

use bytes::Bytes;
use tokio_util::sync::CancellationToken;

use super::raw_server::{RawServer, Say, response};
use super::{KEY, ask, endpoint, quick, send};
use crate::claude::exchange::Limits;
use crate::claude::{Auth, ClaudeClient, Endpoint, Failure, FailureKind, Secret, Sent};

const EVENTS: &str = "content-type: text/event-stream";
const HEAD: &str =
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"c\",\"usage\":{\"input_tokens\":5}}}\n\n";
const REST: &str = "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"hi\"}}\n\n\
    data: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
    data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n\
    data: {\"type\":\"message_stop\"}\n\n";

async fn failure_of(says: Vec<Say>) -> Failure {
    let server = RawServer::start(says).await;
    let client = ClaudeClient::new(&endpoint(&server.url(), quick())).unwrap();
    send(&client, &ask("hi")).await.0.unwrap_err()
}

#[tokio::test]
async fn the_request_is_exactly_what_was_given() {
    let server = RawServer::start(vec![response("200 OK", &[EVENTS], &format!("{HEAD}{REST}"))]).await;
    let client = ClaudeClient::new(&endpoint(&format!("{}/gw", server.url()), quick())).unwrap();
    let body = "{ \"odd\" :  1e0,\n\"é\":\"\\u0041\" }";
    let answer = client.send(Bytes::from(body), &["beta-1", "beta-2"], drop, &CancellationToken::new()).await.unwrap();
    assert_eq!(answer.content_json, r#"[{"type":"text","text":"hi"}]"#);
    let request = server.request().await;
    let (head, sent) = request.split_once("\r\n\r\n").unwrap();
    assert_eq!(sent, body);
    let mut lines: Vec<&str> = head.lines().collect();
    assert_eq!(lines.remove(0), "POST /gw/v1/messages HTTP/1.1");
    for header in [
        "x-api-key: scripted-key",
        "anthropic-version: 2023-06-01",
        "anthropic-beta: beta-1,beta-2",
        "content-type: application/json",
    ] {
        assert!(lines.contains(&header), "{header} is missing in {lines:?}");
    }
    assert!(lines.iter().any(|line| line.starts_with("user-agent: retrace/")));
    assert!(!head.to_lowercase().contains("authorization"));
}

#[tokio::test]
async fn a_token_goes_as_bearer_and_no_beta_header_without_betas() {
    let server = RawServer::start(vec![response("200 OK", &[EVENTS], &format!("{HEAD}{REST}"))]).await;
    let client = ClaudeClient::new(&Endpoint::new(server.url(), Auth::Bearer(Secret::new("tok")))).unwrap();
    send(&client, &ask("hi")).await.0.unwrap();
    let request = server.request().await.to_lowercase();
    assert!(request.contains("authorization: bearer tok\r\n") && !request.contains("x-api-key"));
    assert!(!request.contains("anthropic-beta"));
}

#[tokio::test]
async fn an_unreachable_server_bills_nothing() {
    let client = ClaudeClient::new(&endpoint("http://127.0.0.1:1", quick())).unwrap();
    let failure = send(&client, &ask("hi")).await.0.unwrap_err();
    assert_eq!((failure.kind, failure.sent, failure.status), (FailureKind::Connection, Sent::Nothing, None));
    assert!(failure.message.starts_with("cannot connect to the server:"), "{}", failure.message);
    assert!(failure.is_retryable());
}

#[tokio::test]
async fn a_connection_that_closes_without_a_word_leaves_the_bill_open() {
    let failure = failure_of(vec![]).await;
    assert_eq!((failure.kind, failure.sent), (FailureKind::Connection, Sent::Unanswered));
    let failure = failure_of(vec![Say::Bytes(b"HTTP/1.1 20".to_vec())]).await;
    assert_eq!((failure.kind, failure.sent), (FailureKind::Connection, Sent::Unanswered));
    let failure = failure_of(vec![Say::Bytes(b"SSH-2.0-OpenSSH\r\n".to_vec())]).await;
    assert_eq!((failure.kind, failure.sent), (FailureKind::Connection, Sent::Unanswered));
}

#[tokio::test]
async fn silence_before_and_after_the_headers() {
    let failure = failure_of(vec![Say::Silence]).await;
    assert_eq!((failure.kind, failure.sent), (FailureKind::Timeout, Sent::Unanswered));
    assert!(failure.message.contains("sent nothing for 400ms"), "{}", failure.message);

    let failure = failure_of(vec![response("200 OK", &[EVENTS, "request-id: req_9"], ""), Say::Silence]).await;
    assert_eq!((failure.kind, failure.sent), (FailureKind::Timeout, Sent::Accepted));
    assert_eq!(failure.request_id.as_deref(), Some("req_9"));

    let failure = failure_of(vec![response("200 OK", &[EVENTS], HEAD), Say::Silence]).await;
    assert_eq!((failure.kind, failure.sent), (FailureKind::Timeout, Sent::Partly));
    assert_eq!(failure.partial.unwrap().usage.input_tokens, 5);
}

#[tokio::test]
async fn bytes_that_trickle_are_cut_off_by_the_whole_limit() {
    let slow = endpoint("http://127.0.0.1:1", quick()).timeouts;
    let server = RawServer::start(vec![response("200 OK", &[EVENTS], HEAD), Say::Silence]).await;
    let timeouts = crate::claude::Timeouts { idle: slow.whole, whole: slow.idle, ..slow };
    let client = ClaudeClient::new(&endpoint(&server.url(), timeouts)).unwrap();
    let failure = send(&client, &ask("hi")).await.0.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Timeout, Sent::Partly));
    assert!(failure.message.contains("longer than 400ms"), "{}", failure.message);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let failure = failure_of(vec![response("307 Temporary Redirect", &["location: https://evil.example/"], "")]).await;
    assert_eq!((failure.kind, failure.sent, failure.status), (FailureKind::NotFound, Sent::Refused, Some(307)));
    assert!(failure.message.contains("redirected to https://evil.example/"), "{}", failure.message);
    assert!(!failure.is_retryable());
}

#[tokio::test]
async fn answers_that_are_no_event_stream() {
    let failure = failure_of(vec![response("200 OK", &["content-type: text/html"], "<h1>log in</h1>")]).await;
    assert_eq!((failure.kind, failure.sent), (FailureKind::Stream, Sent::Accepted));
    let failure = failure_of(vec![response("200 OK", &[], HEAD)]).await;
    assert_eq!(failure.kind, FailureKind::Stream);
    let failure = failure_of(vec![response("204 No Content", &[], "")]).await;
    assert_eq!(failure.kind, FailureKind::Stream);
    let failure = failure_of(vec![response("200 OK", &[EVENTS], "data: {\"type\":5}\n\n")]).await;
    assert_eq!((failure.kind, failure.sent), (FailureKind::Stream, Sent::Partly));
    let failure = failure_of(vec![response("200 OK", &[EVENTS], "")]).await;
    assert_eq!((failure.kind, failure.sent), (FailureKind::Unfinished, Sent::Accepted));
}

#[tokio::test]
async fn errors_without_the_apis_json() {
    let failure = failure_of(vec![response("502 Bad Gateway", &["retry-after: 3"], "<h1>bad\u{7} gateway</h1>")]).await;
    assert_eq!((failure.kind, failure.status, failure.retry_after_ms), (FailureKind::Server, Some(502), Some(3_000)));
    assert_eq!(failure.message, "502: <h1>bad  gateway</h1>");
    assert_eq!(failure.error_type, None);
    let failure = failure_of(vec![response("404 Not Found", &[], "")]).await;
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::NotFound, "404 without a reason"));
}

#[tokio::test]
async fn the_key_is_cut_out_of_what_a_server_sends_back() {
    let body = format!(
        r#"{{"type":"error","error":{{"type":"authentication_error","message":"bad key {KEY}\u001b[31m"}},"request_id":"r 7"}}"#
    );
    let failure = failure_of(vec![response("401 Unauthorized", &[], &body)]).await;
    assert_eq!(failure.kind, FailureKind::Authentication);
    assert_eq!(failure.message, "401 authentication_error: bad key [key] [31m");
    assert_eq!(failure.request_id.as_deref(), Some("r7"), "an id out of the body is made printable");
}

#[tokio::test]
async fn sizes_are_bounded() {
    let limits = Limits { answer_bytes: 4_000, event_bytes: 1_000, error_bytes: 100 };
    let with = |says| async move {
        let server = RawServer::start(says).await;
        let client = ClaudeClient::new(&endpoint(&server.url(), quick())).unwrap().with_limits(limits);
        send(&client, &ask("hi")).await.0.unwrap_err()
    };
    let long_event = format!("{HEAD}data: {}", "x".repeat(1_500));
    let failure = with(vec![response("200 OK", &[EVENTS], &long_event)]).await;
    assert_eq!((failure.kind, failure.sent), (FailureKind::Stream, Sent::Partly));
    assert!(failure.message.contains("larger than 1000 bytes"), "{}", failure.message);

    let pings = format!("{HEAD}{}", "data: {\"type\":\"ping\"}\n\n".repeat(500));
    let failure = with(vec![response("200 OK", &[EVENTS], &pings)]).await;
    assert_eq!(failure.kind, FailureKind::TooLarge);
    assert!(failure.message.contains("4000 bytes") && !failure.is_retryable(), "{}", failure.message);

    let failure = with(vec![response("500 Oops", &[], &"e".repeat(100_000)), Say::Silence]).await;
    assert_eq!(failure.kind, FailureKind::Server);
    assert!(failure.message.len() < 150, "{}", failure.message.len());
}

#[tokio::test]
async fn a_token_count_that_is_none() {
    for (kind, body, due) in [
        ("content-type: application/json", "{\"input_tokens\": 12}", Ok(12)),
        ("content-type: application/json", "{\"input_tokens\": -1}", Err(FailureKind::Stream)),
        ("content-type: application/json", "[]", Err(FailureKind::Stream)),
        ("content-type: text/plain", "12", Err(FailureKind::Stream)),
    ] {
        let server = RawServer::start(vec![response("200 OK", &[kind], body)]).await;
        let client = ClaudeClient::new(&endpoint(&server.url(), quick())).unwrap();
        let count = client.count_tokens(Bytes::from("{}"), &[], &CancellationToken::new()).await;
        assert_eq!(count.map_err(|failure| failure.kind), due, "{body}");
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_before_it_is() {
    let client = super::client("http://127.0.0.1:1");
    let cancel = CancellationToken::new();
    for betas in [&["a b"][..], &["a,b"], &[""], &["ok", "new\nline"]] {
        let failure = client.send(Bytes::from("{}"), betas, drop, &cancel).await.unwrap_err();
        assert_eq!((failure.kind, failure.sent), (FailureKind::InvalidRequest, Sent::Nothing), "{betas:?}");
    }
    let large = Bytes::from(vec![b' '; (32 << 20) + 1]);
    let failure = client.send(large, &[], drop, &cancel).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::TooLarge, Sent::Nothing));
}
