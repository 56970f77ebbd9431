//! The `process` backend: the guest behind bubblewrap.
//!
//! Every namespace is new, no capability is left, the root is an allow-list of read-only folders, and a system call
//! filter closes what a namespace would open. The guest is process 1 inside, so no command can kill it and nothing
//! survives it. It does not protect against bugs in the host's kernel; that is what microVMs are for.

mod admission;
mod arguments;
mod environment;
mod failure;
mod lifeline;
mod mounts;
mod stale;
mod toolchains;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use retrace_guest::message::ExecLimits;
use tokio::process::Command;
use tokio::task::JoinHandle;

use super::{Backend, Inside, LaunchPlan, Launched, find_program, masks, seccomp};
use crate::cgroup::{Cgroup, Doors};
use crate::error::SandboxError;
use crate::limits::Limits;
use crate::proof::IsolationLevel;
use crate::spawner;

use admission::GuestPid;
pub(crate) use environment::{fixed, passed_on};
use lifeline::{ProcessLifeline, ProcessMeter};

/// Where the guest's executable is, inside.
pub(super) const GUEST_INSIDE: &str = "/run/retrace/guest";
/// The home folder, inside.
pub(super) const HOME_INSIDE: &str = "/home/agent";

/// Starts guests behind bubblewrap.
#[derive(Debug, Default)]
pub(crate) struct ProcessBackend {
    /// Only for showing that the probe notices: arguments that are left out on purpose.
    #[cfg(test)]
    pub(crate) sabotage: Option<Sabotage>,
}

/// Ways to break the isolation on purpose, in tests.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sabotage {
    Network,
    Seccomp,
    ProcessIds,
    ReadOnlyRoot,
    Masks,
    HostFiles,
    Cgroup,
    Environment,
    User,
    KernelSettings,
}

#[async_trait]
impl Backend for ProcessBackend {
    fn name(&self) -> &'static str {
        "process"
    }

    fn level(&self) -> IsolationLevel {
        IsolationLevel::Process
    }

    fn explain(&self, stderr: &str, otherwise: String) -> SandboxError {
        failure::explain(stderr, otherwise)
    }

    async fn launch(&self, plan: &LaunchPlan<'_>) -> Result<Launched, SandboxError> {
        let bwrap = find_program("bwrap").ok_or(SandboxError::BubblewrapMissing)?;
        let cgroup = Arc::new(Mutex::new(Cgroup::default()));
        let creating = self.create_cgroup(plan.limits, &cgroup);
        // Nobody waits for it.
        tokio::task::spawn_blocking(stale::sweep_once);
        let home = std::env::home_dir();
        let toolchains = if plan.policy.home_toolchains { toolchains::found(home.as_deref()) } else { Vec::new() };
        let masked = masks::find(&plan.policy.workspace, &plan.policy.masked_names);
        let mut arguments = arguments::isolation();
        let masked = mounts::add(&mut arguments, plan, &toolchains, masked).map_err(|error| start_error(&error))?;
        arguments.file_descriptor("--seccomp", &seccomp::filter()?).map_err(|error| start_error(&error))?;
        #[cfg(test)]
        self.spoil(&mut arguments);

        #[cfg_attr(not(test), expect(unused_mut, reason = "tests spoil it"))]
        let mut env = environment::inside(plan, &toolchains);
        let env_names = env.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        #[cfg(test)]
        if self.sabotage == Some(Sabotage::Environment) {
            env.push(("SABOTAGE_API_KEY".into(), "leaked".into()));
        }
        let (report, report_writer) = admission::report_pipe().map_err(|error| start_error(&error))?;
        arguments.hand_over("--info-fd", report_writer);
        arguments.command(GUEST_INSIDE, &plan.policy.workspace);

        let (arguments, kept) = arguments.finish();
        let command = command(&bwrap, &arguments, env);
        let mut child = spawner::spawn(command, kept).await.map_err(|error| start_error(&error))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(start_error(&io::Error::other("no pipes to the process")));
        };
        let guest_pid = GuestPid::default();
        let ready = admit(creating, child.id().unwrap_or_default(), report, guest_pid.clone());
        let lifeline = ProcessLifeline::new(child, Arc::clone(&cgroup));
        let meter = ProcessMeter::new(guest_pid, cgroup);
        let inside = Inside {
            guest: PathBuf::from(GUEST_INSIDE),
            workspace: plan.policy.workspace.clone(),
            masked,
            env_names,
            sockets: Vec::new(),
        };
        Ok(Launched {
            stdin: Box::new(stdin),
            stdout: Box::new(stdout),
            stderr: Box::new(stderr),
            lifeline: Box::new(lifeline),
            meter: Arc::new(meter),
            inside,
            ready: Box::pin(ready),
        })
    }
}

impl ProcessBackend {
    /// Starts making the control group, beside all the rest; it appears in `place` when it is there.
    fn create_cgroup(
        &self,
        limits: &Limits,
        place: &Arc<Mutex<Cgroup>>,
    ) -> JoinHandle<io::Result<(Doors, ExecLimits)>> {
        let (limits, place) = (limits.clone(), Arc::clone(place));
        #[cfg(test)]
        let without = self.sabotage == Some(Sabotage::Cgroup);
        tokio::task::spawn_blocking(move || {
            let cgroup = Cgroup::create(&limits);
            #[cfg(test)]
            let cgroup = if without { Cgroup::none(&limits) } else { cgroup };
            let opened = cgroup.doors().map(|doors| (doors, exec_limits(&limits, &cgroup)));
            *place.lock().unwrap_or_else(PoisonError::into_inner) = cgroup;
            opened
        })
    }

    #[cfg(test)]
    fn spoil(&self, arguments: &mut arguments::Arguments) {
        match self.sabotage {
            Some(Sabotage::Network) => arguments.add(["--share-net"]),
            Some(Sabotage::Seccomp) => arguments.remove("--seccomp", 1),
            Some(Sabotage::ProcessIds) => arguments.replace_unshare_all("--unshare-pid"),
            Some(Sabotage::ReadOnlyRoot) => arguments.remove("--remount-ro", 1),
            Some(Sabotage::Masks) => arguments.remove_masks(),
            Some(Sabotage::HostFiles) => arguments.add(["--bind", "/tmp", "/tmp"]),
            Some(Sabotage::User) => arguments.become_root(),
            Some(Sabotage::KernelSettings) => arguments.unshow_below("/proc/"),
            Some(Sabotage::Cgroup | Sabotage::Environment) | None => {}
        }
    }
}

/// Moves the processes into the control group as soon as it is there; what is returned waits until that is done, and
/// says what is to be limited otherwise.
fn admit(
    creating: JoinHandle<io::Result<(Doors, ExecLimits)>>,
    outer_pid: u32,
    report: File,
    guest_pid: GuestPid,
) -> impl Future<Output = Result<ExecLimits, SandboxError>> + Send {
    let admitting = tokio::spawn(async move {
        let (doors, exec_limits) = creating.await??;
        tokio::task::spawn_blocking(move || admission::admit_all(outer_pid, report, doors, &guest_pid)).await??;
        Ok::<_, io::Error>(exec_limits)
    });
    async move {
        let admitted = admitting.await.unwrap_or_else(|error| Err(error.into()));
        admitted.map_err(|error| SandboxError::Start {
            backend: "process",
            detail: format!("cannot move it into its control group: {error}"),
        })
    }
}

/// What the control group does not limit is limited for each process.
fn exec_limits(limits: &Limits, cgroup: &Cgroup) -> ExecLimits {
    ExecLimits {
        max_output_bytes: Some(limits.output_bytes),
        processes: (!cgroup.limits_pids()).then_some(limits.pids),
        address_space_bytes: None,
        // Not the address space: runtimes such as V8 or Go reserve far more of that than they ever use.
        data_bytes: (!cgroup.limits_memory()).then_some(limits.memory()),
        file_size_bytes: Some(limits.file_size_bytes),
        cpu_seconds: Some(limits.cpu_seconds),
        open_files: Some(limits.open_files),
    }
}

fn command(bwrap: &Path, arguments: &[OsString], env: Vec<(OsString, OsString)>) -> Command {
    let mut command = Command::new(bwrap);
    command.args(arguments).env_clear().envs(env);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn start_error(error: &io::Error) -> SandboxError {
    SandboxError::Start { backend: "process", detail: error.to_string() }
}

#[cfg(test)]
mod tests;
