//! Serving for other processes, and serving many clients at once.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::script;
use crate::claude::tests::{ask, client, send, serve};
use crate::claude::{Block, StopReason};
use crate::scripted::{ServerOptions, serve_until_ctrl_c};

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
