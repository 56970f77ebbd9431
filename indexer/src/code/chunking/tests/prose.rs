//! Markdown: headings, and what only looks like one.

use super::{assert_covers, chunk_file, table};
use expect_test::expect;

#[test]
fn sections_have_the_path_of_their_headings() {
    let body = "Some words that fill the line up to here, and then some.\n".repeat(14);
    let text = format!("# Log\n{body}## Append\n{body}### Errors\n{body}## Read\n{body}# Other\n{body}");
    expect![[r#"
        1-15 Section Log
        16-30 Section Log > Append
        31-45 Section Log > Append > Errors
        46-60 Section Log > Read
        61-75 Section Other
    "#]]
    .assert_eq(&table(&chunk_file("a.md", &text)));
}

#[test]
fn what_stands_in_code_lists_and_quotes_is_no_heading() {
    let text = "# Real\n\n```sh\n# comment\n```\n\n    # indented\n\n> # quoted\n\n- # listed\n\n\\# escaped\n";
    assert_eq!(table(&chunk_file("a.md", text)), "1-13 Section Real\n");
}

#[test]
fn a_large_section_is_split_and_keeps_its_name() {
    let text = format!("# Long\n{}", "one line of words in a section\n\n".repeat(300));
    let chunks = chunk_file("a.md", &text);
    assert_covers(&text, &chunks);
    assert!(chunks.len() > 4);
    assert!(chunks.iter().all(|chunk| chunk.symbol.as_deref() == Some("Long")));
}

#[test]
fn many_headings_and_markup_without_end_are_read_in_time() {
    for text in
        ["#\n".repeat(50_000), "[".repeat(100_000), "*a _b ".repeat(30_000), "> ".repeat(50_000), "`".repeat(99_999)]
    {
        assert_covers(&text, &chunk_file("a.md", &text));
    }
}
