//! A session as text, event by event.

use super::answer::AnswerText;
use super::calls::Calls;
use super::{Style, clean, markdown, other, units};
use crate::tools::Tool;
use retrace_events::fold::OpenCall;
use retrace_events::payload::turn::{TurnAnswered, TurnEnded, TurnFailed, TurnInterrupted, TurnOutcome, TurnRequested};
use retrace_events::payload::{Context, Payload, Sandbox, Turn, Workspace};
use retrace_events::redact::Redactor;
use retrace_events::{Event, payload};
use std::sync::Arc;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What a reader wants to follow the work.
    Short,
    /// Everything: thinking, whole results, requests, contexts.
    Full,
}

/// Makes text of a session's events, in order.
pub(crate) struct Transcript {
    style: Style,
    detail: Detail,
    redactor: Arc<Redactor>,
    calls: Calls,
    /// Whether the session runs without a sandbox, which is said with every prompt.
    exposed: bool,
    /// Said beside the sandbox when it starts: where the log is.
    log: Option<String>,
}

impl Transcript {
    /// A transcript that has seen nothing yet.
    #[must_use]
    pub(crate) fn new(style: Style, detail: Detail, redactor: Arc<Redactor>, tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { style, detail, redactor, calls: Calls::new(tools), exposed: false, log: None }
    }

    /// Says where the log is, too, when the sandbox starts.
    #[must_use]
    pub(crate) fn naming_log(mut self, log: String) -> Self {
        self.log = Some(log);
        self
    }

    /// Takes in calls that were begun before what will be shown, so that their results can name them.
    pub(crate) fn know(&mut self, calls: &[OpenCall]) {
        for call in calls {
            self.calls.know(call, &self.redactor);
        }
    }

    /// Whether the session runs without a sandbox.
    #[must_use]
    pub(crate) const fn exposed(&self) -> bool {
        self.exposed
    }

    /// The style in use.
    #[must_use]
    pub(crate) const fn style(&self) -> Style {
        self.style
    }

    /// The redactor in use.
    #[must_use]
    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The next event as whole lines; empty when it is of no interest at this detail.
    #[must_use]
    pub(crate) fn event(&mut self, event: &Event) -> String {
        let Some(payload) = event.payload.known() else {
            let kind = clean::short(&event.envelope.kind, 80);
            return format!("{}\n", self.style.dim(&format!("? {kind} (only a newer version can read it)")));
        };
        match payload {
            Payload::Session(session) => other::session(event, session, self.style, self.detail, &self.redactor),
            Payload::Turn(turn) => self.turn(turn),
            Payload::Tool(tool) => self.tool(tool),
            Payload::Sandbox(sandbox) => self.sandbox(sandbox),
            // An image is a part of what was said, unlike the rest of a context.
            Payload::Context(Context::ImageAttached(image)) => {
                format!("{}\n", self.style.dim(&other::image(image, &self.redactor)))
            }
            // What was said before is not there any more as it was: whoever watches should know.
            Payload::Context(Context::EpochStarted(epoch)) if epoch.number > 1 => {
                format!("{}\n", self.style.dim(&other::rotation(epoch, &self.redactor)))
            }
            Payload::Context(context) => self.full(other::context(context, &self.redactor)),
            Payload::Workspace(failed @ Workspace::SnapshotFailed(_)) => {
                self.style.yellow(&format!("!{}", other::workspace(failed, &self.redactor))) + "\n"
            }
            Payload::Workspace(workspace) => self.full(other::workspace(workspace, &self.redactor)),
            Payload::Summary(summary) => self.full(other::summary(summary, &self.redactor)),
            Payload::Job(job) => self.full(other::job(job, &self.redactor)),
            Payload::Control(control) => self.full(other::control(control, &self.redactor)),
        }
    }

    /// Takes in the calls an answer asks for, so that what is decided on them can name them.
    pub(super) fn answered(&mut self, answered: &TurnAnswered) {
        self.calls.asked_for(&answered.content, &self.redactor);
    }

    /// The text of an answer that was not streamed.
    #[must_use]
    pub(crate) fn answer_text(&self, answered: &TurnAnswered) -> String {
        let tab = match self.style {
            Style::Plain => " ",
            Style::Coloured => markdown::TAB,
        };
        let answer = AnswerText::read_with(&answered.content, tab, &self.redactor);
        let mut text = String::new();
        if self.detail == Detail::Full && !answer.thinking.is_empty() {
            text.push_str(&self.style.dim(&indent("~ ", &answer.thinking)));
            text.push('\n');
        }
        if !answer.text.is_empty() {
            text.push_str(&self.prose(answer.text));
        }
        text
    }

    /// Words of the model's, redacted and clean, as whole lines: in colours Markdown, otherwise as they were written.
    fn prose(&self, words: String) -> String {
        match self.style {
            Style::Plain => words + "\n",
            Style::Coloured => markdown::whole(&words, &self.redactor),
        }
    }

    /// Tokens, cost and time of an answer.
    #[must_use]
    pub(crate) fn answer_figures(&self, answered: &TurnAnswered) -> String {
        let usage = &answered.usage;
        let cached = match usage.cache_read_tokens {
            0 => String::new(),
            read => format!(" ({} cached)", units::count(read)),
        };
        let stop = match answered.stop_reason.as_str() {
            "end_turn" | "tool_use" => String::new(),
            other => format!(" · stopped: {}", self.short(other, 40)),
        };
        let line = format!(
            "  {} in{cached} · {} out · {} · {}{stop}",
            units::count(usage.total_input_tokens()),
            units::count(usage.output_tokens),
            units::cost(answered.cost_microusd),
            units::duration(answered.duration_ms),
        );
        format!("{}\n", self.style.dim(&line))
    }

    fn short(&self, foreign: &str, max_chars: usize) -> String {
        other::short(&self.redactor, foreign, max_chars)
    }

    fn turn(&mut self, turn: &Turn) -> String {
        match turn {
            Turn::Prompted(prompted) => {
                let words = clean::text(&self.redactor.redact(&prompted.text));
                let mark = if self.exposed { "[no sandbox] › " } else { "› " };
                format!("\n{}\n", self.style.cyan(&indent(mark, &words)))
            }
            Turn::Requested(requested) => self.full(request_line(requested)),
            Turn::Answered(answered) => {
                self.answered(answered);
                format!("{}{}", self.answer_text(answered), self.answer_figures(answered))
            }
            Turn::Failed(failed) => self.failure(failed),
            Turn::Interrupted(TurnInterrupted { by, during }) => {
                let line = format!("interrupted by {}: {}", self.short(by, 40), self.short(during, 80));
                format!("{}\n", self.style.yellow(&line))
            }
            Turn::Ended(ended) => self.end(ended),
            Turn::Queued(queued) => {
                let files = match queued.attachments.len() as u64 {
                    0 => String::new(),
                    files => format!(" (with {})", units::of(files, "file")),
                };
                format!("{}\n", self.style.dim(&format!("queued: {}{files}", self.short(&queued.text, 200))))
            }
            Turn::Warned(warned) => {
                let (rule, note) = (self.short(&warned.rule, 60), self.short(&warned.note, 1_000));
                format!(
                    "{} {note} {}\n",
                    self.style.yellow("! the model is warned:"),
                    self.style.dim(&format!("({rule})"))
                )
            }
        }
    }

    fn failure(&self, failed: &TurnFailed) -> String {
        let status = failed.status.map(|status| format!(" (HTTP {status})")).unwrap_or_default();
        let message = clean::short(&self.redactor.redact(&failed.message), 500);
        let next = match failed.retry_in_ms {
            Some(0) => " · trying again".to_owned(),
            Some(ms) => format!(" · trying again in {}", units::duration(ms)),
            None => String::new(),
        };
        let billed = match failed.billed_microusd {
            0 => String::new(),
            cost => format!(" · may have cost up to {}", units::cost(cost)),
        };
        let what = other::words(&format!("{:?}", failed.failure));
        format!("{} {what}{status}: {message}{billed}{next}\n", self.style.red("!"))
    }

    fn end(&self, ended: &TurnEnded) -> String {
        let note = clean::text(&self.redactor.redact(&ended.note));
        let word = match ended.outcome {
            TurnOutcome::Completed => return String::new(),
            TurnOutcome::Refused => "the model refused",
            TurnOutcome::AnswerTooLong => "the answer was too long",
            TurnOutcome::ContextFull => "the context window is full",
            TurnOutcome::BudgetReached => "a budget is used up",
            TurnOutcome::RequestFailed => "the request failed",
            TurnOutcome::Stuck => "stopped: the model went round in circles",
            TurnOutcome::RuntimeFailed => "retrace could not go on",
        };
        let note = if note.is_empty() { String::new() } else { format!(": {note}") };
        let hint = match ended.outcome {
            TurnOutcome::Stuck => "hint: a new prompt goes on from here; say what to try instead\n",
            TurnOutcome::Completed
            | TurnOutcome::Refused
            | TurnOutcome::AnswerTooLong
            | TurnOutcome::ContextFull
            | TurnOutcome::BudgetReached
            | TurnOutcome::RequestFailed
            | TurnOutcome::RuntimeFailed => "",
        };
        format!("{}{note}\n{hint}", self.style.red(word))
    }

    fn tool(&mut self, tool: &payload::Tool) -> String {
        self.calls.event(tool, self.style, self.detail, &self.redactor)
    }

    fn sandbox(&mut self, sandbox: &Sandbox) -> String {
        if let Sandbox::Started(started) = sandbox {
            self.exposed = started.backend == "none";
        }
        other::sandbox(sandbox, self.style, self.log.as_deref(), &self.redactor)
    }

    /// A dim line that only the full transcript has.
    fn full(&self, line: String) -> String {
        match self.detail {
            Detail::Short => String::new(),
            Detail::Full => format!("{}\n", self.style.dim(&line)),
        }
    }
}

fn request_line(requested: &TurnRequested) -> String {
    format!(
        "  request to {}: attempt {}, {}, about {} tokens, at most {}, body {}",
        clean::short(&requested.model, 80),
        requested.attempt,
        units::size(requested.body_bytes),
        units::count(requested.estimated_input_tokens),
        units::cost(requested.cost_bound_microusd),
        requested.body_hash.short(),
    )
}

/// `mark` before the first line, blanks of its width before the others.
pub(super) fn indent(mark: &str, text: &str) -> String {
    let blank = " ".repeat(mark.chars().count());
    let line = |(at, line): (usize, &str)| format!("{}{line}", if at == 0 { mark } else { &blank });
    let lines: Vec<String> = text.lines().enumerate().map(line).collect();
    if lines.is_empty() { mark.trim_end().to_owned() } else { lines.join("\n") }
}
