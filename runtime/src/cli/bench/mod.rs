//! `retrace bench`: measures on the user's own sessions.

mod context;
mod sources;

#[cfg(test)]
mod tests;

use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use clap::{Args, Subcommand};

/// Measure how well contexts are put together, on recorded sessions
#[derive(Debug, Args)]
pub(super) struct BenchCommand {
    #[command(subcommand)]
    action: BenchAction,
}

#[derive(Debug, Subcommand)]
enum BenchAction {
    Context(context::ContextCommand),
}

impl BenchCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        match self.action {
            BenchAction::Context(command) => command.run(invocation).await,
        }
    }
}
