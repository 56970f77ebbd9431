//! How much of what is asked for is found: by bare BM25, by the words of this index, with what is said around them, by meaning, and by
//! all of it together, on dialogues (LoCoMo) and on recorded coding sessions.
//!
//! `RETRIEVAL_LOCOMO=locomo-1-5.json RETRIEVAL_SESSIONS=events.jsonl.gz RETRACE_EMBED_MODEL=<folder> cargo bench -p retrace-benches
//! --bench retrieval --profile dev`; each part is skipped without its file, and the vectors without a model. The files are only
//! read. `RETRIEVAL_POINTS=<n>` takes every so manyth point of the sessions, so that there are about n. `RETRIEVAL_FOLDER=<folder>`
//! keeps the indexes there, so that the vectors (ten minutes for all sessions) are made once.
//!
//! Intervals are 95%, of the difference to the fusion, bootstrapped over questions or sessions, the same ones for both.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

mod arms;
mod bare;
mod dialogues;
mod figures;
mod indexes;
mod sessions;

use std::path::PathBuf;

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let folder = std::env::var_os("RETRIEVAL_FOLDER").map_or_else(|| folder.path().to_owned(), PathBuf::from);
    let embedder = indexes::embedder();
    match std::env::var_os("RETRIEVAL_LOCOMO") {
        Some(file) => dialogues::measure(file.as_ref(), &folder, embedder.clone()).await,
        None => println!("dialogues: skipped: RETRIEVAL_LOCOMO=locomo-1-5.json names no file"),
    }
    match std::env::var_os("RETRIEVAL_SESSIONS") {
        Some(file) => sessions::measure(file.as_ref(), &folder, embedder).await,
        None => println!("sessions: skipped: RETRIEVAL_SESSIONS=events.jsonl.gz names no file"),
    }
}
