//! `retrace sessions`: the list.

use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::render::{clean, units};
use super::session_name;
use super::session_tree;
use super::setup::Setup;
use crate::agent::title_of;
use clap::Args;
use retrace_events::fold::TranscriptItem;
use retrace_events::payload::turn::TurnOutcome;
use retrace_events::{EventLog, SessionState, StreamId, Token};
use serde_json::json;

/// List sessions, the newest first
#[derive(Debug, Args)]
pub(super) struct SessionsCommand {
    /// How many
    #[arg(long, short = 'n', default_value_t = 20)]
    limit: usize,
    /// Only those of this workspace
    #[arg(long)]
    project: bool,
    /// As a tree: forks below the session they come from
    #[arg(long, conflicts_with = "project")]
    tree: bool,
}

impl SessionsCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let log = setup.open_log().await?;
        if self.tree {
            return session_tree::print(&setup, log.as_ref(), self.limit).await;
        }
        let project = self.project.then(|| session_name::project(&setup.config.workspace));
        let sessions = session_name::all(log.as_ref(), project).await?;
        let more = sessions.len().saturating_sub(self.limit);
        if !setup.output.json && !sessions.is_empty() {
            setup.output.data(&setup.output.data_style().dim(&head()))?;
        }
        let checkpoints = setup.checkpoints(log.as_ref());
        for info in sessions.into_iter().take(self.limit) {
            // One damaged session must not hide the others.
            match checkpoints.load(log.as_ref(), &info.stream).await {
                Ok(state) if setup.output.json => setup.output.json_line(&json(&info.stream, &state, &setup))?,
                Ok(state) => setup.output.data(&line(&info.stream, &state, &setup))?,
                Err(error) => {
                    let error = CliError::from(error);
                    setup.output.warn(&format!("{}: {}", info.stream.id, error.message));
                }
            }
        }
        if more > 0 {
            setup.output.note(&format!("{more} more: --limit {}\n", self.limit + more));
        }
        Ok(Exit::Done)
    }
}

/// The list as text, for people: the newest `limit` sessions.
///
/// # Errors
/// When the log cannot be asked.
pub(super) async fn table(
    setup: &Setup,
    log: &dyn EventLog,
    project: Option<Token>,
    limit: usize,
) -> Result<String, CliError> {
    let sessions = session_name::all(log, project).await?;
    let more = sessions.len().saturating_sub(limit);
    let mut text = setup.output.note_style().dim(&head());
    let checkpoints = setup.checkpoints(log);
    for info in sessions.iter().take(limit) {
        match checkpoints.load(log, &info.stream).await {
            Ok(state) => text.push_str(&line(&info.stream, &state, setup)),
            Err(error) => text.push_str(&format!("{}: {}\n", info.stream.id, CliError::from(error).message)),
        }
    }
    if more > 0 {
        text.push_str(&format!("{more} more: `retrace sessions --limit {}`\n", limit + more));
    }
    Ok(text)
}

pub(super) fn head() -> String {
    format!("{:<17}  {:<17}  {:<11}  {:>5}  {:>9}  TITLE\n", "SESSION", "LAST EVENT", "STATUS", "STEPS", "COST")
}

/// What a session is about: its title, or the beginning of its first prompt.
pub(super) fn title(state: &SessionState) -> String {
    if !state.title.is_empty() {
        return state.title.clone();
    }
    let prompt = state.transcript.items().iter().find_map(|item| match item {
        TranscriptItem::Prompt { text, .. } => Some(title_of(text)),
        _ => None,
    });
    prompt.unwrap_or_default()
}

/// How a session stands, in one word or two.
pub(super) fn status(state: &SessionState) -> &'static str {
    if state.newer.is_some() {
        return "newer";
    }
    if state.closed {
        return "closed";
    }
    match (&state.turn, &state.last_end, state.totals.prompts) {
        (Some(_), _, _) => "open",
        (None, _, 0) => "new",
        (None, None, _) => "interrupted",
        (None, Some((TurnOutcome::Completed, _)), _) => "done",
        (None, Some((TurnOutcome::Refused, _)), _) => "refused",
        (None, Some((TurnOutcome::AnswerTooLong | TurnOutcome::ContextFull | TurnOutcome::BudgetReached, _)), _) => {
            "limit"
        }
        (None, Some((TurnOutcome::Stuck, _)), _) => "stuck",
        (None, Some((TurnOutcome::RequestFailed | TurnOutcome::RuntimeFailed, _)), _) => "failed",
    }
}

pub(super) fn line(stream: &StreamId, state: &SessionState, setup: &Setup) -> String {
    let at = state.head.map(|(_, _, at)| units::moment(at)).unwrap_or_default();
    let totals = state.totals_since_fork();
    let (steps, cost) = (totals.steps, units::cost(totals.cost_microusd));
    let title = clean::short(&setup.redactor.redact(&title(state)), 80);
    // A beginning names a session, where another program's name of it is longer than ours.
    let id: String = stream.id.as_str().chars().take(17).collect();
    format!("{id:<17}  {at:<17}  {:<11}  {steps:>5}  {cost:>9}  {title}\n", status(state))
}

pub(super) fn json(stream: &StreamId, state: &SessionState, setup: &Setup) -> serde_json::Value {
    let totals = state.totals_since_fork();
    let fork = state.fork.as_ref();
    json!({
        "session": stream.id.as_str(),
        "stream": stream.subject(),
        "parent": fork.map(|fork| fork.parent.id.as_str()),
        "parent_event": fork.map(|fork| fork.parent_seq),
        "project": stream.project.as_str(),
        "title": setup.redactor.redact(&title(state)),
        "workspace": setup.redactor.redact(&state.workspace),
        "status": status(state),
        "started_at": state.started_at.to_string(),
        "last_event_at": state.head.map(|(_, _, at)| at.to_string()),
        "events": state.next_seq(),
        "prompts": totals.prompts,
        "steps": totals.steps,
        "calls": totals.calls,
        "tokens": totals.tokens(),
        "cost_microusd": totals.cost_microusd,
    })
}
