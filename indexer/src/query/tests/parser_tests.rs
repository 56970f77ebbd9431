//! Reading queries: what is understood, what is forgiven, and what is said about it.

use super::NOW;
use crate::query::{Clause, Query};
use expect_test::{Expect, expect};
use proptest::prelude::*;

/// The query as it is understood, one clause a line, then the notes.
fn check(text: &str, expected: Expect) {
    let query = Query::parse(text, NOW);
    let mut shown = String::new();
    for clause in &query.clauses {
        let kind = if clause.phrase { "phrase" } else { "word" };
        let sign = if clause.negated { "not " } else { "" };
        shown.push_str(&format!("{sign}{kind} {}\n", clause.text));
    }
    let filter = Query { filter: query.filter.clone(), ..Query::default() }.to_string();
    if !filter.is_empty() {
        shown.push_str(&format!("filter {filter}\n"));
    }
    for note in &query.notes {
        shown.push_str(&format!("note {note}\n"));
    }
    expected.assert_eq(&shown);
}

#[test]
fn words_phrases_and_exclusions() {
    check(
        r#"cargo "cannot find value" -deprecated -"dead code" src/main.rs"#,
        expect![[r#"
            word cargo
            phrase cannot find value
            not word deprecated
            not phrase dead code
            word src/main.rs
        "#]],
    );
}

#[test]
fn fields_filter_and_can_be_excluded() {
    check(
        "kind:prompt,answer -kind:note tool:Bash path:src/auth -path:*.lock session:0bb9 in:events exit:1 build",
        expect![[r#"
            word build
            filter kind:prompt kind:answer -kind:note in:events tool:Bash path:src/auth -path:*.lock session:0bb9 exit:1
        "#]],
    );
}

#[test]
fn a_field_named_twice_allows_both() {
    check(
        "kind:call kind:result kind:call",
        expect![[r#"
        filter kind:call kind:result
    "#]],
    );
}

#[test]
fn times_become_moments() {
    check(
        "since:2026-01-05 until:yesterday",
        expect![[r#"
            filter since:2026-01-05T00:00:00.000Z until:2026-01-07T00:00:00.000Z
        "#]],
    );
    check(
        "-since:2026-01-05",
        expect![[r#"
        filter until:2026-01-05T00:00:00.000Z
    "#]],
    );
    check(
        "-until:2026-01-05",
        expect![[r#"
        filter since:2026-01-06T00:00:00.000Z
    "#]],
    );
}

#[test]
fn the_later_since_and_the_earlier_until_hold() {
    check(
        "since:2h since:1d until:1h until:now",
        expect![[r#"
            filter since:2026-01-07T13:04:05.006Z until:2026-01-07T14:04:05.006Z
        "#]],
    );
}

#[test]
fn exit_codes_have_names() {
    check(
        "exit:fail",
        expect![[r#"
        filter -exit:0
    "#]],
    );
    check(
        "exit:ok exit:!=2 -exit:!3",
        expect![[r#"
        filter exit:0 exit:3 -exit:2
    "#]],
    );
    check(
        "exit:-1,130",
        expect![[r#"
        filter exit:-1 exit:130
    "#]],
    );
}

#[test]
fn an_unbalanced_quotation_mark_is_no_error() {
    check(
        r#"error "cannot find"#,
        expect![[r#"
            word error
            word cannot
            word find
            note a quotation mark has no partner: what follows it is read as words
        "#]],
    );
    check(
        r#"path:"my folder"#,
        expect![[r#"
        word folder
        filter path:my
        note a quotation mark has no partner: the value ends at the next space
    "#]],
    );
    check(
        r#"-"gone for good"#,
        expect![[r#"
        not word gone
        word for
        word good
        note a quotation mark has no partner: what follows it is read as words
    "#]],
    );
}

#[test]
fn unknown_fields_and_lone_colons_are_words() {
    check(
        "colour:red kind: : :x std::fmt https://example.org/a main.rs:12 12:30",
        expect![[r#"
            word colour:red
            word kind:
            word :x
            word std::fmt
            word https://example.org/a
            word main.rs:12
            word 12:30
            note unknown field `colour`: searched as words; hint: fields are kind tool path session since until exit in
            note `kind:` has no value: searched as a word
        "#]],
    );
}

#[test]
fn values_that_mean_nothing_are_left_out_and_noted() {
    check(
        r#"kind:poem since:later exit:soon in:heaven path:"" x"#,
        expect![[r#"
            word x
            note unknown kind `poem` is left out; hint: kinds are prompt answer thinking call result note summary code
            note `since:later` is left out: no moment; hint: 2026-01-05, 2026-01-05T14:30, yesterday, 3d, 2h, 30m
            note `exit:soon` is left out; hint: a number, `ok` or `fail`
            note unknown place `in:heaven` is left out; hint: in:events, in:summaries or in:code
            note a filter without a value is left out
        "#]],
    );
}

#[test]
fn flags_of_a_pasted_command_are_words() {
    check(
        "git commit -m --no-verify - -- -rf",
        expect![[r#"
            word git
            word commit
            word -m
            word --no-verify
            not word rf
        "#]],
    );
    check(
        r#"-"m""#,
        expect![[r#"
        not phrase m
    "#]],
    );
}

#[test]
fn nothing_to_search_for() {
    check("", expect![""]);
    check("  \t\n ", expect![""]);
    check("!!! ... -\"?\" \"\"", expect![""]);
    assert!(Query::parse("!!!", NOW).is_empty());
    assert!(Query::parse("kind:note -x1", NOW).is_filter_only());
    assert!(!Query::parse("kind:note", NOW).is_empty());
}

#[test]
fn quotation_marks_of_word_processors_count() {
    check(
        "\u{201c}two words\u{201d} \u{201e}unten\u{201d}",
        expect![[r#"
        phrase two words
        phrase unten
    "#]],
    );
}

#[test]
fn a_quoted_value_may_hold_spaces() {
    check(
        r#"path:"my dir/a file.txt"tail -tool:"my tool""#,
        expect![[r#"
        word tail
        filter -tool:"my tool" path:"my dir/a file.txt"
    "#]],
    );
}

#[test]
fn case_of_names_does_not_count() {
    check(
        "KIND:Prompt In:Summary",
        expect![[r#"
        filter kind:prompt in:summaries
    "#]],
    );
}

#[test]
fn absurd_input_is_bounded() {
    let query = Query::parse(&"word ".repeat(20_000), NOW);
    assert_eq!(query.clauses.len(), 512);
    assert_eq!(query.notes.len(), 2, "{:?}", query.notes);
    let query = Query::parse(&"é".repeat(100_000), NOW);
    assert!(query.clauses[0].text.len() <= 1024);
    let query = Query::parse(&format!("path:{}", "a/".repeat(10_000)), NOW);
    assert!(query.filter.paths[0].len() <= 512);
    let query = Query::parse(&format!("kind:{}", "x,".repeat(10_000)), NOW);
    assert!(query.notes[0].len() < 200, "{:?}", query.notes);
    let query = Query::parse(&(0..1000).map(|n| format!("kind:x{n} ")).collect::<String>(), NOW);
    assert_eq!(query.notes.len(), 8);
}

#[test]
fn plain_text_is_nothing_but_words() {
    let query = Query::plain("error: \"no such\" -file kind:call since:3d");
    let words: Vec<&str> = query.clauses.iter().map(|clause| clause.text.as_str()).collect();
    assert_eq!(words, ["error:", "\"no", "such\"", "-file", "kind:call", "since:3d"]);
    assert!(query.clauses.iter().all(|clause| !clause.phrase && !clause.negated));
    assert_eq!(query.filter, Default::default());
}

#[test]
fn wanted_text_leaves_out_what_is_excluded() {
    let query = Query::parse(r#"one -two "three four" tool:bash"#, NOW);
    assert_eq!(query.wanted_text(), "one three four");
    assert_eq!(query.wanted().count(), 2);
}

/// Text that is likely to hold what the parser looks for.
fn query_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\"".to_owned()),
        Just("-".to_owned()),
        Just(":".to_owned()),
        Just(",".to_owned()),
        Just(" ".to_owned()),
        Just("\u{201c}".to_owned()),
        Just("\u{3000}".to_owned()),
        "(kind|tool|path|session|since|until|exit|in|foo):",
        "(prompt|code|events|yesterday|3d|2h|2026-01-05|0|!1|fail|src/a b|\\*\\.rs)",
        "[a-zA-Z0-9_./é漢]{1,6}",
        "\\PC{0,4}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// Every text is a query, and what it prints as is read as the same query.
    #[test]
    fn printing_and_reading_agree(text in query_text()) {
        let query = Query::parse(&text, NOW);
        let printed = query.to_string();
        let again = Query::parse(&printed, NOW);
        prop_assert_eq!(&again.clauses, &query.clauses, "printed: {}", printed);
        prop_assert_eq!(&again.filter, &query.filter, "printed: {}", printed);
        prop_assert_eq!(again.to_string(), printed);
    }

    #[test]
    fn reading_never_panics(text in any::<String>(), now in any::<u64>()) {
        let query = Query::parse(&text, retrace_events::Timestamp(now));
        prop_assert!(query.clauses.iter().all(|clause| clause.text.chars().any(char::is_alphanumeric)));
        prop_assert_eq!(Query::plain(&text).filter, Default::default());
    }

    /// What is written as words comes back as words, whatever else is in the query.
    #[test]
    fn plain_words_survive(words in prop::collection::vec("[a-z]{2,8}", 1..8)) {
        let text = format!("kind:call {} exit:0", words.join(" "));
        let expected: Vec<Clause> = words.iter().map(Clause::word).collect();
        prop_assert_eq!(Query::parse(&text, NOW).clauses, expected);
    }
}
