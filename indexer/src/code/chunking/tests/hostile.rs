//! Texts that scanners of grammars are known to crash on, to hang on, or to take very long for. A crash here takes the
//! test's process with it, which is how it fails.

use super::samples::ALL;
use super::{assert_covers, chunk_file, definitions, table};
use crate::code::chunking::heredocs::{HereDocuments, take_out};
use crate::code::chunking::parse::plain;

/// Shows a text to every grammar.
fn show_all(text: &str) {
    for (path, _) in ALL {
        assert_covers(text, &chunk_file(path, text));
    }
}

#[test]
fn a_brace_before_a_character_outside_the_first_plane() {
    show_all("f() {😀}\n{😀\n${😀}\n#{😀}\n");
}

#[test]
fn floods_of_one_byte() {
    for flood in
        ["\0", "\u{1b}", "{", "(", "[", "\"", "'", "`", "<", "$", "\\", "#", "\r", "\u{feff}", "/*", "<<A ", "<<<A\n"]
    {
        show_all(&flood.repeat(6_000));
    }
}

#[test]
fn nesting_without_end() {
    for (open, close) in
        [("{", "}"), ("(", ")"), ("[", "]"), ("\"#{", "}\""), ("`${", "}`"), ("$(", ")"), ("$\"{", "}\"")]
    {
        show_all(&(open.repeat(4_000) + &close.repeat(4_000)));
    }
    let classes: String = (0..300).map(|depth| format!("{}class A{depth}:\n", " ".repeat(depth))).collect();
    assert_covers(&classes, &chunk_file("a.py", &classes));
}

#[test]
fn indentation_deeper_than_the_scanner_counts() {
    let odd = format!("x = (\n{}", (0..700).map(|depth| " ".repeat(depth) + "if a:\n").collect::<String>());
    assert_covers(&odd, &chunk_file("a.py", &odd));
    let tabs: String = (0..700).map(|depth| "\t".repeat(depth) + "if a:\n").collect();
    assert_covers(&tabs, &chunk_file("a.py", &tabs));
}

#[test]
fn words_and_numbers_of_here_documents_that_do_not_fit() {
    let long = format!("<<{}\n", "A".repeat(300));
    let many = format!("f({})\n", (0..300).map(|i| format!("<<A{i}, ")).collect::<String>());
    let nested = format!("{}\n", "x = <<A\n#{<<B}${<<C}{$a[<<<D\n".repeat(400));
    let quoted = format!("<?php {}", format!("<<<\"{}\"\n", "B".repeat(1_100)).repeat(3));
    let literals = format!("{} <<ABCD\n", "\"#{".repeat(203));
    for text in [long, many, nested, quoted, literals] {
        show_all(&text);
    }
}

#[test]
fn here_documents_become_blank_and_all_else_stays() {
    let taken = |style, text: &str| {
        let mut bytes = plain(text);
        assert!(take_out(style, &mut bytes), "{text}");
        assert_eq!(bytes.len(), text.len());
        String::from_utf8(bytes).unwrap()
    };
    let bash = "cat <<-'E F' >a\n  x ${\n  E F\ncat <<<\"$x\"; echo $((1 << 3))\nf() {\n:\n}\n";
    assert_eq!(
        taken(HereDocuments::Bash, bash),
        "cat \"xxxxxx\" >a\n      \n     \ncat    \"$x\"; echo $((1 <  3))\nf() {\n:\n}\n"
    );
    let ruby = "a(<<~X, <<Y)\n1\n  X\n2\nY\nclass <<self\nb << c\n";
    assert_eq!(taken(HereDocuments::Ruby, ruby), "a(\"xx\", \"x\")\n \n   \n \n \nclass < self\nb << c\n");
    let php = "f(<<<'A'\n  x {$\n  A, 2);\n$b << 3;\n";
    assert_eq!(taken(HereDocuments::Php, php), "f(\"xxxx\"\n      \n   , 2);\n$b << 3;\n");
}

#[test]
fn definitions_behind_here_documents_are_found() {
    let text = "a() {\ncat <<EOF\nb() {\n${ \"\nEOF\n}\nc() {\n:\n}\n";
    assert_eq!(definitions("a.sh", text), "1-6 Function a\n7-9 Function c\n");
}

#[test]
fn a_file_that_costs_too_much_is_cut_by_lines() {
    // Each backtick lets the scanner look for its end again.
    let text = "a`${b`<".repeat(20_000) + "\nfunction f() {}\n";
    assert_covers(&text, &chunk_file("a.js", &text));
    let large = "fn f() {\n    call();\n}\n".repeat(30_000);
    assert!(!table(&chunk_file("a.rs", &large)).contains("Function"), "parsed in spite of its size");
}

#[test]
fn definitions_in_one_line_and_in_each_other_share_no_line() {
    for text in ["fn a() {} fn b() {} mod c { fn d() {} }\n", "impl A { fn a() {} }", "struct A; struct B; impl B {}\n"]
    {
        let chunks = chunk_file("a.rs", text);
        assert_covers(text, &chunks);
        assert!(chunks[0].symbol.as_deref().is_some_and(|symbol| symbol.contains('a') || symbol.contains('A')));
    }
    assert_eq!(
        chunk_file("a.rs", "fn a() {} fn b() {} mod c { fn d() {} }\n")[0].symbol.as_deref(),
        Some("a, b, c::d")
    );
}
