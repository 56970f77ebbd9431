//! `retrace cancel`: stops the turn of a session, or one of its calls, from another process.

use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::steering::Steered;
use clap::Args;
use retrace_events::CallId;
use retrace_events::payload::control::ControlCancelRequested;

/// Stop what a session is doing, also while another process runs it
#[derive(Debug, Args)]
pub(super) struct CancelCommand {
    /// The session: any unique beginning of its id
    session: String,
    /// Only this call [default: the whole turn]
    call: Option<String>,
    /// Wait until whoever runs the session has taken it in
    #[arg(long)]
    wait: bool,
}

impl CancelCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let steered = Steered::find(invocation, &self.session).await?;
        let what = self.call.as_ref().map_or_else(|| "the turn".to_owned(), |call| format!("call {call}"));
        let words = format!("{what} of session {}: to be stopped", steered.id());
        let cancel = ControlCancelRequested { call: self.call.map(CallId), by: "retrace cancel".to_owned() };
        steered.say(cancel.into(), &words, self.wait).await
    }
}
