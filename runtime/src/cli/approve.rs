//! `retrace approve`: a decision on a call that waits for one.

use super::asking::{self, Waits};
use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::steering::Steered;
use clap::Args;
use retrace_events::CallId;
use retrace_events::payload::control::ControlApprovalGiven;
use retrace_events::payload::tool::ToolApprovalScope;

/// Allow or forbid a call that waits for approval
#[derive(Debug, Args)]
pub(super) struct ApproveCommand {
    /// The session: any unique beginning of its id
    session: String,
    /// The call [default: the only one that waits]
    call: Option<String>,
    /// Allow calls like it for the rest of the session
    #[arg(long = "session", conflicts_with_all = ["always", "deny"])]
    session_wide: bool,
    /// Allow calls like it from now on, in all sessions
    #[arg(long, conflicts_with = "deny")]
    always: bool,
    /// Forbid it, perhaps with words for the model
    #[arg(long, value_name = "WORDS", num_args = 0..=1, default_missing_value = "")]
    deny: Option<String>,
    /// Wait until whoever runs the session has taken it in
    #[arg(long)]
    wait: bool,
}

impl ApproveCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let steered = Steered::find(invocation, &self.session).await?;
        let call = self.call(&steered)?;
        let allow = match (&self.deny, self.session_wide, self.always) {
            (Some(_), _, _) => None,
            (None, true, _) => Some(ToolApprovalScope::Session),
            (None, false, true) => Some(ToolApprovalScope::Always),
            (None, false, false) => Some(ToolApprovalScope::Once),
        };
        let word = if allow.is_some() { "allowed" } else { "forbidden" };
        let words = format!("call {call} of session {}: {word}", steered.id());
        let note = steered.redact(self.deny.as_deref().unwrap_or_default());
        steered.say(ControlApprovalGiven { call, allow, note }.into(), &words, self.wait).await
    }

    fn call(&self, steered: &Steered) -> Result<CallId, CliError> {
        let waits = asking::waiting(&steered.state).into_iter();
        let calls: Vec<CallId> = waits
            .filter_map(|waits| match waits {
                Waits::Approval { call } => Some(call),
                Waits::Answer { .. } => None,
            })
            .collect();
        match (&self.call, &calls[..]) {
            // One that is not known here yet may be by the time this is read.
            (Some(call), _) => Ok(CallId(call.clone())),
            (None, [only]) => Ok(only.clone()),
            (None, []) => {
                Err(CliError::new(Exit::Failed, format!("nothing in session {} waits for approval", steered.id()))
                    .hint(format!("`retrace show {}` shows where it stands", steered.id())))
            }
            (None, _) => Err(steered.which("wait for approval", &calls)),
        }
    }
}
