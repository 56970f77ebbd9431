//! The recorded sessions in an embedded log, and the index over it.

use super::bare;
use super::figures::{memory, rate, size, spread};
use super::number;
use super::queries::queries;
use retrace_benches::recorded::{RecordedSession, recorded_sessions};
use retrace_benches::stream;
use retrace_events::log::{Holder, SqliteLog};
use retrace_events::redact::Redactor;
use retrace_events::{EventLog, Timestamp};
use retrace_indexer::{
    Document, Embedder, EmbedderOptions, Follower, IndexFolder, IndexedSessions, KeywordIndex, ModelChoice, Query,
    SearchRequest, SessionSource, Source, Sources, VectorWorker, WorkerOptions, retrieve,
};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the writers of the comparison may use, in bytes.
const MEMORY_BYTES: usize = 64 * 1024 * 1024;

/// Prints all figures of the sessions in `file`.
pub(crate) async fn measure(file: &Path) {
    let sessions = recorded_sessions(file).unwrap();
    let wanted = number("INDEX_EVENTS").unwrap_or(0);
    let folder = tempfile::tempdir().unwrap();
    // With INDEX_LOG the log stays, for whoever wants to look at it with the command.
    let log_folder = std::env::var_os("INDEX_LOG").map_or_else(|| folder.path().join("log"), Into::into);
    let log: Arc<dyn EventLog> = Arc::new(SqliteLog::open(&log_folder).unwrap());
    append(&log, &sessions, wanted).await;

    let index = IndexFolder::of_log(folder.path(), &log.location());
    let holder = Holder::this_process("bench", Timestamp(0));
    let begun = Instant::now();
    let mut follower =
        Follower::open(Arc::clone(&log), &index, Arc::new(Redactor::new(Vec::new())), &holder).await.unwrap();
    let mut events = 0;
    follower.catch_up(&mut |progress| events = progress.events).await.unwrap();
    let indexed = begun.elapsed();
    drop(follower);
    let keyword = KeywordIndex::open(&index.keyword()).unwrap().unwrap();
    println!("indexing: events {}; {} documents", rate(events, indexed), keyword.count().unwrap());
    println!("index: {} in {} segments; {}", size(keyword.size_bytes().unwrap()), keyword.segments(), memory());

    let documents = all_documents(&keyword, &sessions);
    let text: u64 = documents.iter().map(|document| document.text.len() as u64).sum();
    beside_tantivy(folder.path(), &documents, text);
    let asked = queries(&documents, 400);
    drop(documents);
    let mut sources =
        Sources { sessions: Some(Source { keyword: keyword.clone(), vectors: None }), ..Sources::default() };
    println!("search, keyword: {}", latency(&sources, &asked).await);
    with_vectors(&index, &keyword, &mut sources, &asked).await;
    println!("memory at the end: {}", memory());
}

async fn append(log: &Arc<dyn EventLog>, sessions: &[RecordedSession], wanted: u64) {
    let (begun, mut count, mut round) = (Instant::now(), 0_u64, 0_u64);
    loop {
        for session in sessions {
            let name = if round == 0 { session.id.clone() } else { format!("{}-{round}", session.id) };
            let events = session.events(&stream(&name), &|text| varied(text, round)).unwrap();
            for batch in events.chunks(100) {
                log.append(batch).await.unwrap();
            }
            count += events.len() as u64;
            if round > 0 && count >= wanted {
                break;
            }
        }
        round += 1;
        if count >= wanted {
            break;
        }
    }
    println!("appending: events {} in batches of 100, {round} rounds", rate(count, begun.elapsed()));
}

/// The text with every seventh longer word changed, so that each round has words of its own.
fn varied(text: &str, round: u64) -> String {
    if round == 0 {
        return text.to_owned();
    }
    let mut words = 0;
    let change = |piece: &str| {
        let word = piece.trim_end();
        words += 1;
        if words % 7 == 0 && word.len() > 4 && word.chars().all(char::is_alphanumeric) {
            format!("{word}{round}{}", &piece[word.len()..])
        } else {
            piece.to_owned()
        }
    };
    text.split_inclusive(char::is_whitespace).map(change).collect()
}

fn all_documents(keyword: &KeywordIndex, sessions: &[RecordedSession]) -> Vec<Document> {
    sessions.iter().flat_map(|session| keyword.documents_of(&stream(&session.id).subject()).unwrap()).collect()
}

fn beside_tantivy(folder: &Path, documents: &[Document], text: u64) {
    let mut ratios = Vec::new();
    for run in 0..3 {
        let (ours, bare) = (folder.join(format!("ours{run}")), folder.join(format!("bare{run}")));
        let pairs = documents.iter().map(|document| (document.key.as_str(), document.text.as_str()));
        let peer = bare::index(&bare, pairs, MEMORY_BYTES);
        let own = bare::index_ours(&ours, documents, MEMORY_BYTES);
        let speed = |time: Duration| text as f64 / 1e6 / time.as_secs_f64();
        println!("keyword writer: {:.1} MB/s, bare tantivy {:.1} MB/s", speed(own), speed(peer));
        ratios.push(peer.as_secs_f64() / own.as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "keyword writer over bare tantivy, median of 3 runs: {:.2}x ({} documents, {})",
        ratios[1],
        documents.len(),
        size(text)
    );
}

async fn with_vectors(index: &IndexFolder, keyword: &KeywordIndex, sources: &mut Sources, asked: &[String]) {
    let choice = ModelChoice::from_setting(std::env::var("RETRACE_EMBED_MODEL").ok().as_deref());
    let Some(embedder) = Embedder::open(&choice, &EmbedderOptions::default()).unwrap() else {
        println!("vectors: left out, RETRACE_EMBED_MODEL names no model");
        return;
    };
    let embedder = Arc::new(embedder);
    let options = WorkerOptions { rest_percent: 0, ..WorkerOptions::default() };
    let mut worker = VectorWorker::open(&index.vectors(), Arc::clone(&embedder), options).await.unwrap().unwrap();
    let source: Arc<dyn SessionSource> = Arc::new(IndexedSessions(keyword.clone()));
    let sample = number("INDEX_VECTORS").unwrap_or(3_000);
    let begun = Instant::now();
    let filling = worker.fill_sessions(&source, sample, &mut |_| {}).await.unwrap();
    println!("vectors: {} of the first {sample} positions", rate(filling.vectors, begun.elapsed()));
    let table = retrace_indexer::VectorTable::open(&index.vectors(), embedder.id(), embedder.dimensions())
        .await
        .unwrap()
        .unwrap();
    println!("vectors: {} on the disk", size(table.size_bytes()));
    let mut times = Vec::new();
    for words in asked {
        let begun = Instant::now();
        let vector = embedder.query(words).unwrap();
        table.search(&vector, &retrace_indexer::Filter::default(), 200).await.unwrap();
        times.push(begun.elapsed());
    }
    println!("search, vector: {}", spread(&mut times));
    sources.embedder = Some(embedder);
    sources.sessions = Some(Source { keyword: keyword.clone(), vectors: Some(Arc::new(table)) });
    println!("search, hybrid: {}", latency(sources, asked).await);
}

async fn latency(sources: &Sources, asked: &[String]) -> String {
    let mut times = Vec::new();
    let mut found = 0_usize;
    for words in asked {
        let query = Query::parse(words, Timestamp(0));
        let request = SearchRequest { query, limit: 10, ..SearchRequest::default() };
        let begun = Instant::now();
        found += usize::from(!retrieve(sources, &request).await.hits.is_empty());
        times.push(begun.elapsed());
    }
    format!("{}; {found} found something", spread(&mut times))
}
