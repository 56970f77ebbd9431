//! What is shown while an agent works.

use super::{answered, called, events, finished, prompted, some_event, transcript};
use super::{readable, redactor};
use crate::agent::Live;
use crate::cli::render::{Detail, LivePrinter, Style, Transcript};
use retrace_events::CallId;
use retrace_events::payload::Payload;
use retrace_events::payload::turn::{TurnFailed, TurnFailure};
use std::sync::Arc;

fn printer() -> LivePrinter {
    LivePrinter::new(transcript(Detail::Short))
}

fn logged(payload: Payload) -> Live {
    Live::Logged(Arc::new(events(vec![payload]).remove(0)))
}

fn show(printer: &mut LivePrinter, items: Vec<Live>) -> String {
    items.iter().map(|item| printer.live(item)).collect()
}

fn words(text: &str) -> Live {
    Live::Text(text.to_owned())
}

const FIGURES: &str = "  35,200 in (34,000 cached) · 56 out · $0.0124 · 2.3s\n";

#[test]
fn what_streamed_is_not_shown_again() {
    let answer = answered(r#"[{"type":"text","text":"Hello there, world"}]"#);
    let shown = show(&mut printer(), vec![words("Hello th"), words("ere, world"), logged(answer)]);
    assert_eq!(shown, format!("Hello there, world\n{FIGURES}"));
}

#[test]
fn what_did_not_stream_is_shown_whole() {
    let answer = answered(r#"[{"type":"text","text":"Done."}]"#);
    // One word is held back until it is complete, so the event is what shows it.
    assert_eq!(show(&mut printer(), vec![words("Done."), logged(answer.clone())]), format!("Done.\n{FIGURES}"));
    assert_eq!(show(&mut printer(), vec![logged(answer)]), format!("Done.\n{FIGURES}"));
}

#[test]
fn what_streamed_with_holes_is_shown_again_in_full() {
    let answer = answered(r#"[{"type":"text","text":"one two three"}]"#);
    let mut printer = printer();
    let mut shown = printer.live(&words("one tw"));
    printer.missed();
    shown.push_str(&printer.live(&words("ee ")));
    shown.push_str(&printer.live(&logged(answer.clone())));
    assert_eq!(shown, format!("one twee\n\none two three\n{FIGURES}"));
    assert_eq!(show(&mut printer, vec![words("one two three"), logged(answer)]), format!("one two three\n{FIGURES}"));
}

#[test]
fn calls_and_failures_end_the_line_that_streams() {
    let failed = TurnFailed {
        request: some_event(),
        failure: TurnFailure::Unfinished,
        status: Some(200),
        message: "cut".to_owned(),
        request_id: None,
        partial: None,
        billed_microusd: 0,
        retry_in_ms: Some(1_000),
    };
    let waiting = || Live::Waiting { why: "cut".to_owned(), wait_ms: 1_000 };
    let shown = show(
        &mut printer(),
        vec![
            words("half an ans"),
            logged(failed.into()),
            waiting(),
            words("a whole "),
            words("one "),
            logged(prompted("p")),
        ],
    );
    assert_eq!(shown, "half an ans\n! unfinished (HTTP 200): cut · trying again in 1.0s\na whole one\n\n› p\n");
    assert_eq!(show(&mut printer(), vec![waiting()]), "waiting 1.0s: cut\n");
}

#[test]
fn output_and_thinking_are_not_shown_but_end_a_block() {
    let call = CallId("1".to_owned());
    let shown = show(
        &mut printer(),
        vec![
            words("I'll run it."),
            Live::ToolStarted { call: call.clone(), tool: "bash".to_owned() },
            logged(answered(r#"[{"type":"text","text":"I'll run it."}]"#)),
            logged(called("1", "bash", r#"{"command":"ls"}"#)),
            Live::ToolOutput { call, text: "noise".to_owned() },
            Live::Thinking("deep".to_owned()),
            logged(finished("1", Some(0), "a")),
        ],
    );
    assert_eq!(shown, format!("I'll run it.\n{FIGURES}● bash  ls\n└ exit 0 · 1 line · 1.2s\n    a\n"));
}

#[test]
fn notices_are_clean() {
    let notice = Live::Notice("the sandbox\u{1b}[2J ended".to_owned());
    assert_eq!(show(&mut printer(), vec![words("text "), notice]), "text\n! the sandbox␛[2J ended\n");
}

#[test]
fn colours_are_the_same_whether_an_answer_streamed_or_not() {
    let coloured = || LivePrinter::new(Transcript::new(Style::Coloured, Detail::Short, redactor(), Vec::new()));
    let text = "## Plan\n\n- **first** `x`\n\n| a |\n|---|\n| b |\n\n```rust\nlet a = 1;\n```\nlast *words* here";
    let answer = || {
        let content = serde_json::json!([{ "type": "text", "text": text }]).to_string();
        logged(answered(&content))
    };
    let at_once = readable(&show(&mut coloured(), vec![answer()]));
    assert!(at_once.contains("‹1›Plan‹›\n\n• ‹1›first‹› ‹36›x‹›\n"), "{at_once}");
    assert!(at_once.contains("last ‹3›words‹› here\n‹2›  35,200 in"), "{at_once}");
    for cut in [1, 3, 7, 40, 1_000] {
        let mut items: Vec<Live> =
            text.as_bytes().chunks(cut).map(|piece| words(std::str::from_utf8(piece).unwrap())).collect();
        items.push(answer());
        assert_eq!(readable(&show(&mut coloured(), items)), at_once, "in pieces of {cut}");
    }
}

#[test]
fn a_block_of_code_ends_with_its_answer() {
    let mut printer = LivePrinter::new(Transcript::new(Style::Coloured, Detail::Short, redactor(), Vec::new()));
    let cut_off = answered(r#"[{"type":"text","text":"```\n**code**"}]"#);
    let shown = show(&mut printer, vec![words("```\n**code**"), logged(cut_off), words("**text**\n")]);
    let shown = readable(&shown);
    assert!(shown.starts_with("‹2›```‹›\n**code**\n‹2›  35,200 in") && shown.ends_with("‹1›text‹›\n"), "{shown}");
}
