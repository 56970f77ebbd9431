//! From the lines of one conversation to drafts, in order. What was given is never taken back.

use super::answer::{Answer, Answered};
use super::blocks::Content;
use super::failures::failure;
use super::outcome::{OpenCall, Outcome, draft};
use super::record::{Message, Record};
use super::report::LeftOut;
use super::words::Said;
use crate::agent::title_of;
use crate::claude::ModelTable;
use crate::import::Draft;
use retrace_events::payload::session::{SessionImported, SessionStarted};
use retrace_events::payload::settings::Settings;
use retrace_events::payload::tool::ToolOutcomeUnknown;
use retrace_events::payload::turn::{TurnEnded, TurnOutcome};
use retrace_events::redact::Redactor;
use retrace_events::{CallId, EventId, Payload, StreamId};
use std::collections::HashSet;
use std::sync::Arc;

/// Who writes an answer that no model gave.
const SYNTHETIC: &str = "<synthetic>";

/// What a session begins with.
#[derive(Debug, Clone)]
pub(in crate::import) struct Beginning {
    /// The session.
    pub(in crate::import) stream: StreamId,
    /// Claude Code's name of it.
    pub(in crate::import) source_session: String,
    /// Claude Code's version.
    pub(in crate::import) source_version: String,
    /// What it is about.
    pub(in crate::import) title: String,
    /// The workspace's absolute path.
    pub(in crate::import) workspace: String,
    /// How it behaves when it goes on.
    pub(in crate::import) settings: Settings,
    /// When it began, in milliseconds since 1970.
    pub(in crate::import) at_ms: u64,
}

/// The turn, as far as it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Turn {
    /// There is none.
    None,
    /// It goes on.
    Open,
    /// It ends with the event of this record, unless the user had interrupted it.
    Over { record: String, at_ms: u64, outcome: TurnOutcome, note: String },
}

/// Something that waits for a turn: its line, when, and the words.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) record: String,
    pub(super) at_ms: u64,
    pub(super) text: String,
    pub(super) is_command: bool,
}

/// Makes drafts of a conversation's lines.
pub(in crate::import) struct Converter {
    pub(super) redactor: Arc<Redactor>,
    models: ModelTable,
    pub(super) workspace: String,
    pub(super) origin: EventId,
    drafts: Vec<Draft>,
    names: HashSet<String>,
    pub(super) last_ms: u64,
    pub(super) turn: Turn,
    /// The model that answered last.
    model: String,
    answer: Option<Answer>,
    pub(super) open: Vec<OpenCall>,
    pub(super) waiting: Vec<Waiting>,
    /// What compacted the conversation, once that has begun.
    pub(super) compacted_by: Option<String>,
    /// What was not taken over.
    pub(in crate::import) left_out: LeftOut,
}

impl Converter {
    /// A converter for the session that `beginning` describes.
    pub(in crate::import) fn new(beginning: Beginning, redactor: Arc<Redactor>, models: ModelTable) -> Self {
        let Beginning { stream, source_session, source_version, title, workspace, settings, at_ms } = beginning;
        let imported = SessionImported { source: "claude-code".to_owned(), source_session, source_version };
        let origin = draft("session", "imported", at_ms, imported.into());
        let started = SessionStarted {
            title: title_of(&redactor.redact(&title)),
            workspace: workspace.clone(),
            retrace_version: env!("CARGO_PKG_VERSION").to_owned(),
            settings,
        };
        let mut converter = Self {
            redactor,
            models,
            workspace,
            origin: origin.id(&stream),
            drafts: Vec::new(),
            names: HashSet::new(),
            last_ms: at_ms,
            turn: Turn::None,
            model: String::new(),
            answer: None,
            open: Vec::new(),
            waiting: Vec::new(),
            compacted_by: None,
            left_out: LeftOut::default(),
        };
        converter.give(draft("session", "started", at_ms, started.into()));
        converter.give(origin);
        converter
    }

    /// The drafts since the last time.
    pub(in crate::import) fn take(&mut self) -> Vec<Draft> {
        std::mem::take(&mut self.drafts)
    }

    /// Takes the next line. `name` is its name in the transcript: its UUID, or its hash.
    pub(in crate::import) fn line(&mut self, name: &str, record: &Record<'_>) {
        let at_ms = record.at_ms.unwrap_or(self.last_ms);
        match record.kind() {
            "user" => self.user(name, record, at_ms),
            "assistant" => self.assistant(name, record, at_ms),
            "system" => self.system(name, record, at_ms),
            "attachment" => self.attachment(name, record, at_ms),
            other => self.left_out.add(other),
        }
    }

    /// The end of the transcript. `complete` says that nothing is in the making any more; tells whether something was held back.
    pub(in crate::import) fn finish(&mut self, complete: bool) -> bool {
        if complete {
            self.flush();
            self.end_turn();
        }
        self.answer.take().is_some()
    }

    fn assistant(&mut self, name: &str, record: &Record<'_>, at_ms: u64) {
        let Some(message) = record.message() else { return self.left_out.add("assistant lines without a message") };
        if record.is_api_error_message {
            let text = Content::of(message.content).text();
            return self.failed(name, record, &text, at_ms, None);
        }
        if message.model.as_deref() == Some(SYNTHETIC) {
            return self.left_out.add("answers that no model gave");
        }
        if !self.answer.as_ref().is_some_and(|answer| answer.goes_on_with(&message)) {
            self.flush();
            self.settle(name, at_ms, "no result of this call stands in the transcript");
            self.begin_turn(name, at_ms);
            let mut answer = Answer::new(name, &message, self.last_ms, at_ms);
            self.model = answer.model_or(&self.model);
            self.answer = Some(answer);
        }
        self.extend_answer(&message, record, at_ms);
    }

    fn extend_answer(&mut self, message: &Message<'_>, record: &Record<'_>, at_ms: u64) {
        let Some(answer) = &mut self.answer else { return };
        let dropped = answer.add(message, record.request_id.as_ref(), at_ms);
        for _ in 0..dropped {
            self.left_out.add("blocks of answers");
        }
    }

    /// A request that came to nothing.
    pub(super) fn failed(&mut self, name: &str, record: &Record<'_>, text: &str, at_ms: u64, retry_in_ms: Option<u64>) {
        self.flush();
        if self.turn != Turn::Open || !self.open.is_empty() {
            return self.left_out.add("failures outside a turn");
        }
        let failed = failure(record, text, self.origin, retry_in_ms, &self.redactor);
        let note = failed.message.clone();
        self.give(draft(name, "failure", at_ms, failed.into()));
        if retry_in_ms.is_none() {
            let (record, outcome) = (name.to_owned(), TurnOutcome::RequestFailed);
            self.turn = Turn::Over { record, at_ms: self.last_ms, outcome, note };
        }
    }

    /// What came of a call: kept with its answer while that is in the making.
    pub(super) fn outcome(&mut self, name: &str, at_ms: u64, outcome: Outcome) {
        match &mut self.answer {
            Some(answer) => answer.outcomes.push((name.to_owned(), at_ms, outcome)),
            None => self.result(name, at_ms, outcome),
        }
    }

    fn result(&mut self, name: &str, at_ms: u64, outcome: Outcome) {
        let place = self.open.iter().position(|call| call.id == outcome.call);
        let call = place.map(|place| self.open.remove(place));
        if call.is_none() {
            self.left_out.add("results without a call");
            return;
        }
        let drafts = outcome.drafts(name, call.as_ref(), at_ms, &self.workspace, &self.redactor);
        drafts.into_iter().for_each(|draft| self.give(draft));
    }

    /// The answer in the making is whole.
    pub(super) fn flush(&mut self) {
        let Some(answer) = self.answer.take() else { return };
        let (record, origin) = (answer.record.clone(), self.origin);
        let Answered { drafts, calls, stop_reason, outcomes } = answer.finish(origin, &self.models);
        drafts.into_iter().for_each(|draft| self.give(draft));
        self.turn = match (calls.is_empty(), ending(&stop_reason)) {
            (true, Some((outcome, note))) => Turn::Over { record, at_ms: self.last_ms, outcome, note: note.to_owned() },
            _ => Turn::Open,
        };
        self.open = calls;
        for (name, at_ms, outcome) in outcomes {
            self.result(&name, at_ms, outcome);
        }
    }

    /// Calls that will have no result.
    pub(super) fn settle(&mut self, name: &str, at_ms: u64, why: &str) {
        for (place, call) in std::mem::take(&mut self.open).into_iter().enumerate() {
            let content = format!("Outcome unknown: {why}.");
            let unknown = ToolOutcomeUnknown { call: CallId(call.id), content };
            self.give(draft(name, &format!("unknown {place}"), at_ms, unknown.into()));
        }
    }

    /// Ends the turn, if it is over.
    pub(super) fn end_turn(&mut self) {
        if let Turn::Over { record, at_ms, outcome, note } = self.turn.clone() {
            self.give(draft(&record, "end", at_ms, TurnEnded { outcome, note }.into()));
            self.turn = Turn::None;
        }
    }

    /// Gives a draft. Time never goes back, and no name stands twice.
    pub(super) fn give(&mut self, mut draft: Draft) {
        self.last_ms = self.last_ms.max(draft.at_ms);
        draft.at_ms = self.last_ms;
        let name = draft.name.clone();
        let mut count = 1_u64;
        while !self.names.insert(draft.name.clone()) {
            count += 1;
            draft.name = format!("{name} {count}");
        }
        self.drafts.push(draft);
    }

    /// As [`Self::give`], from its parts.
    pub(super) fn say(&mut self, name: &str, part: &str, at_ms: u64, payload: impl Into<Payload>) {
        self.give(draft(name, part, at_ms, payload.into()));
    }

    /// What `text` says, read as Claude Code's own if `is_meta`.
    pub(super) fn said(text: &str, is_meta: bool) -> Said {
        Said::of(text, is_meta)
    }
}

/// How a turn ends after an answer without calls; `None` when it goes on.
fn ending(stop_reason: &str) -> Option<(TurnOutcome, &'static str)> {
    match stop_reason {
        "pause_turn" => None,
        "refusal" => Some((TurnOutcome::Refused, "the model declined to answer")),
        "max_tokens" => Some((TurnOutcome::AnswerTooLong, "the answer was cut at its token limit")),
        "model_context_window_exceeded" => Some((TurnOutcome::ContextFull, "the model's context window is full")),
        _ => Some((TurnOutcome::Completed, "done")),
    }
}
