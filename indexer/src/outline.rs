//! The outline of a session: the user's words, the commands with their exit codes, the files, the errors; each with the
//! sequence number of the event that says so. Extractive and deterministic: no model is asked.

use retrace_events::payload::tool::ToolExit;
use retrace_events::payload::{Payload, Tool, Turn, tool, turn};
use retrace_events::{CallId, Event};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// The outline of a session, grown event by event.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Outline {
    /// The user's prompts, word for word.
    pub prompts: Vec<OutlinePrompt>,
    /// Commands, in the order in which they were begun.
    pub commands: Vec<OutlineCommand>,
    /// Files by path.
    pub files: BTreeMap<String, OutlineFile>,
    #[serde(skip)]
    open: HashMap<CallId, OpenCall>,
    /// Commands that run in the background, by their call.
    #[serde(skip)]
    background: HashMap<CallId, usize>,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutlinePrompt {
    /// Its event.
    pub seq: u64,
    /// The words.
    pub text: String,
    /// How its turn ended: `completed`, `interrupted`, ... ; `None` while it goes on.
    pub end: Option<String>,
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutlineCommand {
    /// The event that began it.
    pub seq: u64,
    /// As the model wrote it.
    pub command: String,
    /// How it ended, in words: `exit 0`, `signal 9`, `timed out`, `unknown`; `None` while it runs.
    pub end: Option<String>,
}

/// A file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct OutlineFile {
    /// How often it was read.
    pub reads: u32,
    /// How often it was changed.
    pub changes: u32,
    /// The last event that touched it.
    pub last_seq: u64,
}

/// A call whose result has not come.
#[derive(Debug, Clone)]
struct OpenCall {
    command: Option<usize>,
    path: Option<String>,
}

impl Outline {
    /// The outline of a whole session.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut outline = Self::default();
        events.into_iter().for_each(|event| outline.apply(event));
        outline
    }

    /// Takes the next event in.
    pub fn apply(&mut self, event: &Event) {
        let seq = event.envelope.seq;
        match event.payload.known() {
            Some(Payload::Turn(turn)) => self.apply_turn(seq, turn),
            Some(Payload::Tool(tool)) => self.apply_tool(seq, tool),
            Some(
                Payload::Session(_)
                | Payload::Context(_)
                | Payload::Sandbox(_)
                | Payload::Workspace(_)
                | Payload::Summary(_)
                | Payload::Job(_)
                | Payload::Control(_),
            )
            | None => {}
        }
    }

    /// The same outline with `change` applied to every foreign text in it, whole; for taking secrets out before a text is cut.
    #[must_use]
    pub fn map_texts(mut self, change: impl Fn(&str) -> String) -> Self {
        self.prompts.iter_mut().for_each(|prompt| prompt.text = change(&prompt.text));
        self.commands.iter_mut().for_each(|command| command.command = change(&command.command));
        self.files = self.files.into_iter().map(|(path, file)| (change(&path), file)).collect();
        self
    }

    fn apply_turn(&mut self, seq: u64, event: &Turn) {
        match event {
            Turn::Prompted(prompt) => {
                self.prompts.push(OutlinePrompt { seq, text: prompt.text.clone(), end: None });
            }
            Turn::Interrupted(_) => self.end_turn("interrupted"),
            Turn::Ended(ended) => self.end_turn(outcome(ended.outcome)),
            Turn::Requested(_) | Turn::Answered(_) | Turn::Failed(_) | Turn::Queued(_) | Turn::Warned(_) => {}
        }
    }

    fn end_turn(&mut self, how: &str) {
        for prompt in self.prompts.iter_mut().rev().take_while(|prompt| prompt.end.is_none()) {
            prompt.end = Some(how.to_owned());
        }
    }

    fn apply_tool(&mut self, seq: u64, event: &Tool) {
        match event {
            Tool::Called(called) => self.begin(seq, called),
            Tool::Finished(finished) => {
                self.end_call(&finished.call, seq, finished.exit.map_or_else(|| "no exit code".to_owned(), exit));
                for path in &finished.changed {
                    let file = self.files.entry(path.clone()).or_default();
                    file.changes += 1;
                    file.last_seq = seq;
                }
            }
            Tool::Denied(denied) => self.end_call(&denied.call, seq, "denied".to_owned()),
            Tool::OutcomeUnknown(unknown) => self.end_call(&unknown.call, seq, "unknown".to_owned()),
            Tool::BackgroundStarted(started) => self.goes_on(&started.call),
            Tool::BackgroundEnded(ended) => {
                let command = self.background.remove(&ended.call).and_then(|place| self.commands.get_mut(place));
                if let Some(command) = command {
                    command.end = Some(ended.exit.map_or_else(|| "unknown".to_owned(), exit));
                }
            }
            Tool::Approved(_) | Tool::ApprovalAsked(_) | Tool::Parted(_) | Tool::ResultReused(_) | Tool::Refused(_) => {
            }
        }
    }

    fn begin(&mut self, seq: u64, called: &tool::ToolCalled) {
        let input: serde_json::Value = serde_json::from_str(&called.input).unwrap_or_default();
        let text = |name: &str| input.get(name).and_then(serde_json::Value::as_str).map(str::to_owned);
        let command = text("command").map(|command| {
            self.commands.push(OutlineCommand { seq, command, end: None });
            self.commands.len() - 1
        });
        let path = text("path").filter(|_| called.tool == "read_file");
        self.open.insert(called.call.clone(), OpenCall { command, path });
    }

    /// The newest command goes on in the background: commands are carried out one at a time.
    fn goes_on(&mut self, call: &CallId) {
        if let Some(command) = self.commands.last_mut() {
            command.end = Some("in the background".to_owned());
            self.background.insert(call.clone(), self.commands.len() - 1);
        }
    }

    fn end_call(&mut self, call: &CallId, seq: u64, how: String) {
        let Some(open) = self.open.remove(call) else { return };
        if let Some(command) = open.command.and_then(|place| self.commands.get_mut(place)) {
            command.end = Some(how);
        }
        if let Some(path) = open.path {
            let file = self.files.entry(path).or_default();
            file.reads += 1;
            file.last_seq = seq;
        }
    }
}

fn exit(exit: ToolExit) -> String {
    match exit {
        ToolExit { timed_out: true, .. } => "timed out".to_owned(),
        ToolExit { code: Some(code), .. } => format!("exit {code}"),
        ToolExit { signal: Some(signal), .. } => format!("signal {signal}"),
        ToolExit { code: None, signal: None, .. } => "no exit code".to_owned(),
    }
}

const fn outcome(outcome: turn::TurnOutcome) -> &'static str {
    match outcome {
        turn::TurnOutcome::Completed => "completed",
        turn::TurnOutcome::Refused => "refused",
        turn::TurnOutcome::AnswerTooLong => "answer too long",
        turn::TurnOutcome::ContextFull => "context full",
        turn::TurnOutcome::BudgetReached => "budget reached",
        turn::TurnOutcome::RequestFailed => "request failed",
        turn::TurnOutcome::RuntimeFailed => "runtime failed",
        turn::TurnOutcome::Stuck => "stuck",
    }
}
