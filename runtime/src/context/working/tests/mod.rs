//! Tests of the working set, and what they share: events and happenings made by hand.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod afresh_tests;
mod calls_tests;
mod file_model_tests;
mod files_tests;
mod hostile_tests;
mod in_epoch_tests;
mod known_file_tests;
mod lists_tests;
mod logged_calls_tests;
mod matching_tests;
mod missing_tests;
mod passages_tests;
mod ranking_tests;
mod results_tests;
mod standing_tests;
mod transcript_tests;
mod words_tests;

use super::calls::action;
use super::happening::{Action, Happening, Speaker};
use super::known_file::KnownFile;
use super::results::outcome;
use super::working_set::WorkingSet;
use retrace_events::payload::session::SessionStarted;
use retrace_events::payload::tool::{ToolCalled, ToolEffect, ToolExit, ToolFinished};
use retrace_events::payload::turn::{PromptSource, TurnAnswered, TurnPrompted, Usage};
use retrace_events::testing::{EventMaker, example_settings, example_stream};
use retrace_events::{CallId, Event, EventId, Payload};
use serde_json::{Value, json};
use std::collections::HashSet;

/// A call of `tool`, and what came of it.
pub(super) fn work(set: &mut WorkingSet, tool: &str, input: &Value, result: &str) {
    let action = made(tool, input);
    let text = super::calls::strings(input);
    set.take(&Happening::Called { action: &action, text: &text });
    set.take(&Happening::Came { action: &action, outcome: outcome(&action, result, None, None), text: result });
}

pub(super) fn made(tool: &str, input: &Value) -> Action {
    action(tool, input.as_object().unwrap(), &|path| super::calls::within("/work/here", path))
}

pub(super) fn say(set: &mut WorkingSet, text: &str) {
    set.take(&Happening::Said { by: Speaker::Model, text });
}

/// A file of so many lines as `read_file` shows it, from `first` on.
pub(super) fn shown(first: usize, lines: &[&str]) -> String {
    let lines = lines.iter().enumerate().map(|(place, line)| format!("{:>6}\t{line}\n", first + place));
    lines.collect()
}

/// Lines that no other file has.
pub(super) fn lines_of(name: &str, count: usize) -> Vec<String> {
    (1..=count).map(|n| format!("let {name}_{n} = compute_{name}({n});")).collect()
}

/// All of a file is read.
pub(super) fn read(set: &mut WorkingSet, path: &str, lines: &[String]) {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let all = format!("{}[{} lines]", shown(1, &lines), lines.len());
    work(set, "read_file", &json!({ "path": path }), &all);
}

/// What is known of a file: numbers and texts.
pub(super) fn known(file: &KnownFile) -> Vec<(u32, &str)> {
    file.lines().iter().map(|line| (line.number, line.text.text())).collect()
}

/// A file whose lines are known from the first on.
pub(super) fn file(lines: &[&str]) -> KnownFile {
    let mut file = KnownFile::new("a.rs", 1);
    file.show(1, lines, 1, true, &HashSet::new());
    file
}

/// Makes the events of a session.
pub(super) struct Session {
    maker: EventMaker,
    calls: u32,
    pub(super) events: Vec<Event>,
}

impl Session {
    pub(super) fn new() -> Self {
        let mut session = Self { maker: EventMaker::new(example_stream("work"), 5), calls: 0, events: Vec::new() };
        session.add(
            &SessionStarted {
                title: "t".to_owned(),
                workspace: "/work/here".to_owned(),
                retrace_version: "0".to_owned(),
                settings: example_settings(),
            }
            .into(),
        );
        session
    }

    pub(super) fn add(&mut self, payload: &Payload) {
        self.events.push(Event::decode(self.maker.payload(payload, None)).unwrap());
    }

    pub(super) fn prompt(&mut self, text: &str) {
        self.add(&TurnPrompted { text: text.to_owned(), source: PromptSource::Local, attachments: vec![] }.into());
    }

    pub(super) fn answer(&mut self, blocks: &Value) {
        let answered = TurnAnswered {
            request: EventId(uuid::Uuid::nil()),
            content: blocks.to_string(),
            model: "m".to_owned(),
            stop_reason: "tool_use".to_owned(),
            stop_details: None,
            usage: Usage::default(),
            cost_microusd: 0,
            request_id: None,
            duration_ms: 0,
        };
        self.add(&answered.into());
    }

    /// An answer that calls, the call, and its result.
    pub(super) fn step(&mut self, said: &str, tool: &str, input: &Value, result: &str, code: Option<i32>) {
        self.calls += 1;
        let call = CallId(format!("call_{}", self.calls));
        self.answer(&json!([
            { "type": "thinking", "thinking": format!("hm, {said}"), "signature": "s" },
            { "type": "text", "text": said },
            { "type": "tool_use", "id": call.0, "name": tool, "input": input },
        ]));
        self.add(
            &ToolCalled {
                call: call.clone(),
                tool: tool.to_owned(),
                input: input.to_string(),
                request: EventId(uuid::Uuid::nil()),
                effect: ToolEffect::Writes,
            }
            .into(),
        );
        self.finish(call, result, code.is_some_and(|code| code != 0), code);
    }

    pub(super) fn finish(&mut self, call: CallId, result: &str, is_error: bool, code: Option<i32>) {
        let exit = code.map(|code| ToolExit { code: Some(code), signal: None, timed_out: false });
        let (content, changed) = (result.to_owned(), Vec::new());
        self.add(&ToolFinished { call, is_error, content, exit, output: None, changed, duration_ms: 1 }.into());
    }

    pub(super) fn set(&self) -> WorkingSet {
        let mut set = WorkingSet::with_names();
        self.events.iter().for_each(|event| set.apply(event));
        set
    }
}
