//! Tests of the client: decoder, assembler, table, retries, and the whole of it over real connections.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod assemble_tests;
mod client_tests;
mod endpoint_tests;
mod failure_tests;
mod fault_tests;
mod header_tests;
mod hostile_tests;
mod models_tests;
mod raw_server;
mod raw_server_tests;
mod raw_tests;
mod retry_tests;
mod sse_tests;
mod tls_tests;
mod usage_tests;

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Answer, Auth, ClaudeClient, Delta, Endpoint, Failure, Secret, Timeouts};
use crate::scripted::{Script, ScriptedServer, ServerOptions};

/// The key that the scripted servers of these tests want.
pub(crate) const KEY: &str = ServerOptions::DEFAULT_API_KEY;

/// Short limits, so that a test of silence is quick; long enough for a busy machine otherwise.
pub(crate) fn quick() -> Timeouts {
    Timeouts { connect: Duration::from_secs(5), idle: Duration::from_millis(400), whole: Duration::from_secs(20) }
}

pub(crate) fn endpoint(base_url: &str, timeouts: Timeouts) -> Endpoint {
    Endpoint { timeouts, ..Endpoint::new(base_url, Auth::ApiKey(Secret::new(KEY))) }
}

pub(crate) fn client(base_url: &str) -> ClaudeClient {
    ClaudeClient::new(&endpoint(base_url, Timeouts::default())).unwrap()
}

pub(crate) async fn serve(script: &str) -> ScriptedServer {
    ScriptedServer::start(Script::parse(script).unwrap(), ServerOptions::default()).await.unwrap()
}

/// A streaming request whose only message is `text`.
pub(crate) fn ask(text: &str) -> Value {
    json!({
        "model": "claude-opus-5-5",
        "max_tokens": 1_000,
        "stream": true,
        "thinking": { "type": "adaptive", "display": "summarized" },
        "messages": [{ "role": "user", "content": text }],
    })
}

/// Sends `request` once and gathers the deltas too.
pub(crate) async fn send(client: &ClaudeClient, request: &Value) -> (Result<Answer, Failure>, Vec<Delta>) {
    let mut deltas = Vec::new();
    let body = Bytes::from(request.to_string());
    let result = client.send(body, &[], |delta| deltas.push(delta), &CancellationToken::new()).await;
    (result, deltas)
}
