//! The commands that run in the background of a session: started by a call, read, ended, and their ends told once.
//!
//! They outlive their call, an interrupted turn and whatever else happens in the session, but not the sandbox, and not this
//! registry: dropping it ends them all. What they take is bounded: how many run at once, and what is kept of their
//! output. Nothing is logged here; the agent takes the ends from [`Background::ended`] and does that.

use super::ToolContext;
use super::background_job::{Job, Over};
use retrace_events::payload::tool::ToolExit;
use retrace_events::{BlobRef, CallId};
use retrace_sandbox::{ExecRequest, SandboxError};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{AbortHandle, JoinSet};

/// How many commands that are over can still be asked about here; older ones are found by the session's log.
const REMEMBERED: usize = 64;

/// What commands in the background may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BackgroundLimits {
    /// How many run at once.
    pub(super) commands: usize,
    /// How much is kept of the output of each, in bytes.
    pub(super) kept_bytes: usize,
    /// How much each may write before it is ended, in bytes.
    pub(super) written_bytes: u64,
}

impl Default for BackgroundLimits {
    fn default() -> Self {
        // A server may log for hours; only what does nothing but write comes to a gibibyte.
        Self { commands: 8, kept_bytes: 16 * 1024 * 1024, written_bytes: 1024 * 1024 * 1024 }
    }
}

/// A command that runs in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundCommand {
    /// The call that started it.
    pub call: CallId,
    /// The command, redacted.
    pub command: String,
    /// For how long it has been running, in milliseconds.
    pub running_ms: u64,
}

/// A command in the background is over; nothing of it is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundEnd {
    /// The call that started it.
    pub call: CallId,
    /// How it ended; `None` when nobody saw it.
    pub exit: Option<ToolExit>,
    /// What was kept of its output, redacted, in the blob store; `None` when there was none.
    pub output: Option<BlobRef>,
    /// A limit of the sandbox that was hit: its name and what happened.
    pub limit_hit: Option<(String, String)>,
    /// How and why it ended, in words for the model and the user.
    pub why: String,
}

/// The commands in the background of one session.
pub struct Background {
    limits: BackgroundLimits,
    jobs: Mutex<Jobs>,
    ends: tokio::sync::Mutex<UnboundedReceiver<BackgroundEnd>>,
    teller: UnboundedSender<BackgroundEnd>,
}

#[derive(Default)]
struct Jobs {
    /// Running ones and, up to [`REMEMBERED`], those that are over, in the order of their start.
    all: VecDeque<Arc<Job>>,
    tasks: JoinSet<()>,
}

/// Why a command was not started.
#[derive(Debug)]
pub(super) enum StartError {
    /// As many run as may; these.
    TooMany(Vec<BackgroundCommand>),
    /// The sandbox did not take it.
    Sandbox(SandboxError),
}

impl Default for Background {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Background {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Background").field("running", &self.list()).finish_non_exhaustive()
    }
}

impl Background {
    /// A registry without commands.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limits(BackgroundLimits::default())
    }

    pub(super) fn with_limits(limits: BackgroundLimits) -> Self {
        let (teller, ends) = unbounded_channel();
        Self { limits, jobs: Mutex::default(), ends: tokio::sync::Mutex::new(ends), teller }
    }

    /// The commands that run, in the order of their start.
    #[must_use]
    pub fn list(&self) -> Vec<BackgroundCommand> {
        let jobs = self.lock();
        let running = jobs.all.iter().filter(|job| job.told() && job.over().is_none());
        let command = |job: &Arc<Job>| BackgroundCommand {
            call: job.call.clone(),
            command: job.command.clone(),
            running_ms: u64::try_from(job.since.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        running.map(command).collect()
    }

    /// Waits for the next command to be over. Each end comes once, whoever waits; giving up the wait loses none.
    ///
    /// A command may be over before the agent has logged that it was started: take ends between calls, not during.
    pub async fn ended(&self) -> BackgroundEnd {
        match self.ends.lock().await.recv().await {
            Some(end) => end,
            // The other end of the channel lives in `self`.
            None => std::future::pending().await,
        }
    }

    /// The next end that is there already.
    #[must_use]
    pub fn try_ended(&self) -> Option<BackgroundEnd> {
        self.ends.try_lock().ok()?.try_recv().ok()
    }

    /// Ends all commands and waits until nothing of them is left; then [`Self::try_ended`] has their ends.
    pub async fn kill_all(&self, why: &str) {
        let running: Vec<Arc<Job>> = self.lock().all.iter().filter(|job| job.over().is_none()).cloned().collect();
        for job in &running {
            job.stop(why);
        }
        for job in running {
            job.ended().await;
        }
    }

    /// The command that the call started, running or over.
    pub(super) fn find(&self, call: &CallId) -> Option<Arc<Job>> {
        self.lock().all.iter().find(|job| job.call == *call && job.told()).cloned()
    }

    /// Starts a command for `context.call`. It is ended when the guard is dropped before [`Job::tell`].
    pub(super) async fn start(
        &self,
        context: &ToolContext,
        command: &str,
        timeout_ms: Option<u64>,
        request: ExecRequest,
    ) -> Result<Started<'_>, StartError> {
        let redactor = Arc::clone(&context.redactor);
        let job =
            Job::new(context.call.clone(), redactor.redact(command).into_owned(), redactor, self.limits.kept_bytes);
        let job = Arc::new(job);
        // Its place is taken before it is started, so that two at once cannot take the last one.
        if !self.enlist(&job) {
            return Err(StartError::TooMany(self.list()));
        }
        let mut started = Started { background: self, job, task: None };
        let request = ExecRequest { max_output_bytes: Some(self.limits.written_bytes), ..request };
        let running = context.sandbox.exec(request).await.map_err(StartError::Sandbox)?;
        let limits = self.limits.over(context.sandbox.limits());
        let (log, teller) = (Arc::clone(&context.log), self.teller.clone());
        let work = Arc::clone(&started.job).carry(running, timeout_ms, limits, log, teller);
        let mut jobs = self.lock();
        while jobs.tasks.try_join_next().is_some() {}
        started.task = Some(jobs.tasks.spawn(work));
        drop(jobs);
        Ok(started)
    }

    /// False when there is no place left.
    fn enlist(&self, job: &Arc<Job>) -> bool {
        let mut jobs = self.lock();
        let running = jobs.all.iter().filter(|job| job.over().is_none()).count();
        if running >= self.limits.commands {
            return false;
        }
        while jobs.all.len() >= REMEMBERED + self.limits.commands {
            let Some(oldest) = jobs.all.iter().position(|job| job.over().is_some()) else { break };
            jobs.all.remove(oldest);
        }
        jobs.all.push_back(Arc::clone(job));
        true
    }

    fn lock(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A command that was started and of which nobody has been told yet.
pub(super) struct Started<'a> {
    background: &'a Background,
    pub(super) job: Arc<Job>,
    task: Option<AbortHandle>,
}

impl Started<'_> {
    /// Ends it and waits until nothing of it is left.
    pub(super) async fn give_up(self) {
        self.job.stop("cancelled");
        self.job.ended().await;
    }

    /// Waits a little for an early end.
    pub(super) async fn early_end(&self, grace: Duration) -> Option<Over> {
        tokio::time::timeout(grace, self.job.ended()).await.ok()
    }
}

impl Drop for Started<'_> {
    fn drop(&mut self) {
        if self.job.told() {
            return;
        }
        if let Some(task) = &self.task {
            task.abort();
        }
        self.job.abandon();
        self.background.lock().all.retain(|job| !Arc::ptr_eq(job, &self.job));
    }
}
