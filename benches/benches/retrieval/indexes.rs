//! The real indexes, in a folder of their own.

use retrace_indexer::{
    Document, Embedder, EmbedderOptions, IndexedSessions, KeywordIndex, KeywordWriter, ModelChoice, SessionSource,
    Source, Sources, VectorTable, VectorWorker, WorkerOptions,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// What the writer may use, in bytes.
const MEMORY_BYTES: usize = 64 << 20;

/// The model that is named, if one is.
pub(crate) fn embedder() -> Option<Arc<Embedder>> {
    let choice = ModelChoice::from_setting(std::env::var("RETRACE_EMBED_MODEL").ok().as_deref());
    let options = EmbedderOptions { threads: 2, ..EmbedderOptions::default() };
    let embedder = Embedder::open(&choice, &options).unwrap();
    if embedder.is_none() {
        println!("vectors: left out, RETRACE_EMBED_MODEL names no model");
    }
    embedder.map(Arc::new)
}

/// Indexes documents; what is in the folder already stays.
pub(crate) async fn sources(folder: &Path, documents: &[Document], embedder: Option<Arc<Embedder>>) -> Sources {
    let (keyword_folder, vector_folder) = (folder.join("keyword"), folder.join("vectors"));
    if KeywordIndex::open(&keyword_folder).unwrap().is_none() {
        let mut writer = KeywordWriter::open_or_create(&keyword_folder, MEMORY_BYTES, 1).unwrap();
        documents.iter().for_each(|document| writer.add(document).unwrap());
        writer.commit("").unwrap();
        writer.wait_merges().unwrap();
    }
    let keyword = KeywordIndex::open(&keyword_folder).unwrap().unwrap();
    let mut vectors = None;
    if let Some(embedder) = &embedder {
        let last = documents.iter().map(|document| document.position).max().unwrap_or(0);
        fill(&vector_folder, &keyword, Arc::clone(embedder), last).await;
        let table = VectorTable::open(&vector_folder, embedder.id(), embedder.dimensions()).await.unwrap();
        vectors = table.map(Arc::new);
    }
    Sources { sessions: Some(Source { keyword, vectors }), embedder, ..Sources::default() }
}

async fn fill(folder: &Path, keyword: &KeywordIndex, embedder: Arc<Embedder>, last: u64) {
    let options = WorkerOptions { rest_percent: 0, ..WorkerOptions::default() };
    let mut worker = VectorWorker::open(folder, embedder, options).await.unwrap().unwrap();
    let source: Arc<dyn SessionSource> = Arc::new(IndexedSessions(keyword.clone()));
    let begun = Instant::now();
    let filling = worker.fill_sessions(&source, last, &mut |_| {}).await.unwrap();
    if filling.vectors > 0 {
        let seconds = begun.elapsed().as_secs_f64();
        println!("vectors: {} in {seconds:.0} s, {:.0} a second", filling.vectors, filling.vectors as f64 / seconds);
    }
    worker.optimize().await.unwrap();
}
