//! Fields apart from a query: what they come to, and that nothing wrong is passed over.

use crate::tools::narrowing::filter;
use proptest::prelude::*;
use retrace_events::Timestamp;
use retrace_indexer::{DocumentKind, Filter, Within};

const NOW: Timestamp = Timestamp(1_795_255_500_000);

#[test]
fn each_field_has_its_place() {
    let fields = [
        ("kind", "result"),
        ("kind", "call"),
        ("tool", "bash"),
        ("path", "src/a b.rs"),
        ("session", "01m7ywme-w0rdt05x"),
        ("since", "2d"),
        ("until", "2026-11-21"),
        ("exit", "101"),
        ("in", "events"),
    ];
    let found = filter(fields, NOW).unwrap();
    let day_ms = 86_400_000;
    let expected = Filter {
        kinds: vec![DocumentKind::Result, DocumentKind::Call],
        tools: vec!["bash".to_owned()],
        paths: vec!["src/a b.rs".to_owned()],
        sessions: vec!["01m7ywme-w0rdt05x".to_owned()],
        since_ms: Some(i64::try_from(NOW.0).unwrap() - 2 * day_ms),
        until_ms: found.until_ms,
        exit: vec![101],
        within: vec![Within::Events],
        ..Filter::default()
    };
    assert_eq!(found, expected);
    assert!(found.until_ms.is_some_and(|until| until % day_ms == 0), "{found:?}");
    assert_eq!(filter([], NOW).unwrap(), Filter::default());
}

#[test]
fn what_cannot_be_read_is_refused_with_a_hint() {
    let table = [
        (("kind", "poem"), "invalid filter: unknown kind `poem`\nhint: kinds are prompt "),
        (("in", "cellar"), "invalid filter: unknown place `in:cellar`\nhint: in:events"),
        (("since", "tomorrowish"), "invalid filter: `since:tomorrowish`: no moment\nhint: 2026-"),
        (("until", "-3d"), "invalid filter: `until:-3d`: no moment\nhint: "),
        (("exit", "boom"), "invalid filter: `exit:boom`\nhint: a number, `ok` or `fail`"),
        (("path", "///"), "invalid filter: "),
        (("tool", " "), "invalid filter: tool has no value"),
        (("tool", "a\"b"), "invalid filter: tool `a\"b` has a quotation mark in it"),
        (("flavour", "sweet"), "invalid filter: "),
    ];
    for ((name, value), expected) in table {
        let why = filter([("tool", "bash"), (name, value)], NOW).unwrap_err();
        assert!(why.starts_with(expected), "{name} {value}: {why}");
    }
    let why = filter([("path", "x".repeat(501).as_str())], NOW).unwrap_err();
    assert_eq!(why, "invalid filter: path has 501 bytes, at most 500");
}

proptest! {
    #[test]
    fn a_value_never_becomes_something_else(name in "kind|tool|path|session|since|until|exit|in", value in "\\PC{0,30}|[a-z:\" -]{0,20}") {
        if let Ok(found) = filter([(name.as_str(), value.as_str())], NOW) {
            prop_assert_ne!(&found, &Filter::default());
            let others = Filter {
                kinds: Vec::new(), within: Vec::new(), tools: Vec::new(), paths: Vec::new(), sessions: Vec::new(),
                since_ms: None, until_ms: None, exit: Vec::new(), not_exit: Vec::new(), ..found.clone()
            };
            prop_assert_eq!(others, Filter::default());
            let set = [
                !found.kinds.is_empty(), !found.within.is_empty(), !found.tools.is_empty(), !found.paths.is_empty(),
                !found.sessions.is_empty(), found.since_ms.is_some(), found.until_ms.is_some(),
                !found.exit.is_empty() || !found.not_exit.is_empty(),
            ];
            prop_assert_eq!(set.iter().filter(|set| **set).count(), 1, "{:?}", found);
        }
    }
}
