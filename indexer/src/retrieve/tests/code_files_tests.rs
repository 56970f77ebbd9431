//! What speaks for a piece of code.

use super::{NOW_MS, code, document, index, names};
use crate::document::DocumentKind;
use crate::query::{Filter, Query, Within};
use crate::retrieve::candidate::Candidate;
use crate::retrieve::code_files::weigh_code;
use crate::retrieve::code_words::{CodeFit, CodeWords};
use crate::retrieve::fusion::{Ask, scores};
use crate::retrieve::named_paths::NamedPaths;
use crate::retrieve::{ScoreParts, SearchRequest, Source, Sources, retrieve};
use proptest::prelude::*;

/// A query of so many words that its head is a part of it.
const LONG: &str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";

fn piece(path: &str, first_line: u32, keyword: f32) -> Candidate {
    Candidate { source: 1, document: code(path, first_line, "some words"), keyword, ..Candidate::default() }
}

fn said(keyword: f32) -> Candidate {
    Candidate { document: document("one", 0, DocumentKind::Answer, "some words"), keyword, ..Candidate::default() }
}

/// The parts of the scores, weighed for a query.
fn weighed(candidates: &[Candidate], query: &str) -> Vec<ScoreParts> {
    let words = query.split(' ').count();
    let ask = Ask { words, paths: NamedPaths::in_text(query), now_ms: NOW_MS, ..Ask::default() };
    let mut parts = scores(candidates, &ask);
    weigh_code(candidates, &mut parts, &CodeWords::of(&Query::plain(query)), &ask);
    parts
}

/// The places of the candidates, best first.
fn order(candidates: &[Candidate], query: &str) -> Vec<usize> {
    let parts = weighed(candidates, query);
    let mut places: Vec<usize> = (0..candidates.len()).collect();
    places.sort_by(|one, other| parts[*other].total().total_cmp(&parts[*one].total()));
    places
}

#[test]
fn what_is_not_code_keeps_its_score() {
    let candidates = [said(2.0), piece("src/a.rs", 1, 1.0), said(0.5)];
    let ask = Ask { words: 2, now_ms: NOW_MS, ..Ask::default() };
    let before = scores(&candidates, &ask);
    let after = weighed(&candidates, "short query");
    assert_eq!((after[0], after[2]), (before[0], before[2]));
    // The best piece of code counts beside it what it did.
    assert_eq!(after[1].keyword, before[1].keyword);
    assert_eq!(weighed(&[said(1.0)], "short query"), scores(&[said(1.0)], &ask));
    weigh_code(&[], &mut [], &CodeWords::default(), &ask);
}

#[test]
fn several_pieces_of_a_file_speak_for_it() {
    let candidates = [
        piece("src/one.rs", 1, 1.0),
        piece("src/two.rs", 1, 0.97),
        piece("src/two.rs", 9, 0.6),
        piece("src/two.rs", 20, 0.6),
    ];
    assert_eq!(order(&candidates, "short query")[..2], [1, 0]);
    assert_eq!(weighed(&candidates, "short query")[0].window, 0.0);
    // The same path in another workspace is another file.
    let mut elsewhere = candidates.clone();
    elsewhere[2].source = 2;
    elsewhere[3].source = 2;
    assert_eq!(order(&elsewhere, "short query")[..2], [0, 1]);
}

#[test]
fn a_test_comes_after_what_it_tests_unless_tests_are_asked_for() {
    let candidates =
        [piece("tests/test_parser.py", 1, 1.0), piece("docs/parser.md", 1, 0.9), piece("src/scan.py", 1, 0.8)];
    assert_eq!(order(&candidates, "reads numbers"), [2, 1, 0]);
    assert_eq!(order(&candidates, "tests for numbers"), [0, 2, 1]);
    assert_eq!(order(&candidates, "documentation for numbers"), [1, 2, 0]);
    // A story in which a test fails asks for what has to be changed.
    assert_eq!(order(&candidates, &format!("{LONG} a test about docs fails"))[0], 2);
}

#[test]
fn a_long_query_is_about_its_first_words_and_all_of_them() {
    let fit = |whole, head, head_names| CodeFit { whole, head, head_names };
    let with = |path, keyword, code| Candidate { code, ..piece(path, 1, keyword) };
    let candidates = [
        with("a.rs", 1.0, fit(0.0, 0.0, 0.0)),
        with("b.rs", 0.5, fit(20.0, 1.0, 0.0)),
        with("c.rs", 0.5, fit(20.0, 9.0, 0.0)),
        with("d.rs", 0.5, fit(20.0, 9.0, 5.0)),
    ];
    assert_eq!(order(&candidates, LONG), [3, 2, 1, 0]);
    // A short one is asked as it is.
    assert_eq!(order(&candidates, "short query")[0], 0);
}

#[test]
fn a_path_in_a_log_counts_less_than_one_that_is_asked_for() {
    let candidates = [piece("src/one.rs", 1, 1.0), piece("src/two.rs", 1, 1.0), piece("src/six.rs", 1, 1.0)];
    let path = |query: &str| weighed(&candidates, query).iter().map(|parts| parts.path).collect::<Vec<_>>();
    let short = path("src/two.rs");
    assert_eq!((short[0], short[1] > 1.0), (0.0, true), "{short:?}");
    let story: String = (0..40).map(|number| format!("step{number} breaks ")).collect();
    let one = path(&format!("{story} src/two.rs"));
    assert!(one[1] > one[0] && one[1] < short[1] / 2.0, "{one:?}");
    let many = path(&format!("{story} src/two.rs src/one.rs src/six.rs"));
    assert!(many[1] < one[1] && many[0] == many[1], "{one:?} {many:?}");
}

#[tokio::test]
async fn an_issue_finds_the_file_to_change() {
    let folder = tempfile::tempdir().unwrap();
    let filler: String = (0..30).map(|number| format!("def helper_{number}(value):\n    return value\n")).collect();
    let documents = [
        code(
            "src/validators.py",
            1,
            "class UrlValidator:\n    def clean(self, value):\n        return urlsplit(value)",
        ),
        code("src/validators.py", 40, "def validate_host(value):\n    raise ValidationError(value)"),
        code("src/helpers.py", 1, &filler),
        code(
            "tests/test_validators.py",
            1,
            "def test_url_validator_clean():\n    UrlValidator().clean('//]')\n    assert ValidationError",
        ),
        code("docs/changes.md", 1, "UrlValidator clean raises ValidationError where urlsplit raised ValueError"),
    ];
    let code = vec![Source { keyword: index(folder.path(), &documents), vectors: None }];
    let sources = Sources { code, ..Sources::default() };
    let issue = "UrlValidator raises ValueError instead of ValidationError in clean\n\nWhen the value is '//]' then urlsplit \
                 raises, and nobody handles it. I would expect an error that a form can show to its user, as it \
                 does for every other value that is wrong. The test suite has no such case.";
    let filter = Filter { within: vec![Within::Code], ..Filter::default() };
    let request =
        SearchRequest { query: Query::plain(issue), filter, limit: 10, now_ms: NOW_MS, ..SearchRequest::default() };
    let found = names(&retrieve(&sources, &request).await);
    assert!(found[0].starts_with("code/src/validators.py#"), "{found:?}");
    let place = |key: &str| found.iter().position(|name| name == key).unwrap();
    assert!(place("code/tests/test_validators.py#1") > 0 && place("code/docs/changes.md#1") > 0, "{found:?}");
}

proptest! {
    #[test]
    fn whatever_an_index_says_scores_are_numbers_and_better_words_score_higher(
        pieces in prop::collection::vec((0_usize..4, prop::num::f32::ANY, prop::num::f32::ANY, prop::num::f32::ANY), 1..20),
        long in any::<bool>(),
    ) {
        let paths = ["a.rs", "src/b.py", "tests/c.rs", "d.md"];
        let candidates: Vec<Candidate> = (1..)
            .zip(&pieces)
            .map(|(line, (path, keyword, whole, head))| {
                let code = CodeFit { whole: *whole, head: *head, head_names: *keyword };
                Candidate { names: *head, code, ..piece(paths[*path], line, *keyword) }
            })
            .collect();
        let parts = weighed(&candidates, if long { LONG } else { "short query" });
        prop_assert!(parts.iter().all(|parts| parts.total().is_finite()), "{parts:?}");
        prop_assert!(parts.iter().all(|parts| (0.0..=1.0).contains(&parts.keyword)), "{parts:?}");
    }
}
