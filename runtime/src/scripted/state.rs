//! What the running server shares between requests.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use retrace_events::hash::Hash;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::cache::{InputTokens, PromptCache};
use super::record::RequestRecord;
use super::script::Script;
use super::signature::SigningKey;
use crate::claude::ModelTable;

/// The most records and attempt counts kept; the oldest records go first.
const MAX_KEPT: usize = 100_000;

#[derive(Debug)]
pub(super) struct State {
    pub(super) script: Script,
    pub(super) api_key: String,
    pub(super) models: ModelTable,
    pub(super) signing: SigningKey,
    /// No new requests; those that would never end are ended.
    pub(super) closing: CancellationToken,
    /// Running answers are cut too.
    pub(super) abort: CancellationToken,
    arrived: AtomicUsize,
    cache: Mutex<PromptCache>,
    attempts: Mutex<HashMap<(Hash, usize), usize>>,
    records: Mutex<Vec<RequestRecord>>,
}

impl State {
    pub(super) fn new(script: Script, api_key: String, models: ModelTable) -> Self {
        Self {
            script,
            api_key,
            models,
            signing: SigningKey::default(),
            closing: CancellationToken::new(),
            abort: CancellationToken::new(),
            arrived: AtomicUsize::new(0),
            cache: Mutex::default(),
            attempts: Mutex::default(),
            records: Mutex::default(),
        }
    }

    /// The index of a request that has just arrived.
    pub(super) fn arrive(&self) -> usize {
        self.arrived.fetch_add(1, Ordering::Relaxed)
    }

    /// How many requests with this body came to this step before; counts this one.
    pub(super) fn attempt(&self, body: Hash, step: usize) -> usize {
        let mut attempts = lock(&self.attempts);
        if attempts.len() >= MAX_KEPT {
            attempts.clear();
        }
        let count = attempts.entry((body, step)).or_default();
        *count += 1;
        *count - 1
    }

    /// Simulates the cache for `request`, which is about to be answered.
    pub(super) fn account(&self, request: &Value, min_tokens: u64) -> InputTokens {
        lock(&self.cache).account(request, min_tokens, Instant::now())
    }

    pub(super) fn record(&self, record: RequestRecord) {
        let mut records = lock(&self.records);
        if records.len() >= MAX_KEPT {
            records.drain(..MAX_KEPT / 10);
        }
        records.push(record);
    }

    /// All records, in order of arrival.
    pub(super) fn records(&self) -> Vec<RequestRecord> {
        let mut records = lock(&self.records).clone();
        records.sort_by_key(|record| record.index);
        records
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
