//! `retrace replay --execute`: a session's calls once more, in a fresh sandbox.

use super::carried_out::CarriedOut;
use crate::agent::SandboxSetup;
use crate::cli::exit::{CliError, Exit};
use crate::cli::invocation::Invocation;
use crate::cli::progress::Progress;
use crate::cli::render::{clean, units};
use crate::cli::setup::Setup;
use crate::config::TrustList;
use crate::replaying::{ExecuteError, Execution, StageParts};
use crate::snapshots::SnapshotPlan;
use retrace_events::{EventLog, StreamId};
use retrace_sandbox::SandboxChoice;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Where the fresh folders are, in the user's cache.
const FOLDER: &str = "replay";

/// What is asked for.
pub(super) struct Wish {
    pub(super) stream: StreamId,
    pub(super) sandbox: Option<SandboxChoice>,
    /// Whether every divergence is shown.
    pub(super) all: bool,
}

/// Carries the calls out, and prints what came of them.
pub(super) async fn run(
    setup: &Setup,
    log: Arc<dyn EventLog>,
    wish: Wish,
    invocation: &Invocation,
) -> Result<Exit, CliError> {
    if wish.sandbox == Some(SandboxChoice::None) {
        setup.output.warn("no sandbox: the session's commands reach everything that you reach");
    }
    let cancel = invocation.catch_signals()?;
    let sandbox = wish.sandbox.map(|choice| choice.to_string());
    let parts = parts(setup, log.as_ref(), &wish.stream, cancel)?;
    let mut execution = Box::pin(Execution::begin(log, &wish.stream, parts, sandbox)).await?;
    setup.output.note(&format!(
        "carrying out {} again in a fresh folder, sandbox {}\n",
        units::of(execution.calls(), "call"),
        clean::line(&execution.sandbox())
    ));
    let mut shown = CarriedOut::new(setup, &wish.stream, wish.all);
    let played = {
        let progress = Progress::begin(invocation, "carrying out calls");
        Box::pin(play(&mut execution, &mut shown, progress)).await
    };
    // Whatever happened: nothing is left behind.
    let summary = execution.finish().await;
    played?;
    shown.summary(&summary)?;
    Ok(if summary.diverging == 0 { Exit::Done } else { Exit::Failed })
}

async fn play(execution: &mut Execution, shown: &mut CarriedOut<'_>, mut progress: Progress) -> Result<(), CliError> {
    let (all, mut done) = (execution.calls(), 0);
    progress.at(done, all);
    while let Some(call) = execution.next().await? {
        done += 1;
        shown.call(&call)?;
        progress.at(done, all);
    }
    Ok(())
}

fn parts(
    setup: &Setup,
    log: &dyn EventLog,
    stream: &StreamId,
    cancel: CancellationToken,
) -> Result<StageParts, CliError> {
    let (values, folders) = (&setup.config.values, &setup.config.folders);
    // That the user wants no new snapshots says nothing about those that there are.
    let plan = setup.snapshot_plan(log);
    let plan = plan.unwrap_or_else(|| SnapshotPlan::new(&folders.state, log.identity(), &values.masked(), false));
    let imported = TrustList::load(folders.imported_file())?.contains(&stream.subject());
    Ok(StageParts {
        snapshots: SnapshotPlan { keeps_set_id: !imported, ..plan },
        folder: folders.cache.join(FOLDER),
        guest_dir: folders.state.join("guest"),
        sandboxes: SandboxSetup::of(values),
        redactor: Arc::clone(&setup.redactor),
        cancel,
    })
}

impl From<ExecuteError> for CliError {
    fn from(error: ExecuteError) -> Self {
        match error {
            ExecuteError::Log(error) => error.into(),
            ExecuteError::Sandbox(error) => error.into(),
            ExecuteError::Snapshot(error) => error.into(),
            ExecuteError::Share(error) => error.into(),
            ExecuteError::NoSuchSession(_) => Self::new(Exit::NotFound, error.to_string()),
            ExecuteError::NoSnapshot(_) | ExecuteError::SnapshotGone { .. } => {
                Self::new(Exit::Snapshot, error.to_string())
            }
            ExecuteError::Foreign(_) | ExecuteError::Unconfined(_) => Self::new(Exit::Usage, error.to_string()),
            ExecuteError::Folder { .. } | ExecuteError::Broken(_) => Self::new(Exit::Failed, error.to_string()),
            ExecuteError::Interrupted => Self::new(Exit::Interrupted, error.to_string()),
        }
    }
}
