//! A conversation: prompts that wait, plans, approvals, background commands, images, warnings.

use super::clean::assert_harmless;
use super::{SECRET, answered, called, events, finished, readable, redactor, text, uncoloured};
use crate::cli::render::{Detail, Style, Transcript};
use crate::tools;
use expect_test::expect;
use retrace_events::payload::Payload;
use retrace_events::payload::context::ContextImageAttached;
use retrace_events::payload::session::{PlanItem, PlanStatus, SessionControlHandled, SessionPlanned, SessionRuleAdded};
use retrace_events::payload::tool::{
    ToolApprovalAsked, ToolApprovalScope, ToolApproved, ToolBackgroundEnded, ToolBackgroundStarted, ToolDenied,
    ToolExit,
};
use retrace_events::payload::turn::{Attachment, PromptSource, TurnEnded, TurnOutcome, TurnQueued, TurnWarned};
use retrace_events::{BlobRef, CallId, EventId, Hash};

fn call(id: &str) -> CallId {
    CallId(id.to_owned())
}

fn asks_for(id: &str, command: &str) -> Payload {
    answered(&format!(r#"[{{"type":"tool_use","id":"{id}","name":"bash","input":{{"command":"{command}"}}}}]"#))
}

fn approval_asked(id: &str, command: &str) -> Payload {
    let (tool, preview, rule) = ("bash".to_owned(), command.to_owned(), "bash(make *)".to_owned());
    let (summary, why) = (command.to_owned(), "no rule allows it".to_owned());
    ToolApprovalAsked { call: call(id), tool, summary, preview, rule, why }.into()
}

fn approved(id: &str, by: &str, scope: ToolApprovalScope) -> Payload {
    ToolApproved { call: call(id), by: by.to_owned(), scope }.into()
}

fn denied(id: &str, by: &str) -> Payload {
    ToolDenied { call: call(id), by: by.to_owned(), content: "not on a Friday".to_owned() }.into()
}

fn handled(accepted: bool, note: &str) -> Payload {
    let event = EventId(uuid::Uuid::nil());
    SessionControlHandled { event, seq: 7, accepted, note: note.to_owned() }.into()
}

fn plan(items: &[(&str, PlanStatus)]) -> Payload {
    let item = |(text, status): &(&str, PlanStatus)| PlanItem { text: (*text).to_owned(), status: *status };
    SessionPlanned { call: call("p"), items: items.iter().map(item).collect() }.into()
}

fn queued(words: &str) -> Payload {
    TurnQueued { text: words.to_owned(), source: PromptSource::Control, attachments: Vec::new() }.into()
}

fn image(name: &str) -> Payload {
    let (media_type, data_base64) = ("image/png".to_owned(), "A".repeat(20_002) + "==");
    ContextImageAttached { name: name.to_owned(), media_type, data_base64, call: None, width_px: 640, height_px: 480 }
        .into()
}

fn story() -> Vec<Payload> {
    let exit = ToolExit { code: Some(0), signal: None, timed_out: false };
    let blob = BlobRef { hash: Hash::of(b"x"), size_bytes: 1_234_567 };
    vec![
        image("shot.png"),
        queued("and then\nthe docs"),
        handled(true, "queued"),
        handled(false, "the call `9` has its result already"),
        plan(&[("read", PlanStatus::Done), ("write", PlanStatus::InProgress), ("test", PlanStatus::Pending)]),
        asks_for("1", "make all"),
        approval_asked("1", "make all"),
        approved("1", "you, in chat", ToolApprovalScope::Session),
        SessionRuleAdded { rule: "bash(make *)".to_owned(), by: "you, in chat".to_owned() }.into(),
        called("1", "bash", r#"{"command":"make all"}"#),
        finished("1", Some(0), "ok"),
        asks_for("2", "rm -rf /"),
        denied("2", "rule bash(rm *)"),
        asks_for("3", "make watch"),
        approved("3", "rule bash(make *)", ToolApprovalScope::Once),
        called("3", "bash", r#"{"command":"make watch"}"#),
        ToolBackgroundStarted { call: call("3"), command: "make watch".to_owned() }.into(),
        finished("3", None, "it runs in the background"),
        ToolBackgroundEnded { call: call("3"), exit: Some(exit), output: Some(blob), why: "it ended".to_owned() }
            .into(),
        ToolBackgroundEnded { call: call("4"), exit: None, output: None, why: "retrace was killed".to_owned() }.into(),
        TurnWarned { rule: "same call".to_owned(), note: "the same call came 3 times".to_owned() }.into(),
        TurnEnded { outcome: TurnOutcome::Stuck, note: "the same call came 4 times".to_owned() }.into(),
    ]
}

fn coloured(story: Vec<Payload>) -> String {
    let mut transcript = Transcript::new(Style::Coloured, Detail::Short, redactor(), tools::all());
    events(story).iter().map(|event| transcript.event(event)).collect()
}

#[test]
fn all_of_it() {
    expect![[r#"
          image: shot.png, image/png, 640x480, 15 KB
        queued: and then⏎the docs
        ! not done: the call `9` has its result already
        plan: 1 of 3 done
          [x] read
          [~] write
          [ ] test
          35,200 in (34,000 cached) · 56 out · $0.0124 · 2.3s
        ┌ allow? bash  make all
        │ asked because: no rule allows it
        │ for this session or always: bash(make *)
        └ allowed by you, in chat, for this session
        ! allowed for this session: bash(make *) (by you, in chat)
        ● bash  make all
        └ exit 0 · 1 line · 1.2s
            ok
          35,200 in (34,000 cached) · 56 out · $0.0124 · 2.3s
        └ bash rm -rf /: not done (rule bash(rm *)): not on a Friday
          35,200 in (34,000 cached) · 56 out · $0.0124 · 2.3s
        ● bash  make watch
          in the background: make watch
        └ ok · 1 line · 1.2s
            it runs in the background
        ○ background make watch: exit 0 · 1.2 MB of output · it ended
        ○ background 4: end not seen · retrace was killed
        ! the model is warned: the same call came 3 times (same call)
        stopped: the model went round in circles: the same call came 4 times
        hint: a new prompt goes on from here; say what to try instead
    "#]]
    .assert_eq(&text(Detail::Short, story()));
    expect![[r#"
        ‹2›  image: shot.png, image/png, 640x480, 15 KB‹›
        ‹2›queued: and then⏎the docs‹›
        ‹33›! not done:‹› the call `9` has its result already
        ‹1›plan:‹› 1 of 3 done
          ‹32›[x]‹› ‹2›read‹›
          ‹33›[~]‹› ‹1›write‹›
          [ ] test
        ‹2›  35,200 in (34,000 cached) · 56 out · $0.0124 · 2.3s‹›
        ‹33›┌ allow?‹› ‹1›bash‹›  make all
        ‹33›│‹› ‹2›asked because:‹› no rule allows it
        ‹33›│‹› ‹2›for this session or always:‹› bash(make *)
        ‹32›└ allowed‹› by you, in chat, for this session
        ‹33›! allowed for this session:‹› bash(make *) ‹2›(by you, in chat)‹›
        ‹36›●‹› ‹1›bash‹›  make all
        └ ‹32›exit 0‹›‹2› · 1 line · 1.2s‹›
        ‹2›    ok‹›
        ‹2›  35,200 in (34,000 cached) · 56 out · $0.0124 · 2.3s‹›
        ‹33›└‹› bash rm -rf /: not done (rule bash(rm *)): not on a Friday
        ‹2›  35,200 in (34,000 cached) · 56 out · $0.0124 · 2.3s‹›
        ‹36›●‹› ‹1›bash‹›  make watch
        ‹2›  in the background: make watch‹›
        └ ‹32›ok‹›‹2› · 1 line · 1.2s‹›
        ‹2›    it runs in the background‹›
        ‹36›○ background‹› make watch: ‹32›exit 0‹›‹2› · 1.2 MB of output · it ended‹›
        ‹36›○ background‹› 4: ‹31›end not seen‹›‹2› · retrace was killed‹›
        ‹33›! the model is warned:‹› the same call came 3 times ‹2›(same call)‹›
        ‹31›stopped: the model went round in circles‹›: the same call came 4 times
        hint: a new prompt goes on from here; say what to try instead
    "#]]
    .assert_eq(&readable(&coloured(story())));
    assert_eq!(uncoloured(&coloured(story())), text(Detail::Short, story()));
}

#[test]
fn the_full_transcript_has_what_the_short_one_leaves_out() {
    let rule = approved("1", "rule bash(ls)", ToolApprovalScope::Once);
    let story = vec![handled(true, "queued"), rule.clone()];
    assert_eq!(text(Detail::Short, story.clone()), "");
    assert_eq!(text(Detail::Full, story), "  control event 7 taken: queued\n  allowed by rule bash(ls), once\n");
    // What somebody was asked for is answered once.
    let story = vec![approval_asked("1", "ls"), rule.clone(), rule];
    assert_eq!(text(Detail::Short, story).matches("allowed").count(), 1);
    let always = text(Detail::Short, vec![approved("1", "you", ToolApprovalScope::Always)]);
    assert_eq!(always, "  allowed by you, always\n");
}

#[test]
fn decisions_name_their_call() {
    // A call that nobody has begun is known by the answer that asked for it, until the next answer.
    let shown = text(Detail::Short, vec![asks_for("2", "rm x"), denied("2", "you"), denied("2", "you")]);
    assert!(shown.contains("└ bash rm x: not done (you): not on a Friday\n└ 2: not done (you)"), "{shown}");
    let shown = text(Detail::Short, vec![asks_for("2", "rm x"), answered("[]"), denied("2", "you")]);
    assert!(shown.contains("└ 2: not done (you)"), "{shown}");
    // Neither does it make a result look as if it stood below another call.
    let shown = text(
        Detail::Short,
        vec![asks_for("2", "ls"), called("2", "bash", r#"{"command":"ls"}"#), finished("2", Some(0), "a")],
    );
    assert!(shown.contains("\n● bash  ls\n└ exit 0 · 1 line"), "{shown}");
}

#[test]
fn files_with_a_queued_prompt_are_counted() {
    let blob = BlobRef { hash: Hash::of(b"x"), size_bytes: 1 };
    let attachment = Attachment { name: "a.png".to_owned(), media_type: "image/png".to_owned(), blob };
    let queued = TurnQueued { text: "look".to_owned(), source: PromptSource::Local, attachments: vec![attachment] };
    assert_eq!(text(Detail::Short, vec![queued.into()]), "queued: look (with 1 file)\n");
    assert!(text(Detail::Short, vec![queued_long()]).chars().count() < 220);
}

fn queued_long() -> Payload {
    queued(&"pasted\n".repeat(10_000))
}

#[test]
fn sizes_of_images_are_those_of_their_bytes() {
    for (bytes, size) in [(0, "0 B"), (1, "1 B"), (2, "2 B"), (3, "3 B"), (4, "4 B"), (1_000, "1.0 KB")] {
        use base64::Engine;
        let data_base64 = base64::engine::general_purpose::STANDARD.encode(vec![7_u8; bytes]);
        let (name, media_type) = ("n".to_owned(), "image/png".to_owned());
        let image = ContextImageAttached { name, media_type, data_base64, call: None, width_px: 1, height_px: 2 };
        assert_eq!(text(Detail::Short, vec![image.into()]), format!("  image: n, image/png, 1x2, {size}\n"));
    }
}

#[test]
fn changes_have_colours_where_they_are_shown() {
    let diff = "edited a.rs\n--- a.rs\n+++ a.rs\n@@ -1 +1 @@\n context\n-old\n+new\n[2 lines of the diff left out]";
    let mut transcript = Transcript::new(Style::Coloured, Detail::Full, redactor(), tools::all());
    let story = vec![called("1", "edit_file", r#"{"path":"a.rs"}"#), finished("1", None, diff)];
    let shown: String = events(story).iter().map(|event| transcript.event(event)).collect();
    let shown = readable(&shown);
    expect![[r#"
        ‹2›    edited a.rs‹›
        ‹1›    --- a.rs‹›
        ‹1›    +++ a.rs‹›
        ‹36›    @@ -1 +1 @@‹›
        ‹2›     context‹›
        ‹31›    -old‹›
        ‹32›    +new‹›
        ‹2›    [2 lines of the diff left out]‹›
    "#]]
    .assert_eq(shown.split_once("1.2s‹›\n").unwrap().1);
    // A list of options is no diff.
    let options = coloured(vec![called("1", "bash", "{}"), finished("1", Some(1), "- a\n+ b\n@@ c")]);
    assert!(readable(&options).contains("‹2›    - a‹›\n‹2›    + b‹›"), "{}", readable(&options));
}

#[test]
fn long_plans_and_hostile_words_are_bounded() {
    let many: Vec<(&str, PlanStatus)> = (0..500).map(|_| ("step", PlanStatus::Pending)).collect();
    let shown = text(Detail::Short, vec![plan(&many)]);
    assert!(shown.lines().count() == 52 && shown.ends_with("… 450 steps more\n"), "{shown}");
    let nasty = format!("a\u{1b}[2Jb\u{9b}31m\u{202e}\n\r{SECRET}\u{0}{}", "x".repeat(10_000));
    let story = vec![
        plan(&[(&nasty, PlanStatus::InProgress)]),
        queued(&nasty),
        handled(false, &nasty),
        image(&nasty),
        approval_asked(&nasty, &nasty),
        approved(&nasty, &nasty, ToolApprovalScope::Always),
        denied(&nasty, &nasty),
        SessionRuleAdded { rule: nasty.clone(), by: nasty.clone() }.into(),
        ToolBackgroundStarted { call: call(&nasty), command: nasty.clone() }.into(),
        ToolBackgroundEnded { call: call(&nasty), exit: None, output: None, why: nasty.clone() }.into(),
        TurnWarned { rule: nasty.clone(), note: nasty.clone() }.into(),
        TurnEnded { outcome: TurnOutcome::Stuck, note: "x".to_owned() }.into(),
    ];
    for payload in story {
        let kind = payload.kind();
        for shown in [text(Detail::Short, vec![payload.clone()]), uncoloured(&coloured(vec![payload.clone()]))] {
            assert_harmless(&shown);
            assert!(!shown.contains("hunter2") && shown.ends_with('\n'), "{kind}: {shown}");
            // A person who decides sees all; everywhere else a glance is enough.
            let most = if kind == "tool.approval_asked" { 25_000 } else { 2_500 };
            assert!(shown.chars().count() < most, "{kind}: {} characters", shown.chars().count());
        }
    }
}
