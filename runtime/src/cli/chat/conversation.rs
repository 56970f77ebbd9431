//! A conversation with one session: what the user types goes into the session's control stream, what happens is shown as it
//! comes. Everything the user says goes in by that one way, so it has one order and is not lost.

use super::Chat;
use super::editor::Shown;
use super::input::Typed;
use super::line::{self, Said};
use super::opening::{Role, Running, Target};
use super::signals::Sign;
use crate::cli::asking::{Decision, Waits};
use crate::cli::exit::{CliError, Exit};
use crate::cli::render::clean;
use retrace_events::payload::control::{
    ControlApprovalGiven, ControlCancelRequested, ControlPromptSent, ControlQuestionAnswered,
};
use retrace_events::payload::turn::Attachment;
use retrace_events::{CallId, Payload};
use std::time::{Duration, Instant};

/// How long a Ctrl-C waits for the second one that leaves.
const TWICE: Duration = Duration::from_secs(3);

/// Whether the conversation goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Flow {
    /// It does.
    Stay,
    /// The user leaves.
    Leave,
    /// The user goes to another session.
    Switch(Target),
}

/// How a conversation ended.
#[derive(Debug)]
pub(super) enum Left {
    /// The user leaves.
    Leave,
    /// The user goes to another session.
    Switch(Target),
    /// The process is to end.
    Terminate,
    /// The agent ended by itself.
    Ended,
}

/// A conversation.
pub(super) struct Conversation<'a> {
    /// The chat it belongs to.
    pub(super) chat: &'a mut Chat,
    /// The session.
    pub(super) running: &'a mut Running,
    /// The first place in the control stream behind what was said here.
    heard: u64,
    /// When Ctrl-C was pressed last.
    pressed: Option<Instant>,
    /// Images for the next prompt.
    attachments: Vec<Attachment>,
}

impl<'a> Conversation<'a> {
    /// A conversation with the session that is open. What was said to it before is handled first.
    ///
    /// # Errors
    /// When the log cannot be asked.
    pub(super) async fn begin(
        chat: &'a mut Chat,
        running: &'a mut Running,
        attachments: Vec<Attachment>,
    ) -> Result<Self, CliError> {
        let heard = match running.role {
            Role::Holder => chat.log.head(running.sender.stream()).await?.map_or(0, |head| head.seq + 1),
            Role::Sender | Role::Watcher => 0,
        };
        Ok(Self { chat, running, heard, pressed: None, attachments })
    }

    /// Goes on until the user leaves.
    ///
    /// # Errors
    /// When the input or the agent fails.
    pub(super) async fn run(&mut self) -> Result<Left, CliError> {
        let mut changes = self.running.view.changes();
        loop {
            let listens = self.refresh();
            let flow = tokio::select! {
                biased;
                sign = self.chat.signals.next() => match sign {
                    Sign::Terminate => return Ok(Left::Terminate),
                    Sign::Interrupt => self.interrupt().await?,
                },
                _ = changes.changed() => Flow::Stay,
                // What was shown last is shown before the end.
                _ = &mut self.running.task => return Ok(Left::Ended),
                typed = self.chat.input.next(), if listens => self.take(typed).await?,
            };
            match flow {
                Flow::Stay => {}
                Flow::Leave => return Ok(Left::Leave),
                Flow::Switch(target) => return Ok(Left::Switch(target)),
            }
        }
    }

    /// Brings the prompt up to date, and tells whether the next line can be taken: plain lines are taken one turn after the
    /// other.
    fn refresh(&self) -> bool {
        let (busy, waits, exposed) = {
            let view = self.running.view.lock();
            (view.is_busy(self.heard), view.waits_still(self.heard), view.is_exposed())
        };
        let Some(editor) = &self.chat.input.editor else {
            // What another process does with a line is not waited for.
            return !busy || self.running.role != Role::Holder || (self.chat.attended && waits.is_some());
        };
        editor.set_busy(busy);
        let asked = match waits {
            Some(Waits::Approval { .. }) => "allow? ",
            Some(Waits::Answer { .. }) => "answer ",
            None => "",
        };
        let sandbox = if exposed { "[no sandbox] " } else { "" };
        editor.set_prompt(Shown { words: format!("{sandbox}{asked}"), warning: exposed });
        true
    }

    async fn take(&mut self, typed: Typed) -> Result<Flow, CliError> {
        match typed {
            Typed::Line(line) => {
                self.pressed = None;
                self.line(&line).await
            }
            Typed::Interrupt => self.interrupt().await,
            Typed::End => Ok(self.end()),
            Typed::Notice(notice) => {
                self.say(&format!("{notice}\n"));
                Ok(Flow::Stay)
            }
            Typed::Failed(why) => Err(CliError::new(Exit::Failed, why)),
        }
    }

    async fn line(&mut self, line: &str) -> Result<Flow, CliError> {
        let waits = self.running.view.lock().waits_still(self.heard);
        match line::read(line, waits.as_ref()) {
            Said::Nothing => {}
            Said::Command(command, argument) => return self.command(command, &argument).await,
            Said::Unknown(name, close) => self.unknown(&name, close),
            Said::Prompt(_) | Said::Decided { .. } | Said::Answered { .. } if self.running.role == Role::Watcher => {
                self.say("you only watch this session; /quit leaves, and `retrace send` has a say in it\n");
            }
            Said::Prompt(text) => self.prompt(&text, waits.as_ref()).await,
            Said::Decided { call, decision } => self.decide(call, decision).await,
            Said::Answered { call, text } => {
                let text = self.redacted(&text);
                self.tell(ControlQuestionAnswered { call, text }.into()).await;
            }
        }
        Ok(Flow::Stay)
    }

    async fn prompt(&mut self, text: &str, waits: Option<&Waits>) {
        let text = self.redacted(text);
        let busy = {
            let mut view = self.running.view.lock();
            let busy = view.is_busy(self.heard);
            // On a screen it stands there already, where it was typed.
            if !busy && self.chat.input.editor.is_some() {
                view.foresee(text.clone());
            }
            busy
        };
        let attachments = std::mem::take(&mut self.attachments);
        if !self.tell(ControlPromptSent { text, attachments: attachments.clone() }.into()).await {
            self.attachments = attachments;
        } else if let Some(waits) = waits {
            let answers = self.running.view.lock().answers_to(waits.call());
            self.say(&format!("queued; an answer is still waited for: {answers}\n"));
        } else if busy && self.running.role == Role::Sender {
            self.say("sent\n");
        }
    }

    async fn decide(&mut self, call: CallId, decision: Decision) {
        if !self.running.view.lock().offers(&call, &decision) {
            return self.say("no rule can cover this call: y allows it this once, n forbids it\n");
        }
        let note = self.redacted(&decision.note);
        self.tell(ControlApprovalGiven { call, allow: decision.allow, note }.into()).await;
    }

    /// Ctrl-C: stops the turn that is running. A second one soon after leaves.
    pub(super) async fn interrupt(&mut self) -> Result<Flow, CliError> {
        if self.pressed.is_some_and(|at| at.elapsed() < TWICE) {
            return Ok(Flow::Leave);
        }
        self.pressed = Some(Instant::now());
        let busy = self.running.view.lock().is_busy(self.heard);
        if !busy || self.running.role == Role::Watcher {
            self.say("once more leaves\n");
        } else if self.tell(ControlCancelRequested { call: None, by: "user".to_owned() }.into()).await {
            self.say("stopping the turn; once more leaves\n");
        }
        // Where lines come from a pipe nobody is there to press it again.
        let piped = self.chat.input.editor.is_none() && !self.chat.attended;
        Ok(if piped { Flow::Leave } else { Flow::Stay })
    }

    /// The end of the input: leaves, but asks once more while a turn is running that would be stopped.
    fn end(&mut self) -> Flow {
        let busy = self.running.view.lock().is_busy(self.heard);
        let holds = self.running.role == Role::Holder;
        let asks = self.chat.input.editor.is_some() && holds && busy;
        if !asks || self.pressed.is_some_and(|at| at.elapsed() < TWICE) {
            return Flow::Leave;
        }
        self.pressed = Some(Instant::now());
        self.say("a turn is running; once more stops it and leaves\n");
        Flow::Stay
    }

    /// Says something to the session. True when it was sent.
    async fn tell(&mut self, payload: Payload) -> bool {
        match self.running.sender.send(payload).await {
            Ok(event) => {
                self.heard = self.heard.max(event.envelope.seq + 1);
                true
            }
            Err(error) => {
                let error = CliError::from(error);
                self.say(&format!("not sent: {}\n", error.message));
                false
            }
        }
    }

    /// Whether something goes on in the session or is about to.
    pub(super) fn is_busy(&self) -> bool {
        self.running.view.lock().is_busy(self.heard)
    }

    fn unknown(&self, name: &str, close: Option<&str>) {
        let meant = close.map(|close| format!("; did you mean /{close}?")).unwrap_or_default();
        let name = clean::short(name, 40);
        self.say(&format!("there is no command /{name}{meant} (/help lists them; // sends it as a prompt)\n"));
    }

    fn redacted(&self, text: &str) -> String {
        self.chat.setup.redactor.redact(text).into_owned()
    }

    /// Says something to the user.
    pub(super) fn say(&self, text: &str) {
        self.chat.setup.output.note(text);
    }
}
