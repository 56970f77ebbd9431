//! A whole session, event by event.

use super::*;
use expect_test::{Expect, expect};
use retrace_events::payload::context::ContextSource;
use retrace_events::payload::{Context, Session, Tool, Turn};

/// An event in one line.
fn shown(payload: &Payload) -> String {
    let short = |text: &str| text.replace('\n', "⏎").chars().take(60).collect::<String>();
    let rest = match payload {
        Payload::Session(Session::Started(started)) => format!("{} in {}", started.title, started.workspace),
        Payload::Session(Session::Imported(imported)) => format!("{imported:?}"),
        Payload::Turn(Turn::Prompted(prompt)) => format!("{:?} {}", prompt.source, short(&prompt.text)),
        Payload::Turn(Turn::Answered(answer)) => {
            format!("{} {} {}", answer.stop_reason, answer.usage.output_tokens, short(&answer.content))
        }
        Payload::Turn(Turn::Failed(failed)) => {
            format!(
                "{:?} {:?} retry {:?} {}",
                failed.failure,
                failed.status,
                failed.retry_in_ms,
                short(&failed.message)
            )
        }
        Payload::Turn(Turn::Interrupted(interrupted)) => format!("by {} during {}", interrupted.by, interrupted.during),
        Payload::Turn(Turn::Ended(ended)) => format!("{:?} {}", ended.outcome, short(&ended.note)),
        Payload::Tool(Tool::Called(called)) => format!("{} {:?} {}", called.tool, called.effect, short(&called.input)),
        Payload::Tool(Tool::Finished(done)) => {
            let code = done.exit.and_then(|exit| exit.code);
            format!("error {} exit {code:?} changed {:?} {}", done.is_error, done.changed, short(&done.content))
        }
        Payload::Tool(Tool::Denied(denied)) => format!("by {} {}", denied.by, short(&denied.content)),
        Payload::Context(Context::Retrieved(retrieved)) => short(&retrieved.passages[0].text),
        Payload::Context(Context::ImageAttached(image)) => {
            format!("{} {}x{} call {:?}", image.media_type, image.width_px, image.height_px, image.call)
        }
        Payload::Context(Context::Compacted(compacted)) => {
            format!("by {}: {}", compacted.by, short(&compacted.summary))
        }
        other => format!("{other:?}"),
    };
    format!("{} {rest}\n", payload.kind())
}

fn check(drafts: &[Draft], expected: &Expect) {
    expected.assert_eq(&drafts.iter().map(|draft| shown(&draft.payload)).collect::<String>());
}

#[test]
fn everything_in_a_session_becomes_an_event_or_is_counted() {
    let drafts = convert(SESSION.lines(), true);
    check(
        &drafts,
        &expect![[r#"
        turn.prompted Local why does parse("") fail? my key is [redacted:aws_key_id]
        turn.answered tool_use 42 [{"type":"thinking","thinking":"An empty input. Let me look.
        tool.called Read ReadOnly {"file_path":"/home/ada/parser/src/parse.rs"}
        tool.finished error false exit None changed []      1→pub fn parse(text: &str) -> Tree {⏎     2→    text.ch
        turn.answered tool_use 5 [{"type":"tool_use","id":"toolu_02","name":"Grep","input":{"
        tool.called Grep ReadOnly {"pattern":"fn parse","path":"src"}
        tool.called Bash Writes {"command":"cargo test","description":"run the tests"}
        tool.finished error false exit None changed [] src/parse.rs:1:pub fn parse
        tool.finished error true exit Some(101) changed [] Exit code 101⏎test empty ... FAILED⏎panicked at src/parse.rs
        turn.answered tool_use 5 [{"type":"tool_use","id":"toolu_04","name":"Edit","input":{"
        tool.called Edit Writes {"file_path":"/home/ada/parser/src/parse.rs","old_string":"u
        tool.finished error false exit None changed ["src/parse.rs"] The file /home/ada/parser/src/parse.rs has been updated.
        turn.answered tool_use 5 [{"type":"tool_use","id":"toolu_05","name":"Bash","input":{"
        tool.called Bash Writes {"command":"cargo test"}
        tool.finished error false exit Some(0) changed [] test empty ... ok
        turn.answered end_turn 77 [{"type":"text","text":"Fixed: the empty input is handled no
        turn.ended Completed done
        turn.prompted Local /review src/parse.rs
        context.retrieved Review the file that is named, strictly.
        turn.answered end_turn 5 [{"type":"text","text":"It is short and clear."}]
        turn.ended Completed done
        context.image_attached image/png 2x2 call None
        turn.prompted Local and this?
        turn.answered tool_use 5 [{"type":"tool_use","id":"toolu_06","name":"Read","input":{"
        tool.called Read ReadOnly {"file_path":"/tmp/shot.png"}
        context.image_attached image/png 2x2 call Some(CallId("toolu_06"))
        tool.finished error false exit None changed [] 
        turn.answered end_turn 5 [{"type":"text","text":"A blue square."}]
        turn.ended Completed done
        turn.prompted Local delete the target folder
        turn.answered tool_use 5 [{"type":"tool_use","id":"toolu_07","name":"Bash","input":{"
        tool.called Bash Writes {"command":"rm -rf target"}
        tool.denied by user The user doesn't want to proceed with this tool use. The too
        turn.interrupted by user during a request
        turn.prompted Local explain the grammar
        turn.failed Overloaded Some(529) retry Some(538) {"status":529,"error":{"type":"error","error":{"type":"overl
        turn.failed Overloaded Some(529) retry None API Error: 529 {"type":"error","error":{"type":"overloaded_e
        turn.ended RequestFailed API Error: 529 {"type":"error","error":{"type":"overloaded_e
        turn.prompted Local try again
        turn.answered tool_use 5 [{"type":"tool_use","id":"toolu_08","name":"Bash","input":{"
        tool.called Bash Writes {"command":"sleep 1; echo done"}
        tool.finished error false exit Some(0) changed [] done
        turn.prompted Local and be brief
        turn.answered end_turn 5 [{"type":"text","text":"It is a list of words."}]
        turn.ended Completed done
        context.compacted by claude-code: auto: This session is being continued from a previous conversation
        turn.prompted Local what is left?
        turn.answered end_turn 5 [{"type":"thinking","thinking":"","signature":"c2ln"},{"type
        turn.ended Completed done
    "#]],
    );
}

#[test]
fn an_answer_keeps_its_blocks_byte_for_byte() {
    let blocks = [
        r#"{"type":"thinking", "thinking":"a  b","signature":"c2ln"}"#,
        r#"{"type":"text","text":"\u00e9 \/ é"}"#,
        &call("t1", "Bash", r#"{ "command" : "ls",  "n": 1.0 }"#),
    ];
    let lines: Vec<String> = blocks.iter().enumerate().map(|(n, block)| answer(&format!("a{n}"), "m", block)).collect();
    let drafts = after_prompt(&lines);
    let Payload::Turn(Turn::Answered(answered)) = &drafts[0].payload else { panic!("{drafts:?}") };
    assert_eq!(answered.content, format!("[{}]", blocks.join(",")));
    let Payload::Tool(Tool::Called(called)) = &drafts[1].payload else { panic!("{drafts:?}") };
    assert_eq!(called.input, r#"{ "command" : "ls",  "n": 1.0 }"#);
}

#[test]
fn blocks_that_could_never_go_back_are_left_out() {
    let bad = [
        r#"{"type":"tool_use","id":"x","name":"Bash","input":"no object"}"#,
        r#"{"type":"tool_use","name":"Bash","input":{}}"#,
        r#"{"type":"tool_use","id":7,"name":"Bash","input":{}}"#,
        r#"{"type":"text","id":7,"text":"an id that is no text"}"#,
        r#"{"text":"no type"}"#,
        "7",
        "null",
        r#""text""#,
    ];
    let mut lines: Vec<String> =
        bad.iter().enumerate().map(|(n, block)| answer(&format!("a{n}"), "m", block)).collect();
    // The same call twice is one call.
    lines.extend(["b1", "b2"].map(|name| answer(name, "m", &call("t1", "Bash", "{}"))));
    let drafts = after_prompt(&lines);
    assert_eq!(kinds(&drafts), ["turn.answered", "tool.called"]);
    let Payload::Turn(Turn::Answered(answered)) = &drafts[0].payload else { panic!("{drafts:?}") };
    assert_eq!(answered.content, format!("[{}]", call("t1", "Bash", "{}")));
}

#[test]
fn secrets_are_taken_out_of_all_but_answers() {
    let key = "AKIAIOSFODNN7EXAMPLE";
    let text = format!(r#"{{"type":"text","text":"{key}"}}"#);
    let result = format!(r#"[{{"type":"tool_result","tool_use_id":"t1","content":"{key}"}}]"#);
    let summary = line("s", "user", &format!(r#""isCompactSummary":true,"message":{{"content":"{key}"}}"#));
    let meta = line("n", "user", &format!(r#""isMeta":true,"message":{{"content":"{key}"}}"#));
    let lines = [
        user("p", &format!(r#""{key}""#)),
        answer("a", "m", &call("t1", "Bash", "{}")),
        user("r", &result),
        meta,
        answer("b", "m2", &text),
        summary,
    ];
    let drafts = convert(lines.iter().map(String::as_str), true);
    let with_key: Vec<&str> = drafts
        .iter()
        .filter(|draft| draft.payload.to_json().to_string().contains(key))
        .map(|draft| draft.payload.kind())
        .collect();
    assert_eq!(with_key, ["turn.answered"]);
    assert_eq!(kinds(&drafts).len(), 8, "{:?}", kinds(&drafts));
}

#[test]
fn what_is_told_to_the_model_is_no_prompt() {
    let meta = line("n", "user", r#""isMeta":true,"message":{"content":[{"type":"text","text":"a note"}]}"#);
    let text = r#"{"type":"text","text":"done"}"#;
    // Inside a turn it is a passage.
    let drafts = after_prompt(&[meta.clone(), answer("a", "m", text)]);
    let Payload::Context(Context::Retrieved(retrieved)) = &drafts[0].payload else { panic!("{drafts:?}") };
    assert_eq!(retrieved.passages[0].source, ContextSource::Summary("claude-code".to_owned()));
    // Where nothing else asked, it is what asked, and says that nobody typed it.
    let drafts = convert([meta.as_str(), &answer("a", "m", text)], true);
    assert!(shown(&drafts[0].payload).starts_with("turn.prompted Control a note"), "{drafts:?}");
    assert_eq!(kinds(&drafts), ["turn.prompted", "turn.answered", "turn.ended"]);
}

#[tokio::test]
async fn the_folded_session_is_whole_and_at_rest() {
    let desk = Desk::new();
    let report = desk.import(&desk.write("p/5e551011-0000-4000-8000-000000000001.jsonl", SESSION)).await;
    assert!(!report.failed() && report.problems.is_empty(), "{report:?}");
    let state = desk.state(SESSION_ID).await;
    assert!(state.turn.is_none() && state.calls.is_empty() && state.epoch.is_none());
    assert_eq!((state.title.as_str(), state.workspace.as_str()), ("Parser: empty input", "/home/ada/parser"));
    assert_eq!(state.settings, Some(example_settings()));
    // Only what came since the summary is a part of what goes on.
    assert_eq!(state.transcript.items().len(), 3, "{:?}", state.transcript.items());
    assert_eq!(state.totals.steps, 12);
    assert_eq!(state.own_totals().steps, 0);
    assert_eq!((state.own_totals().turn_time_ms, state.own_totals().tokens()), (0, 0));
    // It has no requests and no epochs of ours, and every event names the import as its cause.
    let events = desk.events(SESSION_ID).await;
    assert!(events.iter().all(|event| event.kind != "turn.requested" && event.kind != "context.epoch_started"));
    assert!(events[2..].iter().all(|event| event.cause == Some(events[1].id)));
    let times: Vec<u64> = events.iter().map(|event| event.at.0).collect();
    assert!(times.is_sorted() && times[0] == 1_772_355_602_000, "{times:?}");
    assert!(events.iter().all(|event| event.id.0.get_version_num() == 7));
}
