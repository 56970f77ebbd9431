//! What the code is asked for besides the query as it is.

use super::{code, index};
use crate::query::{Filter, Query};
use crate::retrieve::code_words::{CodeFit, CodeWords};
use crate::retrieve::ranking_query::telling_words;
use proptest::prelude::*;
use retrace_events::Timestamp;

fn parse(text: &str) -> Query {
    Query::parse(text, Timestamp(0))
}

/// `word0 word1 …`
fn numbered(words: std::ops::Range<usize>) -> String {
    words.map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ")
}

fn keys(fits: &[(crate::KeywordHit, CodeFit)]) -> Vec<&str> {
    fits.iter().map(|(hit, _)| hit.key.as_str()).collect()
}

#[test]
fn words_that_tell_apart_stand_once_and_in_their_order() {
    let query = Query::plain("The parser fails, when the Parser's input_file is \"empty\" (see src/parse.rs).");
    assert_eq!(telling_words(&query), ["parser", "fails", "input_file", "empty", "see", "src/parse.rs"]);
}

#[test]
fn a_short_query_has_no_head_and_no_parts() {
    let folder = tempfile::tempdir().unwrap();
    let keyword = index(folder.path(), &[code("a.rs", 1, "word0 word1")]);
    for (text, is_brief) in [(numbered(0..12), true), (numbered(0..13), false), (String::new(), true)] {
        let words = CodeWords::of(&Query::plain(&text));
        assert_eq!(words.is_brief(), is_brief, "{text}");
        assert_eq!(words.fits(&keyword, &Filter::default()).unwrap().is_empty(), is_brief, "{text}");
    }
}

#[test]
fn phrases_and_exclusions_are_left_to_the_query_itself() {
    for text in ["\"a phrase\"", "-word99"] {
        assert!(CodeWords::of(&parse(&format!("{} {text}", numbered(0..40)))).is_brief(), "{text}");
    }
}

#[test]
fn tests_and_prose_are_asked_for_in_few_words_only() {
    let asks = |text: &str| {
        let words = CodeWords::of(&parse(text));
        (words.asks_tests, words.asks_prose)
    };
    assert_eq!(asks("Tests of the parser"), (true, false));
    assert_eq!(asks("where is the README about it"), (false, true));
    assert_eq!(asks("docs for each fixture"), (true, true));
    assert_eq!(asks("how the parser reads numbers"), (false, false));
    assert_eq!(asks("-test parser"), (false, false));
    assert_eq!(asks(&format!("a test fails: {}", numbered(0..20))), (false, false));
}

#[test]
fn all_words_count_and_the_first_ones_once_more() {
    let folder = tempfile::tempdir().unwrap();
    let documents = [
        code("head.rs", 1, &numbered(0..4)),
        code("tail.rs", 1, &numbered(30..34)),
        code("both.rs", 1, &numbered(28..36)),
        code("word1.rs", 1, "nothing else"),
        code("none.rs", 1, "something else"),
    ];
    let keyword = index(folder.path(), &documents);
    let fits = CodeWords::of(&Query::plain(&numbered(0..40))).fits(&keyword, &Filter::default()).unwrap();
    assert_eq!(keys(&fits), ["code/head.rs#1", "code/both.rs#1", "code/tail.rs#1", "code/word1.rs#1"]);
    let (head, both, tail, name) = (fits[0].1, fits[1].1, fits[2].1, fits[3].1);
    assert!(head.head > 0.0 && both.head == 0.0 && tail.head == 0.0, "{fits:?}");
    // Words of two parts of the query add up.
    assert!(both.whole > tail.whole && tail.whole > 0.0, "{fits:?}");
    assert!(name.head_names > 0.0 && name.whole == 0.0, "{fits:?}");
}

#[test]
fn the_filter_holds_for_heads_and_parts() {
    let folder = tempfile::tempdir().unwrap();
    let keyword = index(folder.path(), &[code("a.rs", 1, "word1 word30"), code("b/a.rs", 1, "word1 word30")]);
    let filter = Filter { paths: vec!["b/".to_owned()], ..Filter::default() };
    let fits = CodeWords::of(&Query::plain(&numbered(0..40))).fits(&keyword, &filter).unwrap();
    assert_eq!(keys(&fits), ["code/b/a.rs#1"]);
}

#[test]
fn however_much_is_found_so_many_are_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let documents: Vec<_> = (1..=260).map(|line| code("a.rs", line, "word1 word30")).collect();
    let keyword = index(folder.path(), &documents);
    let fits = CodeWords::of(&Query::plain(&numbered(0..4_000))).fits(&keyword, &Filter::default()).unwrap();
    assert_eq!(fits.len(), 200);
}

proptest! {
    // Each makes an index.
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_text_can_be_asked(text in "\\PC{0,400}") {
        let folder = tempfile::tempdir().unwrap();
        let keyword = index(folder.path(), &[code("a.rs", 1, &text)]);
        let words = CodeWords::of(&Query::plain(&text.repeat(3)));
        let fits = words.fits(&keyword, &Filter::default()).unwrap();
        prop_assert!(fits.len() <= 1);
        prop_assert!(fits.iter().all(|(_, fit)| fit.whole.is_finite() && fit.head.is_finite()));
    }
}
