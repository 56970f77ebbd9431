//! `retrace compare`: what came of sessions that began alike, in one table.

use super::events;
use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::render::{clean, units};
use super::session_name;
use super::sessions;
use super::setup::Setup;
use super::test_counts::TestCounts;
use crate::forking::ForkTree;
use crate::snapshots::SnapshotPlan;
use clap::Args;
use retrace_events::fold::FilesAt;
use retrace_events::payload::{Payload, Tool, Workspace};
use retrace_events::{Event, EventLog, SessionState, StreamId};
use retrace_sandbox::snapshot::{ItemKind, SnapshotStore, TreeId};
use serde_json::json;

/// Compare sessions that began alike: outcome, steps, tokens, cost, files changed, tests
#[derive(Debug, Args)]
pub(super) struct CompareCommand {
    /// The sessions; one alone stands for itself and all forks of it
    #[arg(required = true)]
    sessions: Vec<String>,
}

impl CompareCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let log = setup.open_log().await?;
        let mut streams = Vec::new();
        for name in &self.sessions {
            streams.push(session_name::find(log.as_ref(), name).await?);
        }
        if let [only] = &streams[..] {
            let tree = ForkTree::read(log.as_ref()).await?;
            let forks: Vec<StreamId> = tree.forks_of(only).into_iter().map(|kin| kin.stream.clone()).collect();
            if forks.is_empty() {
                return Err(CliError::new(Exit::Usage, format!("session {} has no forks to compare with", only.id))
                    .hint("name a second session, or make forks: retrace fork SESSION@EVENT --n 3 --prompt \"…\""));
            }
            streams.extend(forks);
        }
        print(&setup, log.as_ref(), &streams).await?;
        Ok(Exit::Done)
    }
}

/// One session's row.
struct Row {
    stream: StreamId,
    state: SessionState,
    /// Files and links that differ from those it began with; `None` when that is not known.
    files: Option<u64>,
    tests: Option<TestCounts>,
}

/// Prints the table.
///
/// # Errors
/// When the log cannot be read.
pub(super) async fn print(setup: &Setup, log: &dyn EventLog, streams: &[StreamId]) -> Result<(), CliError> {
    let mut rows = Vec::new();
    for stream in streams {
        rows.push(row(setup, log, stream).await?);
    }
    if setup.output.json {
        for row in &rows {
            setup.output.json_line(&json(row, setup))?;
        }
        return Ok(());
    }
    let head = format!(
        "{:<17}  {:>6}  {:<11}  {:>5}  {:>5}  {:>9}  {:>9}  {:>8}  {:>5}  {:<14}  MODEL\n",
        "SESSION", "FROM", "OUTCOME", "STEPS", "CALLS", "TOKENS", "COST", "TIME", "FILES", "TESTS"
    );
    setup.output.data(&setup.output.data_style().dim(&head))?;
    for row in &rows {
        setup.output.data(&line(row))?;
    }
    Ok(())
}

async fn row(setup: &Setup, log: &dyn EventLog, stream: &StreamId) -> Result<Row, CliError> {
    let state = setup.checkpoints(log).load(log, stream).await?;
    let (mut tests, mut first) = (None, None);
    let look = |event: &Event| {
        match event.payload.known() {
            Some(Payload::Tool(Tool::Finished(finished))) => {
                tests = TestCounts::of(&finished.content).or(tests);
            }
            Some(Payload::Workspace(Workspace::Snapshotted(taken))) if first.is_none() => {
                // A fork's first snapshot is behind its first call: what it differs from is what it began with.
                first = Some(if taken.after.is_some() { taken.previous.clone() } else { Some(taken.tree.clone()) });
            }
            _ => {}
        }
        Ok(())
    };
    events::for_each(log, stream, 0, look).await?;
    let files = match (first.flatten(), &state.files) {
        (Some(first), FilesAt::At(last)) => changed(setup, &first, last),
        (None, FilesAt::At(_)) => Some(0),
        (_, FilesAt::Unknown | FilesAt::Failed(_)) => None,
    };
    Ok(Row { stream: stream.clone(), state, files, tests })
}

/// How many files differ; `None` when the snapshots are not here.
fn changed(setup: &Setup, first: &str, last: &str) -> Option<u64> {
    let (first, last): (TreeId, TreeId) = (first.parse().ok()?, last.parse().ok()?);
    let store = SnapshotStore::open(&SnapshotPlan::folder(&setup.config.folders.state)).ok()?;
    let changes = store.changes(Some(&first), &last).ok()?;
    let of_files = changes.iter().filter(|change| {
        let items = [&change.before, &change.after];
        items.into_iter().flatten().any(|item| item.kind != ItemKind::Folder)
    });
    Some(of_files.count() as u64)
}

fn line(row: &Row) -> String {
    let totals = row.state.totals_since_fork();
    let id: String = row.stream.id.as_str().chars().take(17).collect();
    let from = row.state.fork.as_ref().map_or_else(|| "-".to_owned(), |fork| format!("@{}", fork.parent_seq));
    let files = row.files.map_or_else(|| "?".to_owned(), units::count);
    let tests = row.tests.map_or_else(
        || "-".to_owned(),
        |tests| match tests.failed {
            0 => format!("{} passed", tests.passed),
            failed => format!("{}/{} passed", tests.passed, tests.passed + failed),
        },
    );
    let model = row.state.settings.as_ref().map(|settings| clean::short(&settings.model, 40)).unwrap_or_default();
    format!(
        "{id:<17}  {from:>6}  {:<11}  {:>5}  {:>5}  {:>9}  {:>9}  {:>8}  {files:>5}  {tests:<14}  {model}\n",
        sessions::status(&row.state),
        totals.steps,
        totals.calls,
        units::count(totals.tokens()),
        units::cost(totals.cost_microusd),
        units::duration(totals.turn_time_ms),
    )
}

fn json(row: &Row, setup: &Setup) -> serde_json::Value {
    let mut value = sessions::json(&row.stream, &row.state, setup);
    value["time_ms"] = row.state.totals_since_fork().turn_time_ms.into();
    value["files_changed"] = row.files.into();
    value["tests"] = json!(row.tests);
    value["model"] = json!(row.state.settings.as_ref().map(|settings| settings.model.as_str()));
    value
}
