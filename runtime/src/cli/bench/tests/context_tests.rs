//! What is wrong with a command line is said before anything is measured.

use crate::cli::command;

fn parses(args: &[&str]) -> bool {
    command().try_get_matches_from([&["retrace", "bench", "context"], args].concat()).is_ok()
}

#[test]
fn flags() {
    assert!(parses(&[]));
    assert!(parses(&[
        "file",
        "--session",
        "a",
        "--session",
        "b",
        "--budgets",
        "4000,8000",
        "--arms",
        "tail,bag",
        "--seed",
        "3"
    ]));
    assert!(parses(&["--json", "--json-file", "a", "--html", "b", "--timing", "--points", "c", "--model", "m"]));
    for wrong in [&["--budgets", "many"][..], &["--budgets", "-1"], &["--budgets", ""], &["--seed", "x"], &["a", "b"]] {
        assert!(!parses(wrong), "{wrong:?}");
    }
}
