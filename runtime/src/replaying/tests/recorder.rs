//! Makes sessions by carrying calls out for real, in a real sandbox, and writing down what the agent would.

use crate::agent::SandboxSetup;
use crate::replaying::{CallVerdict, ExecuteError, Execution, ExecutionSummary, NotCompared, ReplayedCall, StageParts};
use crate::snapshots::SnapshotPlan;
use crate::tools::{Background, NoMemory, ToolContext, ToolResult, effect_of, named};
use base64::Engine as _;
use retrace_events::log::MemoryLog;
use retrace_events::mint::SystemMint;
use retrace_events::payload::context::ContextImageAttached;
use retrace_events::payload::session::{SessionImported, SessionStarted};
use retrace_events::payload::settings::Settings;
use retrace_events::payload::tool::{
    ToolBackgroundStarted, ToolCalled, ToolDenied, ToolEffect, ToolFinished, ToolOutcomeUnknown,
};
use retrace_events::payload::turn::{PromptSource, TurnPrompted};
use retrace_events::payload::workspace::{WorkspaceSnapshotFailed, WorkspaceSnapshotted};
use retrace_events::redact::Redactor;
use retrace_events::testing::{example_settings, example_stream};
use retrace_events::{BlobRef, CallId, EventId, EventLog, Hash, Payload, StreamId, Writer};
use retrace_sandbox::snapshot::{SnapshotStore, TreeId};
use retrace_sandbox::{Limits, Policy, Sandbox, SandboxChoice};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// A secret that the redactor knows.
pub(super) const SECRET: &str = "correct-horse-battery-staple";

/// A session that is being made.
pub(super) struct Recorder {
    dir: tempfile::TempDir,
    pub(super) log: MemoryLog,
    writer: Writer,
    sandbox: Sandbox,
    background: Arc<Background>,
    tree: Option<TreeId>,
    /// Whether the present turn's first call that may write is still to come.
    is_fresh_turn: bool,
    outputs: Arc<Mutex<HashMap<CallId, BlobRef>>>,
    calls: u64,
    pub(super) cancel: CancellationToken,
    /// Whether images are written down with other bytes than they have.
    pub(super) lie_about_images: bool,
}

impl Recorder {
    /// A session whose workspace has a file `a.txt`.
    pub(super) async fn new() -> Self {
        let mut recorder = Self::unopened().await;
        recorder.start(Settings { sandbox: "process".to_owned(), ..example_settings() }).await;
        recorder
    }

    /// A session without any event.
    pub(super) async fn unopened() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().join("ws");
        std::fs::create_dir(&workspace).unwrap();
        std::fs::write(workspace.join("a.txt"), "one\ntwo\n").unwrap();
        let limits = Limits { command_timeout_ms: 60_000, ..Limits::default() };
        let guest = dir.path().join("guest");
        let sandbox = Sandbox::start(SandboxChoice::Process, Policy::new(&workspace), limits, &guest).await.unwrap();
        let log = MemoryLog::new();
        let writer =
            Writer::create(Arc::new(log.clone()), Arc::new(SystemMint), example_stream("replayed"), Hash::GENESIS);
        Self {
            log,
            writer,
            sandbox,
            background: Arc::new(Background::new()),
            tree: None,
            is_fresh_turn: true,
            outputs: Arc::default(),
            calls: 0,
            cancel: CancellationToken::new(),
            lie_about_images: false,
            dir,
        }
    }

    pub(super) async fn start(&mut self, settings: Settings) {
        let settings = Settings { command_timeout_ms: 60_000, ..settings };
        let workspace = self.workspace().display().to_string();
        self.append(
            SessionStarted { title: "t".to_owned(), workspace, retrace_version: "0".to_owned(), settings }.into(),
        )
        .await;
        self.prompt().await;
    }

    pub(super) fn stream(&self) -> StreamId {
        self.writer.stream().clone()
    }

    /// The workspace's real path.
    pub(super) fn workspace(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("ws")
    }

    /// Where fresh folders are made.
    pub(super) fn folder(&self) -> PathBuf {
        self.dir.path().join("fresh")
    }

    pub(super) fn plan(&self) -> SnapshotPlan {
        SnapshotPlan::new(&self.dir.path().join("state"), self.log.identity(), &[], false)
    }

    pub(super) fn store(&self) -> SnapshotStore {
        self.plan().store().unwrap()
    }

    /// Writes a file by hand.
    pub(super) fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.workspace().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(super) async fn append(&mut self, payload: Payload) -> EventId {
        self.writer.append(vec![(payload, None)]).await.unwrap()[0].envelope.id
    }

    pub(super) async fn prompt(&mut self) {
        self.is_fresh_turn = true;
        let prompt = TurnPrompted { text: "go on".to_owned(), source: PromptSource::Local, attachments: Vec::new() };
        self.append(prompt.into()).await;
    }

    pub(super) async fn bash(&mut self, command: &str) -> CallId {
        self.call("bash", json!({ "command": command })).await
    }

    /// A call, carried out and written down.
    pub(super) async fn call(&mut self, tool: &str, input: Value) -> CallId {
        let (call, _) = self.call_changed(tool, input, |_| {}).await;
        call
    }

    /// As [`Self::call`], with a lie in what is written down of its result.
    pub(super) async fn call_changed(
        &mut self,
        tool: &str,
        input: Value,
        lie: impl FnOnce(&mut ToolFinished),
    ) -> (CallId, ToolResult) {
        let call = self.called(tool, &input, EventId(uuid::Uuid::nil())).await;
        let kept = Arc::clone(&self.outputs);
        let context = ToolContext {
            session: self.stream(),
            call: call.clone(),
            sandbox: self.sandbox.clone(),
            log: Arc::new(self.log.clone()),
            command_timeout_ms: 60_000,
            redactor: redactor(),
            outputs: Arc::new(move |call| kept.lock().unwrap().get(call).copied()),
            memory: Arc::new(NoMemory),
            background: Arc::clone(&self.background),
            progress: Arc::new(|_| {}),
            cancel: CancellationToken::new(),
        };
        let result = named(tool).unwrap().run(&context, input).await.unwrap();
        if let Some(output) = result.output {
            self.outputs.lock().unwrap().insert(call.clone(), output);
        }
        let mut finished = ToolFinished {
            call: call.clone(),
            is_error: result.is_error,
            content: redactor().redact(&result.content).into_owned(),
            exit: result.exit,
            output: result.output,
            changed: result.changed.clone(),
            duration_ms: 5,
        };
        lie(&mut finished);
        let mut batch = Vec::new();
        if effect_of(tool) == ToolEffect::Writes {
            batch.extend(self.snapshot(Some(call.clone())));
        }
        for image in &result.images {
            let mut bytes = image.bytes.clone();
            if self.lie_about_images {
                bytes.push(0);
            }
            let attached = ContextImageAttached {
                name: image.name.clone(),
                media_type: image.media_type.clone(),
                data_base64: base64::engine::general_purpose::STANDARD.encode(&bytes),
                call: Some(call.clone()),
                width_px: image.width_px,
                height_px: image.height_px,
            };
            batch.push(attached.into());
        }
        batch.push(finished.into());
        if let Some(command) = result.background.clone() {
            batch.push(ToolBackgroundStarted { call: call.clone(), command }.into());
        }
        self.batch(batch).await;
        (call, result)
    }

    /// Writes down that a call was begun, and the files as they were found.
    pub(super) async fn called(&mut self, tool: &str, input: &Value, request: EventId) -> CallId {
        self.calls += 1;
        let call = CallId(format!("toolu_{}", self.calls));
        let effect = effect_of(tool);
        let mut batch = Vec::new();
        if effect == ToolEffect::Writes && std::mem::replace(&mut self.is_fresh_turn, false) {
            batch.extend(self.snapshot(None));
        }
        let (tool, input) = (tool.to_owned(), input.to_string());
        batch.push(ToolCalled { call: call.clone(), tool, input, request, effect }.into());
        self.batch(batch).await;
        call
    }

    /// A call that nobody saw the end of, after which the workspace is as it is now.
    pub(super) async fn unknown(&mut self, command: &str, change: impl FnOnce(&Path)) -> CallId {
        let call = self.called("bash", &json!({ "command": command }), EventId(uuid::Uuid::nil())).await;
        change(&self.workspace());
        let mut batch: Vec<Payload> = self.snapshot(Some(call.clone())).into_iter().collect();
        batch.push(ToolOutcomeUnknown { call: call.clone(), content: "who knows".to_owned() }.into());
        self.batch(batch).await;
        call
    }

    pub(super) async fn denied(&mut self, command: &str, by: &str) -> CallId {
        let call = self.called("bash", &json!({ "command": command }), EventId(uuid::Uuid::nil())).await;
        let content = "no".to_owned();
        self.append(ToolDenied { call: call.clone(), by: by.to_owned(), content }.into()).await;
        call
    }

    /// From here on the files are not known.
    pub(super) async fn snapshot_fails(&mut self) {
        self.tree = None;
        self.append(WorkspaceSnapshotFailed { after: None, why: "disk full".to_owned() }.into()).await;
    }

    /// Makes it a session that another program began; what this gives stands for all requests of then.
    pub(super) async fn imported(&mut self) -> EventId {
        let imported = SessionImported {
            source: "claude-code".to_owned(),
            source_session: "x".to_owned(),
            source_version: "1".to_owned(),
        };
        self.append(imported.into()).await
    }

    fn snapshot(&mut self, after: Option<CallId>) -> Option<Payload> {
        let plan = self.plan();
        let taken = self.store().take(&self.workspace(), &plan.options, None).unwrap();
        let previous = self.tree.replace(taken.tree).map(|tree| tree.to_string());
        let tree = taken.tree.to_string();
        if previous.as_ref() == Some(&tree) {
            return None;
        }
        let (changed_files, new_bytes) = (taken.changed_files, taken.new_bytes);
        Some(WorkspaceSnapshotted { tree, previous, git_state: None, after, changed_files, new_bytes }.into())
    }

    async fn batch(&mut self, batch: Vec<Payload>) {
        self.writer.append(batch.into_iter().map(|payload| (payload, None)).collect()).await.unwrap();
    }

    pub(super) fn parts(&self) -> StageParts {
        StageParts {
            snapshots: self.plan(),
            folder: self.folder(),
            guest_dir: self.dir.path().join("guest"),
            sandboxes: SandboxSetup::default(),
            redactor: redactor(),
            cancel: self.cancel.clone(),
        }
    }

    /// Carries the session out again.
    pub(super) async fn begin(&self) -> Result<Execution, ExecuteError> {
        Execution::begin(Arc::new(self.log.clone()), &self.stream(), self.parts(), None).await
    }

    /// All of it; afterwards nothing may be left behind.
    pub(super) async fn replay(&self) -> (Vec<ReplayedCall>, ExecutionSummary) {
        let (before, events) = (self.survey(), self.events().await);
        let mut execution = self.begin().await.unwrap();
        let mut calls = Vec::new();
        while let Some(call) = execution.next().await.unwrap() {
            calls.push(call);
        }
        let summary = execution.finish().await;
        assert_eq!(self.left_behind(), Vec::<PathBuf>::new());
        assert_eq!(self.survey(), before, "the session's own workspace was touched");
        assert_eq!(self.events().await, events, "the log was written");
        (calls, summary)
    }

    /// What lies where fresh folders are made.
    pub(super) fn left_behind(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.folder()).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    }

    fn survey(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let walk =
            ignore::WalkBuilder::new(self.workspace()).standard_filters(false).sort_by_file_name(Ord::cmp).build();
        walk.map(|entry| entry.unwrap().into_path())
            .map(|path| (path.clone(), std::fs::read(&path).unwrap_or_default()))
            .collect()
    }

    async fn events(&self) -> u64 {
        self.log.head(&self.stream()).await.unwrap().map_or(0, |head| head.seq + 1)
    }
}

fn redactor() -> Arc<Redactor> {
    Arc::new(Redactor::new(vec![SECRET.to_owned()]))
}

/// The reasons why calls were not compared, in order.
pub(super) fn reasons(calls: &[ReplayedCall]) -> Vec<NotCompared> {
    let why = |call: &ReplayedCall| match call.verdict {
        CallVerdict::NotCompared(why) => Some(why),
        CallVerdict::Compared(_) => None,
    };
    calls.iter().filter_map(why).collect()
}

/// Waits until something is so.
pub(super) async fn wait_for(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}
