//! What a person is asked, and the line of figures.

use super::clean::assert_harmless;
use super::{SECRET, events, prompted, readable, redactor, started, uncoloured};
use crate::cli::render::{Style, asks};
use expect_test::expect;
use proptest::prelude::*;
use retrace_events::payload::sandbox::SandboxStarted;
use retrace_events::payload::tool::{ToolApprovalAsked, ToolBackgroundStarted};
use retrace_events::payload::turn::{PromptSource, TurnAnswered, TurnQueued, Usage};
use retrace_events::payload::{Payload, Session};
use retrace_events::{CallId, EventId, SessionState};

fn asked(tool: &str, summary: &str, preview: &str, rule: &str) -> ToolApprovalAsked {
    ToolApprovalAsked {
        call: CallId("toolu_1".to_owned()),
        tool: tool.to_owned(),
        summary: summary.to_owned(),
        preview: preview.to_owned(),
        rule: rule.to_owned(),
        why: "no rule allows it".to_owned(),
    }
}

fn approval(asked: &ToolApprovalAsked, style: Style) -> String {
    asks::approval(asked, style, &redactor())
}

fn question(input: &str) -> String {
    asks::question(input, Style::Plain, &redactor())
}

#[test]
fn a_command_is_asked_about() {
    let asked = asked("bash", "cargo test", "cargo test", "bash(cargo test *)");
    expect![[r"
        ┌ allow? bash  cargo test
        │ asked because: no rule allows it
        └ [y] once  [s] this session: bash(cargo test *)  [a] always: the same  [n] no, or n and words for the model
    "]]
    .assert_eq(&approval(&asked, Style::Plain));
    expect![[r#"
        ‹33›┌ allow?‹› ‹1›bash‹›  cargo test
        ‹33›│‹› ‹2›asked because:‹› no rule allows it
        ‹33›└‹› ‹1›[y]‹› once  ‹1›[s]‹› this session: bash(cargo test *)  ‹1›[a]‹› always: the same  ‹1›[n]‹› no, or n and words for the model
    "#]].assert_eq(&readable(&approval(&asked, Style::Coloured)));
    // The event says the same without the answers, which can be put below it.
    let event = asks::event(&asked, Style::Plain, &redactor());
    expect![[r#"
        ┌ allow? bash  cargo test
        │ asked because: no rule allows it
        │ for this session or always: bash(cargo test *)
    "#]]
    .assert_eq(&event);
}

#[test]
fn a_change_is_shown_as_a_diff() {
    let diff = "--- src/a.rs\n+++ src/a.rs\n@@ -1,3 +1,3 @@\n fn a() {\n-    old();\n+\tnew();\n }\n";
    let asked = asked("edit_file", "src/a.rs", diff, "");
    expect![[r#"
        ┌ allow? edit_file  src/a.rs
        │ --- src/a.rs
        │ +++ src/a.rs
        │ @@ -1,3 +1,3 @@
        │  fn a() {
        │ -    old();
        │ +    new();
        │  }
        │ asked because: no rule allows it
        └ [y] once  [n] no, or n and words for the model
    "#]]
    .assert_eq(&approval(&asked, Style::Plain));
    expect![[r#"
        ‹33›┌ allow?‹› ‹1›edit_file‹›  src/a.rs
        ‹33›│‹› ‹1›--- src/a.rs‹›
        ‹33›│‹› ‹1›+++ src/a.rs‹›
        ‹33›│‹› ‹36›@@ -1,3 +1,3 @@‹›
        ‹33›│‹›  fn a() {
        ‹33›│‹› ‹31›-    old();‹›
        ‹33›│‹› ‹32›+    new();‹›
        ‹33›│‹›  }
        ‹33›│‹› ‹2›asked because:‹› no rule allows it
        ‹33›└‹› ‹1›[y]‹› once  ‹1›[n]‹› no, or n and words for the model
    "#]]
    .assert_eq(&readable(&approval(&asked, Style::Coloured)));
}

#[test]
fn nothing_in_a_command_hides() {
    let command = "echo ok \u{1b}]0;x; rm -rf ~\u{7}\r\necho b\u{8}\u{8}\n└ [y] once\n\u{1b}[2K";
    let shown = approval(&asked("bash", "echo ok", command, "bash(\u{1b}[8m*)"), Style::Plain);
    expect![[r#"
        ┌ allow? bash  echo ok
        │ echo ok ␛]0;x; rm -rf ~␇␍
        │ echo b␈␈
        │ └ [y] once
        │ ␛[2K
        │ asked because: no rule allows it
        └ [y] once  [s] this session: bash(␛[8m*)  [a] always: the same  [n] no, or n and words for the model
    "#]]
    .assert_eq(&shown);
    // A line of ours begins with a sign of its own, and a foreign one stands behind a bar.
    assert_eq!(shown.lines().filter(|line| line.starts_with('└')).count(), 1);
}

#[test]
fn what_is_left_out_is_said() {
    let many = approval(&asked("bash", "x", &"line\n".repeat(1_000), ""), Style::Plain);
    assert!(many.contains("│ … 600 lines more\n") && many.lines().count() < 410, "{}", many.lines().count());
    let long = format!("{}; rm -rf ~", " ".repeat(100_000));
    let long = approval(&asked("bash", "x", &long, ""), Style::Plain);
    assert!(long.contains("│ … 60,010 characters more of this line\n"), "{:.200}", long.trim_start());
    assert!(long.chars().count() < 45_000);
    // A summary is cut, so a command that is as long as that is shown below it.
    let twice = format!("{}; rm -rf ~", "y".repeat(3_000));
    assert!(approval(&asked("bash", &twice, &twice, ""), Style::Plain).contains("y; rm -rf ~\n"));
    let fits = approval(&asked("bash", "x", &"y".repeat(30_000), ""), Style::Plain);
    assert!(!fits.contains('…'));
    let both = format!("{}\n{}\nend", "y".repeat(30_000), "z".repeat(30_000));
    let both = approval(&asked("bash", "x", &both, ""), Style::Plain);
    assert!(both.contains("… 2 lines more") && !both.contains('z'));
}

#[test]
fn questions_have_their_options() {
    let asked = r#"{"question":"Which database?\nIt matters.","options":["SQLite","Postgres\nor so",{"a":1}]}"#;
    expect![[r#"
        ? Which database?
          It matters.
          1. SQLite
          2. Postgres⏎or so
          3. {"a":1}
          answer with a number, or in your own words
    "#]]
    .assert_eq(&question(asked));
    let shown = readable(&asks::question(r#"{"question":"Go on?","options":["yes"]}"#, Style::Coloured, &redactor()));
    expect![[r#"
        ‹33›?‹› ‹1›Go on?‹›
          ‹1›1.‹› yes
          ‹2›answer with a number, or in your own words‹›
    "#]]
    .assert_eq(&shown);
    assert_eq!(question(r#"{"question":"Why?"}"#), "? Why?\n  answer in your own words\n");
    assert_eq!(question("not JSON"), "? (the model asks something that cannot be read)\n  answer in your own words\n");
}

#[test]
fn long_questions_are_cut() {
    let options: Vec<String> = (0..50).map(|n| format!("option {n} {}", "x".repeat(1_000))).collect();
    let input = serde_json::json!({ "question": "q".repeat(100_000), "options": options }).to_string();
    let shown = question(&input);
    assert!(shown.contains("q…\n") && shown.contains("  … 30 options more\n"), "{:.300}", shown);
    assert!(shown.contains("  20. option 19") && !shown.contains("21."));
    assert!(shown.chars().count() < 12_000, "{}", shown.chars().count());
}

#[test]
fn secrets_are_asked_about_without_them() {
    let input = serde_json::json!({ "question": format!("use {SECRET}?"), "options": [SECRET] }).to_string();
    let asked = asked("bash", &format!("echo {SECRET}"), &format!("echo\n{SECRET}"), &format!("bash({SECRET})"));
    let shown = question(&input) + &approval(&asked, Style::Plain) + &asks::event(&asked, Style::Coloured, &redactor());
    assert!(!shown.contains("hunter2") && shown.matches("[redacted:known]").count() == 8, "{shown}");
}

fn state(payloads: Vec<Payload>) -> SessionState {
    let mut state = SessionState::default();
    events(payloads).iter().for_each(|event| state.apply(event));
    state
}

fn answered(usage: Usage) -> Payload {
    let request = EventId(uuid::Uuid::nil());
    let (content, model, stop_reason) = ("[]".to_owned(), "m".to_owned(), "end_turn".to_owned());
    let (stop_details, request_id) = (None, None);
    TurnAnswered {
        request,
        content,
        model,
        stop_reason,
        stop_details,
        usage,
        cost_microusd: 12_345,
        request_id,
        duration_ms: 1,
    }
    .into()
}

#[test]
fn figures_in_one_line() {
    let usage = Usage { input_tokens: 1_000, cache_read_tokens: 3_000, output_tokens: 50, ..Usage::default() };
    let mut story = started("process");
    story.extend([prompted("x"), answered(usage), answered(usage)]);
    let line = |story: &[Payload], style| asks::status_line(&state(story.to_vec()), style);
    expect![[r#"
        claude-example-1 (high) · 2 steps · 8,100 tokens (75% of input cached) · $0.0247 · sandbox auto
    "#]]
    .assert_eq(&line(&story, Style::Plain));
    let queued = TurnQueued { text: "later".to_owned(), source: PromptSource::Control, attachments: Vec::new() };
    let background = ToolBackgroundStarted { call: CallId("1".to_owned()), command: "make watch".to_owned() };
    story.extend([queued.clone().into(), queued.into(), background.into()]);
    if let Some(Payload::Session(Session::Started(session))) = story.first_mut() {
        session.settings.sandbox = "none".to_owned();
        session.settings.model = "claude-\u{1b}[2Jx".to_owned();
        session.settings.effort = Some("high".to_owned());
    }
    expect![[r#"
        claude-␛[2Jx (high) · 2 steps · 8,100 tokens (75% of input cached) · $0.0247 · 2 queued · 1 in background · NO SANDBOX
    "#]].assert_eq(&line(&story, Style::Plain));
    expect![[r#"
        ‹2›claude-␛[2Jx (high) · 2 steps · 8,100 tokens (75% of input cached) · $0.0247 · 2 queued · 1 in background · ‹›‹31›NO SANDBOX‹›
    "#]].assert_eq(&readable(&line(&story, Style::Coloured)));
    // What was proven counts, not what was asked for.
    let (limits, proofs) = (Vec::new(), Vec::new());
    let mut proven = SandboxStarted { backend: "process".to_owned(), level: "process".to_owned(), proofs, limits };
    let in_sandbox = |proven: &SandboxStarted| asks::status_line_in(&state(story.clone()), Some(proven), Style::Plain);
    assert!(in_sandbox(&proven).ends_with(" · sandbox process\n"));
    proven.level = "without limits".to_owned();
    assert!(in_sandbox(&proven).ends_with(" · sandbox process, without limits\n"));
    proven.backend = "none".to_owned();
    assert!(in_sandbox(&proven).ends_with(" · NO SANDBOX\n"));
    let empty = asks::status_line(&SessionState::default(), Style::Plain);
    assert_eq!(empty, "0 steps · 0 tokens · $0.0000 · no session\n");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_asked_is_harmless(words in prop::collection::vec("(.|\n|\u{1b}|\u{9b}|\u{202e}){0,30}", 5)) {
        let [tool, summary, preview, rule, why] = [0, 1, 2, 3, 4].map(|at| words[at].clone());
        let asked = ToolApprovalAsked { call: CallId(tool.clone()), tool, summary, preview, rule, why };
        let question = serde_json::json!({ "question": words[0], "options": words }).to_string();
        for style in [Style::Plain, Style::Coloured] {
            for shown in [approval(&asked, style), asks::event(&asked, style, &redactor()), asks::question(&question, style, &redactor())] {
                assert_harmless(&uncoloured(&shown));
                prop_assert!(shown.ends_with('\n'));
            }
        }
        // Nothing foreign begins a line.
        for line in approval(&asked, Style::Plain).lines() {
            prop_assert!(line.starts_with("┌ allow? ") || line.starts_with("│ ") || line.starts_with("└ [y]"), "{}", line);
        }
        prop_assert_eq!(uncoloured(&approval(&asked, Style::Coloured)), approval(&asked, Style::Plain));
    }
}
