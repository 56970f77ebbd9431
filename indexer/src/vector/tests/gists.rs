//! What of each kind of document is embedded.

use crate::document::{Document, DocumentKind};
use crate::vector::gist::{MAX_GIST_TOKENS, gist};
use expect_test::expect;
use proptest::prelude::*;

fn of(kind: DocumentKind, text: &str) -> Document {
    Document { kind, text: text.to_owned(), ..Document::default() }
}

#[test]
fn a_prompt_gives_its_first_words_on_one_line() {
    let prompt = of(DocumentKind::Prompt, "  Fix the\n\n\tlogin   page.\u{1b}[31m It is red\u{1b}[0m and \u{7}slow. ");
    expect![[r#"Some("Fix the login page. It is red and slow.")"#]].assert_eq(&format!("{:?}", gist(&prompt)));
}

#[test]
fn an_answer_gives_whole_sentences_until_they_say_something() {
    let text = "Let me look. The handler in auth.rs never checks whether the token is still valid, so an old one passes and the \
                session goes on, which is what you saw in the log. Then I will write a test for it. And more.";
    let shortened = gist(&of(DocumentKind::Answer, text)).unwrap();
    assert!(shortened.ends_with("what you saw in the log."), "{shortened}");
    assert_eq!(gist(&of(DocumentKind::Answer, "Done: all tests pass.")).unwrap(), "Done: all tests pass.");
}

#[test]
fn a_call_gives_its_tool_and_its_input() {
    let call = Document { tool: Some("bash".to_owned()), ..of(DocumentKind::Call, "cargo test -p auth") };
    assert_eq!(gist(&call).unwrap(), "bash cargo test -p auth");
    let named = Document { tool: Some("bash".to_owned()), ..of(DocumentKind::Call, "bash: cargo test") };
    assert_eq!(gist(&named).unwrap(), "bash: cargo test");
}

#[test]
fn a_failed_result_gives_its_exit_code_and_its_first_complaint() {
    let output =
        "   Compiling auth v0.1.0\n   Compiling web v0.1.0\nerror[E0308]: mismatched types\n --> src/lib.rs:3:5\n";
    let failed =
        Document { tool: Some("bash".to_owned()), exit: Some(101), is_error: true, ..of(DocumentKind::Result, output) };
    assert_eq!(gist(&failed).unwrap(), "bash exit 101 error[E0308]: mismatched types");
    let without_exit = Document { exit: None, ..failed };
    assert_eq!(gist(&without_exit).unwrap(), "bash failed error[E0308]: mismatched types");
}

#[test]
fn a_good_result_gives_its_file_and_its_first_line() {
    let read = Document {
        tool: Some("read_file".to_owned()),
        paths: vec!["src/auth.rs".to_owned()],
        ..of(DocumentKind::Result, "\n//! Who may come in.\n\nuse std::io;\n")
    };
    assert_eq!(gist(&read).unwrap(), "read_file src/auth.rs //! Who may come in.");
}

#[test]
fn later_parts_of_an_output_count_only_when_they_complain() {
    let quiet = Document { part: 3, ..of(DocumentKind::Result, "ok 17\nok 18\nall is well here") };
    assert_eq!(gist(&quiet), None);
    let loud = Document { part: 3, ..of(DocumentKind::Result, "ok 17\nthread 'main' panicked at src/main.rs:4\n") };
    assert_eq!(gist(&loud).unwrap(), "ok 17 thread 'main' panicked at src/main.rs:4");
}

#[test]
fn code_gives_its_path_symbol_words_and_signature() {
    let rust = Document {
        paths: vec!["events/src/log.rs".to_owned()],
        symbol: Some("Log::append".to_owned()),
        ..of(
            DocumentKind::Code,
            "    /// Appends a batch, durably.\n    ///\n    /// # Errors\n    /// Never.\n    #[must_use]\n    pub fn append(&self) {\n        x();\n    }",
        )
    };
    expect!["events/src/log.rs Log::append Appends a batch, durably. # Errors Never. pub fn append(&self) {"]
        .assert_eq(&gist(&rust).unwrap());
    let python = Document {
        paths: vec!["a/b.py".to_owned()],
        symbol: Some("login".to_owned()),
        ..of(DocumentKind::Code, "# Checks the password.\n@route('/login')\ndef login(user):\n    pass")
    };
    assert_eq!(gist(&python).unwrap(), "a/b.py login Checks the password. def login(user):");
}

#[test]
fn what_says_nothing_is_not_embedded() {
    for kind in DocumentKind::ALL {
        for text in ["", " \n\t ", "17", "---", "{}", "\u{1b}[31m\u{1b}[0m", "a 1 b"] {
            assert_eq!(gist(&of(kind, text)), None, "{kind:?} {text:?}");
        }
    }
    assert!(gist(&of(DocumentKind::Note, "the turn was interrupted")).is_some());
}

#[test]
fn a_text_of_many_megabytes_is_cheap() {
    let huge = "word ".repeat(4 << 20);
    let started = std::time::Instant::now();
    for kind in DocumentKind::ALL {
        let gist = gist(&of(kind, &huge)).unwrap();
        assert!(gist.chars().count() <= 320, "{kind:?}");
    }
    assert!(started.elapsed().as_secs() < 5);
}

proptest! {
    #[test]
    fn any_document_gives_one_short_clean_line(
        code in 0_u64..8, part in 0_u32..3, text in any::<String>(), tool in proptest::option::of(".{0,40}"),
        paths in proptest::collection::vec(".{0,200}", 0..3), exit in proptest::option::of(-3_i64..300), is_error: bool,
    ) {
        let kind = DocumentKind::of_code(code).unwrap();
        let document = Document { kind, part, text, tool, paths, exit, is_error, ..Document::default() };
        if let Some(gist) = gist(&document) {
            prop_assert!(gist.chars().count() <= 5 * MAX_GIST_TOKENS);
            prop_assert!(gist.chars().filter(|char| char.is_alphabetic()).count() >= 3);
            prop_assert!(!gist.chars().any(char::is_control), "{:?}", gist);
        }
    }
}
