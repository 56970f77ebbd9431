//! `recall` against a memory that is made up: what it is asked, and what the model is told of what it says.

use super::harness::{Bench, SECRET, tool_named};
use crate::tools::ToolFailure;
use crate::tools::memory::{Memories, Memory, MemoryError, MemoryQuestion};
use async_trait::async_trait;
use retrace_events::StreamId;
use retrace_indexer::{DocumentKind, Filter, Hit, HitSource, ScoreParts, Snippet, Within};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Says what it was told to say, and keeps what it was asked.
struct Fake {
    says: Result<Memories, MemoryError>,
    asked: Mutex<Vec<(StreamId, MemoryQuestion)>>,
}

#[async_trait]
impl Memory for Fake {
    async fn search(&self, own: &StreamId, question: MemoryQuestion) -> Result<Memories, MemoryError> {
        self.asked.lock().unwrap().push((own.clone(), question));
        self.says.clone()
    }
}

async fn bench(says: Result<Memories, MemoryError>) -> (Bench, Arc<Fake>) {
    let mut bench = Bench::new().await;
    let fake = Arc::new(Fake { says, asked: Mutex::default() });
    bench.context.memory = Arc::clone(&fake) as Arc<dyn Memory>;
    (bench, fake)
}

fn a_hit(text: &str) -> Hit {
    Hit {
        key: "k".to_owned(),
        kind: DocumentKind::Result,
        source: HitSource::Event { stream: "ev.local.p.session.old-1".to_owned(), seq: 7, event: "e".to_owned() },
        at_ms: 0,
        tool: Some("bash".to_owned()),
        paths: Vec::new(),
        exit: Some(0),
        text: text.to_owned(),
        snippet: Snippet::default(),
        score: 1.0,
        parts: ScoreParts::default(),
    }
}

fn memories(hits: Vec<Hit>) -> Memories {
    Memories { hits, ..Memories::default() }
}

#[tokio::test]
async fn every_field_is_passed_on() {
    let (bench, fake) = bench(Ok(Memories::default())).await;
    let input = json!({
        "query": "flaky test", "kind": "result", "tool": "bash", "path": "src/", "session": "w0rdt05x",
        "since": "2026-11-01", "until": "2026-11-02T00:00Z", "in": "events", "limit": 3,
    });
    bench.ok("recall", input).await;
    let (own, question) = fake.asked.lock().unwrap().remove(0);
    assert_eq!(own, bench.context.session);
    let expected = Filter {
        kinds: vec![DocumentKind::Result],
        tools: vec!["bash".to_owned()],
        paths: vec!["src/".to_owned()],
        since_ms: Some(1_793_491_200_000),
        until_ms: question.filter.until_ms,
        within: vec![Within::Events],
        ..Filter::default()
    };
    assert_eq!((question.query.as_str(), &question.filter), ("flaky test", &expected));
    assert_eq!((question.session.as_deref(), question.limit), (Some("w0rdt05x"), 3));
    assert!(question.filter.until_ms.is_some());
}

#[tokio::test]
async fn what_is_left_out_or_empty_narrows_nothing() {
    let (bench, fake) = bench(Ok(Memories::default())).await;
    bench.ok("recall", json!({"query": "x"})).await;
    bench
        .ok("recall", json!({"query": "x", "kind": "", "session": " ", "since": "", "limit": 4_000_000_000_u32}))
        .await;
    for ((_, question), limit) in fake.asked.lock().unwrap().iter().zip([8, 30]) {
        assert_eq!((&question.filter, &question.session, question.limit), (&Filter::default(), &None, limit));
    }
    assert_eq!(fake.asked.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn this_session_can_be_meant_without_knowing_its_name() {
    let (bench, fake) = bench(Ok(Memories::default())).await;
    bench.ok("recall", json!({"query": "x", "session": "this"})).await;
    let id = bench.context.session.id.to_string();
    assert_eq!(fake.asked.lock().unwrap()[0].1.session, Some(id));
}

#[tokio::test]
async fn passages_come_back_as_text_without_secrets() {
    let hit = a_hit(&format!("token {SECRET} worked"));
    let (bench, _) = bench(Ok(memories(vec![hit]))).await;
    let text = bench.ok("recall", json!({"query": "token"})).await;
    assert!(text.starts_with("1. result of bash in session old-1, event 7, "), "{text}");
    assert!(text.ends_with("exit 0\n    token [redacted:known] worked"), "{text}");
}

#[tokio::test]
async fn without_an_index_it_says_so_and_the_turn_goes_on() {
    let says = [
        (MemoryError::Absent, false, "nothing recalled: there is no index of past work here"),
        (
            MemoryError::Failed(format!("disk {SECRET}")),
            false,
            "nothing recalled: past work cannot be searched now: disk [redacted:known]",
        ),
        (MemoryError::NoSuchSession("x".to_owned()), true, "there is no session `x` in this workspace"),
        (MemoryError::Ambiguous("0".to_owned(), 3), true, "`0` fits 3 sessions of this workspace: give more of the id"),
    ];
    for (error, is_error, expected) in says {
        let (bench, _) = bench(Err(error)).await;
        let result = bench.run("recall", json!({"query": "x"})).await;
        assert_eq!((result.is_error, result.content.as_str()), (is_error, expected));
    }
    // What a bench has by itself is no memory at all.
    let text = Bench::new().await.ok("recall", json!({"query": "x"})).await;
    assert_eq!(text, "nothing recalled: there is no index of past work here");
}

#[tokio::test]
async fn bad_input_is_refused_without_asking() {
    let (bench, fake) = bench(Ok(Memories::default())).await;
    let table: [(Value, &str); 6] = [
        (json!({"query": " \n"}), "the query is empty: give the words"),
        (json!({"query": "x".repeat(4_001)}), "the query has 4001 characters, at most 4000"),
        (json!({"query": "x", "kind": "poem"}), "invalid filter: unknown kind `poem`\nhint: kinds are prompt"),
        (json!({"query": "x", "since": "soon"}), "invalid filter: `since:soon`: no moment\nhint: "),
        (json!({"query": "x", "in": "cellar"}), "invalid filter: unknown place `in:cellar`"),
        (json!({"query": "x", "path": "a\"b"}), "invalid filter: path `a\"b` has a quotation mark"),
    ];
    for (input, expected) in table {
        let refused = tool_named("recall").refused(&input).unwrap();
        assert!(refused.is_error && refused.content.starts_with(expected), "{input}: {}", refused.content);
        assert_eq!(bench.run("recall", input).await, refused);
    }
    assert!(fake.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_cancelled_call_does_not_wait_for_the_index() {
    struct Never;
    #[async_trait]
    impl Memory for Never {
        async fn search(&self, _own: &StreamId, _question: MemoryQuestion) -> Result<Memories, MemoryError> {
            std::future::pending().await
        }
    }
    let mut bench = Bench::new().await;
    bench.context.memory = Arc::new(Never);
    bench.context.cancel.cancel();
    assert!(matches!(bench.try_run("recall", json!({"query": "x"})).await, Err(ToolFailure::Cancelled)));
}

#[test]
fn the_line_for_people_has_the_words_and_the_first_filters() {
    let table = [
        (json!({"query": "flaky\n test"}), "flaky test"),
        (json!({"query": "x", "kind": "result", "path": "src/a.rs", "limit": 3}), "x kind:result path:src/a.rs"),
        (json!({"query": "x", "kind": "a", "tool": "b", "path": "c", "in": "d"}), "x kind:a tool:b path:c"),
        (json!({"query": "x", "kind": " ", "in": "code"}), "x in:code"),
        (json!({"kind": 7}), "?"),
    ];
    for (input, expected) in table {
        assert_eq!(tool_named("recall").summary(&input), expected);
    }
}
