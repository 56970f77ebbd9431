//! The index over real sessions: how fast it is made, how large it is, how soon it answers, and what it needs; keyword indexing
//! beside bare tantivy over the same texts. And the index over a code base, beside bare tantivy and `rg`.
//!
//! `RETRACE_EVAL_DATA=folder` names the folder with `agent-sessions/events.jsonl.gz`; without it that part is left out, and said.
//! `INDEX_EVENTS=1000000` repeats the sessions, with variation, up to that many events. `INDEX_CODE=folder` names a code base.
//! `RETRACE_EMBED_MODEL=folder` names a model: then the newest `INDEX_VECTORS` (3,000) positions get vectors.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

mod bare;
mod code_base;
mod figures;
mod queries;
mod sessions;

use std::path::PathBuf;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    match std::env::var_os("RETRACE_EVAL_DATA").map(PathBuf::from) {
        Some(data) => runtime.block_on(sessions::measure(&data.join("agent-sessions/events.jsonl.gz"))),
        None => println!("sessions: left out, RETRACE_EVAL_DATA names no folder"),
    }
    match std::env::var_os("INDEX_CODE").map(PathBuf::from) {
        Some(folder) => code_base::measure(&folder),
        None => println!("code: left out, INDEX_CODE names no folder"),
    }
}
