//! What is put together, and what is split.

use super::{Chunk, assert_covers, chunk_file, table};
use expect_test::expect;
use std::fmt::Write as _;

/// A function of `lines` lines of 40 bytes.
fn function(name: &str, indent: &str, lines: usize) -> String {
    let mut text = format!("{indent}/// Does {name}.\n{indent}fn {name}() {{\n");
    for line in 0..lines {
        writeln!(text, "{indent}    {:<34};", format!("call_{line}()")).unwrap();
    }
    text + indent + "}\n"
}

fn checked(path: &str, text: &str) -> Vec<Chunk> {
    let chunks = chunk_file(path, text);
    assert_covers(text, &chunks);
    chunks
}

#[test]
fn small_neighbours_are_put_together_and_larger_ones_stand_alone() {
    let text = [function("a", "", 2), function("b", "", 2), function("c", "", 30), function("d", "", 2)].join("\n");
    expect![[r#"
        1-12 Function a, b
        13-46 Function c
        47-51 Function d
    "#]]
    .assert_eq(&table(&checked("x.rs", &text)));
}

#[test]
fn a_large_type_is_cut_by_its_methods_and_its_head_is_its_own() {
    let text = format!(
        "/// A log.\nimpl Log {{\n{}\n    const LIMIT: usize = 3;\n\n{}\n}}\n\n{}",
        function("append", "    ", 30),
        function("read", "    ", 30),
        function("after", "", 30)
    );
    expect![[r#"
        1-36 Function Log::append
        37-74 Constant Log::LIMIT, Log::read
        75-107 Function after
    "#]]
    .assert_eq(&table(&checked("x.rs", &text)));
}

#[test]
fn a_large_function_is_split_and_each_part_keeps_its_name() {
    let chunks = checked("x.rs", &function("long", "", 200));
    assert!(chunks.len() >= 5, "{}", table(&chunks));
    assert!(chunks.iter().all(|chunk| chunk.symbol.as_deref() == Some("long") && chunk.text.len() <= 1_600));
}

#[test]
fn functions_in_a_large_function_are_found_by_their_own_names() {
    let mut text = "function outer() {\n".to_owned();
    for name in ["first", "second"] {
        writeln!(text, "  function {name}() {{\n{}  }}\n", "    call(1, 2, 3, 4, 5, 6, 7, 8, 9);\n".repeat(50))
            .unwrap();
    }
    text += "}\n";
    expect![[r#"
        1-54 Function outer, outer.first
        55-108 Function outer.second
    "#]]
    .assert_eq(&table(&checked("x.js", &text)));
}

#[test]
fn a_window_ends_where_something_ends() {
    let paragraph = "word and word and word and word\n".repeat(12);
    let text = format!("{paragraph}\n").repeat(10);
    let chunks = checked("notes.txt", &text);
    assert!(chunks.len() > 2);
    assert!(chunks.iter().all(|chunk| chunk.text.ends_with("\n\n")), "{}", table(&chunks));
}

#[test]
fn a_line_that_is_too_long_is_cut_but_counted() {
    let text = format!("short\n{}\nshort\n", "é".repeat(300_000));
    let chunks = checked("x.txt", &text);
    assert!(chunks.iter().all(|chunk| chunk.text.len() <= 8 * 1024));
    assert_eq!(chunks.last().map(|chunk| chunk.last_line), Some(3));
}

#[test]
fn nothing_has_no_chunks_and_one_byte_has_one() {
    assert_eq!(chunk_file("x.rs", ""), []);
    assert_eq!(checked("x.rs", "\n").len(), 1);
    assert_eq!(checked("x.rs", "x").len(), 1);
}

#[test]
fn a_symbol_of_many_names_stays_short() {
    let text: String = (0..60).map(|i| format!("const NAME_{i}: u8 = 1;\n")).collect();
    let chunks = checked("x.rs", &text);
    assert!(chunks.iter().all(|chunk| chunk.symbol.as_deref().is_some_and(|it| it.len() <= 400)));
    let long = format!("fn {}() {{}}\n", "x".repeat(5_000));
    assert!(checked("x.rs", &long)[0].symbol.as_deref().is_some_and(|it| it.len() <= 400));
}
