//! The client and the scripted server together, over real HTTP: whole conversations, cancelling, counting.

use bytes::Bytes;
use retrace_events::hash::Hash;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{KEY, ask, client, endpoint, quick, send, serve};
use crate::claude::{Auth, Block, ClaudeClient, Delta, Endpoint, FailureKind, Secret, Sent, StopReason};

const CONVERSATION: &str = r#"
[[step]]
when = "what is in (\\S+)\\?"
[[step.block]]
type = "thinking"
text = "I should look into $1 — 見る"
[[step.block]]
type = "text"
text = "Let me see."
[[step.block]]
type = "tool_use"
name = "read_file"
input = { path = "$1" }
[[step.block]]
type = "tool_use"
name = "bash"
input = { command = "wc -l $1 | awk '{print $2}' \"$HOME\"" }

[[step]]
when = "(?s)lines.*(\\d+) x"
[[step.block]]
type = "thinking"
[[step.block]]
type = "text"
text = "It has $1 lines."
"#;

/// The request that follows `answer`, whose content goes back as it came, with `results` for its calls.
fn follow(request: &Value, content_json: &str, results: Value) -> String {
    let messages = request["messages"].to_string();
    let messages = format!(
        r#"{},{{"role":"assistant","content":{content_json}}},{{"role":"user","content":{results}}}]"#,
        &messages[..messages.len() - 1]
    );
    let mut next = request.clone();
    next["messages"] = json!("HERE");
    next.to_string().replace("\"HERE\"", &messages)
}

#[tokio::test]
async fn a_conversation_with_thinking_and_tools() {
    let server = serve(CONVERSATION).await;
    let client = client(&server.base_url());
    let request = ask("what is in a.txt?");
    let (answer, deltas) = send(&client, &request).await;
    let answer = answer.unwrap();

    assert_eq!(answer.stop_reason, StopReason::ToolUse);
    assert_eq!(answer.model, "claude-opus-5-5");
    assert!(
        matches!(&answer.blocks[0], Block::Thinking { text, signature } if text == "I should look into a.txt — 見る" && !signature.is_empty())
    );
    assert_eq!(answer.blocks[1], Block::Text { text: "Let me see.".to_owned() });
    let calls: Vec<_> = answer.tool_calls().collect();
    assert_eq!((calls[0].1, calls[0].2), ("read_file", r#"{"path":"a.txt"}"#));
    assert_eq!(calls[1].2, r#"{"command":"wc -l a.txt | awk '{print $2}' \"$HOME\""}"#);
    assert_ne!(calls[0].0, calls[1].0);
    assert!(answer.usage.output_tokens > 1 && answer.usage.input_tokens > 0);

    let shown: String = deltas
        .iter()
        .filter_map(|delta| if let Delta::Text { text, .. } = delta { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!(shown, "Let me see.");
    assert_eq!(deltas.iter().filter(|delta| matches!(delta, Delta::BlockStop { .. })).count(), 4);
    assert!(deltas.iter().any(|delta| matches!(delta, Delta::ToolStart { name, .. } if name == "bash")));

    let results = json!([
        { "type": "tool_result", "tool_use_id": calls[0].0, "content": "lines" },
        { "type": "tool_result", "tool_use_id": calls[1].0, "content": [{ "type": "text", "text": "17 x" }], "is_error": true },
    ]);
    let body = Bytes::from(follow(&request, &answer.content_json, results));
    let next = client.send(body.clone(), &[], drop, &CancellationToken::new()).await.unwrap();
    assert_eq!(next.stop_reason, StopReason::EndTurn);
    assert_eq!(next.blocks[1], Block::Text { text: "It has 7 lines.".to_owned() });
    assert_ne!(next.message_id, answer.message_id);

    let records = server.requests();
    assert_eq!(records.len(), 2);
    assert_eq!((records[1].body_hash, records[1].size_bytes), (Hash::of(&body), body.len()));
    assert_eq!(records[1].request_id, next.request_id.unwrap());
    assert!(records.iter().all(|record| record.status == Some(200) && record.refusal.is_none()));
    server.shutdown().await;
}

#[tokio::test]
async fn the_same_request_gets_the_same_answer_on_any_server() {
    let request = ask("what is in a.txt?");
    let mut answers = Vec::new();
    for _ in 0..2 {
        let server = serve(CONVERSATION).await;
        let client = client(&server.base_url());
        for _ in 0..2 {
            let answer = send(&client, &request).await.0.unwrap();
            answers.push((answer.content_json, answer.message_id));
        }
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
}

#[tokio::test]
async fn cancelling_works_before_during_and_after_the_headers() {
    let server = serve(
        "
[[step]]
when = 'hang'
fault = [{ hang = true }]
[[step]]
block = [{ type = 'text', text = 'a long, long, long text' }]
fault = [{ stall_after_events = 4 }]
",
    )
    .await;
    let client = client(&server.base_url());

    let cancel = CancellationToken::new();
    cancel.cancel();
    let failure = client.send(Bytes::from(ask("x").to_string()), &[], drop, &cancel).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent), (FailureKind::Cancelled, Sent::Nothing));
    assert!(server.requests().is_empty(), "nothing was sent");

    let cancel = CancellationToken::new();
    let (watcher, wait) = (cancel.clone(), server.requests().len() + 1);
    let hanging = client.send(Bytes::from(ask("hang").to_string()), &[], drop, &cancel);
    let (failure, ()) = tokio::join!(hanging, async {
        while server.requests().len() < wait {
            tokio::task::yield_now().await;
        }
        watcher.cancel();
    });
    let failure = failure.unwrap_err();
    assert_eq!((failure.kind, failure.sent, failure.status), (FailureKind::Cancelled, Sent::Unanswered, None));
    assert!(!failure.is_retryable());

    let cancel = CancellationToken::new();
    let watcher = cancel.clone();
    let on_delta = move |delta| {
        if matches!(delta, Delta::Text { .. }) {
            watcher.cancel();
        }
    };
    let failure = client.send(Bytes::from(ask("stall").to_string()), &[], on_delta, &cancel).await.unwrap_err();
    assert_eq!((failure.kind, failure.sent, failure.status), (FailureKind::Cancelled, Sent::Partly, Some(200)));
    assert!(failure.partial.unwrap().content_json.contains("a long"));
    assert!(failure.request_id.is_some());
}

#[tokio::test]
async fn wrong_keys_and_models_are_told_apart() {
    let server = serve("[[step]]\nblock = [{ type = 'text', text = 'hi' }]").await;
    let wrong = Endpoint::new(server.base_url(), Auth::ApiKey(Secret::new("wrong")));
    let failure = send(&ClaudeClient::new(&wrong).unwrap(), &ask("x")).await.0.unwrap_err();
    assert_eq!((failure.kind, failure.status), (FailureKind::Authentication, Some(401)));
    assert_eq!(failure.error_type.as_deref(), Some("authentication_error"));
    assert_eq!(failure.sent, Sent::Refused);

    let bearer = Endpoint::new(server.base_url(), Auth::Bearer(Secret::new(KEY)));
    assert!(send(&ClaudeClient::new(&bearer).unwrap(), &ask("x")).await.0.is_ok());

    let mut unknown = ask("x");
    unknown["model"] = json!("claude-nonsense-9");
    let failure = send(&client(&server.base_url()), &unknown).await.0.unwrap_err();
    assert_eq!((failure.kind, failure.status), (FailureKind::NotFound, Some(404)));
    assert_eq!(failure.message, "404 not_found_error: model: claude-nonsense-9");
}

#[tokio::test]
async fn tokens_are_counted() {
    let server = serve("[[step]]\nblock = [{ type = 'text', text = 'hi' }]").await;
    let client = client(&server.base_url());
    let count = |text: String| {
        let body = json!({ "model": "claude-opus-5-5", "messages": [{ "role": "user", "content": text }] });
        let client = client.clone();
        async move { client.count_tokens(Bytes::from(body.to_string()), &[], &CancellationToken::new()).await }
    };
    let (short, long) = (count("x".to_owned()).await.unwrap(), count("x".repeat(4_000)).await.unwrap());
    assert!(short > 0 && (long - short).abs_diff(1_000) < 5, "{short} {long}");
    let body = Bytes::from(ask("x").to_string());
    let failure = client.count_tokens(body, &[], &CancellationToken::new()).await.unwrap_err();
    assert_eq!(failure.message, "400 invalid_request_error: max_tokens: Extra inputs are not permitted");
}

/// Runs itself again in a process whose environment sends all traffic through a proxy that does not exist.
#[tokio::test]
async fn proxies_of_the_environment_are_not_used_for_this_machine() {
    const CHILD: &str = "RETRACE_TEST_PROXY_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let server = serve("[[step]]\nblock = [{ type = 'text', text = 'hi' }]").await;
        let client = ClaudeClient::new(&endpoint(&server.base_url(), quick())).unwrap();
        send(&client, &ask("x")).await.0.unwrap();
        return;
    }
    let name = "claude::tests::client_tests::proxies_of_the_environment_are_not_used_for_this_machine";
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--test-threads=1"]).env(CHILD, "1").env_remove("NO_PROXY").env_remove("no_proxy");
    for proxy in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        command.env(proxy, "http://127.0.0.1:1");
    }
    let output = command.output().await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[tokio::test]
async fn connections_are_used_again_after_an_answer() {
    let server = serve("[[step]]\nblock = [{ type = 'text', text = 'hi' }]").await;
    let client = client(&server.base_url());
    for _ in 0..50 {
        send(&client, &ask("x")).await.0.unwrap();
    }
    assert_eq!(server.requests().len(), 50);
    assert!(server.connections() < 5, "{} connections", server.connections());
}
