//! What a conversation knows of its session: the fold of its events, and what must be said below some of them.

use super::asking::{self, Decision, Waits};
use super::output::Output;
use super::render::{AnswerText, asks, clean};
use super::watch::{Onlooker, Remark};
use retrace_events::payload::sandbox::SandboxStarted;
use retrace_events::payload::tool::ToolApprovalAsked;
use retrace_events::payload::turn::{TurnEnded, TurnOutcome};
use retrace_events::payload::{Payload, Sandbox, Tool, Turn};
use retrace_events::redact::Redactor;
use retrace_events::{CallId, Event, SessionState};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// A session as the conversation sees it.
pub(crate) struct View {
    /// The session's state.
    pub(crate) state: SessionState,
    /// The sandbox it runs in.
    pub(crate) sandbox: Option<SandboxStarted>,
    /// The calls that somebody was asked about, while they wait.
    asked: Vec<ToolApprovalAsked>,
    /// What waits and was put to the user last.
    put: Option<CallId>,
    /// Prompts that stand on the screen already, because they were typed there and begin at once.
    typed: VecDeque<String>,
    output: Output,
    redactor: Arc<Redactor>,
    /// Whether what is asked can be answered here.
    answers: bool,
    /// Whether each turn's end is the end of what there is to say: where the session stands is shown then.
    talks: bool,
    /// The text of the newest answer.
    last_text: String,
    /// Said once, above the first event and below the sandbox.
    past: String,
    greeting: String,
}

impl View {
    /// A view of a session that stands at `state`.
    pub(crate) fn new(state: SessionState, output: Output, redactor: Arc<Redactor>, answers: bool) -> Self {
        let (asked, typed) = (Vec::new(), VecDeque::new());
        let (past, greeting) = (String::new(), String::new());
        let (talks, last_text) = (false, String::new());
        Self {
            state,
            sandbox: None,
            asked,
            put: None,
            typed,
            output,
            redactor,
            answers,
            talks,
            last_text,
            past,
            greeting,
        }
    }

    /// Takes in a question of the past that still waits.
    pub(crate) fn know(&mut self, asked: ToolApprovalAsked) {
        self.asked.push(asked);
    }

    /// Says with the end of each turn where the session stands; the answer is data where the screen does not show it.
    pub(crate) fn talking(mut self) -> Self {
        self.talks = true;
        self
    }

    /// Says `past` before anything else, and `greeting` as soon as the sandbox is known.
    pub(crate) fn greet(&mut self, past: String, greeting: String) {
        (self.past, self.greeting) = (past, greeting);
    }

    /// What the next line is an answer to.
    pub(crate) fn waits(&self) -> Option<Waits> {
        asking::waiting(&self.state).into_iter().next()
    }

    /// The same, once everything was handled that was said before `heard` (the next place in the control stream): before
    /// that it may have been answered.
    pub(crate) fn waits_still(&self, heard: u64) -> Option<Waits> {
        self.waits().filter(|_| self.state.control_next >= heard)
    }

    /// The answers that there are to a call that waits for approval, in words.
    pub(crate) fn answers_to(&self, call: &CallId) -> &'static str {
        if self.only_once(call) { "y, or n" } else { "y, s, a, or n" }
    }

    /// Whether `decision` is one of them.
    pub(crate) fn offers(&self, call: &CallId, decision: &Decision) -> bool {
        !(decision.reaches_further() && self.only_once(call))
    }

    fn only_once(&self, call: &CallId) -> bool {
        self.asked.iter().any(|asked| asked.call == *call && asks::only_once(asked, &self.redactor))
    }

    /// Whether something goes on or is about to: a turn, a queued prompt, or something said before `heard` that was
    /// not handled yet.
    pub(crate) fn is_busy(&self, heard: u64) -> bool {
        self.state.turn.is_some() || !self.state.queue.is_empty() || self.state.control_next < heard
    }

    /// Whether the session runs without isolation.
    pub(crate) fn is_exposed(&self) -> bool {
        self.sandbox.as_ref().is_some_and(|sandbox| sandbox.backend == "none")
    }

    /// A prompt was typed that will begin at once: it need not be shown again.
    pub(crate) fn foresee(&mut self, text: String) {
        self.typed.push_back(text);
    }

    /// Whether `event` is a question that still waits, and that the user can answer here.
    pub(crate) fn is_open_question(&self, event: &Event) -> bool {
        let call = match event.payload.known() {
            Some(Payload::Tool(Tool::ApprovalAsked(asked))) => &asked.call,
            Some(Payload::Tool(Tool::Called(called))) => &called.call,
            _ => return false,
        };
        self.answers && asking::waiting(&self.state).iter().any(|waits| waits.call() == call)
    }

    /// What waits for the user's word, put to them, unless it was before.
    pub(crate) fn put_questions(&mut self) -> String {
        let Some(waits) = self.waits().filter(|_| self.answers) else {
            self.put = None;
            return String::new();
        };
        if self.put.as_ref() == Some(waits.call()) {
            return String::new();
        }
        self.put = Some(waits.call().clone());
        match &waits {
            Waits::Approval { call } => match self.asked.iter().find(|asked| asked.call == *call) {
                Some(asked) => asks::approval(asked, self.output.note_style(), &self.redactor),
                None => format!("call {} waits for approval: y, s, a, or n\n", clean::short(&call.0, 80)),
            },
            Waits::Answer { call } => {
                let input = self.state.calls.iter().find(|open| open.id == *call).map(|open| open.input.as_str());
                asks::question(input.unwrap_or("{}"), self.output.note_style(), &self.redactor)
            }
        }
    }

    fn take(&mut self, event: &Event) -> Remark {
        self.state.apply(event);
        let mut remark = Remark { above: std::mem::take(&mut self.past), ..Remark::default() };
        match event.payload.known() {
            Some(Payload::Tool(Tool::ApprovalAsked(asked))) => {
                self.asked.retain(|known| known.call != asked.call);
                self.asked.push(asked.clone());
                // It is put to the user below, with the answers there are.
                remark.hide = self.answers;
            }
            Some(Payload::Tool(Tool::Called(called))) if crate::tools::waits_for_user(&called.tool) => {
                remark.hide = self.answers;
            }
            Some(Payload::Turn(Turn::Queued(queued))) => {
                remark.hide = self.typed.front() == Some(&queued.text);
            }
            Some(Payload::Turn(Turn::Prompted(prompted))) if self.typed.front() == Some(&prompted.text) => {
                self.typed.pop_front();
                remark.hide = true;
            }
            Some(Payload::Turn(Turn::Answered(answered))) => {
                self.last_text = AnswerText::read(&answered.content, &self.redactor).text;
            }
            Some(Payload::Turn(Turn::Ended(ended))) => remark.below = self.end(Some(ended)),
            Some(Payload::Turn(Turn::Interrupted(_))) => remark.below = self.end(None),
            Some(Payload::Sandbox(Sandbox::Started(started))) => {
                self.sandbox = Some(started.clone());
                remark.below = std::mem::take(&mut self.greeting);
            }
            _ => {}
        }
        let open = &self.state.calls;
        self.asked.retain(|asked| open.iter().any(|call| call.id == asked.call));
        remark.below.push_str(&self.put_questions());
        remark
    }

    fn end(&mut self, ended: Option<&TurnEnded>) -> String {
        let text = std::mem::take(&mut self.last_text);
        if !self.talks {
            return String::new();
        }
        if ended.is_some() && !text.is_empty() && !self.output.json && !self.output.one_screen() {
            // A reader that is gone is noticed by whoever reads its exit code; the session goes on.
            let _ = self.output.data(&format!("{text}\n"));
        }
        let hint = match ended.map(|ended| ended.outcome) {
            Some(TurnOutcome::BudgetReached) => {
                "hint: `/budget steps 100` (or tokens, cost, time) raises it; the next prompt goes on\n"
            }
            _ => "",
        };
        format!("{hint}{}", asks::status_line(&self.state, self.output.note_style()))
    }
}

/// A view that the watcher feeds and the conversation reads.
#[derive(Clone)]
pub(crate) struct SharedView {
    view: Arc<Mutex<View>>,
    changed: Arc<watch::Sender<()>>,
}

impl SharedView {
    /// Shares `view`.
    pub(crate) fn new(view: View) -> Self {
        Self { view: Arc::new(Mutex::new(view)), changed: Arc::new(watch::channel(()).0) }
    }

    /// The view, locked: never across a wait.
    pub(crate) fn lock(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Told of every change.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }
}

impl Onlooker for SharedView {
    fn see(&mut self, event: &Event) -> Remark {
        self.lock().take(event)
    }

    fn shown(&mut self) {
        self.changed.send_replace(());
    }
}
