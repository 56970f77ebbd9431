//! Serving for other processes, and serving many clients at once.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use tokio_util::sync::CancellationToken;

use super::script;
use crate::claude::tests::{ask, client, send, serve};
use crate::claude::{Auth, Block, ClaudeClient, Endpoint, FailureKind, ModelRow, ModelTable, Secret, StopReason};
use crate::scripted::{ScriptedServer, ServerOptions, serve_until_ctrl_c};

/// Tells the process that it is the child of a test, and where to write its address.
const CHILD: &str = "RETRACE_TEST_SERVE_CHILD";

/// Runs itself again as a server of its own, talks to it, and stops it with Ctrl-C.
#[tokio::test]
async fn ctrl_c_stops_it_in_good_order() {
    if let Ok(path) = std::env::var(CHILD) {
        let script = script("[[step]]\nblock = [{ type = 'text', text = 'hello' }]");
        let ready = |url: &str| {
            // Renamed into place, so that nobody reads half an address.
            std::fs::write(format!("{path}.new"), url).unwrap();
            std::fs::rename(format!("{path}.new"), &path).unwrap();
        };
        serve_until_ctrl_c(script, ServerOptions::default(), ready).await.unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("url");
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "scripted::tests::serve_tests::ctrl_c_stops_it_in_good_order", "--test-threads=1"])
        .env(CHILD, &path)
        .stdout(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let url = loop {
        match std::fs::read_to_string(&path) {
            Ok(url) => break url,
            Err(_) => assert!(child.try_wait().unwrap().is_none(), "the server ended before it listened"),
        }
        tokio::task::yield_now().await;
    };
    let answer = send(&client(&url), &ask("x")).await.0.unwrap();
    assert_eq!(answer.blocks, [Block::Text { text: "hello".to_owned() }]);
    let pid = Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let status = tokio::time::timeout(Duration::from_secs(10), child.wait()).await.unwrap().unwrap();
    assert!(status.success(), "{status}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_conversations_at_once_do_not_disturb_each_other() {
    let server = serve(
        "[[step]]
when = 'number (\\d+)'
delivery = { split = 50 }
fault = [{ status = 529, retry_after_ms = 1 }]
block = [{ type = 'thinking' }, { type = 'tool_use', name = 'a', input = { n = '$1' } }]
[[step]]
when = 'result (\\d+)'
block = [{ type = 'text', text = 'got $1' }]",
    )
    .await;
    let client = client(&server.base_url());
    let talks = (0..40).map(|number| {
        let client = client.clone();
        tokio::spawn(async move {
            let mut request = ask(&format!("number {number}"));
            assert_eq!(send(&client, &request).await.0.unwrap_err().status, Some(529), "each body has its own faults");
            let answer = send(&client, &request).await.0.unwrap();
            assert_eq!(answer.stop_reason, StopReason::ToolUse);
            let (id, _, input) = answer.tool_calls().next().unwrap();
            assert_eq!(serde_json::from_str::<Value>(input).unwrap(), json!({ "n": number.to_string() }));
            let content: Value = serde_json::from_str(&answer.content_json).unwrap();
            let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": format!("result {number}") }]);
            request["messages"].as_array_mut().unwrap().extend([
                json!({ "role": "assistant", "content": content }),
                json!({ "role": "user", "content": result }),
            ]);
            let answer = send(&client, &request).await.0.unwrap();
            assert_eq!(answer.blocks, [Block::Text { text: format!("got {number}") }]);
        })
    });
    for talk in talks.collect::<Vec<_>>() {
        talk.await.unwrap();
    }
    let records = server.requests();
    assert_eq!(records.len(), 120);
    let indices: Vec<usize> = records.iter().map(|record| record.index).collect();
    assert_eq!(indices, (0..120).collect::<Vec<_>>());
    assert!(records.iter().all(|record| record.refusal.is_none()));
}

#[tokio::test]
async fn an_answer_that_is_being_sent_is_finished_before_it_stops() {
    let server = serve(
        "[[step]]
delivery = { split = 100, delay_ms = 10 }
block = [{ type = 'text', text = 'a text that takes its time to arrive at the other end' }]",
    )
    .await;
    let client = client(&server.base_url());
    let (began, mut beginning) = tokio::sync::mpsc::unbounded_channel();
    let answer = tokio::spawn(async move {
        let on_delta = move |delta| drop(began.send(delta));
        let body = ask("x").to_string().into();
        client.send(body, &[], on_delta, &CancellationToken::new()).await
    });
    assert!(beginning.recv().await.is_some());
    server.shutdown().await;
    let answer = answer.await.unwrap().unwrap();
    assert!(answer.content_json.contains("at the other end"));
}

#[tokio::test]
async fn a_dropped_server_cuts_what_it_was_sending() {
    let server = serve(
        "[[step]]
delivery = { split = 10, delay_ms = 60000 }
block = [{ type = 'text', text = 'never ends' }]",
    )
    .await;
    let client = client(&server.base_url());
    let answer = tokio::spawn(async move { send(&client, &ask("x")).await.0 });
    while server.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    drop(server);
    let failure = tokio::time::timeout(Duration::from_secs(10), answer).await.unwrap().unwrap().unwrap_err();
    assert!(failure.is_retryable(), "{failure:?}");
}

#[tokio::test]
async fn keys_and_models_of_its_own() {
    let models = ModelTable::builtin().unwrap();
    let house = ModelRow { id: "house-model".to_owned(), max_output_tokens: 10, ..models.row("claude-opus-4-8") };
    let models = models.with_overrides(&toml::to_string(&json!({ "model": [house] })).unwrap()).unwrap();
    let script = script("[[step]]\nblock = [{ type = 'thinking' }, { type = 'text', text = 'hello' }]");
    let options = ServerOptions { api_key: "house-key".to_owned(), models: Some(models), ..ServerOptions::default() };
    let server = ScriptedServer::start(script, options).await.unwrap();

    let refused = send(&client(&server.base_url()), &ask("x")).await.0.unwrap_err();
    assert_eq!(refused.kind, FailureKind::Authentication);
    let endpoint = Endpoint::new(server.base_url(), Auth::ApiKey(Secret::new("house-key")));
    let client = ClaudeClient::new(&endpoint).unwrap();
    let mut request = ask("x");
    request["model"] = json!("house-model");
    let refused = send(&client, &request).await.0.unwrap_err();
    assert!(refused.message.contains("1000 > 10, which is the maximum"), "{}", refused.message);
    request["max_tokens"] = json!(10);
    request.as_object_mut().unwrap().shift_remove("thinking");
    let answer = send(&client, &request).await.0.unwrap();
    assert_eq!(answer.blocks, [Block::Text { text: "hello".to_owned() }], "this model thinks only when it is asked to");
    assert_eq!(answer.model, "house-model");
}

#[tokio::test]
async fn the_cache_shows_in_usage_and_records() {
    let server = serve(
        "[[step]]
block = [{ type = 'text', text = 'one' }]
[[step]]
usage = { output_tokens = 77, input_tokens = 5 }
block = [{ type = 'text', text = 'two' }]",
    )
    .await;
    let client = client(&server.base_url());
    let mut request = ask("x");
    let system = "You are careful. ".repeat(400);
    request["system"] =
        json!([{ "type": "text", "text": system, "cache_control": { "type": "ephemeral", "ttl": "1h" } }]);
    let first = send(&client, &request).await.0.unwrap().usage;
    assert!(first.cache_creation_1h_input_tokens > 1_500 && first.cache_read_input_tokens == 0, "{first:?}");
    assert_eq!(first.cache_creation_5m_input_tokens, 0);
    request["messages"]
        .as_array_mut()
        .unwrap()
        .extend([json!({ "role": "assistant", "content": "one" }), json!({ "role": "user", "content": "and now?" })]);
    let second = send(&client, &request).await.0.unwrap().usage;
    assert_eq!(second.cache_read_input_tokens, first.cache_creation_input_tokens);
    assert_eq!((second.input_tokens, second.output_tokens), (5, 77), "the step's own figures");
    let records = server.requests();
    assert_eq!(records[0].cache_creation_input_tokens, first.cache_creation_input_tokens);
    assert_eq!(records[1].cache_read_input_tokens, second.cache_read_input_tokens);
}
