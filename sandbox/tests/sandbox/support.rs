//! A sandbox on a fresh folder, on the backend that `RETRACE_TEST_SANDBOX` names (`process` when it is not set).

use std::path::{Path, PathBuf};

use retrace_sandbox::{ExecOutput, ExecRequest, FailureKind, Limits, Policy, Sandbox, SandboxChoice, SandboxError};
use tempfile::TempDir;

/// A workspace, and a folder for the guest, that disappear with the test.
pub(crate) struct Place {
    workspace: TempDir,
    guest: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { workspace: tempfile::tempdir().unwrap(), guest: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn workspace(&self) -> &Path {
        self.workspace.path()
    }

    pub(crate) fn guest_dir(&self) -> &Path {
        self.guest.path()
    }

    pub(crate) fn policy(&self) -> Policy {
        Policy::new(self.workspace.path())
    }

    pub(crate) async fn try_start(&self, policy: Policy, limits: Limits) -> Result<Sandbox, SandboxError> {
        Sandbox::start(backend(), policy, limits, self.guest.path()).await
    }

    pub(crate) async fn start(&self) -> Sandbox {
        self.start_with(Limits::default()).await
    }

    pub(crate) async fn start_with(&self, limits: Limits) -> Sandbox {
        self.try_start(self.policy(), limits).await.unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.workspace.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, contents).unwrap();
        path
    }
}

/// The backend under test.
pub(crate) fn backend() -> SandboxChoice {
    std::env::var("RETRACE_TEST_SANDBOX").map_or(SandboxChoice::Process, |name| name.parse().unwrap())
}

/// As much of something (milliseconds, processor time) as it takes where everything takes longer: in an emulated machine.
pub(crate) fn slowly(amount: u64) -> u64 {
    amount * std::env::var("RETRACE_TEST_SLOWNESS").map_or(1, |factor| factor.parse().unwrap())
}

/// For what is about the innards of processes behind bubblewrap.
pub(crate) fn on_process() -> bool {
    backend() == SandboxChoice::Process
}

/// For what Docker does otherwise than Podman; `.ci/with-docker` says that it is the engine.
pub(crate) fn on_docker() -> bool {
    std::env::var_os("RETRACE_TEST_ENGINE").is_some_and(|engine| engine == "docker")
}

/// Whether all of a sandbox can be limited together: by a control group.
pub(crate) fn limits_the_whole() -> bool {
    !on_process() || as_root()
}

/// Whether the kernel tells this user when a container of someone else's runs out of memory: version 1 tells root only, and
/// an engine may have removed the numbers before anyone reads them.
pub(crate) fn hears_of_memory() -> bool {
    as_root() || !Path::new("/sys/fs/cgroup/memory/cgroup.event_control").exists()
}

pub(crate) async fn run(sandbox: &Sandbox, request: ExecRequest) -> ExecOutput {
    sandbox.exec(request).await.unwrap().output().await.unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) async fn shell(sandbox: &Sandbox, script: &str) -> ExecOutput {
    run(sandbox, ExecRequest::shell(script)).await
}

/// What a script prints; it must succeed.
pub(crate) async fn prints(sandbox: &Sandbox, script: &str) -> String {
    let output = shell(sandbox, script).await;
    assert!(output.result.succeeded(), "{script}: {:?}\n{}", output.result, text(&output.stderr));
    text(&output.stdout).trim().to_owned()
}

pub(crate) async fn fails(sandbox: &Sandbox, script: &str) -> bool {
    !shell(sandbox, script).await.result.succeeded()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn kind<T: std::fmt::Debug>(result: Result<T, SandboxError>) -> FailureKind {
    match result.unwrap_err() {
        SandboxError::Guest(failure) => failure.kind,
        other => panic!("{other}"),
    }
}

pub(crate) fn as_root() -> bool {
    rustix::process::geteuid().is_root()
}
