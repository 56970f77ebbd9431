//! The handle to a running sandbox, and the only way to get one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use retrace_guest::message::{ExecLimits, Hello, Request};

use crate::activity::Activity;
use crate::backend::{
    Backend, Counters, Flavour, LaunchPlan, Meter, NoneBackend, PodmanBackend, ProcessBackend, host_kernel,
};
use crate::call::Call;
use crate::choice::SandboxChoice;
use crate::disk_watch::DiskWatch;
use crate::error::{GoneReport, SandboxError};
use crate::exec::{ExecRequest, Running};
use crate::guest_file::GuestFiles;
use crate::limits::Limits;
use crate::link::{Connected, Keeper, Link, connect};
use crate::network::{Connections, Gate};
use crate::policy::{Network, Policy};
use crate::probe;
use crate::proof::{IsolationLevel, Proof};

/// How long an orderly shutdown may take before the guest is killed.
const SHUTDOWN_TIME: Duration = Duration::from_secs(5);

/// A backend that `auto` looked at and did not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Considered {
    /// Its name.
    pub backend: &'static str,
    /// Why it fell out.
    pub reason: String,
}

/// A running sandbox. Clones are handles to the same one; it ends with the last of them, or with
/// [`Sandbox::shutdown`].
#[derive(Debug, Clone)]
pub struct Sandbox {
    inner: Arc<Inner>,
}

struct Inner {
    link: Arc<Link>,
    meter: Arc<dyn Meter>,
    activity: Arc<Activity>,
    disk: Option<Arc<DiskWatch>>,
    limits: Limits,
    exec_limits: ExecLimits,
    workspace_inside: PathBuf,
    backend_name: &'static str,
    level: IsolationLevel,
    hello: Hello,
    proofs: Vec<Proof>,
    considered: Vec<Considered>,
    launch_ms: f64,
    probe_ms: f64,
    /// The way out, where the policy has one.
    gate: Option<Gate>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Sandbox").field("backend", &self.backend_name).field("level", &self.level).finish()
    }
}

impl Sandbox {
    /// Starts a sandbox and proves that it is isolated as asked for. `guest_dir` is where the guest's executable is
    /// unpacked; it must lie outside of the workspace.
    ///
    /// # Errors
    /// When the policy cannot be allowed, the backend is not there or does not start, or a proof fails. Nothing is
    /// left running then, and nothing weaker is tried.
    pub async fn start(
        choice: SandboxChoice,
        policy: Policy,
        limits: Limits,
        guest_dir: &Path,
    ) -> Result<Self, SandboxError> {
        let backend: Box<dyn Backend> = match choice {
            SandboxChoice::Auto => return Self::start_strongest(&policy, &limits, guest_dir).await,
            SandboxChoice::Krun => Box::new(PodmanBackend::new(Flavour::Krun)),
            SandboxChoice::Container => Box::new(PodmanBackend::new(Flavour::Container)),
            SandboxChoice::Process => Box::new(ProcessBackend::default()),
            SandboxChoice::None => Box::new(NoneBackend),
        };
        Self::start_on(&*backend, &policy, &limits, guest_dir, Vec::new()).await
    }

    /// The strongest that can be proven; never `none`.
    async fn start_strongest(policy: &Policy, limits: &Limits, guest_dir: &Path) -> Result<Self, SandboxError> {
        let mut considered = Vec::new();
        for flavour in [Flavour::Krun, Flavour::Container] {
            let backend = PodmanBackend::new(flavour);
            let started = match backend.is_likely(&policy.engine).await {
                Ok(()) => Self::start_on(&backend, policy, limits, guest_dir, considered.clone()).await,
                Err(error) => Err(error),
            };
            match started {
                Ok(sandbox) => return Ok(sandbox),
                Err(error) => considered.push(Considered { backend: backend.name(), reason: error.to_string() }),
            }
        }
        Self::start_on(&ProcessBackend::default(), policy, limits, guest_dir, considered).await
    }

    pub(crate) async fn start_on(
        backend: &dyn Backend,
        policy: &Policy,
        limits: &Limits,
        guest_dir: &Path,
        considered: Vec<Considered>,
    ) -> Result<Self, SandboxError> {
        if backend.level() == IsolationLevel::None && policy.network != Network::None {
            return Err(SandboxError::NetworkOpen);
        }
        let started = Instant::now();
        let files = GuestFiles::unpack(guest_dir)?;
        let policy = policy.checked(&files.dir, std::env::home_dir().as_deref())?;
        let limits = limits.settled(backend.default_memory_bytes());
        let plan = LaunchPlan { policy: &policy, limits: &limits, files: &files, sandbox_id: sandbox_id() };
        let launched = backend.launch(&plan).await?;
        let meter = Arc::clone(&launched.meter);
        let keeper = Keeper { lifeline: launched.lifeline, meter: Arc::clone(&meter) };
        let explain = |stderr: &str, otherwise| backend.explain(stderr, otherwise);
        let Connected { link, hello } =
            connect(launched.stdin, launched.stdout, launched.stderr, keeper, explain).await?;
        let launch_ms = started.elapsed().as_secs_f64() * 1000.0;
        if backend.level() == IsolationLevel::MicroVm && hello.kernel == host_kernel() {
            link.kill();
            link.closed().await;
            return Err(SandboxError::RuntimeIgnored { kernel: hello.kernel });
        }

        let proving = Instant::now();
        let exec_limits = match launched.ready.await {
            Ok(exec_limits) => exec_limits,
            Err(error) => {
                link.kill();
                link.closed().await;
                return Err(error);
            }
        };
        let inner = Inner {
            link,
            meter,
            activity: Activity::new(),
            disk: limits.disk_bytes.map(|limit_bytes| DiskWatch::new(&policy.workspace, limit_bytes)),
            limits: limits.clone(),
            exec_limits,
            workspace_inside: launched.inside.workspace.clone(),
            backend_name: backend.name(),
            level: backend.level(),
            hello,
            proofs: Vec::new(),
            considered,
            launch_ms,
            probe_ms: 0.0,
            gate: None,
        };
        let sandbox = Self { inner: Arc::new(inner) };
        let proofs = match sandbox.prove(&plan, &launched.inside).await {
            Ok(proofs) => proofs,
            Err(error) => {
                sandbox.shutdown().await;
                return Err(error);
            }
        };
        let probe_ms = proving.elapsed().as_secs_f64() * 1000.0;
        // Only now: the proofs hold for a sandbox without any way out.
        let gate = match sandbox.open_gate(&policy.network).await {
            Ok(gate) => gate,
            Err(error) => {
                sandbox.shutdown().await;
                return Err(error);
            }
        };
        // There is no other handle yet, so this cannot fail.
        let inner = Arc::try_unwrap(sandbox.inner)
            .map_err(|_| SandboxError::Probe { backend: backend.name(), detail: "still in use".to_owned() })?;
        let sandbox = Self { inner: Arc::new(Inner { proofs, probe_ms, gate, ..inner }) };
        sandbox.end_when_idle();
        Ok(sandbox)
    }

    /// Ends it when nobody uses it for as long as its limits say.
    fn end_when_idle(&self) {
        let Some(idle_ms) = self.inner.limits.idle_ms else { return };
        let (activity, inner) = (Arc::clone(&self.inner.activity), Arc::downgrade(&self.inner));
        tokio::spawn(async move {
            let mut closed = match inner.upgrade() {
                Some(inner) => Link::until_closed(&inner.link),
                None => return,
            };
            tokio::select! {
                () = activity.idle(Duration::from_millis(idle_ms)) => {}
                () = &mut closed => return,
            }
            if let Some(inner) = inner.upgrade() {
                Self { inner }.shutdown().await;
            }
        });
    }

    /// Nothing is claimed for `none`, so nothing has to be proven.
    async fn prove(&self, plan: &LaunchPlan<'_>, inside: &crate::backend::Inside) -> Result<Vec<Proof>, SandboxError> {
        if self.level() == IsolationLevel::None {
            return Ok(vec![Proof::new(
                "no isolation",
                true,
                "asked for: commands run as plain processes of the host",
            )]);
        }
        let mut proofs = probe::prove(self, plan, inside).await?;
        proofs.extend(self.inner.meter.proofs());
        if proofs.iter().all(|proof| proof.passed) {
            Ok(proofs)
        } else {
            Err(SandboxError::NotIsolated { backend: self.backend_name(), proofs })
        }
    }

    async fn open_gate(&self, network: &Network) -> Result<Option<Gate>, SandboxError> {
        match network {
            Network::None => Ok(None),
            Network::Allow(list) => Gate::open(self, list).await.map(Some),
        }
    }

    /// What was proven at the start.
    #[must_use]
    pub fn proofs(&self) -> &[Proof] {
        &self.inner.proofs
    }

    /// The level of isolation that was proven.
    #[must_use]
    pub fn level(&self) -> IsolationLevel {
        self.inner.level
    }

    /// The backend's name, as in `--sandbox`.
    #[must_use]
    pub fn backend_name(&self) -> &'static str {
        self.inner.backend_name
    }

    /// The backends that `auto` did not take, and why.
    #[must_use]
    pub fn considered(&self) -> &[Considered] {
        &self.inner.considered
    }

    /// The limits in force.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// Where the workspace is for what runs inside: the host's own path, or `/workspace`.
    #[must_use]
    pub fn workspace_inside(&self) -> &Path {
        &self.inner.workspace_inside
    }

    /// Release of the kernel inside.
    #[must_use]
    pub fn kernel(&self) -> &str {
        &self.inner.hello.kernel
    }

    /// How long it took until the guest said hello, and from then until everything was proven, in milliseconds.
    #[must_use]
    pub fn timings_ms(&self) -> (f64, f64) {
        (self.inner.launch_ms, self.inner.probe_ms)
    }

    /// Begins the time anew after which it ends for want of use.
    ///
    /// # Errors
    /// When that time is over.
    pub fn keep(&self) -> Result<(), SandboxError> {
        self.inner.activity.touch()
    }

    /// Whether it was ended because nobody used it.
    #[must_use]
    pub fn was_idle(&self) -> bool {
        self.inner.activity.ended()
    }

    /// How the guest ended, if it did.
    #[must_use]
    pub fn gone(&self) -> Option<GoneReport> {
        self.inner.link.gone_now()
    }

    /// Tells about the connections of its commands as they end; `None` when it has no network. All receivers share
    /// one bounded queue.
    #[must_use]
    pub fn connections(&self) -> Option<Connections> {
        self.inner.gate.as_ref().map(Gate::connections)
    }

    /// Runs a command.
    ///
    /// # Errors
    /// When the request is too large, or the guest is gone. That a command cannot be started is told by
    /// [`Running::wait`].
    pub async fn exec(&self, request: ExecRequest) -> Result<Running, SandboxError> {
        Running::start(self, request).await
    }

    /// Asks the guest for a sign of life.
    ///
    /// # Errors
    /// When it is gone.
    pub async fn ping(&self) -> Result<(), SandboxError> {
        Call::start(&self.inner.link, &Request::Ping).await?.next().await.map(|_| ())
    }

    /// Ends the sandbox with everything in it, and waits until nothing is left on the host.
    pub async fn shutdown(&self) {
        self.inner.link.close();
        let orderly = async {
            if let Ok(mut call) = Call::start(&self.inner.link, &Request::Shutdown).await {
                // Whatever it answers, its end is waited for.
                let _ = call.next().await;
            }
            self.inner.link.closed().await;
        };
        if tokio::time::timeout(SHUTDOWN_TIME, orderly).await.is_err() {
            self.inner.link.kill();
            self.inner.link.closed().await;
        }
        if let Some(gate) = &self.inner.gate {
            gate.closed().await;
        }
    }

    pub(crate) fn network_variables(&self) -> &[(String, String)] {
        self.inner.gate.as_ref().map_or(&[], Gate::variables)
    }

    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.inner.link
    }

    pub(crate) fn activity(&self) -> &Arc<Activity> {
        &self.inner.activity
    }

    pub(crate) fn disk(&self) -> Option<&Arc<DiskWatch>> {
        self.inner.disk.as_ref()
    }

    pub(crate) fn exec_limits(&self) -> &ExecLimits {
        &self.inner.exec_limits
    }

    pub(crate) fn counters(&self) -> Counters {
        self.inner.meter.read()
    }
}

/// Unique on this machine while it runs: marks what belongs to this sandbox.
fn sandbox_id() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", crate::cgroup::owner_mark(), COUNTER.fetch_add(1, Ordering::Relaxed))
}
