//! The prompt cache, simulated: what a sequence of requests would read from it, write to it, and pay afresh.
//!
//! The rule is exact: a prefix counts only if every segment of it is the same, byte for byte, and in its place. Prefixes
//! are written at marks, found again up to [`LOOK_BACK`] segments before a mark, live for their time from their last use, and
//! are not kept when shorter than the model's minimum. Time is what the recording says; no clock is read.

use std::collections::HashMap;

/// How many segments, the marked one among them, are looked at for a prefix that is already cached.
pub const LOOK_BACK: usize = 20;

/// How many marks a request may have.
pub const MAX_MARKS: usize = 4;

/// How far apart marks may stand, so that what was appended in between is found again.
const MARK_STRIDE: usize = 15;

/// The most prefixes kept; beyond it those that have expired are dropped.
const MAX_ENTRIES: usize = 100_000;

/// How long a written prefix lives from its last use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheLifetime {
    /// Five minutes: dearer to write than plain input by a quarter.
    FiveMinutes,
    /// An hour: twice as dear to write as plain input.
    OneHour,
}

impl CacheLifetime {
    /// In milliseconds.
    #[must_use]
    pub const fn ms(self) -> u64 {
        match self {
            Self::FiveMinutes => 5 * 60 * 1_000,
            Self::OneHour => 60 * 60 * 1_000,
        }
    }
}

/// A place in a request where the cache is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheMark {
    /// The last segment of the prefix.
    pub segment: usize,
    /// How long it is to live.
    pub lifetime: CacheLifetime,
}

/// A part of a request that is the same or is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheSegment {
    /// The hash of its words.
    pub hash: [u8; 32],
    /// What it costs.
    pub tokens: u64,
}

impl CacheSegment {
    /// A segment with these words.
    #[must_use]
    pub fn of(text: &str, tokens: u64) -> Self {
        Self { hash: *blake3::hash(text.as_bytes()).as_bytes(), tokens }
    }
}

/// How the input tokens of a request divide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheSplit {
    /// Neither read nor written.
    pub fresh: u64,
    /// Read.
    pub read: u64,
    /// Written for five minutes.
    pub written_5m: u64,
    /// Written for an hour.
    pub written_1h: u64,
}

impl CacheSplit {
    /// All input tokens.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.fresh + self.read + self.written_5m + self.written_1h
    }
}

/// Where the marks of a request of so many segments stand when nobody says otherwise: on the last segment, and on those
/// before it in the steps in which they are found again.
#[must_use]
pub fn usual_marks(segments: usize) -> Vec<CacheMark> {
    let places = (0..MAX_MARKS).filter_map(|step| segments.checked_sub(1 + step * MARK_STRIDE));
    let mut marks: Vec<CacheMark> =
        places.map(|segment| CacheMark { segment, lifetime: CacheLifetime::FiveMinutes }).collect();
    marks.reverse();
    marks
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    lifetime: CacheLifetime,
    expires_ms: u64,
}

/// The cache of one conversation.
#[derive(Debug)]
pub struct CacheSimulator {
    min_tokens: u64,
    entries: HashMap<[u8; 32], Entry>,
}

impl CacheSimulator {
    /// An empty cache of a model that keeps no prefix of fewer tokens than `min_tokens`.
    #[must_use]
    pub fn new(min_tokens: u64) -> Self {
        Self { min_tokens, entries: HashMap::new() }
    }

    /// Sends a request at `at_ms`: says how its tokens divide, and takes over what it writes. Marks are in order; more than
    /// [`MAX_MARKS`] are ignored, as are those behind the end.
    pub fn send(&mut self, segments: &[CacheSegment], marks: &[CacheMark], at_ms: u64) -> CacheSplit {
        if self.entries.len() > MAX_ENTRIES {
            self.entries.retain(|_, entry| entry.expires_ms > at_ms);
        }
        let prefixes = prefixes(segments);
        let known = |mark: &&CacheMark| mark.segment < prefixes.len();
        let marks: Vec<CacheMark> = marks.iter().filter(known).take(MAX_MARKS).copied().collect();
        let mut split = CacheSplit { read: self.read(&prefixes, &marks, at_ms), ..CacheSplit::default() };
        let mut done = split.read;
        for mark in marks {
            let Some((hash, tokens)) = prefixes.get(mark.segment) else { continue };
            if *tokens < self.min_tokens {
                continue;
            }
            let written = tokens.saturating_sub(done);
            match mark.lifetime {
                CacheLifetime::FiveMinutes => split.written_5m += written,
                CacheLifetime::OneHour => split.written_1h += written,
            }
            done = done.max(*tokens);
            let expires_ms = at_ms.saturating_add(mark.lifetime.ms());
            self.entries.insert(*hash, Entry { lifetime: mark.lifetime, expires_ms });
        }
        split.fresh = prefixes.last().map_or(0, |(_, total)| total.saturating_sub(done));
        split
    }

    /// The tokens of the longest living prefix within reach of a mark; its life begins anew.
    fn read(&mut self, prefixes: &[([u8; 32], u64)], marks: &[CacheMark], at_ms: u64) -> u64 {
        let within_reach = marks.iter().flat_map(|mark| (mark.segment + 1).saturating_sub(LOOK_BACK)..=mark.segment);
        let lives = |place: &usize| {
            let entry = prefixes.get(*place).and_then(|(hash, _)| self.entries.get(hash));
            entry.is_some_and(|entry| entry.expires_ms > at_ms)
        };
        let Some((hash, tokens)) = within_reach.filter(lives).max().and_then(|place| prefixes.get(place)) else {
            return 0;
        };
        if let Some(entry) = self.entries.get_mut(hash) {
            entry.expires_ms = at_ms.saturating_add(entry.lifetime.ms());
        }
        *tokens
    }
}

/// Every prefix that ends with a segment: its hash and its tokens.
fn prefixes(segments: &[CacheSegment]) -> Vec<([u8; 32], u64)> {
    let (mut hash, mut tokens) = ([0; 32], 0_u64);
    let mut prefixes = Vec::with_capacity(segments.len());
    for segment in segments {
        let mut pair = [0; 64];
        let (before, this) = pair.split_at_mut(32);
        before.copy_from_slice(&hash);
        this.copy_from_slice(&segment.hash);
        hash = *blake3::hash(&pair).as_bytes();
        tokens = tokens.saturating_add(segment.tokens);
        prefixes.push((hash, tokens));
    }
    prefixes
}
