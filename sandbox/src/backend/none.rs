//! The `none` backend: the guest as a plain process of the host. It isolates nothing and is never chosen by itself.
//!
//! The environment is still built from an allow-list, so that keys do not end up in a model's hands by accident; and
//! what commands leave behind is still found and killed, by the marker in its environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use retrace_guest::SANDBOX_ID_VARIABLE;
use retrace_guest::message::ExecLimits;
use tokio::process::{Child, Command};

use super::process::passed_on;
use super::{Backend, Counters, Inside, LaunchPlan, Launched, Lifeline, Meter, PIPE_ENDS_WITH_US, marked};
use crate::error::SandboxError;
use crate::policy::looks_secret;
use crate::proof::{IsolationLevel, Proof};
use crate::spawner;

/// Variables that ordinary programs need.
const PASSED_ON: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "PYENV_ROOT",
    "NVM_DIR",
    "GOPATH",
    "JAVA_HOME",
    "RUSTUP_AUTO_INSTALL",
];
/// How often starting is tried again while another thread's child still holds the just written executable open.
const BUSY_ATTEMPTS: u32 = 50;
const BUSY_PAUSE: Duration = Duration::from_millis(2);

/// Starts guests without isolation.
#[derive(Debug)]
pub(crate) struct NoneBackend;

#[async_trait]
impl Backend for NoneBackend {
    fn name(&self) -> &'static str {
        "none"
    }

    fn level(&self) -> IsolationLevel {
        IsolationLevel::None
    }

    async fn launch(&self, plan: &LaunchPlan<'_>) -> Result<Launched, SandboxError> {
        let env = environment(plan);
        let env_names = env.keys().map(|name| name.to_string_lossy().into_owned()).collect();
        let fail = |error: &io::Error| SandboxError::Start { backend: "none", detail: error.to_string() };
        let mut attempts = 0;
        let mut child = loop {
            attempts += 1;
            let mut command = Command::new(&plan.files.executable);
            command.args(["serve", "--root"]).arg(&plan.policy.workspace).args(PIPE_ENDS_WITH_US);
            command.current_dir(&plan.policy.workspace);
            command.env_clear().envs(&env).process_group(0);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            match spawner::spawn(command, Vec::new()).await {
                Ok(child) => break child,
                Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && attempts < BUSY_ATTEMPTS => {
                    tokio::time::sleep(BUSY_PAUSE).await;
                }
                Err(error) => return Err(fail(&error)),
            }
        };
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(fail(&io::Error::other("no pipes to the process")));
        };
        let limits = plan.limits;
        let exec_limits = ExecLimits {
            max_output_bytes: Some(limits.output_bytes),
            file_size_bytes: Some(limits.file_size_bytes),
            cpu_seconds: Some(limits.cpu_seconds),
            data_bytes: Some(limits.memory()),
            ..ExecLimits::default()
        };
        let inside = Inside {
            guest: plan.files.executable.clone(),
            workspace: plan.policy.workspace.clone(),
            masked: Vec::new(),
            env_names,
            sockets: Vec::new(),
        };
        Ok(Launched {
            stdin: Box::new(stdin),
            stdout: Box::new(stdout),
            stderr: Box::new(stderr),
            lifeline: Box::new(PlainLifeline { child, sandbox_id: plan.sandbox_id.clone() }),
            meter: Arc::new(NoMeter),
            inside,
            ready: Box::pin(std::future::ready(Ok(exec_limits))),
        })
    }
}

fn environment(plan: &LaunchPlan<'_>) -> BTreeMap<OsString, OsString> {
    let ordinary = PASSED_ON.iter().filter(|name| !looks_secret(name));
    let mut env: BTreeMap<OsString, OsString> =
        ordinary.filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?))).collect();
    env.extend(passed_on(plan.policy));
    env.insert("TERM".into(), "dumb".into());
    env.insert("PAGER".into(), "cat".into());
    env.insert("GIT_TERMINAL_PROMPT".into(), "0".into());
    env.insert("RETRACE_SANDBOX".into(), "none".into());
    env.insert(SANDBOX_ID_VARIABLE.into(), plan.sandbox_id.clone().into());
    env
}

/// A process that is just being started shows no environment for a moment: only so many looks in a row that find nothing
/// mean that nothing is left.
const QUIET_LOOKS: u32 = 3;
/// The most looks; what still stands then cannot be killed.
const MAX_LOOKS: u32 = 100;
/// Between two looks.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

struct PlainLifeline {
    child: Child,
    sandbox_id: String,
}

#[async_trait]
impl Lifeline for PlainLifeline {
    async fn wait(&mut self) -> String {
        match self.child.wait().await {
            Ok(status) => format!("the guest ended: {status}"),
            Err(error) => format!("the guest cannot be waited for: {error}"),
        }
    }

    fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.start_kill();
    }

    async fn clean_up(&mut self) {
        // Normally nothing is left; only a guest that was killed could not do it itself.
        let mut quiet = 0;
        for _ in 0..MAX_LOOKS {
            quiet = if marked::kill(|_, sandbox| sandbox == self.sandbox_id) { 0 } else { quiet + 1 };
            if quiet == QUIET_LOOKS {
                return;
            }
            tokio::time::sleep(LOOK_PAUSE).await;
        }
    }
}

/// Counts nothing.
pub(crate) struct NoMeter;

impl Meter for NoMeter {
    fn read(&self) -> Counters {
        Counters::default()
    }

    fn proofs(&self) -> Vec<Proof> {
        Vec::new()
    }
}
