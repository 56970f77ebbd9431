//! Short texts out of long and hostile ones.

use super::super::decisions::decisions;
use super::super::excerpt;
use proptest::prelude::*;

#[test]
fn one_line_without_what_disturbs_a_terminal() {
    assert_eq!(excerpt::line("a\n  b\tc\u{1b}[31md\u{1b}[0m", 100), "a b cd");
    assert_eq!(excerpt::line("a\u{0}b\u{7f}\u{9b}c", 100), "a b c");
    assert_eq!(excerpt::line("one two three", 9), "one tw…");
    assert_eq!(excerpt::line("", 9), "");
}

#[test]
fn both_ends_of_a_long_text_stay() {
    let text = format!("first do this {} and last do that", "word ".repeat(100));
    let ends = excerpt::ends(&text, 90);
    assert!(ends.starts_with("first do this") && ends.ends_with("and last do that"), "{ends}");
    assert_eq!(excerpt::ends("short  one", 90), "short one");
    assert_eq!(excerpt::tail("src/a/very/long/path/to/file.rs", 15), "…h/to/file.rs");
}

#[test]
fn the_lines_of_a_failure_that_tell_most() {
    let output = "exit code: 101\n\n   Compiling x\nwarning: unused\nerror[E0432]: unresolved import `a`\n --> src/lib.rs:1\n\
                  help: hm\nerror: could not compile `x`\n";
    assert_eq!(excerpt::failure(output, 200), "error[E0432]: unresolved import `a` / error: could not compile `x`");
    assert_eq!(excerpt::failure("exit code: 1\none\ntwo\nthree\n", 200), "two / three");
    assert_eq!(
        excerpt::failure("test result: ok. 3 passed; 0 failed\nlast\n", 200),
        "test result: ok. 3 passed; 0 failed / last"
    );
    assert_eq!(excerpt::failure("exit code: 1\n", 200), "");
    // A line of megabytes is looked at by its beginning only.
    let long = format!("{}\nfatal: it broke", "error ".repeat(1_000_000));
    assert!(excerpt::failure(&long, 200).len() <= 200);
}

#[test]
fn an_answer_leaves_what_it_decides_and_concludes() {
    let step = "Let me look at the parser. The root cause is that `next` skips the last token. I'll add a test first.";
    assert_eq!(texts(step, false), ["The root cause is that `next` skips the last token."]);
    // Nothing is decided: its first sentence says what it is about.
    assert_eq!(texts("Let me look at the parser. Then at the lexer.", false), ["Let me look at the parser."]);
    assert_eq!(texts("Ich sehe nach. Und dann weiter。好的。", false), ["Ich sehe nach."]);
    let last = "# Done\n\nAll tests pass now.\n\n```\nerror because root cause\n```\n- I used `peek` instead of `next` because it does \
                not consume.\n| a | because |\n- Nothing else changed.";
    assert_eq!(
        texts(last, true),
        [
            "All tests pass now.",
            "I used `peek` instead of `next` because it does not consume.",
            "Nothing else changed."
        ]
    );
    assert_eq!(texts("", true), [""; 0]);
    // What only announces is left out for what it announces.
    let last = "Good point. Here is what I found out:\n1. **The cache** is never emptied when a branch goes away.\n2. Nothing else.";
    assert_eq!(texts(last, true), ["The cache is never emptied when a branch goes away."]);
    assert_eq!(texts("Done.", true), ["Done."]);
}

fn texts(answer: &str, last: bool) -> Vec<String> {
    decisions(answer, last, 300).into_iter().map(|(text, _)| text).collect()
}

proptest! {
    #[test]
    fn whatever_comes_in_stays_within_bounds(text in any::<String>(), max_bytes in 8..200_usize, last in any::<bool>()) {
        let sound = |out: &str| out.len() <= max_bytes && !out.chars().any(char::is_control);
        prop_assert!(sound(&excerpt::line(&text, max_bytes)));
        prop_assert!(sound(&excerpt::ends(&text, max_bytes)));
        prop_assert!(sound(&excerpt::failure(&text, max_bytes)));
        prop_assert!(excerpt::cut(&text, max_bytes).len() <= max_bytes);
        prop_assert!(excerpt::tail(&text, max_bytes).len() <= max_bytes);
        prop_assert!(excerpt::key(&text, max_bytes, last).len() <= max_bytes + 8);
        let kept = decisions(&text, last, max_bytes);
        prop_assert!(kept.len() <= 4 && kept.iter().all(|(text, _)| sound(text)));
    }

    #[test]
    fn a_key_is_the_same_for_what_is_the_same(words in "[a-z]{1,8}( [a-z]{1,8}){0,6}", number in 0..1_000_u32) {
        let one = excerpt::key(&format!("{words} {number}"), 400, true);
        let other = excerpt::key(&format!("{}, {}!", words.to_uppercase(), number + 1), 400, true);
        prop_assert_eq!(one, other);
        prop_assert_ne!(excerpt::key(&format!("{words} {number}"), 400, false), excerpt::key(&format!("{words} {}", number + 1), 400, false));
    }
}
