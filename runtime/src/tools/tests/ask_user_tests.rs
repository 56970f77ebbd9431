//! `ask_user`: which questions are refused, what an answer means, and what happens when there is nobody.

use super::harness::Bench;
use crate::tools::{Question, answer_content};
use proptest::prelude::*;
use serde_json::json;

#[test]
fn the_number_of_an_option_stands_for_its_text() {
    let input = json!({"question": "Which?", "options": ["SQLite", "NATS", "42"]});
    let table = [
        ("1", "SQLite"),
        (" 2 ", "NATS"),
        ("2.", "NATS"),
        ("3)", "42"),
        ("0", "0"),
        ("4", "4"),
        ("42", "42"),
        ("-1", "-1"),
        ("neither, use files", "neither, use files"),
        ("2 but only for tests", "2 but only for tests"),
        ("99999999999999999999", "99999999999999999999"),
        ("\n", "(the user gave an empty answer: decide yourself)"),
    ];
    for (answer, expected) in table {
        assert_eq!(answer_content(&input, answer), expected, "{answer:?}");
    }
    assert_eq!(answer_content(&json!({"question": "How many?"}), "2"), "2");
    assert_eq!(answer_content(&json!(null), "1"), "1");
}

#[test]
fn a_question_is_read_from_any_input() {
    let asked = Question::of(&json!({"question": "Which?", "options": ["a", 7, "b"]}));
    assert_eq!(asked, Question { text: "Which?".to_owned(), options: vec!["a".to_owned(), "b".to_owned()] });
    assert_eq!(Question::of(&json!([1])), Question { text: String::new(), options: Vec::new() });
}

#[tokio::test]
async fn when_nobody_is_there_the_model_must_decide() {
    let bench = Bench::new().await;
    let text = bench.fails("ask_user", json!({"question": "Which?", "options": ["a", "b"]})).await;
    assert_eq!(text, "nobody can be asked now: decide yourself, go on, and say at the end what you assumed");
}

#[tokio::test]
async fn questions_that_nobody_could_answer_are_refused() {
    let bench = Bench::new().await;
    let table = [
        (json!({"question": " "}), "the question is empty"),
        (json!({"question": "?", "options": vec!["x"; 7]}), "7 options, at most 6"),
        (json!({"question": "?", "options": ["x", ""]}), "an option is empty"),
        (json!({"question": "?".repeat(4_001)}), "the question or an option has more than 4000 characters"),
    ];
    for (input, expected) in table {
        assert_eq!(bench.fails("ask_user", input).await, expected);
    }
}

proptest! {
    #[test]
    fn any_answer_is_one_of_the_options_or_itself(answer in "[0-9a-z .)]{0,4}", count in 0_usize..9) {
        let options: Vec<String> = (0..count).map(|n| format!("option {n}")).collect();
        let content = answer_content(&json!({"question": "?", "options": options}), &answer);
        let itself = content == answer.trim() || answer.trim().is_empty();
        prop_assert!(itself || options.iter().take(6).any(|option| *option == content), "{content}");
    }
}
