//! Where calls are carried out again: a fresh folder with the session's first files, a sandbox over it, and everything a tool
//! needs. All of it goes away with the stage; the session's own workspace and log are not reached from here.

use super::execute_error::ExecuteError;
use super::fresh_folder::FreshFolder;
use super::moved_input::moved_input;
use super::recorded_call::RecordedCall;
use crate::agent::{SandboxSetup, SandboxWish, start_sandbox};
use crate::snapshots::SnapshotPlan;
use crate::tools::{Background, NoMemory, ToolContext, ToolFailure, ToolResult, named};
use retrace_events::log::SqliteLog;
use retrace_events::payload::settings::Settings;
use retrace_events::redact::Redactor;
use retrace_events::{BlobRef, CallId, EventLog, StreamId};
use retrace_sandbox::Sandbox;
use retrace_sandbox::snapshot::{BringOptions, RestoreOptions, SnapshotError, SnapshotStore, TreeId};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The largest output that is taken over for a call that reads it, in bytes.
const MAX_OUTPUT_BYTES: u64 = 64 * 1024 * 1024;

/// What a stage is made with.
#[derive(Clone)]
pub struct StageParts {
    /// Where snapshots are, and what goes into them.
    pub snapshots: SnapshotPlan,
    /// In which folder the fresh one is made.
    pub folder: PathBuf,
    /// Where the sandbox's guest is unpacked.
    pub guest_dir: PathBuf,
    /// What the sandbox may see and use.
    pub sandboxes: SandboxSetup,
    /// Takes secrets out of outputs.
    pub redactor: Arc<Redactor>,
    /// Stops everything.
    pub cancel: CancellationToken,
}

/// The stage.
pub(super) struct Stage {
    parts: StageParts,
    settings: Settings,
    session: StreamId,
    store: SnapshotStore,
    pub(super) workspace: PathBuf,
    sandbox: Sandbox,
    background: Arc<Background>,
    /// Takes outputs; of this stage alone.
    scratch: Arc<dyn EventLog>,
    outputs: Arc<Mutex<HashMap<CallId, BlobRef>>>,
    /// The last, so that it goes when all else has.
    dir: FreshFolder,
}

impl Stage {
    /// Makes a fresh folder with the files of `tree`, and starts a sandbox over it. `name` is what the workspace was called.
    pub(super) async fn set(
        parts: StageParts,
        session: StreamId,
        settings: Settings,
        tree: TreeId,
        name: &str,
    ) -> Result<Self, ExecuteError> {
        let dir = FreshFolder::make(&parts.folder)?;
        let root = dir.path().to_owned();
        let store = parts.snapshots.store()?;
        let restoring = RestoreOptions { keeps_set_id: parts.snapshots.keeps_set_id, ..RestoreOptions::default() };
        let workspace = root.join(name);
        blocking({
            let (store, workspace) = (store.clone(), workspace.clone());
            move || store.restore(&tree, &workspace, &restoring)
        })
        .await?;
        let scratch = SqliteLog::open(&root.join("outputs"))?;
        let sandbox = sandbox(&parts, &workspace, &settings).await?;
        Ok(Self {
            parts,
            settings,
            session,
            store,
            workspace,
            sandbox,
            background: Arc::new(Background::new()),
            scratch: Arc::new(scratch),
            outputs: Arc::default(),
            dir,
        })
    }

    /// What the sandbox is: its kind, and how well it isolates.
    pub(super) fn sandbox_words(&self) -> String {
        format!("{} ({})", self.sandbox.backend_name(), self.sandbox.level())
    }

    /// Whether a command runs in the background.
    pub(super) fn has_background(&self) -> bool {
        !self.background.list().is_empty()
    }

    /// Whether `call` started a command that this stage knows of.
    pub(super) fn runs_in_background(&self, call: &CallId) -> bool {
        self.background.list().iter().any(|command| command.call == *call)
    }

    /// Whether the user wants to stop.
    pub(super) fn is_cancelled(&self) -> bool {
        self.parts.cancel.is_cancelled()
    }

    /// Lets some time pass, unless the user wants to stop.
    pub(super) async fn pause(&self, time: Duration) {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = self.parts.cancel.cancelled() => {}
        }
    }

    /// A text without secrets.
    pub(super) fn redacted(&self, text: &str) -> String {
        self.parts.redactor.redact(text).into_owned()
    }

    /// Carries a call out. `None` when there is no such tool.
    pub(super) async fn carry_out(&mut self, recorded: &RecordedCall) -> Result<Option<ToolResult>, ExecuteError> {
        let Some(tool) = named(&recorded.tool) else { return Ok(None) };
        let input = match serde_json::from_str::<Value>(&recorded.input) {
            Ok(input) => self.at_home(input, &recorded.workspace),
            Err(error) => return Ok(Some(ToolResult::error(format!("the input is not JSON: {error}")))),
        };
        let outcome = tool.run(&self.context(recorded), input).await;
        while let Some(end) = self.background.try_ended() {
            if let Some(output) = end.output {
                self.outputs().insert(end.call, output);
            }
        }
        match outcome {
            Ok(result) => {
                if let Some(output) = result.output {
                    self.outputs().insert(recorded.call.clone(), output);
                }
                Ok(Some(result))
            }
            Err(ToolFailure::Cancelled) => Err(ExecuteError::Interrupted),
            Err(ToolFailure::Log(error)) => Err(error.into()),
            Err(ToolFailure::SandboxGone(why)) => {
                self.background = Arc::new(Background::new());
                self.sandbox = sandbox(&self.parts, &self.workspace, &self.settings).await?;
                Ok(Some(ToolResult::error(format!("the sandbox ended: {why}"))))
            }
        }
    }

    /// Takes over an output from the session's log, for a call that reads it. False when it is not kept there.
    pub(super) async fn lend(&self, call: &CallId, output: BlobRef, log: &dyn EventLog) -> Result<bool, ExecuteError> {
        if output.size_bytes > MAX_OUTPUT_BYTES {
            return Ok(false);
        }
        let bytes = match log.blobs().read(output.hash, 0..output.size_bytes).await {
            Ok(bytes) => bytes,
            Err(retrace_events::LogError::NoSuchBlob(_)) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let kept = self.scratch.blobs().put(&bytes).await?;
        self.outputs().insert(call.clone(), kept);
        Ok(true)
    }

    /// An output that a call of this stage left, as text; `None` when it is larger than `max_bytes`.
    pub(super) async fn output(&self, output: BlobRef, max_bytes: u64) -> Result<Option<String>, ExecuteError> {
        text_of(self.scratch.as_ref(), output, max_bytes).await
    }

    /// The files as they are now, in the store of snapshots.
    pub(super) async fn tree(&self) -> Result<TreeId, ExecuteError> {
        let (store, workspace) = (self.store.clone(), self.workspace.clone());
        let options = self.parts.snapshots.options.clone();
        Ok(blocking(move || store.take(&workspace, &options, None)).await?.tree)
    }

    /// Brings the files to a snapshot, whatever they are.
    pub(super) async fn bring(&self, tree: TreeId) -> Result<(), ExecuteError> {
        let (store, workspace) = (self.store.clone(), self.workspace.clone());
        let options = self.parts.snapshots.options.clone();
        let how = BringOptions { expected: None, force: true };
        blocking(move || store.bring(&tree, &workspace, &options, how)).await.map(drop)
    }

    /// Where snapshots are, and what goes into them.
    pub(super) const fn plan(&self) -> &SnapshotPlan {
        &self.parts.snapshots
    }

    /// The store of snapshots.
    pub(super) const fn store(&self) -> &SnapshotStore {
        &self.store
    }

    /// Ends everything and removes the folder.
    pub(super) async fn strike(self) {
        let Self { background, sandbox, dir, .. } = self;
        background.kill_all("the calls were carried out").await;
        sandbox.shutdown().await;
        // Many files take their time.
        let removed = tokio::task::spawn_blocking(move || drop(dir)).await;
        if let Err(error) = removed {
            tracing::warn!(%error, "a folder of carried out calls stays");
        }
    }

    fn context(&self, recorded: &RecordedCall) -> ToolContext {
        let outputs = Arc::clone(&self.outputs);
        ToolContext {
            session: self.session.clone(),
            call: recorded.call.clone(),
            sandbox: self.sandbox.clone(),
            log: Arc::clone(&self.scratch),
            command_timeout_ms: recorded.command_timeout_ms,
            redactor: Arc::clone(&self.parts.redactor),
            outputs: Arc::new(move |call| outputs.lock().unwrap_or_else(PoisonError::into_inner).get(call).copied()),
            memory: Arc::new(NoMemory),
            background: Arc::clone(&self.background),
            progress: Arc::new(|_| {}),
            cancel: self.parts.cancel.child_token(),
        }
    }

    /// An input with the workspace where it is now.
    fn at_home(&self, input: Value, was_at: &Path) -> Value {
        match (was_at.to_str(), self.workspace.to_str()) {
            (Some(from), Some(to)) if from.len() > 1 => moved_input(input, from, to),
            _ => input,
        }
    }

    fn outputs(&self) -> MutexGuard<'_, HashMap<CallId, BlobRef>> {
        self.outputs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A kept output as text; `None` when it is larger than `max_bytes`, or no longer there.
pub(super) async fn text_of(
    log: &dyn EventLog,
    output: BlobRef,
    max_bytes: u64,
) -> Result<Option<String>, ExecuteError> {
    if output.size_bytes > max_bytes {
        return Ok(None);
    }
    match log.blobs().read(output.hash, 0..output.size_bytes).await {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(retrace_events::LogError::NoSuchBlob(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn sandbox(parts: &StageParts, workspace: &Path, settings: &Settings) -> Result<Sandbox, ExecuteError> {
    let wish = SandboxWish { workspace, settings, guest_dir: &parts.guest_dir, setup: &parts.sandboxes };
    Ok(start_sandbox(&wish).await?)
}

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SnapshotError> + Send + 'static,
) -> Result<T, ExecuteError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done?),
        Err(error) => Err(ExecuteError::Broken(error.to_string())),
    }
}
