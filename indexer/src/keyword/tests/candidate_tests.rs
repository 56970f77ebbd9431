//! Where a filtered search begins: with the narrowest condition, and never past anything that gets through.

use super::{document, index_of};
use crate::document::{Document, DocumentKind};
use crate::keyword::candidates::candidates;
use crate::keyword::segment_filter::SegmentFilter;
use crate::keyword::{KeywordIndex, schema};
use crate::query::Filter;
use crate::query::tests::filter_tests::{documents, filters};
use proptest::collection::vec;
use proptest::prelude::*;

/// How many candidates there are in the only segment, if they are at most `limit`; `None` also if nothing can get through.
fn count(index: &KeywordIndex, filter: &Filter, limit: u64) -> Option<usize> {
    let searcher = index.snapshot().searcher.clone();
    let segment = searcher.segment_reader(0);
    let ready = SegmentFilter::new(filter, segment).unwrap()?;
    candidates(filter, &ready, segment, &schema::schema().1, limit).unwrap().map(|docs| docs.len())
}

fn session() -> Vec<Document> {
    let of = |n: u64| Document {
        stream: format!("ev.t.p.session.s{}", n % 10),
        kind: if n % 100 == 1 { DocumentKind::Prompt } else { DocumentKind::Call },
        tool: Some(["bash", "read_file", "edit_file", "batch"][n as usize % 4].to_owned()),
        paths: vec![format!("crates/core/src/file{}.rs", n % 50)],
        ..document(n, "text")
    };
    (0..1000).map(of).collect()
}

#[test]
fn the_narrowest_condition_drives() {
    let (_folder, index) = index_of(&session());
    let all = Filter::default();
    let sessions = Filter { sessions: vec!["s3".to_owned()], ..Filter::default() };
    let tools = Filter { tools: vec!["BASH".to_owned()], ..sessions.clone() };
    let paths = Filter { paths: vec!["src/FILE7.rs".to_owned()], ..Filter::default() };
    let kinds = Filter { kinds: vec![DocumentKind::Prompt], ..tools.clone() };
    let time = Filter { since_ms: Some(995_000), ..Filter::default() };
    assert_eq!(count(&index, &all, 1000), None);
    assert_eq!(count(&index, &sessions, 1000), Some(100));
    assert_eq!(count(&index, &sessions, 99), None, "too many");
    assert_eq!(count(&index, &tools, 1000), Some(100));
    assert_eq!(count(&index, &paths, 1000), Some(20));
    assert_eq!(count(&index, &kinds, 1000), Some(10));
    assert_eq!(count(&index, &time, 100), Some(5));
    assert_eq!(count(&index, &Filter { paths: vec!["*.rs".to_owned()], ..Filter::default() }, 1000), None);
}

#[test]
fn a_segment_without_a_chance_is_left_out() {
    let (_folder, index) = index_of(&session());
    let hopeless = [
        Filter { sessions: vec!["other".to_owned()], ..Filter::default() },
        Filter { tools: vec!["other".to_owned()], ..Filter::default() },
        Filter { workspace: Some("other".to_owned()), ..Filter::default() },
        Filter { since_ms: Some(1_000_000), ..Filter::default() },
        Filter { until_ms: Some(0), ..Filter::default() },
        Filter { until_ms: Some(i64::MIN), ..Filter::default() },
        Filter { since_ms: Some(500), until_ms: Some(500), ..Filter::default() },
        Filter { nothing: true, ..Filter::default() },
        Filter { not_kinds: DocumentKind::ALL.to_vec(), ..Filter::default() },
    ];
    let searcher = index.snapshot().searcher.clone();
    for filter in hopeless {
        assert!(SegmentFilter::new(&filter, searcher.segment_reader(0)).unwrap().is_none(), "{filter:?}");
    }
}

#[test]
fn extremes_of_time_are_no_trouble() {
    let (_folder, index) = index_of(&[
        Document { at_ms: i64::MIN, ..document(0, "x") },
        Document { at_ms: i64::MAX, ..document(1, "x") },
        document(2, "x"),
    ]);
    let within = |since_ms, until_ms| {
        let filter = Filter { since_ms, until_ms, ..Filter::default() };
        index.search(&super::query("x"), &filter, 10).unwrap().len()
    };
    assert_eq!(within(Some(i64::MIN), Some(i64::MAX)), 2);
    assert_eq!(within(Some(i64::MAX), None), 1);
    assert_eq!(within(None, Some(i64::MIN + 1)), 1);
    assert_eq!(within(None, None), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Every document that gets through is among the candidates, if there are any, and columns say what the filter says.
    #[test]
    fn nothing_that_gets_through_is_missed(documents in vec(documents(), 1..60), filters in vec(filters(), 60)) {
        let name = |(n, document): (usize, Document)| Document { key: format!("{n}"), text: "x".to_owned(), ..document };
        let documents: Vec<Document> = documents.into_iter().enumerate().map(name).collect();
        let (_folder, index) = index_of(&documents);
        let searcher = index.snapshot().searcher.clone();
        let segment = searcher.segment_reader(0);
        for filter in filters {
            // One thread writes one segment in the order in which it is given documents.
            let through: Vec<u32> =
                (0..).zip(&documents).filter(|(_, document)| filter.accepts(document)).map(|(doc, _)| doc).collect();
            let Some(mut ready) = SegmentFilter::new(&filter, segment).unwrap() else {
                prop_assert!(through.is_empty(), "{:?}", filter);
                continue;
            };
            let accepted: Vec<u32> = (0..segment.max_doc()).filter(|doc| ready.accepts(*doc)).collect();
            prop_assert_eq!(&accepted, &through, "{:?}", filter);
            if let Some(docs) = candidates(&filter, &ready, segment, &schema::schema().1, u64::MAX).unwrap() {
                prop_assert!(docs.is_sorted_by(|one, other| one < other));
                prop_assert!(through.iter().all(|doc| docs.contains(doc)), "{:?}", filter);
            }
        }
    }
}
