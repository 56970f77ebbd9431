//! The index over real sessions: how fast it is made, how large it is, how soon it answers, and what it needs; keyword indexing
//! beside bare tantivy over the same texts. The index over a code base, beside bare tantivy and `rg`. And how long it takes to
//! put a context together when the log is long.
//!
//! `RETRACE_EVAL_DATA=folder` names the folder with `agent-sessions/events.jsonl.gz`; without it the part on sessions is left
//! out, and said, and contexts are put together of made-up sessions. `INDEX_EVENTS=1000000` repeats the sessions, with variation,
//! up to that many events. `INDEX_CODE=folder` names a code base. `INDEX_LOG=folder` keeps the logs. `RETRACE_EMBED_MODEL=folder`
//! names a model: then the newest `INDEX_VECTORS` (3,000) positions get vectors. A part's name (`sessions`, `code`, `assembly`)
//! as an argument leaves the others out.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

mod assembly;
mod bare;
mod code_base;
mod figures;
mod points;
mod queries;
mod sessions;

use std::path::PathBuf;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    if let Some(folder) = std::env::var_os(assembly::MEASURED).map(PathBuf::from) {
        runtime.block_on(assembly::measure(&folder));
        return;
    }
    // Cargo adds options of its own.
    let parts: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|named| named == part);
    let data = std::env::var_os("RETRACE_EVAL_DATA").map(PathBuf::from);
    match &data {
        _ if !wanted("sessions") => {}
        Some(data) => runtime.block_on(sessions::measure(&data.join("agent-sessions/events.jsonl.gz"))),
        None => println!("sessions: left out, RETRACE_EVAL_DATA names no folder"),
    }
    match std::env::var_os("INDEX_CODE").map(PathBuf::from) {
        _ if !wanted("code") => {}
        Some(folder) => code_base::measure(&folder),
        None => println!("code: left out, INDEX_CODE names no folder"),
    }
    if wanted("assembly") {
        runtime.block_on(assembly::prepare(data.as_deref()));
    }
}

/// The number that a variable holds.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
