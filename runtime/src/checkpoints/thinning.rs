//! Which checkpoints of a session stay: close together for the newest events, farther and farther apart for older ones, so that
//! a fork anywhere has one not far before it and a session of any length has few.
//!
//! Of the newest `fine` intervals one checkpoint each stays, of twice as many before them one for each two, and so on. Stretches lie
//! at multiples of their own length, and the first checkpoint of one stays: so one that went is never wanted again.

use std::collections::BTreeSet;

/// How many of the newest intervals keep one each, when there is room for that.
pub(super) const FINE: u64 = 8;

/// How long the stretch is that keeps one checkpoint around event `seq` while the newest is `newest`; in intervals, a power of 2.
fn width(seq: u64, newest: u64, interval: u64, fine: u64) -> u64 {
    let age = newest.saturating_sub(seq) / interval;
    1 << (age / fine.max(1) + 1).ilog2().min(40)
}

/// The stretch that event `seq` is in: its length and its number.
fn stretch(seq: u64, newest: u64, interval: u64, fine: u64) -> (u64, u64) {
    let width = width(seq, newest, interval, fine);
    (width, seq.saturating_add(1) / interval.saturating_mul(width))
}

/// Those of `seqs` that stay: the newest, and the first of each stretch.
pub(super) fn kept(seqs: &BTreeSet<u64>, interval: u64, fine: u64) -> BTreeSet<u64> {
    let Some(newest) = seqs.last().copied() else { return BTreeSet::new() };
    let mut kept: BTreeSet<u64> = BTreeSet::new();
    let mut before = None;
    for seq in seqs {
        let here = stretch(*seq, newest, interval, fine);
        if before != Some(here) {
            kept.insert(*seq);
        }
        before = Some(here);
    }
    kept.insert(newest);
    kept
}

/// The events below `end` at which a session whose newest is `newest` lacks a checkpoint, where `there` has some.
pub(super) fn lacking(there: &BTreeSet<u64>, end: u64, newest: u64, interval: u64) -> Vec<u64> {
    let stretch = |seq: u64| stretch(seq, newest, interval, FINE);
    let full: BTreeSet<(u64, u64)> = there.iter().map(|seq| stretch(*seq)).collect();
    let mut lacking = Vec::new();
    let mut place = interval;
    while place <= end {
        let here = stretch(place - 1);
        // Where a stretch begins.
        if place.is_multiple_of(interval.saturating_mul(here.0)) && !full.contains(&here) {
            lacking.push(place - 1);
        }
        let Some(next) = place.checked_add(interval) else { break };
        place = next;
    }
    lacking
}
