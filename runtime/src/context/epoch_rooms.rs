//! How large the parts of an epoch are, so that its requests have as many tokens on average as a context composed afresh.

use super::working::MissingRoom;

/// About how many bytes make a token.
const BYTES_PER_TOKEN: usize = 4;

/// The parts, in tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EpochRooms {
    /// What it begins with.
    pub(crate) seed: u64,
    /// Where it ends.
    pub(crate) top: u64,
    /// How far down the ranking it is looked for what is missing.
    pub(crate) horizon: usize,
    /// The most that a request adds of it.
    pub(crate) turn: usize,
    /// The most of a file that is read.
    pub(crate) read: usize,
    /// Of a file that is read, so much is shown whole.
    pub(crate) small: usize,
    /// The most of a command's output.
    pub(crate) result: usize,
    /// The most of what a search found.
    pub(crate) hits: usize,
    /// The most of anything else.
    pub(crate) other: usize,
}

/// The smaller and the larger budget at which parts were measured, and the parts in thousandths of them.
const SMALL: (u64, [u64; 9]) = (8_000, [500, 1_560, 625, 95, 188, 50, 38, 25, 100]);
const LARGE: (u64, [u64; 9]) = (32_000, [375, 1_625, 500, 47, 125, 25, 31, 19, 50]);

impl EpochRooms {
    /// Parts for requests of `budget` tokens on average. Between the two budgets that were measured the parts change evenly with
    /// each doubling; beyond them they stay.
    pub(crate) fn of(budget: u64) -> Self {
        let doublings = (budget.clamp(SMALL.0, LARGE.0) as f64 / SMALL.0 as f64).log2();
        let share = doublings / (LARGE.0 as f64 / SMALL.0 as f64).log2();
        let mixed: Vec<u64> = SMALL.1.iter().zip(LARGE.1).map(|(small, large)| mix(*small, large, share)).collect();
        let part = |place: usize| mixed.get(place).copied().unwrap_or_default().saturating_mul(budget) / 1_000;
        let size = |place: usize| usize::try_from(part(place)).unwrap_or(usize::MAX);
        Self {
            seed: part(0),
            top: part(1),
            horizon: size(2),
            turn: size(3),
            read: size(4),
            small: size(5),
            result: size(6),
            hits: size(7),
            other: size(8),
        }
    }

    /// The room for what is missing at one request, where `place_bytes` stand around the lines of each place.
    pub(crate) const fn missing(&self, place_bytes: usize) -> MissingRoom {
        MissingRoom { bytes: self.turn * BYTES_PER_TOKEN, horizon_bytes: self.horizon * BYTES_PER_TOKEN, place_bytes }
    }
}

fn mix(small: u64, large: u64, share: f64) -> u64 {
    (small as f64 + (large as f64 - small as f64) * share).round() as u64
}
