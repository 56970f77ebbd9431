//! What counts as an answer to a question.

use super::super::retrieving::{Relevance, covers, longer_words, say_the_same};
use retrace_indexer::HitSource;

fn fits(query: &str, text: &str, relevance: Relevance) -> bool {
    covers(&longer_words(query), text, relevance)
}

#[test]
fn a_passage_must_have_enough_of_the_question() {
    let query = "why does the parser reject month thirteen of a date?";
    assert!(fits(query, "The Parser rejects the month: thirteen is out of range.", Relevance::Turn));
    assert!(!fits(query, "The parser is slow.", Relevance::Turn), "one word is in everything");
    assert!(!fits(query, "Deployment happens on tuesdays.", Relevance::Seed));
    assert!(!fits("go on", "go on with it", Relevance::Turn), "it asks for nothing");
}

#[test]
fn of_a_long_question_only_a_part_is_wanted() {
    let words: Vec<String> = (0..200).map(|number| format!("word{number:03}")).collect();
    let query = words.join(" ");
    let text = |count: usize| words[..count].join(" ");
    assert!(fits(&query, &text(5), Relevance::Turn) && !fits(&query, &text(4), Relevance::Turn));
    assert!(fits(&query, &text(3), Relevance::Seed) && !fits(&query, &text(2), Relevance::Seed));
}

#[test]
fn a_summary_and_an_event_in_it_say_the_same() {
    let event = |stream: &str, seq| HitSource::Event { stream: stream.to_owned(), seq, event: String::new() };
    let summary =
        |first_seq, last_seq| HitSource::Summary { stream: "a".to_owned(), level: 0, index: 0, first_seq, last_seq };
    assert!(say_the_same(&summary(5, 6), &event("a", 6)) && say_the_same(&event("a", 5), &summary(5, 6)));
    assert!(!say_the_same(&summary(5, 6), &event("a", 7)) && !say_the_same(&summary(5, 6), &event("b", 5)));
    assert!(!say_the_same(&event("a", 5), &event("a", 5)) && !say_the_same(&summary(5, 6), &summary(5, 6)));
}
