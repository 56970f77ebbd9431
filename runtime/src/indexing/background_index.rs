//! The follower beside a running session: the log into the index over sessions, the workspace into the index of its code, and
//! what is new in both into vectors. Each on a thread of its own that lets everybody else go first.

use super::background_code;
use super::background_summaries;
use super::background_vectors;
use crate::agent::{AgentParts, Live, LiveSender};
use crate::claude::{ClaudeClient, ModelTable};
use crate::config::Config;
use retrace_events::EventLog;
use retrace_events::log::Holder;
use retrace_events::redact::Redactor;
use retrace_indexer::{CodeIndex, FollowError, Follower, IndexFolder, IndexModel};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long to wait before asking again for an index that another process writes.
pub(super) const TAKE_OVER_WAIT: Duration = Duration::from_secs(1);

/// How long to wait after a failure: a full disk, a log that does not answer.
pub(super) const FAILURE_WAIT: Duration = Duration::from_secs(10);

/// What is indexed, and where.
#[derive(Clone)]
pub(crate) struct IndexPlan {
    /// The log that is followed.
    pub(crate) log: Arc<dyn EventLog>,
    /// The workspace whose code is indexed.
    pub(crate) workspace: PathBuf,
    /// Where indexes are kept, and what the user wants of them.
    pub(crate) config: Config,
    /// Which model makes vectors.
    pub(crate) model: Arc<IndexModel>,
    /// Takes secrets out of what the model said.
    pub(crate) redactor: Arc<Redactor>,
    /// Who writes summaries, where a model is to.
    pub(crate) client: ClaudeClient,
    /// What that model can do and costs.
    pub(crate) models: ModelTable,
    /// Who this is, for those who want to write too.
    pub(crate) holder: Holder,
    /// What the session tells: what it changed is indexed at once, and a line for the user goes there, too.
    pub(crate) live: LiveSender,
}

impl IndexPlan {
    /// What goes with the session that `parts` run in `workspace`.
    #[must_use]
    pub(crate) fn beside(parts: &AgentParts, config: &Config, model: &Arc<IndexModel>, workspace: &Path) -> Self {
        Self {
            log: Arc::clone(&parts.log),
            workspace: workspace.to_path_buf(),
            config: config.clone(),
            model: Arc::clone(model),
            redactor: Arc::clone(&parts.redactor),
            client: parts.client.clone(),
            models: parts.models.clone(),
            holder: parts.holder.clone(),
            live: parts.live.clone(),
        }
    }

    /// Where the index over sessions is.
    pub(super) fn sessions(&self) -> IndexFolder {
        IndexFolder::of_log(&self.config.folders.state, &self.log.location())
    }

    /// Where the index over the workspace's code is.
    pub(super) fn code(&self) -> IndexFolder {
        IndexFolder::of_code(&self.config.folders.state, &self.workspace)
    }
}

/// Followers at work; dropping it stops them.
#[derive(Debug)]
pub(crate) struct BackgroundIndex {
    cancel: CancellationToken,
}

impl BackgroundIndex {
    /// Begins to follow, unless the user does not want that.
    #[must_use]
    pub(crate) fn begin(plan: IndexPlan) -> Self {
        let cancel = CancellationToken::new();
        if !plan.config.values.index.value {
            return Self { cancel };
        }
        let code = open_code(&plan).map(Arc::new);
        background_summaries::begin(&plan, cancel.clone());
        on_thread("retrace-index", cancel.clone(), follow(plan.clone()));
        if let Some(code) = code.clone() {
            background_code::begin(code, &plan, cancel.clone());
        }
        on_thread("retrace-vectors", cancel.clone(), async move {
            // Without a model there is nothing to do; a search says so, when somebody searches.
            if let Ok(Some(embedder)) = plan.model.embedder().await {
                Box::pin(background_vectors::fill(&plan, embedder, code)).await;
            }
        });
        Self { cancel }
    }
}

impl Drop for BackgroundIndex {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// The index of the workspace's code; `None` where the "workspace" is a home folder or a whole disk, and nobody wants all of
/// that indexed.
fn open_code(plan: &IndexPlan) -> Option<CodeIndex> {
    let workspace = &plan.workspace;
    if workspace.parent().is_none() || std::env::home_dir().is_some_and(|home| home == *workspace) {
        return None;
    }
    match CodeIndex::open(plan.code().path(), workspace) {
        Ok(code) => Some(code.leaving_out(std::slice::from_ref(&plan.config.folders.state))),
        Err(error) => {
            tracing::warn!(%error, "the code is not indexed");
            None
        }
    }
}

/// Runs `work` on a thread of its own until it is done or `cancel` is. It has a runtime of its own, too: that of the command may
/// end in the middle of a long step, after which timers panic that were begun in it.
pub(super) fn on_thread(name: &str, cancel: CancellationToken, work: impl Future<Output = ()> + Send + 'static) {
    // Large, and moved from hand to hand on its way to the thread: on the heap from the start.
    let work = Box::pin(work);
    let run = move || {
        step_back();
        let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return tracing::warn!(%error, "no runtime for the index"),
        };
        runtime.block_on(async {
            tokio::select! {
                biased;
                () = cancel.cancelled() => {}
                () = work => {}
            }
        });
    };
    // Without a thread nothing is indexed now; the next search catches up.
    if let Err(error) = std::thread::Builder::new().name(name.to_owned()).spawn(run) {
        tracing::warn!(%error, "no thread for the index");
    }
}

/// Follows for ever: takes the index when it is free, and begins again after a failure.
async fn follow(plan: IndexPlan) {
    let mut told = String::new();
    let folder = plan.sessions();
    loop {
        let opened = Follower::open(Arc::clone(&plan.log), &folder, Arc::clone(&plan.redactor), &plan.holder).await;
        let error = match opened {
            Ok(mut follower) => {
                if let Some(why) = follower.begun_anew() {
                    plan.live.send(Live::Notice(format!("the search index is made anew: {why}")));
                }
                match follower.live().await {
                    Ok(()) => continue,
                    Err(error) => error,
                }
            }
            Err(error) => error,
        };
        if matches!(error, FollowError::Busy(_)) {
            tokio::time::sleep(TAKE_OVER_WAIT).await;
            continue;
        }
        let words = error.to_string();
        if words != told {
            plan.live.send(Live::Notice(format!("the search index stands still: {words}")));
            told = words;
        }
        tokio::time::sleep(FAILURE_WAIT).await;
    }
}

/// This thread, and those it starts, let everybody else go first.
pub(super) fn step_back() {
    let niceness = 10;
    // On Linux "this process" is this thread. Where it is not allowed, it stays as it is.
    let _ = rustix::process::setpriority_process(None, niceness);
}
