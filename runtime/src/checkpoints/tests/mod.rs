//! Tests of checkpoints: what is loaded through them is what is folded from nothing, and what cannot be trusted is not used.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod growing;
mod hostile_tests;
mod past_tests;
mod shelf_tests;
mod state_tests;
mod thinning_tests;

use super::checkpoint_store::Checkpoints;
use retrace_events::log::MemoryLog;
use retrace_events::{EventLog, History, SessionState, StreamId, codec, fold};
use std::path::{Path, PathBuf};

/// After how many events a state and a past are kept in these tests.
const STATE_EVENTS: u64 = 5;
const PAST_EVENTS: u64 = 9;

fn checkpoints(folder: &Path) -> Checkpoints {
    Checkpoints::every(folder, "memory", STATE_EVENTS, PAST_EVENTS)
}

/// The bytes of a state: equal ones have equal bytes.
fn bytes(state: &SessionState) -> Vec<u8> {
    codec::encode_derived(state).unwrap()
}

/// The state after event `last_seq` of `stream`, folded from nothing.
async fn folded(log: &MemoryLog, stream: &StreamId, last_seq: u64) -> Vec<u8> {
    let history = History::of(log, stream).await.unwrap().until(last_seq);
    let mut state = SessionState::default();
    fold::continue_from(log, &history, &mut state).await.unwrap();
    bytes(&state)
}

/// The same through checkpoints.
async fn loaded(checkpoints: &Checkpoints, log: &dyn EventLog, stream: &StreamId, last_seq: u64) -> Vec<u8> {
    let history = History::of(log, stream).await.unwrap().until(last_seq);
    bytes(&checkpoints.state(log, &history).await.unwrap())
}

/// All files beneath `folder`, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().unwrap().is_dir() { open.push(entry.path()) } else { found.push(entry.path()) }
        }
    }
    found.sort();
    found
}

fn files_named(folder: &Path, beginning: &str) -> Vec<PathBuf> {
    let is_meant = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(beginning);
    files(folder).into_iter().filter(is_meant).collect()
}
