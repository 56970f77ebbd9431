//! Filters: each condition, and two filters at once.

use crate::document::{Document, DocumentKind};
use crate::query::{Filter, Within};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

fn document() -> Document {
    Document {
        key: "ev.t.p.session.0bb9a2d9/7.0".to_owned(),
        kind: DocumentKind::Result,
        stream: "ev.t.p.session.0bb9a2d9".to_owned(),
        workspace: "/w".to_owned(),
        at_ms: 1000,
        tool: Some("bash".to_owned()),
        paths: vec!["src/a.rs".to_owned(), "src/b.py".to_owned()],
        exit: Some(1),
        ..Document::default()
    }
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

#[test]
fn an_empty_filter_lets_everything_through() {
    assert!(Filter::default().accepts(&document()));
    assert!(Filter::default().accepts(&Document::default()));
}

#[test]
fn each_condition_decides() {
    let cases: Vec<(Filter, bool)> = vec![
        (Filter { kinds: vec![DocumentKind::Result], ..Filter::default() }, true),
        (Filter { kinds: vec![DocumentKind::Prompt], ..Filter::default() }, false),
        (Filter { not_kinds: vec![DocumentKind::Result], ..Filter::default() }, false),
        (Filter { within: vec![Within::Events], ..Filter::default() }, true),
        (Filter { within: vec![Within::Code, Within::Summaries], ..Filter::default() }, false),
        (Filter { not_within: vec![Within::Events], ..Filter::default() }, false),
        (Filter { tools: names(&["Bash"]), ..Filter::default() }, true),
        (Filter { tools: names(&["bas"]), ..Filter::default() }, false),
        (Filter { not_tools: names(&["BASH"]), ..Filter::default() }, false),
        (Filter { paths: names(&["b.py"]), ..Filter::default() }, true),
        (Filter { paths: names(&["c.py"]), ..Filter::default() }, false),
        (Filter { not_paths: names(&["*.py"]), ..Filter::default() }, false),
        (Filter { sessions: names(&["0bb9"]), ..Filter::default() }, true),
        (Filter { sessions: names(&["0BB9A2"]), ..Filter::default() }, true),
        (Filter { sessions: names(&["ev.t.p.session.0bb9a2d9"]), ..Filter::default() }, true),
        (Filter { sessions: names(&["bb9"]), ..Filter::default() }, false),
        (Filter { sessions: names(&["ev.t.p"]), ..Filter::default() }, false),
        (Filter { not_sessions: names(&["0"]), ..Filter::default() }, false),
        (Filter { workspace: Some("/w".to_owned()), ..Filter::default() }, true),
        (Filter { workspace: Some("/".to_owned()), ..Filter::default() }, false),
        (Filter { since_ms: Some(1000), ..Filter::default() }, true),
        (Filter { since_ms: Some(1001), ..Filter::default() }, false),
        (Filter { until_ms: Some(1001), ..Filter::default() }, true),
        (Filter { until_ms: Some(1000), ..Filter::default() }, false),
        (Filter { exit: vec![0, 1], ..Filter::default() }, true),
        (Filter { exit: vec![0], ..Filter::default() }, false),
        (Filter { not_exit: vec![0], ..Filter::default() }, true),
        (Filter { not_exit: vec![1], ..Filter::default() }, false),
        (Filter { nothing: true, ..Filter::default() }, false),
    ];
    for (filter, expected) in cases {
        assert_eq!(filter.accepts(&document()), expected, "{filter:?}");
    }
}

#[test]
fn without_an_exit_code_none_is_other_than_0() {
    let failed = Filter { not_exit: vec![0], ..Filter::default() };
    assert!(!failed.accepts(&Document { exit: None, ..document() }));
}

#[test]
fn parts_follow_from_kinds() {
    let filter = Filter { kinds: vec![DocumentKind::Prompt, DocumentKind::Code], ..Filter::default() };
    assert!(filter.accepts_within(Within::Events));
    assert!(filter.accepts_within(Within::Code));
    assert!(!filter.accepts_within(Within::Summaries));
}

#[test]
fn contradictions_let_nothing_through() {
    let prompts = Filter { kinds: vec![DocumentKind::Prompt], ..Filter::default() };
    let calls = Filter { kinds: vec![DocumentKind::Call], ..Filter::default() };
    let merged = prompts.merge(&calls);
    assert!(merged.nothing);
    assert!(!DocumentKind::ALL.into_iter().any(|kind| merged.accepts_kind(kind)));
}

#[test]
fn merging_twice_changes_nothing() {
    let one = Filter { paths: names(&["src"]), tools: names(&["bash"]), ..Filter::default() };
    let other = Filter { paths: names(&["a.rs", "b.rs"]), not_exit: vec![0], ..Filter::default() };
    let merged = one.merge(&other);
    assert_eq!(merged.and_paths, vec![names(&["a.rs", "b.rs"])]);
    assert_eq!(merged.clone().merge(&other), merged);
}

/// Filters over few values, so that they meet.
pub(crate) fn filters() -> impl Strategy<Value = Filter> {
    let some = |values: &'static [&'static str]| prop_oneof![3 => Just(Vec::new()), 1 => subsequence(values.to_vec(), 1..=values.len().min(2)).prop_map(|v| names(&v))];
    let kinds = || prop_oneof![3 => Just(Vec::new()), 1 => subsequence(DocumentKind::ALL.to_vec(), 1..4)];
    let parts = || prop_oneof![4 => Just(Vec::new()), 1 => subsequence(Within::ALL.to_vec(), 1..3)];
    let codes = || prop_oneof![4 => Just(Vec::new()), 1 => subsequence(vec![0_i64, 1, 2], 1..3)];
    let time = || prop::option::weighted(0.25, 0_i64..40);
    let paths = || some(&["src", "src/a.rs", "*.py", "B.py", "lib/**/x.rs", "nowhere"]);
    let sessions = || some(&["a", "ab", "abc", "b", "ev.t.p.session.abd", "zz"]);
    let tools = || some(&["bash", "Read_File", "edit_file"]);
    (
        (kinds(), kinds(), parts(), parts(), codes(), codes()),
        (tools(), tools(), paths(), paths(), sessions(), sessions()),
        (time(), time(), prop::option::weighted(0.2, select(vec!["/w", "/v"]).prop_map(str::to_owned))),
    )
        .prop_map(
            |((kinds, not_kinds, within, not_within, exit, not_exit), lists, (since_ms, until_ms, workspace))| {
                let (tools, not_tools, paths, not_paths, sessions, not_sessions) = lists;
                let exit_filter = Filter { exit, not_exit, since_ms, until_ms, workspace, ..Filter::default() };
                let names = Filter { tools, not_tools, paths, not_paths, sessions, not_sessions, ..exit_filter };
                Filter { kinds, not_kinds, within, not_within, ..names }
            },
        )
}

/// Documents over the same values.
pub(crate) fn documents() -> impl Strategy<Value = Document> {
    let paths = subsequence(vec!["src/a.rs", "src/b.py", "lib/q/x.rs", "lib/y"], 0..3);
    let streams = select(vec!["ev.t.p.session.abc", "ev.t.p.session.abd", "ev.t.p.session.b", ""]);
    (
        select(DocumentKind::ALL.to_vec()),
        streams,
        select(vec!["/w", "/v", ""]),
        0_i64..40,
        prop::option::of(select(vec!["bash", "read_file"])),
        paths,
        prop::option::of(0_i64..3),
    )
        .prop_map(|(kind, stream, workspace, at_ms, tool, paths, exit)| Document {
            kind,
            stream: stream.to_owned(),
            workspace: workspace.to_owned(),
            at_ms,
            tool: tool.map(str::to_owned),
            paths: names(&paths),
            exit,
            ..Document::default()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Merging is "and".
    #[test]
    fn merged_filters_both_hold(one in filters(), other in filters(), document in documents()) {
        let both = one.accepts(&document) && other.accepts(&document);
        prop_assert_eq!(one.clone().merge(&other).accepts(&document), both);
        prop_assert_eq!(other.merge(&one).accepts(&document), both);
    }
}
