//! Which words rank.

use crate::query::{Clause, Query};
use crate::retrieve::ranking_query::RankingQuery;
use retrace_events::Timestamp;

fn ranking(text: &str) -> RankingQuery {
    RankingQuery::of(&Query::parse(text, Timestamp(0)))
}

/// The clauses as a query.
fn shown(text: &str) -> String {
    ranking(text).query.to_string()
}

#[test]
fn function_words_rank_nothing() {
    assert_eq!(shown("What did we do about the timeout?"), "timeout");
    assert_eq!(shown("How does Caroline's dog sleep, and when?"), "Caroline dog sleep");
    assert_eq!(shown("it didn't compile"), "compile");
    assert_eq!(ranking("What did we do about the timeout?").words, 1);
}

#[test]
fn unless_there_is_nothing_else() {
    assert_eq!(shown("to be or not to be"), "to be or not");
    // A phrase is something else.
    assert_eq!(shown("the \"to be\""), "\"to be\"");
}

#[test]
fn each_word_counts_once() {
    assert_eq!(ranking("error error Error file.rs file.rs").words, 2);
    assert_eq!(shown("error error file.rs file.rs"), "file.rs error");
}

#[test]
fn names_stay_apart_and_whole() {
    let query = ranking("why does parse_query fail in src/query/mod.rs").query;
    let texts: Vec<&str> = query.clauses.iter().map(|clause| clause.text.as_str()).collect();
    assert_eq!(texts, ["parse_query", "src/query/mod.rs", "fail"]);
}

#[test]
fn what_is_required_or_excluded_stays() {
    let strict = ranking("timeout \"connection refused\" -docker kind:result");
    assert!(strict.is_strict());
    assert_eq!(strict.query.to_string(), "\"connection refused\" -docker timeout");
    assert!(!ranking("timeout kind:result").is_strict());
    // The filter is the request's business.
    assert_eq!(strict.query.filter, crate::query::Filter::default());
}

#[test]
fn one_clause_shows_all_of_it() {
    let query = ranking("why does parse_query fail \"at once\" -never").shown();
    assert_eq!(query.clauses, [Clause::word("parse_query at once fail")]);
}

#[test]
fn a_query_is_bounded() {
    let long: String = (0..5000).map(|number| format!("word{number} ")).collect();
    assert!(
        RankingQuery::of(&Query { clauses: long.split(' ').map(Clause::word).collect(), ..Query::default() }).words
            <= 512
    );
}
