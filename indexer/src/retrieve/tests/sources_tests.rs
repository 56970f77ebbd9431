//! What is missing or broken is said, and the rest answers.

use super::{code, document, index, names, request, sources};
use crate::document::DocumentKind;
use crate::keyword::KeywordError;
use crate::query::{Filter, Within};
use crate::retrieve::gather::notice_of;
use crate::retrieve::{Notice, SearchRequest, Source, Sources, retrieve};
use std::path::Path;

fn code_source(folder: &Path) -> Source {
    let documents = [
        code("src/parser.rs", 1, "fn parse_number(text: &str) -> Option<f64> { text.parse().ok() }"),
        code("src/parser.rs", 20, "fn parse_list(text: &str) -> Vec<&str> { text.split(',').collect() }"),
        code("src/printer.rs", 1, "fn print_number(number: f64) -> String { number.to_string() }"),
    ];
    Source { keyword: index(folder, &documents), vectors: None }
}

#[tokio::test]
async fn without_any_index_only_notices_come_back() {
    let found = retrieve(&Sources::default(), &request("anything")).await;
    assert_eq!((found.hits, found.notices), (Vec::new(), vec![Notice::NoSessions]));
    let found = retrieve(&Sources::default(), &request("anything in:code")).await;
    assert_eq!((found.hits, found.notices), (Vec::new(), vec![Notice::NoCode]));
}

#[tokio::test]
async fn sessions_and_code_are_searched_together_or_apart() {
    let folder = tempfile::tempdir().unwrap();
    let said = [document("one", 0, DocumentKind::Answer, "parse_number takes what parse takes, so also inf and nan")];
    let both = Sources { code: vec![code_source(&folder.path().join("code"))], ..sources(folder.path(), &said) };
    let found = retrieve(&both, &request("parse_number")).await;
    assert_eq!(names(&found).len(), 4, "{:?}", names(&found));
    let mut first = names(&found)[..2].to_vec();
    first.sort();
    assert_eq!(first, ["code/src/parser.rs#1", "one/0.0"]);
    let apart = async |words: &str| names(&retrieve(&both, &request(words)).await);
    assert_eq!(apart("parse_number in:events").await, ["one/0.0"]);
    assert_eq!(apart("parse_number in:code").await[0], "code/src/parser.rs#1");
    // What only code can have is not missed in the sessions.
    let filter = Filter { within: vec![Within::Code], ..Filter::default() };
    let only_code = Sources { sessions: None, ..both.clone() };
    let found = retrieve(&only_code, &SearchRequest { filter, ..request("printer") }).await;
    assert_eq!((names(&found), found.notices), (vec!["code/src/printer.rs#1".to_owned()], vec![Notice::WordsOnly]));
}

#[tokio::test]
async fn two_workspaces_may_have_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let code = vec![code_source(&folder.path().join("one")), code_source(&folder.path().join("two"))];
    let found = retrieve(&Sources { code, ..Sources::default() }, &request("print_number in:code")).await;
    let same = names(&found).into_iter().filter(|name| name == "code/src/printer.rs#1").count();
    assert_eq!(same, 2);
}

#[test]
fn what_must_be_built_again_is_told_from_what_failed_once() {
    let folder = std::path::PathBuf::from("/index");
    let damaged = KeywordError::Damaged { folder: folder.clone(), what: "a file is missing".to_owned() };
    let other = KeywordError::OtherVersion { folder: folder.clone(), found: "0".to_owned() };
    for error in [damaged, other] {
        let problem = error.to_string();
        assert_eq!(notice_of("words", &error), Notice::Rebuild { folder: folder.clone(), problem });
    }
    let io = KeywordError::Io { folder, source: std::io::Error::other("no disk") };
    assert_eq!(notice_of("words", &io), Notice::Failed { part: "words", problem: io.to_string() });
}

#[test]
fn notices_are_one_line_for_people() {
    let notices = [
        Notice::Query("unknown field `x`".to_owned()),
        Notice::NoSessions,
        Notice::NoCode,
        Notice::WordsOnly,
        Notice::Rebuild { folder: "/index".into(), problem: "the keyword index in /index is damaged".to_owned() },
        Notice::Failed { part: "vectors", problem: "the model is gone".to_owned() },
    ];
    let lines: Vec<String> = notices.iter().map(ToString::to_string).collect();
    expect_test::expect![[r#"
        unknown field `x`
        there is no index of sessions yet; hint: `retrace index rebuild` makes it
        there is no index of this workspace's code yet
        searched by words only, not by meaning
        the keyword index in /index is damaged
        searched without vectors: the model is gone"#]]
    .assert_eq(&lines.join("\n"));
}
