//! The tree as a whole: nodes never change, a restored cursor goes on, sizes are bounded, nothing is lost uncounted.

use super::super::budget;
use super::super::{Digest, DigestKind, GROUP, SummaryCursor, SummaryNode};
use super::made::{SECRET, events, long, redactor, session, stream, tree};
use proptest::prelude::*;
use retrace_events::Event;
use std::collections::{BTreeMap, HashSet};

/// Everything about a node that is bounded, within its bounds.
fn check_bounds(node: &SummaryNode) {
    let items: usize = node.digest.items.iter().map(super::super::DigestItem::size_bytes).sum();
    assert!(items <= budget::of_level(node.level), "{items} bytes in {node:?}");
    let json = serde_json::to_string(node).unwrap();
    assert!(json.len() < 40_000, "{} bytes: {json}", json.len());
    for max_chars in [0, 10, 200, 1_000, 100_000] {
        assert!(node.text(max_chars).chars().count() <= max_chars);
    }
}

/// Each event lies in exactly one node of each complete level.
fn check_gapless(nodes: &[&SummaryNode]) {
    for pair in nodes.windows(2) {
        assert_eq!(pair[0].last_seq + 1, pair[1].first_seq, "{pair:?}");
        assert_eq!(pair[0].index + 1, pair[1].index);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_cursor_that_is_stored_and_restored_anywhere_goes_on_as_if_nothing_had_been(
        payloads in session(90), stops in proptest::collection::hash_set(0..90_usize, 0..8),
    ) {
        let events = events(&payloads);
        let (whole, end) = tree(&events);
        let (mut cursor, redactor, mut nodes) = (SummaryCursor::new(stream()), redactor(), Vec::new());
        for (place, event) in events.iter().enumerate() {
            nodes.extend(cursor.apply(event, redactor));
            if stops.contains(&place) {
                let stored = serde_json::to_vec(&cursor).unwrap();
                cursor = serde_json::from_slice(&stored).unwrap();
                // What was delivered before the crash is delivered again.
                let again: Vec<SummaryNode> =
                    events[place / 2..=place].iter().flat_map(|event| cursor.apply(event, redactor)).collect();
                prop_assert!(again.is_empty());
            }
        }
        prop_assert_eq!(nodes, whole);
        prop_assert_eq!(cursor, end);
    }

    #[test]
    fn a_node_never_changes_and_covers_its_events_as_they_are(payloads in session(90)) {
        let events = events(&payloads);
        let (whole, cursor) = tree(&events);
        for cut in [events.len() / 3, events.len() / 2, events.len() * 2 / 3] {
            let (earlier, _) = tree(&events[..cut]);
            prop_assert_eq!(&whole[..earlier.len()], &earlier[..]);
        }
        let ids: BTreeMap<u64, &Event> = events.iter().map(|event| (event.envelope.seq, event)).collect();
        for node in whole.iter().chain(&cursor.edge()) {
            check_bounds(node);
            prop_assert_eq!(ids[&node.first_seq].envelope.id, node.first_event);
            for item in &node.digest.items {
                prop_assert_eq!(ids[&item.seq].envelope.id, item.event, "evidence that does not exist");
                prop_assert!((node.first_seq..=node.last_seq).contains(&item.first_seq));
                prop_assert!(item.first_seq <= item.seq && item.seq <= node.last_seq);
            }
            if let Some(plan) = &node.digest.plan {
                prop_assert_eq!(ids[&plan.seq].envelope.id, plan.event);
            }
        }
        let edge = cursor.edge();
        check_gapless_ends(&edge, events.len());
        for level in 0..4 {
            check_gapless(&whole.iter().filter(|node| node.level == level).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_folded_and_dropped_is_counted(payloads in session(120)) {
        let (nodes, _) = tree(&events(&payloads));
        for parent in nodes.iter().filter(|node| node.level > 0) {
            let first = parent.index * GROUP;
            let below = |node: &&SummaryNode| node.level + 1 == parent.level && (first..first + GROUP).contains(&node.index);
            let children: Vec<&SummaryNode> = nodes.iter().filter(below).collect();
            prop_assert_eq!(children.len() as u64, GROUP);
            for kind in DigestKind::ALL {
                let sum: u64 = children.iter().map(|child| child.digest.total(kind)).sum();
                prop_assert_eq!(parent.digest.total(kind), sum);
            }
            prop_assert_eq!(&Digest::merged(children.iter().map(|child| &child.digest), parent.level), &parent.digest);
        }
    }

    #[test]
    fn no_secret_gets_into_a_node_or_into_the_cursor(payloads in session(60)) {
        let events = events(&payloads);
        let (nodes, cursor) = tree(&events);
        let all = format!("{} {}", serde_json::to_string(&nodes).unwrap(), serde_json::to_string(&cursor).unwrap());
        prop_assert!(!all.contains(SECRET));
        prop_assert!(!all.contains("the secret thoughts"));
    }
}

/// The edge covers the session from its first event to its last.
fn check_gapless_ends(edge: &[SummaryNode], events: usize) {
    assert_eq!(edge.first().map_or(0, |node| node.first_seq), 0);
    assert_eq!(edge.last().map_or(0, |node| node.last_seq as usize + 1), events);
    assert!(edge.windows(2).all(|pair| pair[0].last_seq + 1 == pair[1].first_seq));
    assert!(edge.iter().rev().skip(1).all(|node| !node.open));
}

#[test]
fn a_long_session_has_few_nodes_at_its_edge_and_a_small_cursor() {
    let events = events(&long(600));
    let (mut cursor, redactor) = (SummaryCursor::new(stream()), redactor());
    let (mut most_nodes, mut most_bytes) = (0, 0);
    let mut nodes = Vec::new();
    for event in &events {
        nodes.extend(cursor.apply(event, redactor));
        most_nodes = most_nodes.max(cursor.edge().len());
        if event.envelope.seq % 50 == 0 {
            most_bytes = most_bytes.max(serde_json::to_vec(&cursor).unwrap().len());
        }
    }
    // 1,200 steps: levels 0 to 3, at most seven nodes each, and the open one.
    let counts: Vec<usize> = (0..5).map(|level| nodes.iter().filter(|node| node.level == level).count()).collect();
    assert_eq!(counts, [1_200, 150, 18, 2, 0]);
    assert!(most_nodes <= 4 * 7 + 1, "{most_nodes}");
    assert!(most_bytes < 200_000, "{most_bytes}");
    let places: HashSet<(u32, u64)> = nodes.iter().map(|node| (node.level, node.index)).collect();
    assert_eq!(places.len(), nodes.len(), "a place was given twice");
}

#[test]
fn events_of_another_stream_are_none_of_its_business() {
    let mut cursor = SummaryCursor::new(retrace_events::testing::example_stream("another"));
    let before = cursor.clone();
    for event in events(&long(3)) {
        assert!(cursor.apply(&event, redactor()).is_empty());
    }
    assert_eq!(cursor, before);
}
