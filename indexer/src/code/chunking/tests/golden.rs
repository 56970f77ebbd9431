//! What is found in a small piece of every language: names, kinds, and lines with comments, attributes and decorators.

use super::samples::{self, ALL};
use super::{chunk_file, definitions, table};
use expect_test::{Expect, expect};

fn check(path: &str, text: &str, expected: &Expect) {
    expected.assert_eq(&definitions(path, text));
}

#[test]
fn rust() {
    check(
        "a.rs",
        samples::RUST,
        &expect![[r#"
        5-6 Constant LIMIT
        8-12 Type Log
        14-26 Implementation (impl Log<T>)
        15-20 Function Log::append
        22-25 Function Log::len
        28-32 Implementation (impl fmt::Display for Log<T>)
        29-31 Function Log::fmt
        34-41 Module (deep)
        35-37 Interface deep::Follow
        36-36 Function deep::Follow::follow
        38-40 Macro deep::twice
    "#]],
    );
}

#[test]
fn python() {
    check(
        "a.py",
        samples::PYTHON,
        &expect![[r#"
        6-21 Type Log
        13-17 Function Log.append
        19-21 Function Log.length
        24-28 Function outer
    "#]],
    );
}

#[test]
fn typescript() {
    check(
        "a.ts",
        samples::TYPESCRIPT,
        &expect![[r#"
        3-18 Type Log
        8-8 Function Log.constructor
        10-13 Function Log.append
        15-17 Function Log.length
        20-22 Interface Follow
        24-24 Type Kind
        26-29 Type Level
        31-35 Module (deep)
        32-34 Function deep.inner
        37-38 Function arrow
        40-42 Function main
    "#]],
    );
}

#[test]
fn tsx() {
    check(
        "a.tsx",
        samples::TSX,
        &expect![[r#"
        1-4 Function List
        6-8 Function Item
    "#]],
    );
}

#[test]
fn javascript() {
    check(
        "a.js",
        samples::JAVASCRIPT,
        &expect![[r#"
        2-5 Function hello
        7-15 Type Log
        9-11 Function Log.of
        12-14 Function Log.[Symbol.iterator]
        17-19 Function module.exports.parse
        22-24 Function start
        25-27 Function stop
    "#]],
    );
}

#[test]
fn go() {
    check(
        "a.go",
        samples::GO,
        &expect![[r#"
        7-11 Type Log
        13-15 Type Kind
        16-17 Type Level
        19-25 Function Log.Append
        27-30 Function main
    "#]],
    );
}

#[test]
fn java() {
    check(
        "a.java",
        samples::JAVA,
        &expect![[r#"
        5-29 Type Log
        10-13 Function Log.Log
        15-20 Function Log.append
        22-24 Type Log.Level
        26-28 Interface Log.Follow
        27-27 Function Log.Follow.follow
        31-32 Type Point
    "#]],
    );
}

#[test]
fn c() {
    check(
        "a.c",
        samples::C,
        &expect![[r#"
        3-4 Macro TWICE
        6-9 Type log
        11-13 Type point_t
        15-15 Type level
        17-22 Function append
        25-28 Function pick
    "#]],
    );
}

#[test]
fn cpp() {
    check(
        "a.cpp",
        samples::CPP,
        &expect![[r#"
        4-27 Module (deep::er)
        6-20 Type deep::er::Log
        10-10 Function deep::er::Log::Log
        11-13 Function deep::er::Log::~Log
        14-16 Function deep::er::Log::append
        17-19 Function deep::er::Log::operator==
        22-25 Function deep::er::length
        29-31 Function Log::outside
        33-33 Type Level
        35-35 Type Name
    "#]],
    );
}

#[test]
fn c_sharp() {
    check(
        "a.cs",
        samples::C_SHARP,
        &expect![[r#"
        3-36 Module (Example.Deep)
        5-24 Type Example.Deep.Log
        11-14 Function Example.Deep.Log.Log
        16-18 Function Example.Deep.Log.Append
        20-23 Function Example.Deep.Log.Length
        26-29 Interface Example.Deep.IFollow
        28-28 Function Example.Deep.IFollow.Follow
        31-35 Type Example.Deep.Level
    "#]],
    );
}

#[test]
fn ruby() {
    check(
        "a.rb",
        samples::RUBY,
        &expect![[r#"
        5-29 Module (Deep)
        6-28 Type Deep::Log
        10-17 Function Deep::Log#append
        19-21 Function Deep::Log.of
        24-26 Function Deep::Log#empty?
        31-33 Function top
    "#]],
    );
}

#[test]
fn php() {
    check(
        "a.php",
        samples::PHP,
        &expect![[r#"
        2-2 Module (Example\Deep)
        6-20 Type Log
        12-19 Function Log::append
        22-25 Interface Follow
        24-24 Function Follow::follow
        27-30 Function top
    "#]],
    );
}

#[test]
fn bash() {
    check(
        "a.sh",
        samples::BASH,
        &expect![[r#"
        4-10 Function hello
        12-20 Function main
    "#]],
    );
}

#[test]
fn markdown_is_cut_by_heading() {
    expect![[r#"
        1-27 Section Title, Title > Part one, Title > Part two, Title > Part two > Deep, Other
    "#]]
    .assert_eq(&table(&chunk_file("a.md", samples::MARKDOWN)));
}

#[test]
fn a_small_file_is_one_chunk_with_all_its_names() {
    expect![[r#"
        1-41 Constant LIMIT, Log, Log::append, Log::len, Log::fmt, deep::Follow, deep::twice, deep::Follow::follow
    "#]]
    .assert_eq(&table(&chunk_file("a.rs", samples::RUST)));
}

#[test]
fn every_sample_is_read_without_mistakes_of_the_grammar() {
    use super::Language;
    for (path, text) in ALL {
        if let Some(Language::Code(grammar)) = Language::of_file(path, text) {
            let tree = super::parse::parse(grammar, text).expect("parsed");
            assert!(!tree.root_node().has_error(), "{path}: {}", tree.root_node().to_sexp());
        }
    }
}

#[test]
fn a_script_is_known_by_its_first_line_and_a_header_by_what_it_holds() {
    let named = |path: &str, text: &str| table(&chunk_file(path, text)).contains("Function");
    assert!(named("bin/run", "#!/usr/bin/env -S FOO=1 python3.12 -u\ndef f():\n    pass\n"));
    assert!(named("bin/run", "#!/bin/sh -e\nf() {\n  :\n}\n"));
    assert!(!named("bin/run", "def f():\n    pass\n"));
    assert!(!named("notes.txt", "def f():\n    pass\n"));
    assert_eq!(chunk_file("a.h", "class A {\n  int f() { return 1; }\n};\n")[0].symbol.as_deref(), Some("A, A::f"));
    assert_eq!(chunk_file("a.h", "int f(void) {\n  return 1;\n}\n")[0].symbol.as_deref(), Some("f"));
}
