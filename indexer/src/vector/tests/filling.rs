//! Filling in the background: everything, newest first, once; a table for each model; code that comes and goes.

use super::world::{Code, Sessions, embedder, model_folder, prompt};
use crate::document::{Document, DocumentKind};
use crate::query::Filter;
use crate::vector::{
    CodeSource, Embedder, EmbedderOptions, Filling, ModelChoice, SessionSource, SourceError, VectorTable, VectorWorker,
    WorkerOptions,
};
use std::path::Path;
use std::sync::{Arc, Mutex};

const AT_ONCE: WorkerOptions = WorkerOptions { rest_percent: 0, max_rest_ms: 0 };
const STREAM: &str = "ev.t.p.session.s1";

/// The worker of a folder; waits for the last write of one that was stopped.
pub(super) async fn worker(folder: &Path) -> VectorWorker {
    let started = std::time::Instant::now();
    loop {
        if let Some(worker) = VectorWorker::open(folder, embedder(), AT_ONCE).await.unwrap() {
            return worker;
        }
        assert!(started.elapsed().as_secs() < 20, "somebody else has it");
        tokio::task::yield_now().await;
    }
}

pub(super) fn ignore() -> impl FnMut(Filling) + Send {
    |_| {}
}

/// The keys in a table, in order.
pub(super) async fn keys(table: &VectorTable) -> Vec<String> {
    let question = embedder().query("anything").unwrap();
    let hits = table.search(&question, &Filter::default(), 10_000).await.unwrap();
    assert_eq!(hits.len() as u64, table.count().await.unwrap(), "each key is there once");
    let mut keys: Vec<String> = hits.into_iter().map(|hit| hit.key).collect();
    keys.sort();
    keys
}

#[tokio::test]
async fn what_was_said_is_found_by_what_it_means() {
    let folder = tempfile::tempdir().unwrap();
    let mut worker = worker(folder.path()).await;
    let source = Sessions::of(vec![
        prompt(STREAM, 3, "the login page shows a blank screen after the password is entered"),
        prompt(STREAM, 5, "make the build faster on machines with few cores"),
        prompt(STREAM, 900, "write the release notes"),
        prompt(STREAM, 901, "--"),
    ]);
    let mut told = Vec::new();
    let filling = worker.fill_sessions(&source, 1_000, &mut |now| told.push(now)).await.unwrap();
    assert_eq!(filling, Filling { documents: 4, vectors: 3, refused: 0, remaining: 0 });
    assert_eq!(told.last(), Some(&filling));
    assert!(told.windows(2).all(|pair| pair[0].remaining > pair[1].remaining));
    let question = embedder().query("users cannot sign in").unwrap();
    let hits = worker.table().search(&question, &Filter::default(), 1).await.unwrap();
    assert_eq!(hits[0].position, 3);
    assert_eq!(worker.fill_sessions(&source, 1_000, &mut ignore()).await.unwrap(), Filling::default());
}

#[tokio::test]
async fn the_newest_comes_first_and_what_arrives_meanwhile_next() {
    let folder = tempfile::tempdir().unwrap();
    let documents: Vec<Document> = (0..2_000).map(|number| prompt(STREAM, number, "--")).collect();
    let asked = Arc::new(Mutex::new(Vec::new()));
    struct Asked(Arc<Mutex<Vec<(u64, u64)>>>, Vec<Document>);
    impl SessionSource for Asked {
        fn documents_between(&self, first: u64, last: u64) -> Result<Vec<Document>, SourceError> {
            self.0.lock().unwrap().push((first, last));
            Ok(self.1.iter().filter(|document| (first..=last).contains(&document.position)).cloned().collect())
        }
    }
    let source: Arc<dyn SessionSource> = Arc::new(Asked(Arc::clone(&asked), documents));
    let mut worker = worker(folder.path()).await;
    worker.fill_sessions(&source, 1_499, &mut ignore()).await.unwrap();
    let first = std::mem::take(&mut *asked.lock().unwrap());
    assert_eq!(first.first().map(|interval| interval.1), Some(1_499));
    assert_eq!(first.last().map(|interval| interval.0), Some(0));
    assert!(first.windows(2).all(|pair| pair[0].0 == pair[1].1 + 1), "{first:?}");
    worker.fill_sessions(&source, 1_999, &mut ignore()).await.unwrap();
    let next = asked.lock().unwrap().clone();
    assert!(next.iter().all(|interval| interval.0 >= 1_500), "{next:?}");
}

#[tokio::test]
async fn sparse_positions_are_passed_in_few_steps() {
    struct Counted(Mutex<u32>);
    impl SessionSource for Counted {
        fn documents_between(&self, _: u64, _: u64) -> Result<Vec<Document>, SourceError> {
            *self.0.lock().unwrap() += 1;
            Ok(Vec::new())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let counted = Arc::new(Counted(Mutex::new(0)));
    let source: Arc<dyn SessionSource> = Arc::clone(&counted) as Arc<dyn SessionSource>;
    worker(folder.path()).await.fill_sessions(&source, 1_000_000, &mut ignore()).await.unwrap();
    let asked = *counted.0.lock().unwrap();
    assert!(asked < 30, "{asked}");
}

#[tokio::test]
async fn a_summary_that_is_written_again_takes_the_place_of_the_older_one() {
    let folder = tempfile::tempdir().unwrap();
    let summary = |position, text: &str| Document {
        key: "summary/s1/1.0".to_owned(),
        kind: DocumentKind::Summary,
        position,
        ..prompt(STREAM, position, text)
    };
    let mut worker = worker(folder.path()).await;
    let source = Sessions::of(vec![summary(5, "the login was repaired")]);
    worker.fill_sessions(&source, 10, &mut ignore()).await.unwrap();
    let source = Sessions::of(vec![summary(15, "the build was made faster")]);
    worker.fill_sessions(&source, 20, &mut ignore()).await.unwrap();
    let question = embedder().query("the login").unwrap();
    let hits = worker.table().search(&question, &Filter::default(), 5).await.unwrap();
    assert_eq!(hits.iter().map(|hit| hit.position).collect::<Vec<_>>(), [15]);
}

#[tokio::test]
async fn one_process_fills_and_others_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let first = worker(folder.path()).await;
    assert!(VectorWorker::open(folder.path(), embedder(), AT_ONCE).await.unwrap().is_none());
    drop(first);
    assert!(VectorWorker::open(folder.path(), embedder(), AT_ONCE).await.unwrap().is_some());
}

#[tokio::test]
async fn a_source_that_fails_is_an_error_and_the_next_attempt_goes_on() {
    struct Failing;
    impl SessionSource for Failing {
        fn documents_between(&self, _: u64, _: u64) -> Result<Vec<Document>, SourceError> {
            Err("the index is gone\nand more lines".into())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut worker = worker(folder.path()).await;
    let failing: Arc<dyn SessionSource> = Arc::new(Failing);
    let error = worker.fill_sessions(&failing, 10, &mut ignore()).await.unwrap_err();
    assert_eq!(error.to_string(), "what should be embedded cannot be read: the index is gone");
    let source = Sessions::of(vec![prompt(STREAM, 3, "hello world")]);
    assert_eq!(worker.fill_sessions(&source, 10, &mut ignore()).await.unwrap().vectors, 1);
}

/// The same model under another name, as a newer one would have.
fn other_model(folder: &Path) -> Arc<Embedder> {
    for file in ["model.onnx", "tokenizer.json", "special_tokens_map.json", "tokenizer_config.json"] {
        std::os::unix::fs::symlink(model_folder().join(file), folder.join(file)).unwrap();
    }
    let config = std::fs::read_to_string(model_folder().join("config.json")).unwrap();
    std::fs::write(folder.join("config.json"), config + " ").unwrap();
    let options = EmbedderOptions { library_folders: vec![model_folder()], ..EmbedderOptions::default() };
    Arc::new(Embedder::open(&ModelChoice::Folder(folder.to_path_buf()), &options).unwrap().unwrap())
}

#[tokio::test]
async fn a_changed_model_fills_a_table_beside_the_old_one_which_goes_at_the_end() {
    let (folder, models) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let source = Sessions::of((0..5).map(|number| prompt(STREAM, number, "hello world")).collect());
    let mut old = worker(folder.path()).await;
    old.fill_sessions(&source, 10, &mut ignore()).await.unwrap();
    drop(old);
    let other = other_model(models.path());
    let open_old = || VectorTable::open(folder.path(), embedder().id().to_owned().leak(), 384);
    let mut new = VectorWorker::open(folder.path(), Arc::clone(&other), AT_ONCE).await.unwrap().unwrap();
    assert_eq!(new.table().count().await.unwrap(), 0);
    assert_eq!(open_old().await.unwrap().unwrap().count().await.unwrap(), 5, "the old one is still there");
    new.fill_sessions(&source, 10, &mut ignore()).await.unwrap();
    assert_eq!(new.table().count().await.unwrap(), 5);
    assert!(open_old().await.unwrap().is_none(), "the old one has gone");
}

#[tokio::test]
async fn the_table_of_code_follows_files_that_come_change_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let code = Arc::new(Code::default());
    let source: Arc<dyn CodeSource> = Arc::clone(&code) as Arc<dyn CodeSource>;
    code.write("src/a.rs", &["fn alpha() {", "fn again() {"]);
    code.write("src/b.rs", &["fn beta() {"]);
    code.write("src/A.rs", &["fn other_case() {"]);
    let mut worker = worker(folder.path()).await;
    let filling = worker.fill_code(&source, &mut ignore()).await.unwrap();
    assert_eq!((filling.vectors, filling.remaining), (4, 0));
    let all = ["code/src/A.rs#1", "code/src/a.rs#1", "code/src/a.rs#2", "code/src/b.rs#1"];
    assert_eq!(keys(worker.table()).await, all);

    assert_eq!(worker.fill_code(&source, &mut ignore()).await.unwrap(), Filling::default());
    code.write("src/a.rs", &["fn alpha() {"]);
    code.remove("src/b.rs");
    code.write("src/c.rs", &["fn gamma() {"]);
    code.read.lock().unwrap().clear();
    worker.fill_code(&source, &mut ignore()).await.unwrap();
    assert_eq!(*code.read.lock().unwrap(), ["src/a.rs", "src/c.rs"]);
    assert_eq!(keys(worker.table()).await, ["code/src/A.rs#1", "code/src/a.rs#1", "code/src/c.rs#1"]);
}

#[tokio::test]
async fn a_code_index_that_was_made_again_costs_no_embedding_of_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let code = Arc::new(Code::default());
    let source: Arc<dyn CodeSource> = Arc::clone(&code) as Arc<dyn CodeSource>;
    for name in ["a", "b", "c", "d"] {
        code.write(&format!("{name}.rs"), &[&format!("fn {name}_function() {{")]);
    }
    let mut worker = worker(folder.path()).await;
    worker.fill_code(&source, &mut ignore()).await.unwrap();
    // Other numbers, one file less, one file changed, and nobody says so.
    code.files.lock().unwrap().remove("a.rs");
    code.write("b.rs", &["fn b_changed() {"]);
    *code.horizon.lock().unwrap() = 5;
    let filling = worker.fill_code(&source, &mut ignore()).await.unwrap();
    assert_eq!(filling.vectors, 1);
    assert_eq!(keys(worker.table()).await, ["code/b.rs#1", "code/c.rs#1", "code/d.rs#1"]);
}

#[tokio::test]
async fn what_was_deleted_leaves_the_table_and_what_came_back_stays() {
    let folder = tempfile::tempdir().unwrap();
    let mut worker = worker(folder.path()).await;
    let (gone, kept) = ("ev.local.p.session.gone", STREAM);
    let source = Arc::new(Sessions::default());
    let documents = vec![
        prompt(gone, 3, "the login page shows a blank screen after the password is entered"),
        prompt(kept, 5, "make the build faster on machines with few cores"),
    ];
    *source.documents.lock().unwrap() = documents.clone();
    let shared: Arc<dyn SessionSource> = Arc::clone(&source) as _;
    worker.fill_sessions(&shared, 10, &mut ignore()).await.unwrap();
    assert_eq!(worker.table().count().await.unwrap(), 2);
    source.documents.lock().unwrap().remove(0);
    source.deletions.lock().unwrap().push((gone.to_owned(), 11));
    worker.fill_sessions(&shared, 12, &mut ignore()).await.unwrap();
    assert_eq!(worker.table().count().await.unwrap(), 1);
    // It begins again behind its tombstone, and another process goes on.
    let mut again = documents[0].clone();
    again.position = 20;
    source.documents.lock().unwrap().push(again);
    drop(worker);
    let mut worker = super::filling::worker(folder.path()).await;
    worker.fill_sessions(&shared, 30, &mut ignore()).await.unwrap();
    assert_eq!(worker.table().count().await.unwrap(), 2);
    let question = embedder().query("users cannot sign in").unwrap();
    let hits = worker.table().search(&question, &Filter::default(), 1).await.unwrap();
    assert_eq!(hits[0].position, 20);
}
