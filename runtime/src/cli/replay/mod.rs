//! `retrace replay`: a session once more: watched in its own rhythm, verified, carried out again, or put together under other
//! settings.

mod carried_out;
mod execute;
mod verified;
mod watch;
mod what_if;

pub(crate) use verified::verdict;

use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::session_name;
use super::setup::Setup;
use crate::replaying::{OtherSettings, verify_session};
use clap::Args;
use retrace_sandbox::SandboxChoice;

/// What the options alone do not say.
const AFTER_HELP: &str = "\
Exit: 0 when all agrees, 1 when --verify or --execute found something that does not.

--execute works on a copy of the session's first files; its own folder and the log are not touched. What was denied,
cancelled or cut short then is passed over. Differences that mean nothing are taken out of both sides, and named: redraws,
paths, ids, times, addresses, ports, pids, and last of all the order of lines. Behind a divergence the files are brought to
the logged ones, so that each call is judged by itself.

--what-if takes context_tokens, model, max_tokens, thinking and effort, as the configuration does.";

/// Watch a session again, verify it, carry it out again, or try other settings
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ReplayCommand {
    /// The session: any unique beginning of its id
    session: String,
    /// Watch it again in its own rhythm: what happens when nothing else is asked for
    #[arg(long, group = "mode")]
    show: bool,
    /// Check the hash chain, render every request again and compare
    #[arg(long, group = "mode")]
    verify: bool,
    /// Carry its tool calls out again in a fresh sandbox, from its first snapshot on, and compare results and files
    #[arg(long, group = "mode")]
    execute: bool,
    /// Put its contexts together again with a setting changed, and compare tokens and cost; can be repeated
    #[arg(long, group = "mode", value_name = "KEY=VALUE")]
    what_if: Vec<String>,
    /// How much faster than it was; 0 is at once
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, conflicts_with_all = ["verify", "execute", "what_if"], value_parser = factor)]
    speed: f64,
    /// With --execute: another sandbox than the session's: auto, krun, container, process, or none (no isolation at all)
    #[arg(long, value_name = "KIND", requires = "execute")]
    sandbox: Option<String>,
    /// With --execute: show every divergence, not only the first. With --what-if: show every request
    #[arg(long, conflicts_with_all = ["show", "verify"])]
    all: bool,
}

impl ReplayCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let sandbox = self.sandbox.as_deref().map(sandbox_choice).transpose()?;
        let other = OtherSettings::parse(&self.what_if)?;
        let setup = Setup::for_reading(invocation)?;
        let log = setup.open_log().await?;
        let stream = session_name::find(log.as_ref(), &self.session).await?;
        if self.verify {
            let report = verify_session(log.as_ref(), &stream).await?;
            return verdict(&setup, &stream, &report);
        }
        if self.execute {
            let wish = execute::Wish { stream, sandbox, all: self.all };
            return execute::run(&setup, log, wish, invocation).await;
        }
        if !self.what_if.is_empty() {
            return what_if::run(&setup, log.as_ref(), &stream, &other, self.all).await;
        }
        watch::watch(&setup, log.as_ref(), &stream, self.speed).await?;
        Ok(Exit::Done)
    }
}

fn sandbox_choice(text: &str) -> Result<SandboxChoice, CliError> {
    text.parse().map_err(|error: retrace_sandbox::ChoiceError| CliError::new(Exit::Usage, error.to_string()))
}

fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor >= 0.0 => Ok(factor),
        _ => Err("a number from 0 on, like 2 or 0.5".to_owned()),
    }
}
