//! What is ranked before what.

use super::super::ranking::{Ranked, Source};
use super::super::windows::Window;
use super::super::working_set::WorkingSet;
use super::{lines_of, read, say, work};
use serde_json::json;

/// The file and the window, when it is of one.
fn file_window<'a>(source: &Source<'a>) -> Option<(&'a str, &'a Window)> {
    match source {
        Source::File { path, window, .. } => Some((path, window)),
        Source::Output(_) => None,
    }
}

/// Files and first lines of the windows, best first.
fn best(set: &WorkingSet) -> Vec<(String, u32)> {
    let windows = set
        .ranked()
        .into_iter()
        .filter_map(|ranked| file_window(&ranked.source).map(|(path, window)| (path.to_owned(), window.numbers.0)));
    windows.collect()
}

fn place(set: &WorkingSet, path: &str, line: u32) -> usize {
    best(set).iter().position(|window| *window == (path.to_owned(), line)).unwrap()
}

/// Three files of 60 lines, and a long talk since they were read.
fn set() -> WorkingSet {
    let mut set = WorkingSet::default();
    for name in ["alpha", "beta", "gamma"] {
        read(&mut set, &format!("src/{name}.rs"), &lines_of(name, 60));
    }
    for _ in 0..12 {
        work(&mut set, "bash", &json!({ "command": "true" }), "nothing of note");
    }
    set
}

#[test]
fn the_words_of_the_plan_decide() {
    let mut set = set();
    let before = place(&set, "src/beta.rs", 40);
    say(&mut set, "Next I change beta_44, which is wrong.");
    let after = place(&set, "src/beta.rs", 40);
    assert!(after * 2 < before, "{after}, before {before}");
    // Beyond the beginning, which counts by itself.
    let first =
        |set: &WorkingSet, file: &str| best(set).into_iter().find(|(path, line)| path == file && *line > 20).unwrap().1;
    assert_eq!(first(&set, "src/beta.rs"), 40);
    // What is said later counts more.
    let before_alpha = place(&set, "src/alpha.rs", 30);
    say(&mut set, "No: alpha_33 it is, that is next.");
    say(&mut set, "Yes, alpha_33, not the other.");
    assert_eq!(first(&set, "src/alpha.rs"), 30);
    assert!(place(&set, "src/alpha.rs", 30) < before_alpha && place(&set, "src/beta.rs", 40) > after);
}

#[test]
fn a_named_file_comes_before_others() {
    let mut set = set();
    say(&mut set, "Now something else in gamma.rs, at its end perhaps.");
    assert!(best(&set)[..4].iter().all(|(path, _)| path == "src/gamma.rs"), "{:?}", best(&set));
}

#[test]
fn what_was_written_comes_before_what_was_only_read() {
    let mut set = set();
    let before = place(&set, "src/alpha.rs", 30);
    let edit = json!({ "path": "src/alpha.rs", "old_string": "let alpha_35 = compute_alpha(35);", "new_string": "let changed = 1;" });
    work(&mut set, "edit_file", &edit, "edited src/alpha.rs");
    let after = place(&set, "src/alpha.rs", 30);
    assert!(after < before && after == 0, "{after} of {before}: {:?}", best(&set));
    // A failed edit writes nothing; only the words of the call count.
    let edit = json!({ "path": "src/beta.rs", "old_string": "not there at all", "new_string": "x" });
    work(&mut set, "edit_file", &edit, "old_string is not in src/beta.rs");
    let windows = set.ranked();
    let wrote = |path: &str| {
        windows
            .iter()
            .filter_map(|ranked| file_window(&ranked.source))
            .any(|(file, window)| file == path && window.wrote > 0)
    };
    assert!(wrote("src/alpha.rs") && !wrote("src/beta.rs"));
}

#[test]
fn a_file_that_was_read_and_not_yet_edited_comes_before_an_older_one() {
    let mut set = set();
    let first = |set: &WorkingSet| best(set)[0].0.clone();
    assert_eq!(first(&set), "src/gamma.rs");
    read(&mut set, "src/alpha.rs", &lines_of("alpha", 60));
    assert_eq!(first(&set), "src/alpha.rs");
}

#[test]
fn a_line_that_a_compiler_names_is_found() {
    let mut set = set();
    let of_beta = |set: &WorkingSet| -> Vec<u32> {
        best(set).into_iter().filter(|(path, _)| path == "src/beta.rs").map(|(_, line)| line).collect()
    };
    assert_ne!(of_beta(&set)[0], 50);
    let error = "exit code: 101\nerror: mismatch\n --> src/beta.rs:53:9";
    work(&mut set, "bash", &json!({ "command": "cargo check" }), error);
    assert_eq!(of_beta(&set)[0], 50);
}

#[test]
fn a_definition_whose_name_is_said_is_found() {
    let mut set = WorkingSet::default();
    let mut lines = lines_of("x", 100);
    lines[54] = "pub fn parse_header(input: &str) {".to_owned();
    lines[84] = "pub fn other_thing(input: &str) {".to_owned();
    read(&mut set, "src/a.rs", &lines);
    say(&mut set, "I look at parse_header.");
    let found = best(&set);
    let (_, first) = &found[0];
    assert_eq!(*first, 50);
    // What stands within it comes before what stands behind it.
    let place = |line| place(&set, "src/a.rs", line);
    assert!(place(70) < place(90), "{found:?}");
}

#[test]
fn a_test_comes_with_what_it_tests() {
    let ahead = |last: &str| {
        let mut set = set();
        for path in ["src/store_test.go", "src/zebra_test.go", last] {
            read(&mut set, path, &lines_of("same", 9));
        }
        let ranked = set.ranked();
        let score = |path: &str| {
            let of_file = |ranked: &&Ranked<'_>| file_window(&ranked.source).is_some_and(|(file, _)| file == path);
            ranked.iter().find(of_file).unwrap().score
        };
        score("src/store_test.go") - score("src/zebra_test.go")
    };
    assert!(ahead("src/store.go") > ahead("src/other.go") + 0.3);
    assert!(ahead("src/zebra.go") < ahead("src/other.go") - 0.3);
}

#[test]
fn outputs_come_before_talk() {
    let mut set = WorkingSet::default();
    let text = "the frobnicator said that it cannot go on today";
    say(&mut set, text);
    work(&mut set, "bash", &json!({ "command": "frob" }), text);
    let first = set.ranked()[0].source;
    assert!(matches!(first, Source::Output(output) if !output.said), "{first:?}");
}

#[test]
fn the_order_is_the_same_every_time() {
    let one: Vec<String> = set().ranked().iter().map(|ranked| format!("{ranked:?}")).collect();
    let other: Vec<String> = set().ranked().iter().map(|ranked| format!("{ranked:?}")).collect();
    assert!(one.len() > 20 && one == other);
}
