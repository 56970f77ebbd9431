//! Evidence, against cases made by hand and against the regular expressions that define it.

use super::super::evidence::{identifiers, lines, pairs, rows, without_line_number};
use proptest::prelude::*;
use regex::Regex;

fn list<'a>(found: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    found.collect()
}

#[test]
fn identifiers_by_hand() {
    assert_eq!(list(identifiers("see src/lib.rs, fooBar and plain words")), ["src/lib.rs", "fooBar"]);
    // Six characters at least; the dots and dashes around a word do not belong to it.
    assert_eq!(list(identifiers("a.b.c a.b.cd ...x_y_z1... --long-flag9-")), ["a.b.cd", "x_y_z1", "long-flag9"]);
    // A word of 120 characters is none.
    let long = "a1".repeat(60);
    assert_eq!(list(identifiers(&long)), Vec::<&str>::new());
    assert_eq!(list(identifiers(&long[1..])), [&long[1..]]);
    assert_eq!(list(identifiers("Capital CAPITALS lower")), Vec::<&str>::new());
    assert_eq!(list(identifiers("über_alles naïve_one")), ["ber_alles", "ve_one"]);
}

#[test]
fn lines_by_hand() {
    let view = "    12→\tfunc main() {\n    13→\t\tfmt.Println(\"hello\")\n    14→}";
    assert_eq!(list(rows(view)), ["\tfunc main() {", "\t\tfmt.Println(\"hello\")", "}"]);
    assert_eq!(list(lines(view)), ["fmt.Println(\"hello\")"]);
    assert_eq!(list(lines("exactly 16 chars\nonly fifteen ch\n  exactly 16 chars \t")), ["exactly 16 chars"; 2]);
    // Characters count, not bytes.
    assert_eq!(list(lines("ééééééééééééééé")), Vec::<&str>::new());
    assert_eq!(list(lines("éééééééééééééééé")).len(), 1);
}

#[test]
fn pairs_by_hand() {
    let found: Vec<_> = pairs("  one\n  two  \n\n three\nfour\nno").collect();
    // Indentation stays, white space behind goes; an empty or short line parts.
    assert_eq!(found, [("  one", "  two"), (" three", "four")]);
    assert_eq!(pairs("one line").count(), 0);
}

#[test]
fn only_a_number_with_a_sign_behind_it_is_a_line_number() {
    for (row, rest) in [
        ("12→x", "x"),
        (" \t7:x", "x"),
        ("7|x", "x"),
        ("7\tx", "x"),
        ("7 x", "7 x"),
        (":x", ":x"),
        ("x7:", "x7:"),
        ("7", "7"),
        ("12:34:x", "34:x"),
        ("", ""),
    ] {
        assert_eq!(without_line_number(row), rest, "{row:?}");
    }
}

/// The definitions as they were first written down.
struct Definitions {
    identifier: Regex,
    telling: Regex,
    number: Regex,
}

impl Definitions {
    fn new() -> Self {
        let regex = |text: &str| Regex::new(text).unwrap();
        Self {
            identifier: regex(r"[A-Za-z0-9_][A-Za-z0-9_./-]{4,}[A-Za-z0-9_]"),
            telling: regex(r"[/_.]|[a-z][A-Z]|[0-9]"),
            // White space in Python: four control characters more than here.
            number: regex(r"^[\s\x1c-\x1f]*\d+[\x{2192}\t|:]"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn identifiers_are_those_of_the_expression(text in "[aZ9_./ -]{0,30}|[A-Za-z0-9_./é\\n-]{0,160}|\\PC{0,30}") {
        let definitions = Definitions::new();
        let found = definitions.identifier.find_iter(&text).map(|found| found.as_str());
        let expected = found.filter(|word| word.len() < 120 && definitions.telling.is_match(word));
        prop_assert_eq!(list(identifiers(&text)), list(expected));
    }

    #[test]
    fn line_numbers_are_those_of_the_expression(row in "[ \\t\\x1c\\u{a0}0-9٣²→|:a]{0,8}") {
        let expected = Definitions::new().number.replace(&row, "").into_owned();
        prop_assert_eq!(without_line_number(&row), expected);
    }
}
