//! Which nodes cover a session: few, coarse for the old, fine for the new.

use super::super::{SummaryCover, SummaryNode};
use super::made::{events, long, session, tree};
use proptest::prelude::*;

/// The cover of a session of `turns` turns, two steps each.
fn cover(turns: usize) -> Vec<SummaryNode> {
    let (nodes, cursor) = tree(&events(&long(turns)));
    let mut cover = SummaryCover::default();
    nodes.into_iter().for_each(|node| cover.add(node));
    cover.nodes(cursor.open())
}

#[test]
fn every_event_is_covered_once_by_few_nodes_that_get_finer() {
    for turns in [0, 1, 3, 4, 5, 7, 8, 9, 31, 32, 33, 64, 100, 256, 257, 300] {
        let cover = cover(turns);
        let events = events(&long(turns)).len() as u64;
        assert_eq!(cover.first().map(|node| node.first_seq), Some(0), "{turns}");
        assert_eq!(cover.last().map(|node| node.last_seq + 1), Some(events), "{turns}");
        assert!(cover.windows(2).all(|pair| pair[0].last_seq + 1 == pair[1].first_seq), "{turns}");
        assert!(cover.windows(2).all(|pair| pair[0].level >= pair[1].level), "{turns}");
        // The newest steps are there one by one, also when a group has just become full.
        let fine = cover.iter().filter(|node| node.level == 0 && !node.open).count();
        assert!(fine >= (2 * turns).min(8) && fine < 16, "{turns}: {fine}");
        for level in 1..5 {
            assert!(cover.iter().filter(|node| node.level == level).count() < 16, "{turns}");
        }
    }
}

#[test]
fn a_thousand_steps_are_covered_by_a_few_dozen_nodes() {
    let levels: Vec<u32> = cover(500).iter().map(|node| node.level).collect();
    assert!(levels.len() <= 3 * 15, "{levels:?}");
    assert_eq!(levels.first(), Some(&2));
    assert_eq!(levels.last(), Some(&0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_session_is_covered_at_any_moment(payloads in session(100)) {
        let events = events(&payloads);
        for end in [1, events.len() / 2, events.len()] {
            let events = &events[..end.min(events.len())];
            let (nodes, cursor) = tree(events);
            let mut cover = SummaryCover::default();
            nodes.into_iter().for_each(|node| cover.add(node));
            let cover = cover.nodes(cursor.open());
            let covered: u64 = cover.iter().map(|node| node.last_seq - node.first_seq + 1).sum();
            prop_assert_eq!(covered, events.len() as u64);
            prop_assert!(cover.windows(2).all(|pair| pair[0].last_seq + 1 == pair[1].first_seq));
        }
    }
}
