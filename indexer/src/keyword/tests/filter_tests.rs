//! Filters in the index agree with what they mean, whichever way the search goes.

use super::{document, index_of, open, query, writer};
use crate::document::Document;
use crate::query::Filter;
use crate::query::tests::filter_tests::{documents, filters};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Gives each document its own name and text: every text has `all`, every other one `some`, and one in seven `few`.
fn named(documents: Vec<Document>) -> Vec<Document> {
    let words =
        |n: usize| format!("all {} {} text{n}", ["some", "none"][n % 2], if n.is_multiple_of(7) { "few" } else { "" });
    let name = |(n, document): (usize, Document)| Document { key: format!("doc {n}"), text: words(n), ..document };
    documents.into_iter().enumerate().map(name).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// One index, many filters: with many words (the engine's bounds, filter asked last), few words, and none.
    #[test]
    fn what_gets_through_is_what_is_found(
        documents in vec(documents(), 1..120),
        filters in vec(filters(), 40),
        cut in 0_usize..120,
    ) {
        let documents = named(documents);
        let folder = tempfile::tempdir().unwrap();
        let mut writer = writer(folder.path());
        for (n, document) in documents.iter().enumerate() {
            if n == cut {
                writer.commit("").unwrap();
            }
            writer.put(document).unwrap();
        }
        writer.commit("").unwrap();
        let index = open(folder.path());
        for filter in filters {
            for (text, words) in [("", "all"), ("all text0 text1 text2", "all"), ("few", "few"), ("\"all some\"", "some")] {
                let hits = index.search(&query(text), &filter, 1000).unwrap();
                let found: BTreeSet<&str> = hits.iter().map(|hit| hit.key.as_str()).collect();
                prop_assert_eq!(found.len(), hits.len(), "something is found twice");
                let holds = |document: &&Document| document.text.contains(words) && filter.accepts(document);
                let expected: BTreeSet<&str> = documents.iter().filter(holds).map(|document| document.key.as_str()).collect();
                prop_assert_eq!(&found, &expected, "{} {:?}", text, filter);
                if text.is_empty() {
                    prop_assert!(hits.is_sorted_by(|one, other| one.at_ms >= other.at_ms));
                } else {
                    prop_assert!(hits.is_sorted_by(|one, other| one.score >= other.score));
                }
            }
        }
    }
}

/// A narrow filter walks through its own documents, a wide one through those of the words: scores must not depend on it.
#[test]
fn scores_do_not_depend_on_the_way() {
    let documents: Vec<Document> = (0..3000)
        .map(|n| {
            let stream = if n % 1000 == 7 { "ev.t.p.session.rare" } else { "ev.t.p.session.many" };
            let text = format!("common {} word{}", "again ".repeat(n as usize % 5), n % 10);
            Document { stream: stream.to_owned(), ..document(n, &text) }
        })
        .collect();
    let (_folder, index) = index_of(&documents);
    let rare = Filter { sessions: vec!["rare".to_owned()], ..Filter::default() };
    for text in ["common", "common again word7", "\"common again\"", "common -word7"] {
        let wide = index.search(&query(text), &Filter::default(), 3000).unwrap();
        let wide: Vec<(String, f32)> =
            wide.into_iter().filter(|hit| hit.stream.ends_with("rare")).map(|hit| (hit.key, hit.score)).collect();
        let narrow = index.search(&query(text), &rare, 3000).unwrap();
        let narrow: Vec<(String, f32)> = narrow.into_iter().map(|hit| (hit.key, hit.score)).collect();
        assert_eq!(narrow.len(), wide.len(), "{text}");
        for ((key, score), (wide_key, wide_score)) in narrow.iter().zip(&wide) {
            assert_eq!(key, wide_key);
            assert!((score - wide_score).abs() < 1e-4, "{text}: {score} {wide_score}");
        }
    }
}

#[test]
fn deleted_documents_are_not_found_on_any_way() {
    let documents: Vec<Document> = (0..500).map(|n| document(n, "common rare")).collect();
    let (folder, index) = index_of(&documents);
    let mut writer = writer(folder.path());
    (0..500).filter(|n| n % 5 != 0).for_each(|n| writer.delete_key(&documents[n].key));
    writer.commit("").unwrap();
    index.reload().unwrap();
    let narrow = Filter { since_ms: Some(490_000), ..Filter::default() };
    assert_eq!(index.search(&query("common"), &Filter::default(), 1000).unwrap().len(), 100);
    assert_eq!(index.search(&query("common"), &narrow, 1000).unwrap().len(), 2);
    assert_eq!(index.search(&query(""), &narrow, 1000).unwrap().len(), 2);
    assert_eq!(index.search(&query(""), &Filter::default(), 1000).unwrap().len(), 100);
    assert_eq!(index.count().unwrap(), 100);
}
