//! Hits for programs: the fields are a promise, so all of them are compared, and no hit lacks one.

use super::{NASTY, SECRET, all_sorts, event, origins, redactor, titled};
use crate::cli::render::clean;
use crate::cli::search::hit_json::object;
use expect_test::expect;
use retrace_indexer::DocumentKind;
use serde_json::{Value, json};

fn objects() -> Vec<Value> {
    all_sorts().iter().map(|hit| object(hit, &origins(), redactor())).collect()
}

#[test]
fn an_event_has_all_there_is_to_know() {
    let pretty = serde_json::to_string_pretty(&objects()[0]).unwrap();
    expect![[r#"
        {
          "key": "ev.local.work-abc123.session.01m7ywme-w0rdt05x/42.0",
          "kind": "result",
          "session": "01m7ywme-w0rdt05x",
          "stream": "ev.local.work-abc123.session.01m7ywme-w0rdt05x",
          "title": "make the flaky test deterministic",
          "workspace": "/home/ada/project",
          "seq": 42,
          "last_seq": 42,
          "event": "0199-42",
          "path": "src/error.rs",
          "paths": [
            "src/error.rs",
            "src/lib.rs"
          ],
          "first_line": null,
          "last_line": null,
          "at": "2026-11-21T10:47:00.000Z",
          "tool": "bash",
          "exit": 101,
          "score": 3.25,
          "parts": {
            "keyword": 1.0,
            "window": 0.0,
            "vector": 0.0,
            "path": 0.0,
            "dated": 0.0,
            "substance": 0.0,
            "recency": 0.5,
            "lineage": 0.0
          },
          "snippet": "test error::caret … FAILED\n\n  left: 7\n right: 8",
          "highlights": [
            [
              12,
              17
            ]
          ]
        }"#]]
    .assert_eq(&pretty);
}

#[test]
fn every_sort_has_the_same_fields_in_the_same_order() {
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let expected = [
        "key",
        "kind",
        "session",
        "stream",
        "title",
        "workspace",
        "seq",
        "last_seq",
        "event",
        "path",
        "paths",
        "first_line",
        "last_line",
        "at",
        "tool",
        "exit",
        "score",
        "parts",
        "snippet",
        "highlights",
    ];
    let expected_parts = ["keyword", "window", "vector", "path", "dated", "substance", "recency", "lineage"];
    for object in objects() {
        assert_eq!(names(&object), expected, "{object}");
        assert_eq!(names(&object["parts"]), expected_parts);
    }
}

#[test]
fn code_and_summaries_say_where_they_are() {
    let [_, code, summary, prompt] = &objects()[..] else { panic!() };
    assert_eq!(
        (&code["path"], &code["first_line"], &code["last_line"]),
        (&json!("src/error.rs"), &json!(120), &json!(158))
    );
    assert_eq!((&code["workspace"], &prompt["workspace"]), (&json!("/home/ada/project"), &json!("/home/ada/project")));
    assert_eq!((&code["session"], &code["seq"], &code["event"]), (&Value::Null, &Value::Null, &Value::Null));
    assert_eq!((&summary["seq"], &summary["last_seq"], &summary["event"]), (&json!(3), &json!(57), &Value::Null));
    assert_eq!(
        (&summary["session"], &summary["title"]),
        (&json!("01m80000-aaaabbbb"), &json!("carets in error messages"))
    );
    assert_eq!((&prompt["tool"], &prompt["exit"], &prompt["path"]), (&Value::Null, &Value::Null, &Value::Null));
}

#[test]
fn highlights_can_be_cut_out_of_the_snippet() {
    let mut hit = event(DocumentKind::Answer, super::FIRST, 1, "日本語 ‹検索› then ‹fast›");
    {
        let expected = ["検索", "fast"];
        let value = object(&hit, &origins(), redactor());
        let chars: Vec<char> = value["snippet"].as_str().unwrap().chars().collect();
        let cut = |mark: &Value| {
            let at = |index: usize| usize::try_from(mark[index].as_u64().unwrap()).unwrap();
            chars[at(0)..at(1)].iter().collect::<String>()
        };
        assert_eq!(value["highlights"].as_array().unwrap().iter().map(cut).collect::<Vec<_>>(), expected);
    }
    hit.snippet.highlights.clear();
    assert_eq!(object(&hit, &origins(), redactor())["highlights"], json!([]));
}

#[test]
fn secrets_go_and_what_could_harm_a_terminal_is_escaped_when_printed() {
    let mut hit = event(DocumentKind::Result, super::FIRST, 1, &format!("{NASTY} ‹b› {SECRET}"));
    hit.tool = Some(SECRET.to_owned());
    hit.paths = vec![format!("{NASTY}{SECRET}")];
    hit.score = f32::INFINITY;
    let origins = titled(super::FIRST, &format!("{NASTY}{SECRET}"));
    let value = object(&hit, &origins, redactor());
    let line = clean::json(&value.to_string());
    assert!(!line.contains("hunter2") && !line.chars().any(|c| c.is_control() || c == '\u{202e}'), "{line}");
    // The words themselves are what they were.
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
    assert!(value["snippet"].as_str().unwrap().contains("\u{1b}[2J"), "{value}");
    assert_eq!(value["score"], Value::Null);
}
