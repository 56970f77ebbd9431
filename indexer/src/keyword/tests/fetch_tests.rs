//! Getting documents and records back.

use super::{code, document, index_of, open, query, writer};
use crate::document::{Document, DocumentKind};
use crate::query::Filter;
use proptest::prelude::*;

/// A document with everything in it, extremes included.
fn full() -> impl Strategy<Value = Document> {
    let text = || "\\PC{0,12}";
    let number = || prop_oneof![Just(0_u64), Just(u64::MAX), any::<u64>()];
    let small = || prop_oneof![Just(0_u32), Just(u32::MAX), any::<u32>()];
    (
        (proptest::sample::select(DocumentKind::ALL.to_vec()), text(), text(), text(), "(\\PC|\n|\0){0,80}"),
        (number(), number(), number(), number(), small(), small(), small()),
        (any::<i64>(), prop::option::of(text()), prop::collection::vec(text(), 0..3), prop::option::of(text())),
        (prop::option::of(any::<i64>()), any::<bool>()),
    )
        .prop_map(
            |((kind, stream, workspace, event, text), numbers, (at_ms, tool, paths, symbol), (exit, is_error))| {
                let (seq, position, ordinal, step, part, first_line, last_line) = numbers;
                let names = Document { stream, workspace, event, text, tool, paths, symbol, ..Document::default() };
                let places = Document { kind, seq, position, ordinal, step, part, first_line, last_line, ..names };
                Document { at_ms, exit, is_error, ..places }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// What is put in comes out again, whole.
    #[test]
    fn documents_come_back_as_they_were(documents in prop::collection::vec(full(), 1..40)) {
        let name = |(n, document): (usize, Document)| Document { key: format!("key {n}"), ..document };
        let documents: Vec<Document> = documents.into_iter().enumerate().map(name).collect();
        let (_folder, index) = index_of(&documents);
        for document in &documents {
            let found = index.by_key(&document.key).unwrap();
            prop_assert_eq!(found.as_ref(), Some(document));
            let hit = index.hit_by_key(&document.key).unwrap().unwrap();
            prop_assert_eq!((hit.kind, &hit.stream, hit.at_ms), (document.kind, &document.stream, document.at_ms));
            prop_assert_eq!((hit.ordinal, hit.position), (document.ordinal, document.position));
        }
        prop_assert_eq!(index.count().unwrap(), documents.len() as u64);
        let all = index.documents_between(0..=u64::MAX, &[]).unwrap();
        prop_assert_eq!(all.len(), documents.len());
        prop_assert!(all.is_sorted_by_key(|document| document.position));
    }
}

fn session() -> Vec<Document> {
    let mut documents: Vec<Document> = (0..20).map(|n| document(n, &format!("text {n}"))).collect();
    documents.extend((0..20).map(|n| {
        let key = format!("ev.t.p.session.two/{n}.0");
        Document { key, stream: "ev.t.p.session.two".to_owned(), position: 100 + n, ..document(n, "other") }
    }));
    for level in 1..3 {
        let key = format!("summary/ev.t.p.session.one/{level}.0");
        documents.push(Document {
            key,
            kind: DocumentKind::Summary,
            ordinal: 3,
            step: level,
            ..document(4, "summary")
        });
    }
    documents.push(code("src/a.rs", "a", "fn a() {}"));
    documents
}

fn keys(documents: &[Document]) -> Vec<&str> {
    documents.iter().map(|document| document.key.as_str()).collect()
}

#[test]
fn neighbours_by_ordinal() {
    let (_folder, index) = index_of(&session());
    let near = index.by_ordinal("ev.t.p.session.one", 2..5).unwrap();
    assert_eq!(keys(&near), ["ev.t.p.session.one/2.0", "ev.t.p.session.one/3.0", "ev.t.p.session.one/4.0"]);
    assert_eq!(index.by_ordinal("ev.t.p.session.one", 18..99).unwrap().len(), 2);
    assert!(index.by_ordinal("ev.t.p.session.one", 5..5).unwrap().is_empty());
    assert!(index.by_ordinal("ev.t.p.session", 0..9).unwrap().is_empty());
}

#[test]
fn places_that_do_not_follow_each_other() {
    let (_folder, index) = index_of(&session());
    let apart = index.by_ordinals("ev.t.p.session.one", &[17, 3, 0, 99].into()).unwrap();
    assert_eq!(keys(&apart), ["ev.t.p.session.one/0.0", "ev.t.p.session.one/3.0", "ev.t.p.session.one/17.0"]);
    assert!(index.by_ordinals("ev.t.p.session.one", &[].into()).unwrap().is_empty());
}

#[test]
fn a_session_in_order_with_its_summaries_last() {
    let (_folder, index) = index_of(&session());
    let documents = index.documents_of("ev.t.p.session.one").unwrap();
    assert_eq!(documents.len(), 22);
    assert!(documents[..20].iter().map(|document| document.ordinal).eq(0..20));
    assert!(documents[20..].iter().all(|document| document.kind == DocumentKind::Summary));
    assert!(index.documents_of("").unwrap().is_empty());
}

#[test]
fn documents_between_positions() {
    let (_folder, index) = index_of(&session());
    let between = index.documents_between(18..=101, &[DocumentKind::Answer]).unwrap();
    let expected =
        ["ev.t.p.session.one/18.0", "ev.t.p.session.one/19.0", "ev.t.p.session.two/0.0", "ev.t.p.session.two/1.0"];
    assert_eq!(keys(&between), expected);
    assert!(index.documents_between(18..=101, &[DocumentKind::Code]).unwrap().is_empty());
    assert_eq!(index.documents_between(4..=4, &[]).unwrap().len(), 3);
    #[expect(clippy::reversed_empty_ranges, reason = "what a caller may compute")]
    let backwards = index.documents_between(9..=3, &[]).unwrap();
    assert!(backwards.is_empty());
}

#[test]
fn an_unknown_key_is_none() {
    let (_folder, index) = index_of(&session());
    assert_eq!(index.by_key("nothing").unwrap(), None);
    assert!(index.hit_by_key("").unwrap().is_none());
    assert_eq!(index.record("nothing").unwrap(), None);
}

#[test]
fn records_by_key_and_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    for (key, value) in [("file/a", "1"), ("file/b", "2"), ("file/é", "3"), ("cursor", "4")] {
        writer.put_record(key, value.as_bytes()).unwrap();
    }
    writer.commit("").unwrap();
    writer.put_record("file/b", &[0, 159, 146, 150]).unwrap();
    writer.delete_record("file/a");
    writer.put_record("file/c", b"").unwrap();
    writer.commit("").unwrap();
    let index = open(folder.path());
    let named =
        |list: &[(&str, &[u8])]| list.iter().map(|(key, value)| (key.to_string(), value.to_vec())).collect::<Vec<_>>();
    assert_eq!(
        index.records("file/").unwrap(),
        named(&[("file/b", &[0, 159, 146, 150]), ("file/c", b""), ("file/é", b"3")])
    );
    assert_eq!(index.record("cursor").unwrap(), Some(b"4".to_vec()));
    assert_eq!(index.record("file/a").unwrap(), None);
    assert_eq!(index.records("").unwrap().len(), 4);
    assert!(index.records("zz").unwrap().is_empty());
}

#[test]
fn deleting_by_path_and_stream() {
    let (folder, index) = index_of(&session());
    let mut writer = writer(folder.path());
    writer.add(&code("src/a.rs.bak", "b", "fn b() {}")).unwrap();
    writer.commit("").unwrap();
    writer.delete_path("src/a.rs");
    writer.delete_stream("ev.t.p.session.one");
    writer.delete_path("src");
    writer.commit("").unwrap();
    index.reload().unwrap();
    let left = index.documents_between(0..=u64::MAX, &[]).unwrap();
    assert_eq!(left.len(), 21);
    assert_eq!(keys(&left[..1]), ["code/src/a.rs.bak#1"]);
    assert!(left[1..].iter().all(|document| document.stream == "ev.t.p.session.two"));
}

#[test]
fn addresses_stay_good_across_commits() {
    let (folder, index) = index_of(&session());
    let hits = index.search(&query("text"), &Filter::default(), 100).unwrap();
    assert_eq!(hits.len(), 20);
    let mut writer = writer(folder.path());
    writer.delete_stream("ev.t.p.session.one");
    writer.commit("").unwrap();
    writer.wait_merges().unwrap();
    index.reload().unwrap();
    let addresses: Vec<_> = hits.iter().map(|hit| hit.address.clone()).collect();
    let documents = index.documents(&addresses).unwrap();
    assert!(documents.iter().zip(&hits).all(|(document, hit)| document.key == hit.key));
    assert!(index.search(&query("text"), &Filter::default(), 100).unwrap().is_empty());
}
