//! Answers of the model in colours, as they are read on a terminal: `‹1›bold‹›`.

use super::{readable, redactor, uncoloured};
use crate::cli::render::Style;
use crate::cli::render::markdown::whole;
use crate::cli::render::streamed::Streamed;
use expect_test::{Expect, expect};
use std::time::{Duration, Instant};

fn shown(text: &str) -> String {
    readable(&whole(text, &redactor()))
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&shown(text));
}

#[test]
fn headings_text_and_rules() {
    check(
        "# Title\n\nSome **bold**, *it*, ~~no~~ and `code`; **bold `code` *both***.\nsnake_case, 2 * 3 * 4, a < b, \\*no\\*\n\n### Sub **x** #\n---\n",
        &expect![[r#"
            ‹1;4›Title‹›

            Some ‹1›bold‹›, ‹3›it‹›, ‹9›no‹› and ‹36›code‹›; ‹1›bold ‹›‹1;36›code‹› ‹1;3›both‹›.
            snake_case, 2 * 3 * 4, a < b, *no*

            ‹1›Sub x‹›
            ‹2›────────────────────────────────────────‹›
        "#]],
    );
}

#[test]
fn links_show_where_they_go() {
    check(
        "See [the **docs**](https://a.example/x_(y) \"title\") and <https://b.example>, ![a picture](c.png).\n[no link] and [this][that]\n[ref]: https://d.example \"kept\"\n",
        &expect![[r#"
            See ‹4›the ‹›‹1;4›docs‹›‹2› (https://a.example/x_(y) "title")‹› and https://b.example, ‹4›a picture‹›‹2› (c.png)‹›.
            [no link] and [this][that]
            [ref]: https://d.example "kept"
        "#]],
    );
}

#[test]
fn lists_and_quotes() {
    check(
        "- one\n- two `x`\n    - four blanks are depth\n\n      more of it\n  1. first\n  7) seventh\n* [ ] open\n+ [x] done\n\n> quoted *words*\n> > deeper\n> - item\n>  3. third\n\nplain\n",
        &expect![[r#"
            • one
            • two ‹36›x‹›
                • four blanks are depth

                  more of it
              1. first
              7) seventh
            • [ ] open
            • [x] done

            ‹2›│ ‹›quoted ‹3›words‹›
            ‹2›│ │ ‹›deeper
            ‹2›│ ‹›• item
            ‹2›│ ‹›3. third

            plain
        "#]],
    );
}

#[test]
fn code_has_colours() {
    check(
        "```rust\n// a comment\npub fn main() -> u32 {\n    let s = \"str\"; 42\n}\n```\n~~~\nno language **here**\n```\n~~~\n    indented **code**\n",
        &expect![[r#"
            ‹2›```rust‹›
            ‹2›// a comment‹›
            ‹35›pub‹› ‹35›fn‹› ‹1›main‹›() -> ‹35›u32‹› {
                ‹35›let‹› s = ‹32›"str"‹›; ‹36›42‹›
            }
            ‹2›```‹›
            ‹2›~~~‹›
            no language **here**
            ```
            ‹2›~~~‹›
                indented **code**
        "#]],
    );
    check(
        "```diff\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n```\n",
        &expect![[r#"
        ‹2›```diff‹›
        ‹1›--- a/x‹›
        ‹1›+++ b/x‹›
        ‹36›@@ -1,2 +1,2 @@‹›
         same
        ‹31›-old‹›
        ‹32›+new‹›
        ‹2›```‹›
    "#]],
    );
}

#[test]
fn code_in_lists_and_quotes_ends_with_them() {
    check(
        "1. run\n   ```sh\n   echo \"hi\"  # it\n   ```\n2. next **one**\n> ```py\n> return None\nout of it *again*\n",
        &expect![[r#"
            1. run
               ‹2›```sh‹›
               ‹1›echo‹› ‹32›"hi"‹›  ‹2›# it‹›
            ‹2›   ```‹›
            2. next ‹1›one‹›
            ‹2›│ ```py‹›
            ‹2›│ ‹›‹35›return‹› ‹36›None‹›
            out of it ‹3›again‹›
        "#]],
    );
}

#[test]
fn tables_have_columns() {
    check(
        "before\n| Name | Centre | Count |\n|:-----|:------:|------:|\n| `a` | **bold** | 7 |\n| 世界 | x \\| y | 1,234 |\n| short |\nafter\n",
        &expect![[r#"
            before
            ‹1›Name‹› ‹2› │ ‹›‹1›Centre‹›‹2› │ ‹›‹1›Count‹›
            ‹2›──────┼────────┼──────‹›
            ‹36›a‹›    ‹2› │ ‹› ‹1›bold‹› ‹2› │ ‹›    7
            世界 ‹2› │ ‹›x | y ‹2› │ ‹›1,234
            short‹2› │ ‹›      ‹2› │ ‹›     
            after
        "#]],
    );
    // What only looks like one is shown as it is.
    check(
        "| a | b |\nno table\n| lonely |\n",
        &expect![[r#"
        | a | b |
        no table
        | lonely |
    "#]],
    );
}

#[test]
fn what_would_lose_words_is_shown_as_it_is_written() {
    // A cell too many has no column; so many quotes in one another are none that anybody wrote.
    let table = "| a |\n|---|\n| b | extra |\n";
    assert_eq!(shown(table), table);
    let deep = format!("{}word **b**\n", "> ".repeat(40));
    assert_eq!(shown(&deep), deep);
    let long = format!("{} **b**\n", "word ".repeat(1_000));
    assert_eq!(shown(&long), long);
}

#[test]
fn html_and_entities_stay_as_they_are_written() {
    check(
        "<div class=\"x\">\na <b>b</b> &amp; &lt;c&gt; &#27;[31m &#x202e;\n<!-- hidden? no -->\n<a href=\"x\">y</a>\n",
        &expect![[r#"
            <div class="x">
            a <b>b</b> &amp; &lt;c&gt; &#27;[31m &#x202e;
            <!-- hidden? no -->
            <a href="x">y</a>
        "#]],
    );
}

#[test]
fn a_line_streams_word_by_word_as_far_as_it_is_certain() {
    let redactor = redactor();
    let mut streamed = Streamed::new(Style::Coloured);
    let mut push = |piece: &str| readable(&streamed.push(piece, &redactor));
    assert_eq!(push("Some wor"), "Some");
    assert_eq!(push("ds and **bo"), " words and");
    assert_eq!(push("ld words** "), " ‹1›bold words‹›");
    assert_eq!(push("end\n- it"), " end\n");
    assert_eq!(push("em one"), "• item");
    assert_eq!(push(" \n# Head ing "), " one\n");
    assert_eq!(push("x\n```rust\nlet a "), "‹1;4›Head ing x‹›\n‹2›```rust‹›\n");
    assert_eq!(push("= 1;\n"), "‹35›let‹› a = ‹36›1‹›;\n");
    assert_eq!(push("```\n| a | b |\n|--"), "‹2›```‹›\n");
    assert_eq!(push("|--|\n| 1 | 2 |\n"), "");
    assert_eq!(push("so "), "");
    assert_eq!(push("on\n"), "‹1›a‹›‹2› │ ‹›‹1›b‹›\n‹2›──┼──‹›\n1‹2› │ ‹›2\nso on\n");
}

#[test]
fn white_space_that_the_cleaner_takes_away_ends_no_word() {
    for text in ["one    *\u{b}<***\n", "***\n\\\r\u{1b}[31m[one*\n", "a *\u{85}b*\n"] {
        let mut streamed = Streamed::new(Style::Coloured);
        let pieces: Vec<String> = text.chars().map(|c| streamed.push(&c.to_string(), &redactor())).collect();
        let lines = text.lines().map(|line| crate::cli::render::clean::text(line) + "\n");
        assert_eq!(pieces.concat(), whole(&lines.collect::<String>(), &redactor()));
    }
}

#[test]
fn what_is_held_back_comes_at_the_end() {
    let redactor = redactor();
    let mut streamed = Streamed::new(Style::Coloured);
    assert_eq!(streamed.push("| a |\n|---|\n| b |\n", &redactor), "");
    assert!(!streamed.begun());
    assert_eq!(uncoloured(&streamed.end_block(&redactor)), "a\n─\nb\n");
    assert!(streamed.begun());
    assert_eq!(uncoloured(&streamed.push("```\n**code**\n", &redactor)), "```\n**code**\n");
    // Another block of the answer is not in the code of this one.
    assert_eq!(streamed.end_block(&redactor), "");
    assert_eq!(readable(&streamed.push("**text**\n", &redactor)), "‹1›text‹›\n");
    assert_eq!(streamed.finish(&redactor), "");
}

#[test]
fn markup_that_would_put_a_secret_together_goes_with_it() {
    for marked in
        ["hunter2-**correct**-horse", "hunter2\\-correct-horse", "`hunter2-`correct-horse", "hunter2-c*orrec*t-horse"]
    {
        for text in [marked.to_owned(), format!("- [a](b) {marked} *c*"), format!("| a |\n|---|\n| {marked} |")] {
            let shown = uncoloured(&whole(&text, &redactor()));
            assert!(!shown.contains("hunter2-correct-horse"), "{shown}");
        }
    }
    let mut streamed = Streamed::new(Style::Coloured);
    assert_eq!(streamed.push("the key is hunter2-**correct**-horse ", &redactor()), "");
    assert_eq!(streamed.push("and *more* of it\n", &redactor()), "the key is [redacted:known] and more of it\n");
    assert_eq!(shown("the **key** is hunter2-**correct**-horse"), "the key is [redacted:known]\n");
}

#[test]
fn names_of_languages_are_known() {
    let coloured = |language: &str, line: &str| shown(&format!("```{language}\n{line}\n```\n")).contains("‹35›");
    for language in
        ["js", "javascript", "ts", "typescript", "tsx", "jsx", "java", "c", "cpp", "c++", "cs", "csharp", "php"]
    {
        assert!(coloured(language, if language == "php" { "<?php return 1;" } else { "return 1;" }), "{language}");
    }
    for language in ["py", "python", "Python3", "rb", "ruby", "lua", "go", "golang", "rust,no_run", "rs", "{.rust}"] {
        assert!(coloured(language, "return 1;"), "{language}");
    }
    for language in ["sh", "bash", "shell", "zsh", "console"] {
        assert!(coloured(language, "if true; then echo; fi"), "{language}");
    }
    assert!(shown("```json\n{\"a\": 1}\n```").contains("‹36›1‹›"));
    assert!(shown("```yaml\na: true # b\n```").contains("‹2›# b‹›"));
    for language in ["text", "", "no-such", &"x".repeat(5_000), "\u{1b}[31m"] {
        assert!(!coloured(language, "return 1;"), "{language}");
    }
}

#[test]
fn hostile_markdown_is_bounded_and_whole() {
    let begun = Instant::now();
    let deep: String = (0..3_000).map(|depth| format!("{}- x\n", " ".repeat(depth))).collect();
    let lines = ["> ", "- ", "1. ", "[", "![", "*a ", "**a*", "`a ", "<a", "](", "[]", "*_", "~~a ", "(", "|", "\\"];
    let long = lines.iter().map(|line| format!("{}\n", line.repeat(4_000 / line.len())).repeat(3));
    let mut texts: Vec<String> = long.collect();
    texts.extend([deep, "- ".repeat(100_000), "word ".repeat(200_000), "a".repeat(1_000_000), "\n".repeat(100_000)]);
    texts.push(format!("|a|b|\n|-|-|\n{}", "| x | y |\n".repeat(2_000)));
    texts.push("```\n".repeat(20_000));
    texts.push(format!("```make\n{}", format!("{}\n", "$(".repeat(240)).repeat(500)));
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
    for text in texts {
        let shown = uncoloured(&whole(&text, &redactor()));
        assert_eq!(letters(&shown), letters(&text), "{:.80}", text);
    }
    // Ten times what it takes here; without bounds it would be minutes.
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}
