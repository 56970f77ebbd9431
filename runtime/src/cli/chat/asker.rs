//! Asks for `run` and `resume`, on a terminal: what waits for the user's word is answered by the lines that are typed.

use super::input::{Input, Typed};
use crate::cli::asking::{self, Decision, Waits};
use crate::cli::exit::CliError;
use crate::cli::output::Output;
use crate::cli::place::Place;
use crate::cli::view::SharedView;
use retrace_events::Payload;
use retrace_events::control::ControlSender;
use retrace_events::payload::control::{ControlApprovalGiven, ControlCancelRequested, ControlQuestionAnswered};
use retrace_events::redact::Redactor;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// A task that asks.
pub(crate) struct Asker(JoinHandle<()>);

/// What it works with.
struct Asking {
    view: SharedView,
    sender: ControlSender,
    output: Output,
    redactor: Arc<Redactor>,
    place: Place,
}

impl Asker {
    /// Begins to ask on `place` what `view` says is waiting.
    pub(crate) fn begin(
        view: SharedView,
        sender: ControlSender,
        output: Output,
        redactor: Arc<Redactor>,
        place: Place,
    ) -> Self {
        Self(tokio::spawn(Asking { view, sender, output, redactor, place }.run()))
    }

    /// Asks no more.
    pub(crate) fn end(self) {
        self.0.abort();
    }
}

impl Asking {
    async fn run(self) {
        let mut changes = self.view.changes();
        let mut input: Option<Input> = None;
        loop {
            let waits = self.view.lock().waits();
            let Some(waits) = waits else {
                if changes.changed().await.is_err() {
                    return;
                }
                continue;
            };
            // Nothing is read from the terminal before something is asked.
            let lines = match input.take() {
                Some(lines) => lines,
                None => match Input::of_lines(self.place.stdin()) {
                    Ok(lines) => lines,
                    Err(error) => return self.output.warn(&format!("nobody can be asked: {error}")),
                },
            };
            let lines = input.insert(lines);
            let typed = tokio::select! {
                changed = changes.changed() => match changed {
                    Ok(()) => continue,
                    Err(_) => return,
                },
                typed = lines.next() => typed,
            };
            let Some(said) = self.said(typed, &waits) else { continue };
            if let Err(error) = self.sender.send(said).await {
                self.output.warn(&format!("not sent: {}", CliError::from(error).message));
            }
            // The same question is not answered twice: its answer is taken in first.
            while self.view.lock().waits().as_ref() == Some(&waits) {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        }
    }

    /// What a line says about what waits.
    fn said(&self, typed: Typed, waits: &Waits) -> Option<Payload> {
        let redact = |text: &str| self.redactor.redact(text).into_owned();
        match (typed, waits) {
            (Typed::Line(line), Waits::Approval { call }) => match asking::decision(&line) {
                Some(decision) if self.view.lock().offers(call, &decision) => {
                    let Decision { allow, note } = decision;
                    Some(ControlApprovalGiven { call: call.clone(), allow, note: redact(&note) }.into())
                }
                Some(_) | None => {
                    let answers = self.view.lock().answers_to(call);
                    self.output.always(&format!("{answers} and words for the model\n"));
                    None
                }
            },
            (Typed::Line(line), Waits::Answer { .. }) if line.trim().is_empty() => None,
            (Typed::Line(line), Waits::Answer { call }) => {
                Some(ControlQuestionAnswered { call: call.clone(), text: redact(line.trim()) }.into())
            }
            (Typed::Notice(notice), _) => {
                self.output.always(&format!("{notice}\n"));
                None
            }
            (Typed::End | Typed::Failed(_) | Typed::Interrupt, Waits::Approval { call }) => {
                Some(ControlApprovalGiven { call: call.clone(), allow: None, note: String::new() }.into())
            }
            (Typed::End | Typed::Failed(_) | Typed::Interrupt, Waits::Answer { call }) => {
                Some(ControlCancelRequested { call: Some(call.clone()), by: "user".to_owned() }.into())
            }
        }
    }
}
