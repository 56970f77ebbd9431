//! `send`, `approve`, `answer`, `cancel`, and `show --follow`: what other processes have to do with a session.

use super::made::{self, prompted, put, started, stream};
use super::{LOOKS, Machine};
use crate::cli::Exit;
use crate::cli::place::Place;
use futures::StreamExt;
use retrace_events::control::Inbox;
use retrace_events::payload::{Control, Payload};
use retrace_events::testing::EventMaker;
use retrace_events::{CallId, Event};
use std::io::Write;
use tokio_util::sync::CancellationToken;

/// What was said to the session `id`, in order.
async fn said(machine: &Machine, id: &str) -> Vec<Control> {
    let mut inbox = Inbox::open(machine.log().await, &stream(machine, id), 0);
    let mut said = Vec::new();
    while let Some(event) = inbox.try_next().await.unwrap() {
        let Some(Payload::Control(control)) = event.payload.known() else { panic!("{event:?}") };
        said.push(control.clone());
    }
    said
}

/// A machine with a session in which two calls wait for approval and one asks something.
async fn asking() -> Machine {
    let machine = Machine::alone();
    let calls = serde_json::json!([
        { "type": "tool_use", "id": "call-1", "name": "bash", "input": { "command": "a" } },
        { "type": "tool_use", "id": "call-2", "name": "bash", "input": { "command": "b" } },
        { "type": "tool_use", "id": "call-3", "name": "ask_user", "input": { "question": "?" } },
    ]);
    let mut answered = made::answered("", 0);
    if let Payload::Turn(retrace_events::payload::Turn::Answered(answered)) = &mut answered {
        answered.content = calls.to_string();
        answered.stop_reason = "tool_use".to_owned();
    }
    let question = made::called("call-3", "ask_user", &serde_json::json!({ "question": "?" }));
    put(&machine, "waits-1", &[started("t"), prompted("x"), answered, question, asked("call-1"), asked("call-2")])
        .await;
    machine
}

fn asked(call: &str) -> Payload {
    retrace_events::payload::tool::ToolApprovalAsked {
        call: CallId(call.to_owned()),
        tool: "bash".to_owned(),
        summary: "a".to_owned(),
        preview: "a".to_owned(),
        rule: "bash(a)".to_owned(),
        why: "because".to_owned(),
    }
    .into()
}

#[tokio::test]
async fn what_is_said_stands_in_the_control_stream_in_order_and_redacted() {
    let machine = made::secretive();
    put(&machine, "some-1", &[started("t")]).await;
    for args in [
        &["send", "some", "do this"][..],
        &["send", "some", made::SECRET, "--json"],
        &["cancel", "some"],
        &["cancel", "some", "call-7"],
        &["approve", "some", "call-7", "--session"],
        &["approve", "some", "call-7", "--always"],
        &["approve", "some", "call-7", "--deny"],
        &["approve", "some", "call-7", "--deny", made::SECRET],
        &["answer", "some", "42", "--call", "call-8"],
    ] {
        machine.out(args).await;
    }
    let said = said(&machine, "some-1").await;
    let shown = format!("{said:?}");
    assert_eq!(said.len(), 9, "{shown}");
    assert!(!shown.contains(made::SECRET), "{shown}");
    for (said, expected) in said.iter().zip([
        "do this",
        "[redacted:",
        "call: None",
        "call-7",
        "Some(Session)",
        "Some(Always)",
        "allow: None, note: \"\"",
        "[redacted:",
        "text: \"42\"",
    ]) {
        assert!(format!("{said:?}").contains(expected), "{expected}: {said:?}");
    }
}

#[tokio::test]
async fn json_tells_where_it_stands() {
    let machine = Machine::alone();
    put(&machine, "some-1", &[started("t")]).await;
    let out = machine.out(&["--json", "send", "some", "do this"]).await;
    let told: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((told["sent"]["session"].as_str(), told["sent"]["seq"].as_u64()), (Some("some-1"), Some(0)), "{told}");
    assert_eq!(told["sent"]["kind"], "control.prompt_sent");
}

#[tokio::test]
async fn bad_input_is_refused_and_nothing_is_said() {
    let machine = asking().await;
    for (args, exit, words) in [
        (&["send", "unknown", "x"][..], Exit::NotFound, "there is no session `unknown`"),
        (&["send", "waits", "  "], Exit::Usage, "is empty"),
        (&["answer", "waits", ""], Exit::Usage, "is empty"),
        (&["approve", "waits"], Exit::Usage, "name one of them: call-1, call-2"),
        (&["send", "waits", "x", "--image", "missing.png"], Exit::Usage, "cannot read missing.png"),
        (&["approve", "unknown"], Exit::NotFound, "there is no session"),
        (&["cancel", "unknown"], Exit::NotFound, "there is no session"),
    ] {
        let ran = machine.run(args).await;
        assert!(ran.exit == exit && ran.err.contains(words), "{args:?}: {ran:?}");
    }
    assert_eq!(said(&machine, "waits-1").await, []);
    let parse = |args: &[&str]| crate::cli::command().try_get_matches_from(["retrace"].iter().chain(args));
    assert!(parse(&["approve", "s", "--session", "--always"]).is_err());
    assert!(parse(&["approve", "s", "--always", "--deny"]).is_err());
}

#[tokio::test]
async fn nothing_that_waits_is_said_plainly() {
    let machine = Machine::alone();
    put(&machine, "idle-1", &[started("t")]).await;
    for (args, words) in [
        (&["approve", "idle"][..], "error: nothing in session idle-1 waits for approval\nhint: "),
        (&["answer", "idle", "x"], "error: nothing in session idle-1 asks for an answer\nhint: "),
    ] {
        let ran = machine.run(args).await;
        assert!(ran.exit == Exit::Failed && ran.err.starts_with(words), "{args:?}: {ran:?}");
    }
    assert_eq!(said(&machine, "idle-1").await, []);
}

#[tokio::test]
async fn the_only_question_is_found() {
    let machine = asking().await;
    machine.out(&["answer", "waits", "42"]).await;
    machine.out(&["approve", "waits", "call-2"]).await;
    let said = format!("{:?}", said(&machine, "waits-1").await);
    assert!(said.contains("call-3") && said.contains("call-2") && !said.contains("call-1"), "{said}");
}

#[tokio::test]
async fn an_image_goes_along_and_what_is_none_does_not() {
    let machine = Machine::alone();
    put(&machine, "some-1", &[started("t")]).await;
    let png = [
        0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0, 0, 1, 8,
        6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 10, b'I', b'D', b'A', b'T', 0x78, 0x9c, 0x63, 0, 1, 0, 0, 5, 0, 1,
        0x0d, 0x0a, 0x2d, 0xb4, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
    ];
    let (image, text) = (machine.workspace.join("dot.png"), machine.workspace.join("text.png"));
    std::fs::write(&image, png).unwrap();
    std::fs::write(&text, "no image").unwrap();
    machine.out(&["send", "some", "look", "--image", image.to_str().unwrap()]).await;
    let refused = machine.run(&["send", "some", "look", "--image", text.to_str().unwrap()]).await;
    assert_eq!(refused.exit, Exit::Usage, "{refused:?}");
    let said = said(&machine, "some-1").await;
    let [Control::PromptSent(sent)] = &said[..] else { panic!("{said:?}") };
    let [attachment] = &sent.attachments[..] else { panic!("{sent:?}") };
    assert_eq!((attachment.name.as_str(), attachment.media_type.as_str()), ("dot.png", "image/png"));
    assert_eq!(machine.log().await.blobs().read(attachment.blob.hash, 0..1_000).await.unwrap(), png);
}

#[tokio::test]
async fn waiting_tells_what_became_of_it() {
    let mut machine = Machine::with(LOOKS).await;
    let (reader, mut writer) = std::io::pipe().unwrap();
    machine.place = Some(Place::of_test(Box::new(reader), false));
    let others = async {
        while machine.sessions().await.is_empty() {
            tokio::task::yield_now().await;
        }
        let id = machine.session().await;
        let refused = machine.run(&["cancel", &id, "--wait"]).await;
        assert_eq!(
            (refused.exit, refused.out.as_str()),
            (Exit::Failed, "refused: nothing is going on\n"),
            "{refused:?}"
        );
        let sent = machine.run(&["send", &id, "have a look", "--wait", "--json"]).await;
        assert!(sent.exit == Exit::Done && sent.out.contains("\"accepted\":true"), "{sent:?}");
        writer.write_all(b"and again\n").unwrap();
        drop(writer);
    };
    let (chat, ()) = tokio::join!(machine.run(&["chat", "--approvals", "allow"]), others);
    assert_eq!(chat.exit, Exit::Done, "{chat:?}");
    assert_eq!(chat.out, "All is well.\nAnd again.\n", "{chat:?}");
}

#[tokio::test]
async fn a_session_is_followed_while_it_grows_each_event_once() {
    let machine = Machine::alone();
    let mut maker = EventMaker::new(stream(&machine, "grows-1"), 4);
    made::append(&machine, &maker.prompts(250)).await;
    let later = maker.prompts(300);
    let mut events = crate::cli::following::follow(machine.log().await, stream(&machine, "grows-1"), 5);
    let read = async {
        for seq in 5..550 {
            let event: Event = events.next().await.unwrap().unwrap();
            assert_eq!(event.envelope.seq, seq);
        }
    };
    let write = async {
        for batch in later.chunks(7) {
            made::append(&machine, batch).await;
        }
    };
    tokio::join!(read, write);
}

#[tokio::test]
async fn following_shows_what_is_there_and_ends_when_told() {
    let mut machine = Machine::alone();
    put(&machine, "some-1", &[started("t"), prompted("one"), prompted("two")]).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    machine.cancel = Some(cancel);
    let shown = machine.run(&["show", "some", "--follow"]).await;
    assert_eq!(shown.exit, Exit::Done, "{shown:?}");
    assert!(shown.out.contains("› one") && shown.out.contains("› two") && shown.out.contains("3 events"), "{shown:?}");
    let parse = |args: &[&str]| crate::cli::command().try_get_matches_from(["retrace", "show"].iter().chain(args));
    assert!(parse(&["--follow", "--outline"]).is_err() && parse(&["--follow", "--event", "1"]).is_err());
}

#[tokio::test]
async fn the_newest_session_of_the_workspace_is_shown_when_none_is_named() {
    let machine = Machine::alone();
    put(&machine, "one-1", &[started("t"), prompted("the words")]).await;
    assert!(machine.out(&["show"]).await.contains("› the words"));
}
