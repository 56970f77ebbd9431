//! The edit: exact, unique, faithful to line ends; and what is said when it does not fit.

use crate::tools::nearest::explain;
use crate::tools::replace::{EditError, replace};
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn edited(text: &str, old: &str, new: &str) -> String {
    replace(text, old, new, false).unwrap().text
}

#[test]
fn one_place_is_replaced_and_nothing_else() {
    assert_eq!(edited("one two three", "two", "2"), "one 2 three");
    assert_eq!(edited("a\nb\nc", "a\nb", "x"), "x\nc");
    assert_eq!(edited("grün", "ü", "ue"), "gruen");
    assert_eq!(edited("a\nb\n", "b\n", ""), "a\n");
}

#[test]
fn crlf_files_keep_crlf() {
    let table = [
        ("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", "x\r\ny\r\nz\r\nc\r\n"),
        ("a\r\nb\r\n", "a\r\nb", "b\r\na", "b\r\na\r\n"),
        ("a\r\nb\r\n", "b", "b1\nb2", "a\r\nb1\r\nb2\r\n"),
        ("a\r\nb\r\n", "a\n", "", "b\r\n"),
        ("a\r\nb\r\n", "\nb", "\nc", "a\r\nc\r\n"),
        ("a\r\nb", "a", "x\n", "x\r\n\r\nb"),
        // Mostly LF: the one CRLF outside the edit stays, what is new is LF.
        ("a\r\nb\nc\nd\n", "c\nd", "c\ne", "a\r\nb\nc\ne\n"),
        ("a\r\nb\nc\nd\n", "a\nb", "x\ny", "x\ny\nc\nd\n"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
        ("a\rb\n", "a\rb", "c", "c\n"),
    ];
    for (text, old, new, expected) in table {
        assert_eq!(edited(text, old, new), expected, "{text:?} {old:?} -> {new:?}");
    }
}

#[test]
fn several_places_need_replace_all() {
    let text = "x\ny\nx\nx x\n";
    assert_eq!(replace(text, "x", "z", false), Err(EditError::Ambiguous { count: 4, lines: vec![1, 3, 4, 4] }));
    let all = replace(text, "x", "z", true).unwrap();
    assert_eq!((all.text.as_str(), all.count), ("z\ny\nz\nz z\n", 4));
}

#[test]
fn overlapping_places_are_ambiguous_too() {
    assert_eq!(replace("aaa", "aa", "b", false), Err(EditError::Ambiguous { count: 2, lines: vec![1] }));
    assert_eq!(replace("ababa", "aba", "b", false), Err(EditError::Ambiguous { count: 2, lines: vec![1] }));
    assert_eq!(replace("aaa", "aa", "b", true).unwrap().text, "ba");
}

#[test]
fn what_changes_nothing_is_refused() {
    assert_eq!(replace("a", "a", "a", false), Err(EditError::Same));
    assert_eq!(replace("a\r\nb", "a\r\nb", "a\nb", false), Err(EditError::Same));
    assert_eq!(replace("abc", "x", "y", true), Err(EditError::NotFound));
}

fn check_explanation(text: &str, old: &str, expected: Expect) {
    expected.assert_eq(&explain(text, old));
}

const CODE: &str = "fn main() {\n    let total = add(1, 2);\n    println!(\"{total}\");\n}\n\nfn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n";

#[test]
fn other_white_space_is_shown_as_it_is() {
    check_explanation(
        CODE,
        "let total = add(1, 2);\nprintln!(\"{total}\");",
        expect![[r#"
            the same text with other white space is here:
                 1	fn main() {
                 2	    let total = add(1, 2);
                 3	    println!("{total}");
                 4	}
                 5	"#]],
    );
}

#[test]
fn line_numbers_in_the_text_are_recognised() {
    check_explanation(
        CODE,
        "     6\tfn add(a: u32, b: u32) -> u32 {\n     7\t    a + b\n",
        expect!["old_string has the line numbers of read_file in it; give the text alone, without number and tab"],
    );
}

#[test]
fn the_most_similar_lines_are_shown() {
    check_explanation(
        CODE,
        "fn add(a: u64, b: u64) -> u64 {\n    a + b",
        expect![[r#"
            the most similar lines are:
                 4	}
                 5	
                 6	fn add(a: u32, b: u32) -> u32 {
                 7	    a + b
                 8	}"#]],
    );
}

#[test]
fn nothing_similar_is_said() {
    for (text, old) in [(CODE, "SELECT * FROM users WHERE id = 7"), ("", "x"), (CODE, "\n\n\n")] {
        check_explanation(
            text,
            old,
            expect!["nothing in the file is similar to it; read the file again before the next edit"],
        );
    }
}

#[test]
fn a_large_file_of_equal_lines_is_explained_in_bounded_time() {
    let text = "let x = 1;\n".repeat(200_000);
    let old = format!("{}let x = 2;\n", "let x = 1;\n".repeat(5_000));
    let explanation = explain(&text, &old);
    assert!(explanation.starts_with("the most similar lines are:"), "{explanation}");
    assert!(explanation.lines().count() <= 25);
}

proptest! {
    /// On texts without CR an edit is what the standard library's `replacen` does.
    #[test]
    fn lf_edits_are_plain_replacements(text in "[ab\n]{0,30}", old in "[ab\n]{1,3}", new in "[abc\n]{0,4}") {
        match replace(&text, &old, &new, true) {
            Ok(edited) => {
                prop_assert_eq!(edited.count, text.matches(&old).count());
                prop_assert_eq!(edited.text, text.replace(&old, &new));
            }
            Err(EditError::NotFound) => prop_assert!(!text.contains(&old)),
            Err(EditError::Same) => prop_assert_eq!(old, new),
            Err(EditError::Ambiguous { .. }) => prop_assert!(false, "all were asked for"),
        }
    }

    /// A CRLF file edited with LF text is the LF file edited, with CRLF.
    #[test]
    fn crlf_edits_are_lf_edits(text in "[ab\n]{0,30}\n", old in "[ab\n]{1,3}", new in "[abc\n]{0,4}") {
        let crlf = text.replace('\n', "\r\n");
        let plain = replace(&text, &old, &new, true).map(|edited| edited.text.replace('\n', "\r\n"));
        prop_assert_eq!(replace(&crlf, &old, &new, true).map(|edited| edited.text), plain);
    }

    /// What stands before and after the one place stays byte for byte, whatever the line ends.
    #[test]
    fn the_rest_is_untouched(before in "[ab\r\n]{0,20}", after in "[ab\r\n]{0,20}", new in "[xy\n]{0,4}") {
        let text = format!("{before}OLD{after}");
        let edited = edited(&text, "OLD", &new);
        prop_assert!(edited.starts_with(&before) && edited.ends_with(&after));
    }

    /// An explanation is short, whatever the file and the model's text are.
    #[test]
    fn explanations_are_bounded(text in "([ -~\t\r€]{0,40}\n){0,40}", old in "([ -~\t\r€]{0,40}\n?){0,40}") {
        let explanation = explain(&text, &old);
        prop_assert!(!explanation.is_empty() && explanation.lines().count() <= 25, "{}", explanation);
        prop_assert!(explanation.len() < 25 * 300);
    }

    /// A text that is there but for its indentation is always found.
    #[test]
    fn other_indentation_is_always_found(lines in prop::collection::vec("[a-z]{1,8} [a-z]{1,8}", 1..12), from in 0_usize..12, count in 1_usize..4) {
        let from = from.min(lines.len() - 1);
        let part = &lines[from..lines.len().min(from + count)];
        let text: String = lines.iter().map(|line| format!("\t{line}\n")).collect();
        let explanation = explain(&text, &part.join("\n    "));
        let told = "the same text with other white space is here:\n";
        prop_assert!(text.contains(&part.join("\n    ")) || explanation.starts_with(told), "{}", explanation);
        prop_assert!(explanation.contains(&part[0]), "{}", explanation);
    }
}
