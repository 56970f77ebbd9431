//! What a line means.

use super::super::commands::{COMMANDS, Command};
use super::super::line::{Said, read};
use crate::cli::asking::{Decision, Waits};
use proptest::prelude::*;
use retrace_events::CallId;
use retrace_events::payload::tool::ToolApprovalScope;

fn call() -> CallId {
    CallId("toolu_1".to_owned())
}

fn approval() -> Waits {
    Waits::Approval { call: call() }
}

fn question() -> Waits {
    Waits::Answer { call: call() }
}

fn prompt(text: &str) -> Said {
    Said::Prompt(text.to_owned())
}

fn decided(allow: Option<ToolApprovalScope>, note: &str) -> Said {
    Said::Decided { call: call(), decision: Decision { allow, note: note.to_owned() } }
}

fn answered(text: &str) -> Said {
    Said::Answered { call: call(), text: text.to_owned() }
}

#[test]
fn words_are_a_prompt() {
    for text in ["fix it", "y", "n", "  indented", "two\nlines", "1"] {
        assert_eq!(read(text, None), prompt(text));
    }
    assert_eq!(read("\n\nfix it  \n", None), prompt("fix it"));
}

#[test]
fn an_empty_line_is_nothing_whatever_waits() {
    for waits in [None, Some(approval()), Some(question())] {
        for line in ["", " ", "\t", "\n \n"] {
            assert_eq!(read(line, waits.as_ref()), Said::Nothing);
        }
    }
}

#[test]
fn a_call_that_waits_is_decided_by_a_letter() {
    use ToolApprovalScope::{Always, Once, Session};
    for (line, said) in [
        ("y", decided(Some(Once), "")),
        ("YES", decided(Some(Once), "")),
        (" s ", decided(Some(Session), "")),
        ("session", decided(Some(Session), "")),
        ("a", decided(Some(Always), "")),
        ("Always", decided(Some(Always), "")),
        ("n", decided(None, "")),
        ("No", decided(None, "")),
        ("n use make instead", decided(None, "use make instead")),
        ("no, use make instead", decided(None, "use make instead")),
        ("N\nin two\nlines", decided(None, "in two\nlines")),
    ] {
        assert_eq!(read(line, Some(&approval())), said, "{line:?}");
    }
}

#[test]
fn other_words_are_queued_while_a_call_waits() {
    for line in ["yes please", "ya", "not now", "nothing", "y n", "what does it do?", "nö"] {
        assert_eq!(read(line, Some(&approval())), prompt(line), "{line:?}");
    }
}

#[test]
fn a_question_takes_the_next_line_as_it_is() {
    for line in ["1", "the second one", "y", "n", "no, neither"] {
        assert_eq!(read(line, Some(&question())), answered(line));
    }
    assert_eq!(read("  in my words \n", Some(&question())), answered("in my words"));
}

#[test]
fn a_slash_begins_a_command_whatever_waits() {
    for waits in [None, Some(approval()), Some(question())] {
        let waits = waits.as_ref();
        assert_eq!(read("/cost", waits), Said::Command(Command::Cost, String::new()));
        assert_eq!(read("/load  01jxyz ", waits), Said::Command(Command::Load, "01jxyz".to_owned()));
        assert_eq!(read("/BUDGET steps 50", waits), Said::Command(Command::Budget, "steps 50".to_owned()));
        assert_eq!(read("/exit", waits), Said::Command(Command::Quit, String::new()));
        assert_eq!(read("/", waits), Said::Command(Command::Help, String::new()));
    }
}

#[test]
fn every_command_is_found_by_its_name() {
    for row in COMMANDS {
        assert_eq!(read(&format!("/{} x", row.name), None), Said::Command(row.command, "x".to_owned()));
        assert!(row.help.len() < 80 && !row.name.is_empty(), "{}", row.name);
    }
}

#[test]
fn an_unknown_command_is_answered_with_the_nearest() {
    for (line, name, close) in [
        ("/halp", "halp", Some("help")),
        ("/pl", "pl", Some("plan")),
        ("/budgets", "budgets", Some("budget")),
        ("/zzz", "zzz", None),
        ("/12", "12", None),
    ] {
        assert_eq!(read(line, None), Said::Unknown(name.to_owned(), close), "{line}");
    }
}

#[test]
fn paths_and_two_slashes_are_words() {
    assert_eq!(read("/etc/hosts is odd", None), prompt("/etc/hosts is odd"));
    assert_eq!(read("//cost", None), prompt("/cost"));
    assert_eq!(read("//cost", Some(&question())), answered("/cost"));
    assert_eq!(read("//", None), prompt("/"));
    assert_eq!(read("///", None), prompt("//"));
}

proptest! {
    #[test]
    fn every_line_means_something_and_words_are_kept(line in "\\PC{0,60}|[/a-z \\n]{0,20}") {
        for waits in [None, Some(approval()), Some(question())] {
            match read(&line, waits.as_ref()) {
                Said::Nothing => prop_assert!(line.trim().is_empty()),
                Said::Prompt(text) => {
                    prop_assert!(!text.trim().is_empty());
                    let slashed = ["/", &text].concat();
                    prop_assert!(line.contains(&text) || line.contains(&slashed));
                    let waits_for_an_answer = matches!(waits, Some(Waits::Answer { .. }));
                    prop_assert!(!waits_for_an_answer);
                }
                Said::Answered { text, .. } => prop_assert!(!text.is_empty() && line.contains(&text)),
                Said::Decided { decision, .. } => prop_assert!(line.contains(&decision.note)),
                Said::Command(_, rest) => prop_assert!(line.contains('/') && line.contains(&rest)),
                Said::Unknown(name, _) => {
                    let slashed = ["/", &name].concat();
                    prop_assert!(line.to_lowercase().contains(&slashed));
                }
            }
        }
    }
}
