//! A session's requests under one arm and budget: what they cost together, with the prompt cache simulated.
//!
//! Counted is the context that was composed. System, tools and what the model answers are the same for every arm and are
//! left out.

use super::cache::{CacheLifetime, CacheSegment, CacheSimulator, usual_marks};
use super::composed::{Body, Composed};
use super::session::BenchSession;
use crate::claude::{ModelRow, Usage};

/// Sums over requests. Integers only: the order of adding does not matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestSums {
    /// How many there were.
    pub requests: u64,
    /// Input tokens of all.
    pub tokens: u64,
    /// Of these, read from the cache.
    pub read_tokens: u64,
    /// Of these, written to it.
    pub written_tokens: u64,
    /// Input tokens of those that were sent while what the one before had written was still there.
    pub warm_tokens: u64,
    /// Of these, read from the cache.
    pub warm_read_tokens: u64,
    /// What the input costs, in millionths of a US dollar.
    pub cost_microusd: u64,
}

impl RequestSums {
    /// Adds the requests of another session.
    pub(super) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.tokens += other.tokens;
        self.read_tokens += other.read_tokens;
        self.written_tokens += other.written_tokens;
        self.warm_tokens += other.warm_tokens;
        self.warm_read_tokens += other.warm_read_tokens;
        self.cost_microusd += other.cost_microusd;
    }

    /// The share of input that was read from the cache, from 0 to 1.
    #[must_use]
    pub fn read_share(&self) -> Option<f64> {
        share(self.read_tokens, self.tokens)
    }

    /// The same over the requests whose cache had not gone cold.
    #[must_use]
    pub fn warm_read_share(&self) -> Option<f64> {
        share(self.warm_read_tokens, self.warm_tokens)
    }

    /// Input tokens of a request, on average.
    #[must_use]
    pub fn mean_tokens(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.tokens as f64 / self.requests as f64)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The items of a session as segments.
pub(super) fn item_segments(session: &BenchSession) -> Vec<CacheSegment> {
    session.items.iter().map(|item| CacheSegment::of(&item.text, item.tokens)).collect()
}

/// Requests of one session under one arm and budget, one after the other.
pub(super) struct RequestRun<'r> {
    row: &'r ModelRow,
    cache: CacheSimulator,
    /// When the one before was sent, and how long what it wrote lives.
    before: Option<(u64, CacheLifetime)>,
    sums: RequestSums,
}

impl<'r> RequestRun<'r> {
    /// None so far; `row` says what is cached and what it costs.
    pub(super) fn new(row: &'r ModelRow) -> Self {
        let cache = CacheSimulator::new(row.min_cacheable_tokens);
        Self { row, cache, before: None, sums: RequestSums::default() }
    }

    /// Sends a request; `items` are the session's items as segments.
    pub(super) fn send(&mut self, composed: &Composed<'_>, items: &[CacheSegment], sent_ms: u64) {
        let segment = |piece: &super::composed::Piece<'_>| match &piece.body {
            Body::Item(at) => {
                CacheSegment { hash: items.get(*at).map_or([0; 32], |item| item.hash), tokens: piece.tokens }
            }
            Body::Text(text) => CacheSegment::of(text, piece.tokens),
        };
        let segments: Vec<CacheSegment> = composed.pieces.iter().map(segment).collect();
        let marks = composed.marks.clone().unwrap_or_else(|| usual_marks(segments.len()));
        let split = self.cache.send(&segments, &marks, sent_ms);
        let usage = Usage {
            input_tokens: split.fresh,
            cache_creation_input_tokens: split.written_5m + split.written_1h,
            cache_creation_5m_input_tokens: split.written_5m,
            cache_creation_1h_input_tokens: split.written_1h,
            cache_read_input_tokens: split.read,
            ..Usage::default()
        };
        self.sums.requests += 1;
        self.sums.tokens += split.total();
        self.sums.read_tokens += split.read;
        self.sums.written_tokens += split.written_5m + split.written_1h;
        self.sums.cost_microusd += self.row.cost_micros(&usage);
        if self.before.is_some_and(|(at_ms, lifetime)| sent_ms < at_ms.saturating_add(lifetime.ms())) {
            self.sums.warm_tokens += split.total();
            self.sums.warm_read_tokens += split.read;
        }
        let lifetime = marks.iter().map(|mark| mark.lifetime).max();
        self.before = Some((sent_ms, lifetime.unwrap_or(CacheLifetime::FiveMinutes)));
    }

    /// What they came to.
    pub(super) const fn sums(&self) -> RequestSums {
        self.sums
    }
}
