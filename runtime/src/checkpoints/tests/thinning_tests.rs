//! Which checkpoints stay: few, close together where it is new, never far before any event, and never one that is made again.

use crate::checkpoints::thinning::{FINE, kept, lacking};
use proptest::prelude::*;
use std::collections::BTreeSet;

const INTERVAL: u64 = 2_000;

/// The checkpoints of a session that grew to `intervals` intervals, thinned each time one was added.
fn grown(intervals: u64, fine: u64) -> BTreeSet<u64> {
    (1..=intervals).fold(BTreeSet::new(), |mut seqs, number| {
        seqs.insert(number * INTERVAL - 1);
        kept(&seqs, INTERVAL, fine)
    })
}

#[test]
fn a_hundred_thousand_events_keep_few_and_a_fork_near_the_end_has_one_close_by() {
    let seqs = grown(50, FINE);
    assert_eq!(seqs.len(), 23);
    let newest: Vec<u64> = seqs.iter().rev().take(3).copied().collect();
    assert_eq!(newest, [99_999, 97_999, 95_999]);
    assert!(seqs.range(..90_000).next_back().is_some_and(|seq| 90_000 - seq <= INTERVAL));
    assert!(grown(500, FINE).len() < 60, "a million events");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_event_is_farther_from_one_than_its_age_allows(intervals in 1_u64..400, fine in 1_u64..10, at in 0_u64..1_000_000) {
        let seqs = grown(intervals, fine);
        let newest = intervals * INTERVAL - 1;
        prop_assert_eq!(seqs.last(), Some(&newest));
        let at = at % (newest + 1);
        let before = seqs.range(..=at).next_back().map_or(0, |seq| *seq);
        // A stretch is at most as long as an eighth (with `fine` 8) of what came since, and two of them may meet.
        let allowed = 2 * (INTERVAL + (newest - at) / fine) + 2 * INTERVAL;
        prop_assert!(at - before <= allowed, "{} before {at} of {newest}", before);
    }

    #[test]
    fn what_went_is_not_made_again(intervals in 1_u64..200, extra in 0_u64..INTERVAL) {
        let newest = intervals * INTERVAL - 1 + extra;
        let mut seqs = BTreeSet::new();
        let wanted = lacking(&seqs, newest + 1, newest, INTERVAL);
        seqs.extend(wanted);
        seqs = kept(&seqs, INTERVAL, FINE);
        prop_assert_eq!(lacking(&seqs, newest + 1, newest, INTERVAL), Vec::<u64>::new());
        // A session that runs keeps the same as one that is folded afterwards, or more.
        let running = grown(intervals, FINE);
        prop_assert_eq!(lacking(&running, newest + 1, newest, INTERVAL), Vec::<u64>::new());
    }

    #[test]
    fn whatever_there_is_the_newest_stays_and_thinning_twice_is_thinning_once(
        seqs in prop::collection::btree_set(0_u64..500_000, 0..80),
        fine in 1_u64..10,
    ) {
        let once = kept(&seqs, INTERVAL, fine);
        prop_assert!(once.is_subset(&seqs));
        prop_assert_eq!(once.last(), seqs.last());
        prop_assert_eq!(kept(&once, INTERVAL, fine), once);
    }
}

#[test]
fn numbers_at_the_end_of_all_numbers_are_no_trouble() {
    let seqs = BTreeSet::from([0, u64::MAX - 1, u64::MAX]);
    assert!(kept(&seqs, INTERVAL, FINE).contains(&u64::MAX));
    assert!(kept(&seqs, u64::MAX, 1).contains(&u64::MAX));
}
