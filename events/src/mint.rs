//! Where time and ids come from. Folds never ask; only writers do, and tests give them a seeded source.

use crate::id::{EventId, Timestamp};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};
use uuid::Uuid;

/// A source of moments and of event ids.
pub trait Mint: Send + Sync + std::fmt::Debug {
    /// The present moment.
    fn now(&self) -> Timestamp;
    /// A new id, unique and (nearly) in order of time.
    fn event_id(&self) -> EventId;
}

/// The machine's clock and random UUIDv7 ids.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemMint;

impl Mint for SystemMint {
    fn now(&self) -> Timestamp {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
    }

    fn event_id(&self) -> EventId {
        EventId(Uuid::now_v7())
    }
}

/// A clock that starts at a given moment and moves 1 ms with each question, and ids counted from a seed: the same
/// seed gives the same log, byte for byte.
#[derive(Debug)]
pub struct SeededMint {
    state: Mutex<(u64, u64)>,
    seed: u64,
}

impl SeededMint {
    /// A mint for `seed`, beginning at 2026-01-01T00:00:00Z.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: Mutex::new((1_767_225_600_000, 0)), seed }
    }

    fn step(&self) -> (u64, u64) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.0 += 1;
        state.1 += 1;
        *state
    }
}

impl Mint for SeededMint {
    fn now(&self) -> Timestamp {
        Timestamp(self.step().0)
    }

    fn event_id(&self) -> EventId {
        let (ms, count) = self.step();
        let mut random = [0; 10];
        let digest = blake3::hash(&[self.seed.to_le_bytes(), count.to_le_bytes()].concat());
        random.copy_from_slice(&digest.as_bytes()[..10]);
        EventId(uuid::Builder::from_unix_timestamp_millis(ms, &random).into_uuid())
    }
}
