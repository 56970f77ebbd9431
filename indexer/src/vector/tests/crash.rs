//! A worker that is stopped anywhere: the next one ends up with the same table as one that was never stopped.

use super::filling::{ignore, keys, worker};
use super::world::{Code, Sessions, prompt};
use crate::document::{Document, DocumentKind};
use crate::vector::vector_journal::VectorJournal;
use crate::vector::{CodeSource, SessionSource};
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

const STREAM: &str = "ev.t.p.session.s1";

/// Polls a future `polls` times at most and then drops it; `true` when it was done before.
async fn stopped_after<T>(polls: u32, future: impl Future<Output = T>) -> bool {
    let mut future = pin!(future);
    let mut left = polls;
    std::future::poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        future.as_mut().poll(context).map(|_| true)
    })
    .await
}

fn documents() -> Vec<Document> {
    let one = |number: u64| {
        let mut document = prompt(STREAM, number * 3, &format!("prompt number {number}"));
        if number.is_multiple_of(5) {
            document.kind = DocumentKind::Summary;
        }
        document
    };
    (0..24).map(one).collect()
}

fn expected(documents: &[Document]) -> Vec<String> {
    let mut keys: Vec<String> = documents.iter().map(|document| document.key.clone()).collect();
    keys.sort();
    keys
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_stopped_at_any_await_end_up_whole() {
    let documents = documents();
    let source = Sessions::of(documents.clone());
    for polls in (0..40).chain((40..400).step_by(23)) {
        let folder = tempfile::tempdir().unwrap();
        let mut first = worker(folder.path()).await;
        let was_done = stopped_after(polls, first.fill_sessions(&source, 80, &mut ignore())).await;
        // Sometimes the same process goes on, sometimes another one.
        if polls % 2 == 0 {
            first.fill_sessions(&source, 80, &mut ignore()).await.unwrap();
            assert_eq!(keys(first.table()).await, expected(&documents), "{polls}");
        } else {
            drop(first);
            let mut second = worker(folder.path()).await;
            second.fill_sessions(&source, 80, &mut ignore()).await.unwrap();
            assert_eq!(keys(second.table()).await, expected(&documents), "{polls}");
        }
        if was_done && polls > 40 {
            break;
        }
    }
}

/// Makes the folder what a killed process leaves: the journal as it was before the batch was finished, the table after.
fn killed_before_the_journal(folder: &Path, before: &[u8]) {
    let table = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
    std::fs::write(table.unwrap().join("journal.json"), before).unwrap();
}

#[tokio::test]
async fn a_batch_in_the_table_and_not_in_the_journal_is_there_once() {
    let documents = documents();
    let source = Sessions::of(documents.clone());
    for before in [
        r#"{"format":1,"done":[],"pending":[0,80],"table_version":1}"#,
        r#"{"format":1,"done":[[0,20],[61,80]],"pending":[21,60],"table_version":1}"#,
        r#"{"format":1,"done":[[0,79]],"pending":[80,80],"table_version":1}"#,
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut first = worker(folder.path()).await;
        first.fill_sessions(&source, 80, &mut ignore()).await.unwrap();
        drop(first);
        killed_before_the_journal(folder.path(), before.as_bytes());
        let mut second = worker(folder.path()).await;
        second.fill_sessions(&source, 80, &mut ignore()).await.unwrap();
        assert_eq!(keys(second.table()).await, expected(&documents), "{before}");
        let journal = VectorJournal::open(second.table().folder()).unwrap().unwrap();
        assert_eq!((journal.pending(), journal.missing(80)), (None, 0));
    }
}

#[tokio::test]
async fn code_stopped_at_any_await_ends_up_whole() {
    let code = Arc::new(Code::default());
    let source: Arc<dyn CodeSource> = Arc::clone(&code) as Arc<dyn CodeSource>;
    for number in 0..20 {
        code.write(&format!("src/f{number}.rs"), &[&format!("fn function_{number}() {{")]);
    }
    let folder = tempfile::tempdir().unwrap();
    for polls in (1..30).chain([40, 60, 90, 130, 180]) {
        let mut stopped = worker(folder.path()).await;
        stopped_after(polls, stopped.fill_code(&source, &mut ignore())).await;
        drop(stopped);
        code.write(&format!("src/f{}.rs", polls % 20), &[&format!("fn function_{polls}_again() {{")]);
        code.remove(&format!("src/f{}.rs", (polls + 7) % 20));
    }
    let mut last = worker(folder.path()).await;
    last.fill_code(&source, &mut ignore()).await.unwrap();
    let expected: Vec<String> = code.files.lock().unwrap().keys().map(|path| format!("code/{path}#1")).collect();
    let mut expected_sorted = expected;
    expected_sorted.sort();
    assert_eq!(keys(last.table()).await, expected_sorted);
}

#[tokio::test]
async fn no_thread_goes_on_long_after_its_future_is_gone() {
    let documents: Vec<Document> =
        (0..2_000).map(|number| prompt(STREAM, 1, &format!("prompt number {number}"))).collect();
    let source: Arc<dyn SessionSource> = Sessions::of(documents);
    let folder = tempfile::tempdir().unwrap();
    let mut worker = worker(folder.path()).await;
    assert!(!stopped_after(3, worker.fill_sessions(&source, 1, &mut ignore())).await);
    // The thread holds the source only as long as it reads, and the model only for a batch: a question is answered soon, and
    // the next filling does not wait for two thousand texts.
    let started = std::time::Instant::now();
    super::world::embedder().query("a question").unwrap();
    assert!(started.elapsed().as_secs() < 5);
}
