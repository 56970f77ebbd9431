//! A real sandbox over a temporary workspace, with everything a tool needs.

use crate::tools::{Background, NoMemory, Tool, ToolContext, ToolFailure, ToolResult, all};
use retrace_events::log::MemoryLog;
use retrace_events::redact::Redactor;
use retrace_events::{BlobRef, CallId};
use retrace_sandbox::{Limits, Policy, Sandbox, SandboxChoice};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// A secret the redactor knows.
pub(super) const SECRET: &str = "correct-horse-battery-staple";

/// A workspace, its sandbox, and what calls left behind.
pub(super) struct Bench {
    /// What every call is given.
    pub(super) context: ToolContext,
    folder: tempfile::TempDir,
    kept: Arc<Mutex<HashMap<CallId, BlobRef>>>,
    watched: Arc<Mutex<String>>,
    calls: AtomicU64,
}

impl Bench {
    /// An empty workspace. Beside it, outside, lies `outside.txt`.
    pub(super) async fn new() -> Self {
        Self::with_limits(Limits::default()).await
    }

    /// As [`Self::new`], with other limits.
    pub(super) async fn with_limits(limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("ws")).unwrap();
        std::fs::write(folder.path().join("outside.txt"), "not yours").unwrap();
        let sandbox = start(folder.path(), limits).await;
        let kept: Arc<Mutex<HashMap<CallId, BlobRef>>> = Arc::default();
        let watched: Arc<Mutex<String>> = Arc::default();
        let (outputs, progress) = (Arc::clone(&kept), Arc::clone(&watched));
        let context = ToolContext {
            session: "ev.local.work-abc123.session.own-0001".parse().unwrap(),
            call: CallId("toolu_0".to_owned()),
            sandbox,
            log: Arc::new(MemoryLog::new()),
            command_timeout_ms: 60_000,
            redactor: Arc::new(Redactor::new(vec![SECRET.to_owned()])),
            outputs: Arc::new(move |call| outputs.lock().unwrap().get(call).copied()),
            memory: Arc::new(NoMemory),
            masked: Arc::new([".env".to_owned()]),
            background: Arc::new(Background::new()),
            progress: Arc::new(move |text| progress.lock().unwrap().push_str(text)),
            cancel: CancellationToken::new(),
        };
        Self { context, folder, kept, watched, calls: AtomicU64::new(1) }
    }

    /// The workspace's folder on the host.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("ws").join(path)
    }

    /// Writes a file from the host's side.
    pub(super) fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// A file's bytes, read from the host's side.
    pub(super) fn bytes(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.path(path)).unwrap()
    }

    /// Ends the sandbox the hard way, from the host's side.
    pub(super) fn kill_sandbox(&self) {
        let folder = self.folder.path().to_str().unwrap().as_bytes();
        let mut killed = 0;
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let arguments = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            if pid != std::process::id().cast_signed() && arguments.windows(folder.len()).any(|part| part == folder) {
                let pid = rustix::process::Pid::from_raw(pid).unwrap();
                rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
                killed += 1;
            }
        }
        assert!(killed > 0, "the sandbox was not found");
    }

    /// What lies beside the workspace must stay as it was.
    pub(super) fn assert_outside_untouched(&self) {
        assert_eq!(std::fs::read(self.folder.path().join("outside.txt")).unwrap(), b"not yours");
        let names = std::fs::read_dir(self.folder.path()).unwrap().count();
        assert_eq!(names, 3, "something was written beside the workspace");
    }

    /// Everything that watchers were shown.
    pub(super) fn watched(&self) -> String {
        self.watched.lock().unwrap().clone()
    }

    /// Runs a call under an id of its own and remembers its output, as the agent loop would.
    pub(super) async fn try_run(&self, tool: &str, input: Value) -> Result<ToolResult, ToolFailure> {
        let call = CallId(format!("toolu_{}", self.calls.fetch_add(1, Ordering::Relaxed)));
        let context = ToolContext { call: call.clone(), ..self.context.clone() };
        let result = tool_named(tool).run(&context, input).await?;
        if let Some(output) = result.output {
            self.kept.lock().unwrap().insert(call, output);
        }
        Ok(result)
    }

    /// Starts a command in the background, which must not be over at once.
    pub(super) async fn background(&self, command: &str) -> CallId {
        let call = CallId(format!("toolu_{}", self.calls.load(Ordering::Relaxed)));
        let result = self.run("bash", serde_json::json!({"command": command, "background": true})).await;
        assert_eq!(result.background.as_deref(), Some(&*self.context.redactor.redact(command)), "{}", result.content);
        call
    }

    /// Reads a background command's output until it has `text`.
    pub(super) async fn read_until(&self, call: &CallId, text: &str) -> String {
        let mut wait_ms = 0;
        loop {
            let output = self.ok("read_output", serde_json::json!({"call_id": call, "wait_ms": wait_ms})).await;
            wait_ms = 10_000;
            if output.contains(text) {
                return output;
            }
            assert!(output.contains("still running"), "{text:?} never came: {output}");
        }
    }

    /// As [`Self::try_run`], for calls that can be carried out.
    pub(super) async fn run(&self, tool: &str, input: Value) -> ToolResult {
        self.try_run(tool, input).await.unwrap()
    }

    /// Runs a call that must succeed, and gives what the model is told.
    pub(super) async fn ok(&self, tool: &str, input: Value) -> String {
        let result = self.run(tool, input).await;
        assert!(!result.is_error, "{}", result.content);
        result.content
    }

    /// Runs a call that must fail, and gives what the model is told.
    pub(super) async fn fails(&self, tool: &str, input: Value) -> String {
        let result = self.run(tool, input).await;
        assert!(result.is_error, "{}", result.content);
        result.content
    }

    /// All bytes of a kept output.
    pub(super) async fn blob(&self, output: BlobRef) -> Vec<u8> {
        self.context.log.blobs().read(output.hash, 0..output.size_bytes).await.unwrap()
    }
}

/// A process sandbox over `ws` in `folder`; the guest's executable lies beside it.
async fn start(folder: &Path, limits: Limits) -> Sandbox {
    let policy = Policy::new(folder.join("ws"));
    Sandbox::start(SandboxChoice::Process, policy, limits, &folder.join("guest")).await.unwrap()
}

/// The tool of that name.
pub(super) fn tool_named(name: &str) -> Arc<dyn Tool> {
    all().into_iter().find(|tool| tool.name() == name).unwrap()
}
