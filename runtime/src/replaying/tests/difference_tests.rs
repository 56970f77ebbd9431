//! Diffs of two outcomes.

use crate::replaying::comparison::CallOutcome;
use crate::replaying::difference::difference;
use crate::replaying::normaliser::Places;
use expect_test::expect;

fn outcome(text: &str) -> CallOutcome {
    CallOutcome { text: text.to_owned(), ..CallOutcome::default() }
}

#[test]
fn only_what_matters_is_in_a_diff() {
    let then = outcome("exit code: 0\nrunning 2 tests\na ... ok\nb ... ok\nfinished in 0.01s");
    let now = outcome("exit code: 1\nrunning 2 tests\na ... ok\nb ... FAILED\nfinished in 9.99s\n");
    expect![[r"
        --- then
        +++ now
        @@ -1,5 +1,5 @@
        -exit code: 0
        +exit code: 1
         running 2 tests
         a ... ok
        -b ... ok
        +b ... FAILED
         finished in <duration>
    "]]
    .assert_eq(&difference(&then, &now, &Places::default()));
}

#[test]
fn a_huge_difference_is_cut() {
    let lines = |word: &str| (0..20_000).map(|n| format!("{word} {n}\n")).collect::<String>();
    let diff = difference(&outcome(&lines("yes")), &outcome(&lines("no")), &Places::default());
    assert!(diff.len() < 70_000 && diff.ends_with("[the rest of the diff is cut]\n"), "{} bytes", diff.len());
}

#[test]
fn a_huge_text_is_compared_up_to_a_bound() {
    let then = outcome(&"é\n".repeat(600_000));
    let now = outcome(&format!("first\n{}", "é\n".repeat(600_000)));
    let diff = difference(&then, &now, &Places::default());
    assert!(diff.contains("+first") && diff.len() < 4_000, "{} bytes", diff.len());
}
