//! The slash commands: one row and one function each.

use super::conversation::{Conversation, Flow};
use super::opening::Target;
use crate::agent::AgentOrder;
use crate::cli::exit::CliError;
use crate::cli::render::{clean, units};
use crate::cli::{session_name, sessions};
use retrace_events::payload::session::PlanStatus;
use std::fmt::Write as _;

/// A slash command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    /// List the commands.
    Help,
    /// Go to another session.
    Load,
    /// Begin a new session.
    Clear,
    /// List sessions.
    Sessions,
    /// What was used.
    Cost,
    /// The model.
    Model,
    /// The effort asked of the model.
    Effort,
    /// How the model thinks.
    Thinking,
    /// The limits.
    Budget,
    /// The sandbox.
    Sandbox,
    /// Prompts that wait.
    Queue,
    /// The model's plan.
    Plan,
    /// Begin the context afresh.
    Compact,
    /// Leave.
    Quit,
}

/// A row of the list of commands.
pub(super) struct Row {
    /// The command.
    pub(super) command: Command,
    /// Its name, without the slash.
    pub(super) name: &'static str,
    /// Another name for it.
    pub(super) other: Option<&'static str>,
    /// What may follow it.
    pub(super) argument: &'static str,
    /// What it does.
    pub(super) help: &'static str,
}

const fn row(command: Command, name: &'static str, argument: &'static str, help: &'static str) -> Row {
    Row { command, name, other: None, argument, help }
}

/// All commands, in the order in which they are listed.
pub(super) const COMMANDS: &[Row] = &[
    row(Command::Help, "help", "", "this list"),
    row(Command::Load, "load", "[SESSION]", "go to another session; without a name, list those of this workspace"),
    row(Command::Clear, "clear", "", "begin a new session; this one stays"),
    row(Command::Sessions, "sessions", "", "list all sessions"),
    row(Command::Cost, "cost", "", "what this session has used, and its limits"),
    row(Command::Model, "model", "[ID]", "show or change the model, from the next prompt on"),
    row(Command::Effort, "effort", "[LEVEL]", "show or change the effort asked of the model"),
    row(Command::Thinking, "thinking", "[HOW]", "show or change how the model thinks: auto, off, adaptive, or tokens"),
    row(Command::Budget, "budget", "[KIND VALUE]", "show or change a limit: steps, tokens, cost, time"),
    row(Command::Sandbox, "sandbox", "", "what isolates this session, as it was proven"),
    row(Command::Queue, "queue", "", "prompts that wait"),
    row(Command::Plan, "plan", "", "the model's plan"),
    row(Command::Compact, "compact", "", "begin the context afresh; what was said before is summed up"),
    Row { command: Command::Quit, name: "quit", other: Some("exit"), argument: "", help: "leave (also Ctrl-D)" },
];

/// How many sessions a list shows.
const LISTED: usize = 20;

impl Conversation<'_> {
    /// Carries out a slash command.
    pub(super) async fn command(&mut self, command: Command, argument: &str) -> Result<Flow, CliError> {
        match command {
            Command::Help => self.say(&help()),
            Command::Load if argument.is_empty() => self.list(true).await?,
            Command::Load => return self.load(argument).await,
            Command::Clear => return self.clear(),
            Command::Sessions => self.list(false).await?,
            Command::Cost => self.cost(),
            Command::Model => self.model(argument).await,
            Command::Effort => self.effort(argument).await,
            Command::Thinking => self.thinking(argument).await,
            Command::Budget => self.budget(argument).await,
            Command::Sandbox => self.sandbox(),
            Command::Queue => self.queue(),
            Command::Plan => self.plan(),
            Command::Compact => self.compact().await,
            Command::Quit => return Ok(Flow::Leave),
        }
        Ok(Flow::Stay)
    }

    async fn list(&self, only_here: bool) -> Result<(), CliError> {
        let setup = &self.chat.setup;
        let project = only_here.then(|| session_name::project(&setup.config.workspace));
        let mut text = sessions::table(setup, self.chat.log.as_ref(), project, LISTED).await?;
        if only_here {
            text.push_str("`/load SESSION` goes to one of them; any unique beginning of its id will do\n");
        }
        self.say(&text);
        Ok(())
    }

    async fn load(&self, name: &str) -> Result<Flow, CliError> {
        match session_name::find(self.chat.log.as_ref(), name).await {
            Ok(stream) if stream == self.running.stream => {
                self.say("this is that session\n");
                Ok(Flow::Stay)
            }
            Ok(stream) => Ok(Flow::Switch(Target::Loaded(stream))),
            Err(error) => {
                self.say(&error.lines());
                Ok(Flow::Stay)
            }
        }
    }

    fn clear(&self) -> Result<Flow, CliError> {
        let id = &self.running.stream.id;
        self.say(&format!("session {id} stays: `/load {id}` goes back to it\n"));
        Ok(Flow::Switch(Target::New))
    }

    fn cost(&self) {
        let view = self.running.view.lock();
        let (totals, usage) = (&view.state.totals, &view.state.totals.usage);
        let written = usage.cache_write_5m_tokens + usage.cache_write_1h_tokens;
        let mut text = format!(
            "{} · {} · {} · {}\n{} tokens in ({} from the cache, {} into it) · {} tokens out\n{}",
            units::of(u64::from(totals.prompts), "prompt"),
            units::of(u64::from(totals.steps), "step"),
            units::of(u64::from(totals.calls), "call"),
            units::duration(totals.turn_time_ms),
            units::count(usage.total_input_tokens()),
            units::count(usage.cache_read_tokens),
            units::count(written),
            units::count(usage.output_tokens),
            units::cost(totals.cost_microusd),
        );
        if totals.unknown_cost_microusd > 0 {
            let _ = write!(text, " (and up to {} for lost answers)", units::cost(totals.unknown_cost_microusd));
        }
        text.push('\n');
        if let Some(settings) = &view.state.settings {
            let row = self.chat.setup.models.row(&settings.model);
            let (input, output) = (row.prices.input, row.prices.output);
            let model = clean::short(&settings.model, 80);
            let _ =
                writeln!(text, "{model}: {} per million tokens in, {} out", units::cost(input), units::cost(output));
        }
        drop(view);
        self.say(&format!("{text}{}", self.limits()));
    }

    fn sandbox(&self) {
        let style = self.chat.setup.output.note_style();
        let view = self.running.view.lock();
        let redact = |text: &str| clean::short(&self.chat.setup.redactor.redact(text), 200);
        let text = match &view.sandbox {
            None => "no sandbox was started yet\n".to_owned(),
            Some(sandbox) if sandbox.backend == "none" => {
                style.red("NO SANDBOX: commands run as you, with your files and your network\n")
            }
            Some(sandbox) => {
                let mut text = format!("{}, {}\n", redact(&sandbox.backend), redact(&sandbox.level));
                for proof in &sandbox.proofs {
                    let mark = if proof.passed { style.green("proven") } else { style.red("NOT PROVEN") };
                    let _ = writeln!(text, "  {mark} {}: {}", redact(&proof.name), redact(&proof.detail));
                }
                for (name, limit) in &sandbox.limits {
                    let _ = writeln!(text, "  limit {}: {}", redact(name), redact(limit));
                }
                text
            }
        };
        drop(view);
        self.say(&text);
    }

    fn queue(&self) {
        let view = self.running.view.lock();
        let mut text = match view.state.queue.len() as u64 {
            0 => "no prompt waits\n".to_owned(),
            waiting => format!("{}:\n", units::of(waiting, "prompt")),
        };
        for (at, queued) in view.state.queue.iter().take(LISTED).enumerate() {
            let words = clean::short(&self.chat.setup.redactor.redact(&queued.text), 100);
            let _ = writeln!(text, "  {}. {words}", at + 1);
        }
        if view.state.queue.len() > LISTED {
            let _ = writeln!(text, "  … {} more", view.state.queue.len() - LISTED);
        }
        drop(view);
        self.say(&text);
    }

    async fn compact(&self) {
        match &self.running.orders {
            // What comes of it is said by the agent.
            Some(orders) if orders.send(AgentOrder::Compact).await.is_ok() => {}
            Some(_) => self.say("nothing changes: the session has ended\n"),
            None => self.say("nothing changes: another process runs this session, and its context is there\n"),
        }
    }

    fn plan(&self) {
        let view = self.running.view.lock();
        let mut text = if view.state.plan.is_empty() { "there is no plan\n".to_owned() } else { String::new() };
        for item in &view.state.plan {
            let mark = match item.status {
                PlanStatus::Done => "[x]",
                PlanStatus::InProgress => "[~]",
                PlanStatus::Pending => "[ ]",
            };
            let _ = writeln!(text, "  {mark} {}", clean::short(&self.chat.setup.redactor.redact(&item.text), 200));
        }
        drop(view);
        self.say(&text);
    }
}

/// The list of commands and keys.
fn help() -> String {
    let mut text = String::new();
    for row in COMMANDS {
        let _ = writeln!(text, "  {:<22} {}", format!("/{} {}", row.name, row.argument), row.help);
    }
    text.push_str(
        "Enter sends; Alt-Enter and Ctrl-J begin a line; Tab completes; Up and Ctrl-R bring back what was typed\n\
         Ctrl-C stops the turn, or clears the line; twice leaves. // sends a prompt that begins with /\n",
    );
    text
}
