//! The command line: one file a command, the list in [`Command`].
//!
//! Data goes to stdout, everything else to stderr; `--json` makes the data one JSON object a line. Exit codes are in
//! [`Exit`] and in `retrace --help`. Agents are reached only through their handle ([`crate::agent::Agent`]).

mod allocator;
mod answer;
mod approve;
mod asking;
mod audit;
mod bench;
mod cancel;
mod chat;
mod compare;
mod config;
mod context;
mod delete;
mod demo;
mod difference;
mod doctor;
mod drive;
mod event_name;
mod events;
mod exit;
mod export;
mod flags;
mod following;
mod fork;
mod images;
mod import;
mod import_claude_code;
mod index;
mod interrupt;
mod invocation;
mod log;
mod log_tail;
mod output;
mod place;
mod progress;
mod render;
mod replay;
mod resume;
mod rewind;
mod run;
mod screen;
mod search;
mod send;
mod session_name;
mod session_tree;
mod sessions;
mod setup;
mod show;
mod steering;
mod summary;
mod tag;
mod test_counts;
mod transfer;
mod trusting;
mod view;
mod watch;

#[cfg(test)]
mod tests;

pub use exit::{CliError, Exit};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use flags::GlobalFlags;
use invocation::Invocation;
use output::Output;
use std::process::ExitCode;
use std::time::Duration;
use tracing_subscriber::EnvFilter;

/// How long background work may take to end when a command is over.
const WIND_UP: Duration = Duration::from_secs(2);

/// An agent for coding whose every step is in a durable log: resume it, verify it, search it
#[derive(Debug, Parser)]
#[command(name = "retrace", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: GlobalFlags,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Chat(Box<chat::ChatCommand>),
    Run(run::RunCommand),
    Resume(resume::ResumeCommand),
    Send(send::SendCommand),
    Approve(approve::ApproveCommand),
    Answer(answer::AnswerCommand),
    Cancel(cancel::CancelCommand),
    Sessions(sessions::SessionsCommand),
    Show(show::ShowCommand),
    Search(search::SearchCommand),
    Summary(summary::SummaryCommand),
    Context(context::ContextCommand),
    Audit(audit::AuditCommand),
    Replay(replay::ReplayCommand),
    Fork(Box<fork::ForkCommand>),
    Rewind(Box<rewind::RewindCommand>),
    Diff(difference::DiffCommand),
    Compare(compare::CompareCommand),
    Tag(tag::TagCommand),
    Export(export::ExportCommand),
    Import(import::ImportCommand),
    Delete(delete::DeleteCommand),
    Index(index::IndexCommand),
    Bench(bench::BenchCommand),
    Log(log::LogCommand),
    Doctor(doctor::DoctorCommand),
    Demo(demo::DemoCommand),
    Config(config::ConfigCommand),
}

impl Command {
    async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        match self {
            Self::Chat(command) => command.run(invocation).await,
            Self::Run(command) => command.run(invocation).await,
            Self::Resume(command) => command.run(invocation).await,
            Self::Send(command) => command.run(invocation).await,
            Self::Approve(command) => command.run(invocation).await,
            Self::Answer(command) => command.run(invocation).await,
            Self::Cancel(command) => command.run(invocation).await,
            Self::Sessions(command) => command.run(invocation).await,
            Self::Show(command) => command.run(invocation).await,
            Self::Search(command) => command.run(invocation).await,
            Self::Summary(command) => command.run(invocation).await,
            Self::Context(command) => command.run(invocation).await,
            Self::Audit(command) => command.run(invocation).await,
            Self::Replay(command) => command.run(invocation).await,
            Self::Fork(command) => command.run(invocation).await,
            Self::Rewind(command) => command.run(invocation).await,
            Self::Diff(command) => command.run(invocation).await,
            Self::Compare(command) => command.run(invocation).await,
            Self::Tag(command) => command.run(invocation).await,
            Self::Export(command) => command.run(invocation).await,
            Self::Import(command) => command.run(invocation).await,
            Self::Delete(command) => command.run(invocation).await,
            Self::Index(command) => command.run(invocation).await,
            Self::Bench(command) => command.run(invocation).await,
            Self::Log(command) => command.run(invocation).await,
            Self::Doctor(command) => command.run(invocation).await,
            Self::Demo(command) => command.run(invocation).await,
            Self::Config(command) => command.run(invocation),
        }
    }
}

/// The command line's definition, with the exit codes in its help.
#[must_use]
pub fn command() -> clap::Command {
    let codes: String = Exit::ALL.iter().map(|(exit, words)| format!("  {:>3}  {words}\n", exit.code())).collect();
    Cli::command().after_help(format!(
        "Exit codes:\n{codes}\nDiagnostics: RETRACE_LOG=debug writes what happens inside to stderr"
    ))
}

/// Runs the command that this process was started with.
#[must_use]
pub fn main() -> ExitCode {
    allocator::keep_house();
    let parsed = command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe is no reason to fail: `retrace --help | head`.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Exit::Usage.code()));
        }
    };
    let output = Output::of_process(cli.global.json, cli.global.quiet);
    trace();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output.error(&CliError::new(Exit::Failed, format!("cannot start: {error}")));
            return ExitCode::from(Exit::Failed.code());
        }
    };
    let exit = match Invocation::of_process(cli.global, output.clone()) {
        Ok(invocation) => runtime.block_on(execute(cli.command, &invocation)),
        Err(error) => fail(&output, &error.into()),
    };
    runtime.shutdown_timeout(WIND_UP);
    ExitCode::from(exit.code())
}

/// Runs a command and reports its error.
async fn execute(command: Command, invocation: &Invocation) -> Exit {
    // On the heap, since each command's future is as large as everything that it may ever wait for.
    Box::pin(command.run(invocation)).await.unwrap_or_else(|error| fail(&invocation.output, &error))
}

fn fail(output: &Output, error: &CliError) -> Exit {
    output.error(error);
    error.exit
}

/// Diagnostics to stderr, as `RETRACE_LOG` asks (`debug`, `retrace_runtime=trace`); warnings otherwise.
fn trace() {
    let filter = EnvFilter::try_from_env("RETRACE_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    // Someone who embeds this may have set up diagnostics already.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
}
