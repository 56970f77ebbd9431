//! `retrace answer`: an answer to a question of the model's.

use super::asking::{self, Waits};
use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::run;
use super::steering::Steered;
use clap::Args;
use retrace_events::CallId;
use retrace_events::payload::control::ControlQuestionAnswered;

/// Answer a question that the model asks
#[derive(Debug, Args)]
pub(super) struct AnswerCommand {
    /// The session: any unique beginning of its id
    session: String,
    /// The answer: words, or the number of an option; `-` reads it from stdin
    text: String,
    /// The call that asks [default: the only one]
    #[arg(long, value_name = "CALL")]
    call: Option<String>,
    /// Wait until whoever runs the session has taken it in
    #[arg(long)]
    wait: bool,
}

impl AnswerCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let text = run::words(&self.text)?;
        let steered = Steered::find(invocation, &self.session).await?;
        let call = self.call(&steered)?;
        let words = format!("question {call} of session {}: answered", steered.id());
        let answered = ControlQuestionAnswered { call, text: steered.redact(text.trim()) };
        steered.say(answered.into(), &words, self.wait).await
    }

    fn call(&self, steered: &Steered) -> Result<CallId, CliError> {
        let waits = asking::waiting(&steered.state).into_iter();
        let calls: Vec<CallId> = waits
            .filter_map(|waits| match waits {
                Waits::Answer { call } => Some(call),
                Waits::Approval { .. } => None,
            })
            .collect();
        match (&self.call, &calls[..]) {
            (Some(call), _) => Ok(CallId(call.clone())),
            (None, [only]) => Ok(only.clone()),
            (None, []) => {
                Err(CliError::new(Exit::Failed, format!("nothing in session {} asks for an answer", steered.id()))
                    .hint(format!("`retrace send {} \"…\"` sends a prompt", steered.id())))
            }
            (None, _) => Err(steered.which("ask for an answer", &calls)),
        }
    }
}
