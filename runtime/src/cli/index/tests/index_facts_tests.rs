//! What is said of an index in every state it can be in.

use crate::cli::index::index_facts::IndexFacts;
use crate::cli::render::Style;
use expect_test::expect;
use serde_json::json;
use std::path::PathBuf;

fn sessions() -> IndexFacts {
    IndexFacts {
        what: "sessions",
        folder: PathBuf::from("/state/index/ab12"),
        documents: Some(31_711),
        size_bytes: 58_400_000,
        position: Some((41_200, 41_203)),
        behind: Some(3),
        vectors: Some((12_000, "bge-small-en-v1.5, 384 dimensions".to_owned())),
        writer: Some("`retrace run` (process 12 on ada)".to_owned()),
        ..IndexFacts::default()
    }
}

fn code() -> IndexFacts {
    IndexFacts {
        what: "code",
        folder: PathBuf::from("/state/index/code/cd34"),
        workspace: Some(PathBuf::from("/home/ada/project")),
        documents: Some(1),
        size_bytes: 900,
        behind: Some(0),
        ..IndexFacts::default()
    }
}

#[test]
fn everything_that_is_known_is_said() {
    let text = [sessions(), code()].map(|facts| facts.text(Style::Plain)).concat();
    expect![[r#"
        sessions  31,711 documents · 58 MB · 3 events behind
                  12,000 by meaning (bge-small-en-v1.5, 384 dimensions)
                  written now by `retrace run` (process 12 on ada)
                  in /state/index/ab12
        code      1 document · 900 B · up to date
                  of /home/ada/project
                  in /state/index/code/cd34
    "#]]
    .assert_eq(&text);
}

#[test]
fn what_is_not_there_or_not_sound_is_said_too() {
    let none = IndexFacts { documents: None, size_bytes: 0, vectors: None, writer: None, ..sessions() };
    assert!(
        none.text(Style::Plain).starts_with("sessions  nothing yet · 3 events behind\n"),
        "{}",
        none.text(Style::Plain)
    );
    let empty = IndexFacts { documents: None, behind: Some(0), size_bytes: 0, ..code() };
    assert!(empty.text(Style::Plain).starts_with("code      nothing yet\n"), "{}", empty.text(Style::Plain));
    let damaged = IndexFacts { problem: Some("damaged: x is missing".to_owned()), documents: None, ..code() };
    assert!(damaged.text(Style::Plain).starts_with("code      damaged: x is missing · 900 B\n"));
    let changed = IndexFacts { behind: Some(1), ..code() };
    assert!(changed.text(Style::Plain).contains(" · 1 file behind\n"));
    let holes = IndexFacts { unreadable: 2, ..sessions() };
    assert!(holes.text(Style::Plain).contains("2 events cannot be read"));
    let unknown = IndexFacts { behind: None, ..sessions() };
    assert!(!unknown.text(Style::Plain).contains("behind"));
}

#[test]
fn foreign_words_do_no_harm() {
    let nasty = "\u{1b}[2J\r\u{202e}x\ny";
    let evil = IndexFacts {
        folder: PathBuf::from(nasty),
        workspace: Some(PathBuf::from(nasty)),
        vectors: Some((1, nasty.to_owned())),
        writer: Some(nasty.to_owned()),
        problem: Some(nasty.to_owned()),
        ..sessions()
    };
    let text = evil.text(Style::Plain);
    assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
    assert_eq!(text.lines().count(), 5, "{text}");
}

#[test]
fn programs_get_every_field_every_time() {
    let names = |facts: IndexFacts| facts.json().as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(sessions()), names(IndexFacts::default()));
    let value = sessions().json();
    assert_eq!((&value["position"], &value["log_end"], &value["behind"]), (&json!(41_200), &json!(41_203), &json!(3)));
    assert_eq!((&value["vectors"], &value["workspace"]), (&json!(12_000), &json!(null)));
    assert_eq!(code().json()["workspace"], "/home/ada/project");
}
