//! Completion.

use super::super::complete::{Names, SlashCompleter};
use reedline::Completer;

fn completer() -> SlashCompleter {
    let completer = SlashCompleter::default();
    completer.set(Names {
        sessions: vec![
            ("01jxyz00-aaaa".to_owned(), "today".to_owned()),
            ("01jxyz01-bbbb".to_owned(), "yesterday".to_owned()),
            ("01kaaaaa-cccc".to_owned(), String::new()),
        ],
        models: vec!["claude-one".to_owned(), "claude-two".to_owned()],
    });
    completer
}

fn words(line: &str) -> Vec<String> {
    completer().candidates(line).into_iter().map(|(line, _)| line).collect()
}

#[test]
fn commands_are_completed_from_their_beginning() {
    assert_eq!(words("/s"), ["/sessions", "/sandbox"]);
    assert_eq!(words("/cle"), ["/clear"]);
    assert_eq!(words("/").len(), super::super::commands::COMMANDS.len());
    assert_eq!(words("/nothing"), Vec::<String>::new());
}

#[test]
fn names_are_completed_after_their_command() {
    assert_eq!(words("/load 01jx"), ["/load 01jxyz00-aaaa", "/load 01jxyz01-bbbb"]);
    assert_eq!(words("/model "), ["/model claude-one", "/model claude-two"]);
    assert_eq!(words("/budget ti"), ["/budget time"]);
    assert_eq!(words("/cost x"), Vec::<String>::new());
}

#[test]
fn words_are_not_completed() {
    for line in ["", "s", "fix /s", " /s"] {
        assert_eq!(words(line), Vec::<String>::new(), "{line:?}");
    }
}

#[test]
fn only_what_stands_before_the_cursor_counts() {
    let mut completer = completer();
    let result = completer.complete("/cle and more", 4);
    let [only] = result.suggestions() else { panic!("{result:?}") };
    assert_eq!((only.value.as_str(), only.span.start, only.span.end), ("/clear", 0, 4));
    // A position inside a character is no reason to fail.
    assert!(completer.complete("/é", 2).suggestions().is_empty());
    assert!(completer.complete("/", 9).suggestions().is_empty());
}
