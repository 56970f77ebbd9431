//! Tests of how requests are explained.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::shown::Shown;
use crate::cli::render::Style;
use crate::context::ContextPart;
use expect_test::expect;
use retrace_events::SessionState;
use retrace_events::redact::Redactor;

const SECRET: &str = "hunter2-hunter2-hunter2";

fn part(place: &'static str, what: &'static str, source: &str, text: &str, score_milli: u32) -> ContextPart {
    let bytes = text.len() as u64;
    let (source, text) = (source.to_owned(), text.to_owned());
    ContextPart { place, what, source, score_milli, text, bytes, tokens: bytes.div_ceil(4) }
}

fn parts() -> Vec<ContextPart> {
    vec![
        part("tools", "tools", "claude-test", &"[{\"name\":\"bash\"}]".repeat(300), 0),
        part("seed", "prompt", "0195-event", "make the parser\nquick", 0),
        part("seed", "file", "src/parse.rs:10-42", "fn parse() {\u{1b}[31m}", 1_254),
        part("kept", "result", "event 9, call toolu_1", SECRET, 0),
        part("tail", "answer", &format!("event 12 {}", "x".repeat(90)), "[{\"type\":\"text\"}]", 0),
    ]
}

#[test]
fn a_request_is_listed_part_by_part() {
    let redactor = Redactor::new(vec![SECRET.to_owned()]);
    let shown = Shown { style: Style::Plain, redactor: &redactor };
    let text = shown.parts(17, &SessionState::default(), &parts());
    assert!(!text.contains(SECRET) && !text.contains('\u{1b}'), "{text}");
    expect![[r#"
        request at event 17: epoch 0, 5 parts, about 1,297 tokens
          tokens  score  place  what          from                                         words
           1,275         tools  tools         claude-test                                  [{"name":"bash"}][{"name":"bash"}][{"name":"bash"}][{"name"…
               6         seed   prompt        0195-event                                   make the parser quick
               5   1.25  seed   file          src/parse.rs:10-42                           fn parse() {␛[31m}
               6         kept   result        event 9, call toolu_1                        [redacted:known]
               5         tail   answer        event 12 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… [{"type":"text"}]
        tools     1,275 tokens   98%
        seed         11 tokens    0%
        kept          6 tokens    0%
        tail          5 tokens    0%
    "#]].assert_eq(&text);
}

#[test]
fn what_is_gone_and_what_is_new_is_told_apart() {
    let redactor = Redactor::new(Vec::new());
    let shown = Shown { style: Style::Plain, redactor: &redactor };
    let all = parts();
    let text = shown.difference((3, 17), &[&all[1]], &[&all[2], &all[4]], 3);
    expect![[r#"
        from event 3 to event 17: 2 parts stay, 1 gone (6 tokens), 2 new (10 tokens)
          tokens  score  place  what          from                                         words
        -        6         seed   prompt        0195-event                                   make the parser quick
        +        5   1.25  seed   file          src/parse.rs:10-42                           fn parse() {␛[31m}
        +        5         tail   answer        event 12 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… [{"type":"text"}]
    "#]]
    .assert_eq(&text);
}
