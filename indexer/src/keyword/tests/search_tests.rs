//! Searching: what is found, in which order.

use super::{code, document, found, index_of, query};
use crate::document::{Document, DocumentKind};
use crate::query::{Filter, Query};

#[test]
fn words_find_and_rank() {
    let (_folder, index) = index_of(&[
        document(0, "the build is green"),
        document(1, "the linker failed: the build is red, the linker again"),
        document(2, "nothing of the sort"),
    ]);
    assert_eq!(found(&index, "linker build"), [1, 0]);
    assert_eq!(found(&index, "green"), [0]);
    assert!(found(&index, "unheardof").is_empty());
    assert_eq!(found(&index, "unheardof green"), [0]);
}

#[test]
fn an_identifier_is_found_by_its_parts_and_best_by_itself() {
    let (_folder, index) = index_of(&[
        document(0, "open the index; then the writer"),
        document(1, "class IndexWriter opens"),
        document(2, "index_writer opens"),
        document(3, "unrelated"),
    ]);
    assert_eq!(found(&index, "IndexWriter")[0], 1);
    assert_eq!(found(&index, "index_writer")[0], 2);
    let mut parts = found(&index, "writer");
    parts.sort_unstable();
    assert_eq!(parts, [0, 1, 2]);
}

#[test]
fn a_path_in_the_text_is_found_by_itself_and_by_its_file() {
    let (_folder, index) = index_of(&[
        document(0, "error in src/auth/login_form.rs:12"),
        document(1, "the form of the login, src of it"),
        document(2, "auth"),
    ]);
    assert_eq!(found(&index, "src/auth/login_form.rs")[0], 0);
    assert_eq!(found(&index, "login_form.rs")[0], 0);
    assert_eq!(found(&index, "\"auth/login_form.rs\""), [0]);
}

#[test]
fn phrases_are_required_and_in_order() {
    let (_folder, index) = index_of(&[
        document(0, "cannot find value x in this scope"),
        document(1, "value cannot be found; find it in this scope"),
        document(2, "scope"),
    ]);
    assert_eq!(found(&index, "\"cannot find value\""), [0]);
    assert_eq!(found(&index, "scope \"cannot find value\""), [0]);
    assert!(found(&index, "\"find cannot\"").is_empty());
    assert_eq!(found(&index, "\"fooBar\" scope"), [0_u64; 0]);
}

#[test]
fn a_phrase_goes_through_names_and_inflections() {
    let (_folder, index) = index_of(&[document(0, "call indexWriter.commitAll(now)"), document(1, "the tests failed")]);
    assert_eq!(found(&index, "\"writer commit all\""), [0]);
    assert_eq!(found(&index, "\"indexWriter.commitAll\""), [0]);
    assert_eq!(found(&index, "\"test fails\""), [1]);
}

#[test]
fn exclusions_hold() {
    let (_folder, index) =
        index_of(&[document(0, "red apple"), document(1, "red unit test"), document(2, "red test unit")]);
    assert_eq!(found(&index, "red -apple").len(), 2);
    let mut rest = found(&index, "red -\"unit test\"");
    rest.sort_unstable();
    assert_eq!(rest, [0, 2]);
    assert!(found(&index, "red -red").is_empty());
}

#[test]
fn without_words_the_newest_comes_first() {
    let (_folder, index) = index_of(&[document(2, "b x"), document(0, "c"), document(1, "a x")]);
    assert_eq!(found(&index, ""), [2, 1, 0]);
    assert_eq!(found(&index, "kind:answer"), [2, 1, 0]);
    assert_eq!(found(&index, "-x1 -x2"), [2, 1, 0]);
    assert_eq!(found(&index, "kind:answer -\"b x\""), [1, 0]);
    assert!(found(&index, "kind:call").is_empty());
    let hits = index.search(&query("kind:answer"), &Filter::default(), 2).unwrap();
    assert_eq!(hits.iter().map(|hit| (hit.ordinal, hit.score)).collect::<Vec<_>>(), [(2, 0.0), (1, 0.0)]);
}

#[test]
fn hits_carry_what_a_list_needs() {
    let wanted = Document { kind: DocumentKind::Result, ordinal: 7, position: 99, ..document(5, "needle") };
    let (_folder, index) = index_of(&[document(0, "hay"), wanted.clone()]);
    let hits = index.search(&query("needle"), &Filter::default(), 10).unwrap();
    let [hit] = hits.as_slice() else { panic!("{hits:?}") };
    assert_eq!((hit.key.as_str(), hit.stream.as_str()), (wanted.key.as_str(), wanted.stream.as_str()));
    assert_eq!((hit.kind, hit.ordinal, hit.position, hit.at_ms), (DocumentKind::Result, 7, 99, 5000));
    assert!(hit.score > 0.0);
    assert_eq!(index.documents(std::slice::from_ref(&hit.address)).unwrap(), [wanted]);
}

#[test]
fn of_equals_the_newer_comes_first() {
    let (_folder, index) = index_of(&[document(1, "same"), document(3, "same"), document(2, "same")]);
    assert_eq!(found(&index, "same"), [3, 2, 1]);
}

#[test]
fn the_limit_takes_the_best() {
    let documents: Vec<Document> = (0..50).map(|n| document(n, &"needle ".repeat(n as usize + 1))).collect();
    let (_folder, index) = index_of(&documents);
    let all = index.search(&query("needle"), &Filter::default(), 100).unwrap();
    assert_eq!(all.len(), 50);
    for limit in [0, 1, 7, 49] {
        let some = index.search(&query("needle"), &Filter::default(), limit).unwrap();
        let keys = |hits: &[crate::keyword::KeywordHit]| hits.iter().map(|hit| hit.score).collect::<Vec<_>>();
        assert_eq!(keys(&some), keys(&all[..limit]));
    }
    assert_eq!(index.search(&query("needle"), &Filter::default(), usize::MAX).unwrap().len(), 50);
}

#[test]
fn names_are_searched_apart_from_text() {
    let (_folder, index) = index_of(&[
        code("src/auth/login.rs", "Login::verify", "fn body() {}"),
        code("src/store/login_table.rs", "open", "Login::verify is called here"),
        document(0, "login"),
    ]);
    let names = |text: &str| {
        let hits = index.search_names(&query(text), &Filter::default(), 10).unwrap();
        hits.into_iter().map(|hit| hit.key).collect::<Vec<_>>()
    };
    assert_eq!(names("Login::verify")[0], "code/src/auth/login.rs#1");
    assert_eq!(names("login_table")[0], "code/src/store/login_table.rs#1");
    assert_eq!(names("login").len(), 2);
    assert_eq!(names("login -called"), ["code/src/auth/login.rs#1"]);
    assert!(names("kind:code").is_empty());
    assert!(names("body").is_empty());
}

#[test]
fn both_filters_hold() {
    let (_folder, index) = index_of(&[document(0, "x"), Document { kind: DocumentKind::Call, ..document(1, "x") }]);
    let calls = Filter { kinds: vec![DocumentKind::Call], ..Filter::default() };
    assert_eq!(index.search(&query("x"), &calls, 10).unwrap().len(), 1);
    assert_eq!(index.search(&query("x kind:answer"), &Filter::default(), 10).unwrap()[0].ordinal, 0);
    assert!(index.search(&query("x kind:answer"), &calls, 10).unwrap().is_empty());
    assert!(index.search(&query("kind:answer"), &calls, 10).unwrap().is_empty());
}

#[test]
fn records_are_never_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = super::writer(folder.path());
    writer.put_record("cursor", b"needle").unwrap();
    writer.put_record("needle", b"").unwrap();
    writer.add(&document(0, "needle")).unwrap();
    writer.commit("").unwrap();
    let index = super::open(folder.path());
    assert_eq!(found(&index, "needle"), [0]);
    assert_eq!(found(&index, ""), [0]);
    assert_eq!(index.count().unwrap(), 1);
    assert_eq!(index.documents_between(0..=u64::MAX, &[]).unwrap().len(), 1);
}

#[test]
fn a_long_text_as_a_query_is_answered_by_its_rare_words() {
    let mut documents: Vec<Document> = (0..30).map(|n| document(n, &format!("common words of text {n}"))).collect();
    documents.push(document(30, "the frobnicator is here"));
    let (_folder, index) = index_of(&documents);
    let issue = (0..400).map(|n| format!("common words filler{n} ")).collect::<String>() + "frobnicator";
    let hits = index.search(&Query::plain(&issue), &Filter::default(), 3).unwrap();
    assert_eq!(hits[0].ordinal, 30);
}

#[test]
fn other_scripts_are_found() {
    let (_folder, index) = index_of(&[
        document(0, "全文検索エンジンの設計"),
        document(1, "検査と索引"),
        document(2, "Привет, МИР"),
        document(3, "Das Café in der Straße"),
    ]);
    assert_eq!(found(&index, "検索")[0], 0);
    assert_eq!(found(&index, "\"検索\""), [0]);
    assert_eq!(found(&index, "мир"), [2]);
    assert_eq!(found(&index, "cafe strasse"), [3]);
}

#[test]
fn an_empty_index_finds_nothing() {
    let (_folder, index) = index_of(&[]);
    assert!(found(&index, "anything").is_empty());
    assert!(found(&index, "").is_empty());
    assert!(found(&index, "\"a phrase\" -x2").is_empty());
    assert_eq!((index.count().unwrap(), index.segments()), (0, 0));
}
