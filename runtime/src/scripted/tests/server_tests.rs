//! The routes over real HTTP: headers, sizes, side endpoint, answers in one piece, and stopping.

use std::time::Duration;

use retrace_events::hash::Hash;
use serde_json::{Value, json};

use super::{request, script, user, with};
use crate::scripted::{ScriptedServer, ServerError, ServerOptions};

const KEY: &str = ServerOptions::DEFAULT_API_KEY;

const SCRIPT: &str = "
[[step]]
name = 'hello'
when = 'hi'
block = [
  { type = 'thinking', text = 'hm' },
  { type = 'text', text = 'hello' },
  { type = 'tool_use', name = 'a', raw_input = '{\"x\":' },
]
[[step]]
name = 'cut'
when = 'cut'
block = [{ type = 'text', text = 'never seen' }]
fault = [{ cut_after_bytes = 20 }, { error_mid_stream = 'overloaded_error' }, { hang = true }]
";

async fn serve() -> ScriptedServer {
    ScriptedServer::start(script(SCRIPT), ServerOptions::default()).await.unwrap()
}

fn http() -> reqwest::Client {
    reqwest::Client::builder()
        .no_proxy()
        .timeout(Duration::from_secs(20))
        .tls_backend_preconfigured(crate::claude::test_tls().unwrap())
        .build()
        .unwrap()
}

/// Posts `body` with all headers but those in `without`.
async fn post(
    server: &ScriptedServer,
    path: &str,
    body: impl Into<reqwest::Body>,
    without: &[&str],
) -> reqwest::Response {
    let mut call = http().post(format!("{}{path}", server.base_url())).body(body);
    for (name, value) in [("x-api-key", KEY), ("anthropic-version", "2023-06-01"), ("content-type", "application/json")]
    {
        if !without.contains(&name) {
            call = call.header(name, value);
        }
    }
    call.send().await.unwrap()
}

/// The status and message of a refusal, whose shape is checked.
async fn refusal(response: reqwest::Response) -> (u16, String, String) {
    let status = response.status().as_u16();
    let header = response.headers()["request-id"].to_str().unwrap().to_owned();
    let json: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(json["type"], "error");
    assert_eq!(json["request_id"], json!(header));
    let text = |name: &str| json["error"][name].as_str().unwrap().to_owned();
    (status, text("type"), text("message"))
}

#[tokio::test]
async fn an_answer_in_one_piece() {
    let server = serve().await;
    let response = post(
        &server,
        "/v1/messages",
        with(json!({ "thinking": { "type": "adaptive", "display": "summarized" } })).to_string(),
        &[],
    )
    .await;
    assert_eq!(response.status(), 200);
    let json: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(
        (&json["type"], &json["role"], &json["stop_reason"]),
        (&json!("message"), &json!("assistant"), &json!("tool_use"))
    );
    assert_eq!(json["content"][0]["thinking"], "hm");
    assert_eq!(json["content"][1], json!({ "type": "text", "text": "hello" }));
    assert_eq!(json["content"][2]["input"], json!({}), "broken input is an empty object in one piece");
    assert!(json["id"].as_str().unwrap().starts_with("msg_") && json["usage"]["output_tokens"].as_u64().unwrap() > 1);

    let bare = post(&server, "/v1/messages", with(json!({ "max_tokens": 0 })).to_string(), &[]).await;
    let json: Value = serde_json::from_str(&bare.text().await.unwrap()).unwrap();
    assert_eq!(
        (&json["content"], &json["stop_reason"]),
        (&json!([]), &json!("max_tokens")),
        "0 tokens only fill the cache"
    );
}

#[tokio::test]
async fn headers_are_required() {
    let server = serve().await;
    let body = || request().to_string();
    let (status, kind, message) = refusal(post(&server, "/v1/messages", body(), &["anthropic-version"]).await).await;
    assert_eq!(
        (status, kind.as_str(), message.as_str()),
        (400, "invalid_request_error", "anthropic-version: header is required")
    );
    let (status, kind, message) = refusal(post(&server, "/v1/messages", body(), &["x-api-key"]).await).await;
    assert_eq!(
        (status, kind.as_str(), message.as_str()),
        (401, "authentication_error", "x-api-key header is required")
    );
    let keyed = |name: &'static str, value: &'static str, version: &'static str| {
        http()
            .post(format!("{}/v1/messages", server.base_url()))
            .header(name, value)
            .header("anthropic-version", version)
            .body(body())
            .send()
    };
    let wrong = refusal(keyed("x-api-key", "nope", "2023-06-01").await.unwrap()).await;
    assert_eq!((wrong.0, wrong.2.as_str()), (401, "invalid x-api-key"));
    let wrong = refusal(keyed("authorization", "Bearer nope", "2023-06-01").await.unwrap()).await;
    assert_eq!((wrong.0, wrong.2.as_str()), (401, "Invalid bearer token"));
    let wrong = refusal(keyed("x-api-key", KEY, "1999-01-01").await.unwrap()).await;
    assert_eq!((wrong.0, wrong.2.as_str()), (400, "anthropic-version: \"1999-01-01\" is not a valid version"));
    assert_eq!(keyed("authorization", "Bearer scripted-key", "2026-10-21").await.unwrap().status(), 200);
}

#[tokio::test]
async fn bodies_that_are_no_json() {
    let server = serve().await;
    let mut bad_utf8 = request().to_string().into_bytes();
    let at = bad_utf8.iter().position(|b| *b == b'h').unwrap();
    bad_utf8[at] = 0xff;
    for body in [Vec::new(), b"{".to_vec(), b"hello".to_vec(), bad_utf8, b"{} {}".to_vec()] {
        let (status, kind, message) = refusal(post(&server, "/v1/messages", body, &[]).await).await;
        assert_eq!((status, kind.as_str()), (400, "invalid_request_error"));
        assert!(message.starts_with("The request body is not valid JSON"), "{message}");
    }
}

#[tokio::test]
async fn sizes_models_paths_and_methods() {
    let server = serve().await;
    let size = 32 << 20;
    let padded = |size: usize| {
        let mut body = request().to_string();
        body.push_str(&" ".repeat(size - body.len()));
        body
    };
    assert_eq!(post(&server, "/v1/messages", padded(size), &[]).await.status(), 200);
    let (status, kind, _) = refusal(post(&server, "/v1/messages", padded(size + 1), &[]).await).await;
    assert_eq!((status, kind.as_str()), (413, "request_too_large"));
    let unknown = with(json!({ "model": "gpt-5" })).to_string();
    let (status, kind, message) = refusal(post(&server, "/v1/messages", unknown, &[]).await).await;
    assert_eq!((status, kind.as_str(), message.as_str()), (404, "not_found_error", "model: gpt-5"));
    let (status, kind, _) = refusal(post(&server, "/v1/complete", "{}", &[]).await).await;
    assert_eq!((status, kind.as_str()), (404, "not_found_error"));
    assert_eq!(http().get(format!("{}/v1/messages", server.base_url())).send().await.unwrap().status(), 405);
}

#[tokio::test]
async fn what_was_received_is_remembered() {
    let server = serve().await;
    let body = request().to_string();
    post(&server, "/v1/messages", body.clone(), &[]).await.text().await.unwrap();
    post(&server, "/v1/messages", body.clone(), &[]).await.text().await.unwrap();
    post(&server, "/v1/messages", "{", &[]).await.text().await.unwrap();
    post(&server, "/v1/messages", with(json!({ "messages": [user(json!("what?"))] })).to_string(), &[])
        .await
        .text()
        .await
        .unwrap();
    let list =
        http().get(format!("{}/scripted/requests", server.base_url())).send().await.unwrap().text().await.unwrap();
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["requests"], serde_json::to_value(server.requests()).unwrap());
    let first = &list["requests"][0];
    assert_eq!(first["body_hash"], Hash::of(body.as_bytes()).to_string());
    assert_eq!(
        (&first["index"], &first["size_bytes"], &first["path"]),
        (&json!(0), &json!(body.len()), &json!("/v1/messages"))
    );
    assert_eq!((&first["step"], &first["attempt"], &first["status"]), (&json!("hello"), &json!(0), &json!(200)));
    assert_eq!(list["requests"][1]["attempt"], 1);
    assert!(list["requests"][2]["refusal"].as_str().unwrap().starts_with("invalid_request_error: The request body"));
    assert!(list["requests"][3]["refusal"].as_str().unwrap().contains("no step fits turn 1 after \"what?\""));
}

#[tokio::test]
async fn faults_of_answers_in_one_piece() {
    let server = serve().await;
    let body = with(json!({ "messages": [user(json!("cut"))] })).to_string();
    let cut = post(&server, "/v1/messages", body.clone(), &[]).await;
    assert_eq!(cut.status(), 200);
    assert!(cut.text().await.is_err(), "the connection breaks in the body");
    let (status, kind, _) = refusal(post(&server, "/v1/messages", body.clone(), &[]).await).await;
    assert_eq!((status, kind.as_str()), (529, "overloaded_error"), "without a stream an error comes at once");
    let faults: Vec<_> = server.requests().into_iter().map(|record| record.fault.unwrap()).collect();
    assert_eq!(faults, ["cut", "overloaded_error in mid-stream"]);
}

#[tokio::test]
async fn models_are_listed() {
    let server = serve().await;
    let get = |path: &str| {
        http()
            .get(format!("{}{path}", server.base_url()))
            .header("x-api-key", KEY)
            .header("anthropic-version", "2023-06-01")
            .send()
    };
    let list: Value = serde_json::from_str(&get("/v1/models").await.unwrap().text().await.unwrap()).unwrap();
    assert!(list["data"].as_array().unwrap().len() > 15 && list["has_more"] == json!(false));
    let one: Value =
        serde_json::from_str(&get("/v1/models/claude-opus-5-5").await.unwrap().text().await.unwrap()).unwrap();
    assert_eq!((&one["id"], &one["max_tokens"]), (&json!("claude-opus-5-5"), &json!(128_000)));
    assert_eq!(get("/v1/models/none").await.unwrap().status(), 404);
    assert_eq!(http().get(format!("{}/v1/models", server.base_url())).send().await.unwrap().status(), 400);
}

#[tokio::test]
async fn it_listens_on_this_machine_only_and_says_when_it_cannot() {
    let server = serve().await;
    let port: u16 = server.base_url().strip_prefix("http://127.0.0.1:").unwrap().parse().unwrap();
    let taken = ScriptedServer::start(script(SCRIPT), ServerOptions { port, ..ServerOptions::default() }).await;
    assert!(matches!(taken, Err(ServerError::Bind { port: named, .. }) if named == port));
}

#[tokio::test]
async fn stopping_ends_hanging_requests_and_frees_the_port() {
    let server = serve().await;
    let url = server.base_url();
    let body = with(json!({ "messages": [user(json!("cut"))] })).to_string();
    drop(post(&server, "/v1/messages", body.clone(), &[]).await);
    drop(post(&server, "/v1/messages", body.clone(), &[]).await);
    let target = format!("{url}/v1/messages");
    let hanging = tokio::spawn(async move {
        http().post(target).header("x-api-key", KEY).header("anthropic-version", "2023-06-01").body(body).send().await
    });
    while server.requests().len() < 3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.requests()[2].status, None);
    tokio::time::timeout(Duration::from_secs(5), server.shutdown()).await.unwrap();
    let ended = hanging.await.unwrap();
    assert!(ended.is_err() || ended.unwrap().status() == 503);
    assert!(http().get(url).send().await.is_err(), "nobody listens any more");
}
