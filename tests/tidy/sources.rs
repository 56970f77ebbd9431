//! What no Rust file may hold or lack: module documentation, length, panics, sleeping tests, a second user of bincode.

use crate::mask;
use crate::tree::{Finding, Tree, is_test};
use crate::{finds, keeps};
use expect_test::expect;
use regex::Regex;

/// No product file is longer.
const MAX_LINES: usize = 600;
/// And half of them are no longer than this.
const MAX_MEDIAN_LINES: usize = 200;
/// The one file that names the codec crate, so that it can be replaced there.
const CODEC: &str = "events/src/codec.rs";

/// Every file says first what it is for.
fn module_docs(tree: &Tree) -> Vec<Finding> {
    let silent = tree.rust().filter(|(_, text)| !text.starts_with("//! "));
    silent
        .map(|(path, _)| {
            Finding::file(path, "begins with `//! `: what it is for, what holds in it, what it does not do")
        })
        .collect()
}

/// Short files.
fn length(tree: &Tree) -> Vec<Finding> {
    let mut lengths: Vec<(usize, &str)> = tree.product().map(|(path, text)| (text.lines().count(), path)).collect();
    lengths.sort_unstable();
    let mut found: Vec<Finding> = lengths
        .iter()
        .filter(|(lines, _)| *lines > MAX_LINES)
        .map(|(lines, path)| Finding::file(path, format!("{lines} lines; split it below {MAX_LINES}")))
        .collect();
    if let Some((lines, path)) = lengths.get(lengths.len() / 2).filter(|(lines, _)| *lines > MAX_MEDIAN_LINES) {
        found.push(Finding::file(path, format!("the median file has {lines} lines; {MAX_MEDIAN_LINES} is the limit")));
    }
    found
}

/// Product code does not panic on purpose, and a test mark does not hide what is not for tests.
fn panics(tree: &Tree) -> Vec<Finding> {
    let panic = Regex::new(r"\.unwrap\(\)|\.unwrap_err\(\)|\.expect(_err)?\(|\b(panic|todo|unimplemented|dbg)!")
        .expect("regex");
    let mut found = Vec::new();
    for (path, text) in tree.product() {
        let code = mask::without_tests(&mask::code(text));
        for hit in panic.find_iter(&code) {
            found.push(Finding::at(path, text, hit.start(), format!("`{}` in product code", hit.as_str())));
        }
    }
    found
}

/// A test waits for a condition, not for time to pass; and each test runs. A function that does wait for a condition says
/// so in its name (`wait_…`, `await_…`) and may look again after a pause.
fn tests_that_do_not_test(tree: &Tree) -> Vec<Finding> {
    let nap = Regex::new(r"\b(thread|time)::sleep\b|#\[ignore|\bthread::\{[^}]*\bsleep\b").expect("regex");
    let mut found = Vec::new();
    for (path, text) in tree.rust() {
        let code = mask::code(text);
        let product = if is_test(path) { String::new() } else { mask::without_tests(&code) };
        // In a product file only what is behind a test mark is meant.
        let in_product = |offset: usize| product.as_bytes().get(offset).is_some_and(|byte| *byte != b' ');
        let waits = |offset: usize| {
            let name = code[..offset].rsplit_once("fn ").map_or("", |(_, name)| name);
            name.starts_with("wait_") || name.starts_with("await_")
        };
        // In paused time nobody waits for anything.
        let paused = |offset: usize| {
            let test = code[..offset].rsplit_once("#[tokio::test").map_or("", |(_, test)| test);
            test.split_once("fn ").is_some_and(|(attribute, _)| attribute.contains("start_paused"))
        };
        let naps = nap.find_iter(&code).filter(|hit| !in_product(hit.start()) && !waits(hit.start()));
        for hit in naps.filter(|hit| hit.as_str() != "time::sleep" || !paused(hit.start())) {
            found.push(Finding::at(path, text, hit.start(), format!("`{}` in a test", hit.as_str())));
        }
    }
    found
}

/// bincode is unmaintained: one file names it.
fn codec(tree: &Tree) -> Vec<Finding> {
    let bincode = Regex::new(r"\bbincode\b").expect("regex");
    let mut found = Vec::new();
    for (path, text) in tree.product().filter(|(path, _)| *path != CODEC) {
        for hit in bincode.find_iter(&mask::code(text)) {
            found.push(Finding::at(path, text, hit.start(), format!("only {CODEC} names bincode")));
        }
    }
    found
}

#[test]
fn every_file_says_what_it_is_for() {
    keeps(module_docs);
    let example = [("a/src/x.rs", "//! X.\n"), ("a/src/y.rs", "\n//! Y.\n"), ("tests/z.rs", "use a;\n"), ("a.txt", "")];
    finds(
        module_docs,
        &example,
        expect![[r#"
            a/src/y.rs: begins with `//! `: what it is for, what holds in it, what it does not do
            tests/z.rs: begins with `//! `: what it is for, what holds in it, what it does not do
        "#]],
    );
}

#[test]
fn files_are_short() {
    keeps(length);
    let (long, middling) = ("x\n".repeat(601), "x\n".repeat(201));
    let example =
        [("a/src/x.rs", long.as_str()), ("a/src/y.rs", &middling), ("a/src/z.rs", "x\n"), ("tests/t.rs", &long)];
    finds(
        length,
        &example,
        expect![[r#"
            a/src/x.rs: 601 lines; split it below 600
            a/src/y.rs: the median file has 201 lines; 200 is the limit
        "#]],
    );
}

#[test]
fn product_code_does_not_panic_on_purpose() {
    keeps(panics);
    let example = [
        (
            "a/src/x.rs",
            "// .unwrap()\nfn x() {\n    y().unwrap();\n    z.expect(\"dbg!\");\n}\n#[cfg(test)]\nmod tests { fn t() { y.unwrap() } }\n",
        ),
        ("a/src/x_tests.rs", "fn t() { y.unwrap() }"),
        ("a/src/y.rs", "fn y() { todo!() }\nfn unwrap_or() { a.unwrap_or(1) }\n"),
    ];
    finds(
        panics,
        &example,
        expect![[r#"
            a/src/x.rs:3: `.unwrap()` in product code
            a/src/x.rs:4: `.expect(` in product code
            a/src/y.rs:1: `todo!` in product code
        "#]],
    );
}

#[test]
fn tests_neither_sleep_nor_hide() {
    keeps(tests_that_do_not_test);
    let example = [
        (
            "a/src/x.rs",
            "fn wait() { thread::sleep(d) }\n#[cfg(test)]\nmod tests { fn t() { tokio::time::sleep(d) } }\n",
        ),
        ("tests/y.rs", "#[test]\n#[ignore = \"slow\"]\nfn y() { std::thread::sleep(d) } // time::sleep\n"),
        (
            "tests/p.rs",
            "#[tokio::test(start_paused = true)]\nasync fn p() { time::sleep(d).await; thread::sleep(d) }\n",
        ),
        ("tests/z.rs", "fn wait_for(c: C) { while !c() { thread::sleep(d) } }\nfn z() { thread::sleep(d) }\n"),
    ];
    finds(
        tests_that_do_not_test,
        &example,
        expect![[r#"
            a/src/x.rs:3: `time::sleep` in a test
            tests/p.rs:2: `thread::sleep` in a test
            tests/y.rs:2: `#[ignore` in a test
            tests/y.rs:3: `thread::sleep` in a test
            tests/z.rs:2: `thread::sleep` in a test
        "#]],
    );
}

#[test]
fn one_file_names_the_codec_crate() {
    keeps(codec);
    let example = [
        (CODEC, "use bincode::x;"),
        ("events/src/x.rs", "// bincode\nuse bincode::y;"),
        ("tests/x.rs", "bincode::z()"),
    ];
    finds(
        codec,
        &example,
        expect![[r#"
        events/src/x.rs:2: only events/src/codec.rs names bincode
    "#]],
    );
}
