//! `retrace send`: a prompt for a session, from another process. It waits in the queue until the present turn is over.

use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::steering::Steered;
use super::{images, run};
use clap::Args;
use retrace_events::payload::control::ControlPromptSent;
use std::path::PathBuf;

/// Send a session a prompt, also while another process runs it
#[derive(Debug, Args)]
pub(super) struct SendCommand {
    /// The session: any unique beginning of its id
    session: String,
    /// The prompt in words; `-` reads it from stdin
    text: String,
    /// An image that goes with it; can be repeated
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,
    /// Wait until whoever runs the session has taken it in
    #[arg(long)]
    wait: bool,
}

impl SendCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let text = run::words(&self.text)?;
        let steered = Steered::find(invocation, &self.session).await?;
        let attachments = images::store(steered.log(), &self.image).await?;
        let sent = ControlPromptSent { text: steered.redact(&text), attachments };
        steered.say(sent.into(), &format!("sent to session {}", steered.id()), self.wait).await
    }
}
