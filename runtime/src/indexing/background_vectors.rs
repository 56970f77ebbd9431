//! Vectors of what is new, after the keyword indexes have it: search by words never waits for them.

use super::background_index::{FAILURE_WAIT, IndexPlan, TAKE_OVER_WAIT};
use retrace_indexer::{
    CodeIndex, CodeSource, Embedder, IndexFolder, IndexNote, IndexedCode, IndexedSessions, KeywordIndex, SessionSource,
    VectorWorker, WorkerOptions,
};
use std::sync::Arc;
use std::time::Duration;

/// How often to look for something new.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Fills both tables for ever.
pub(super) async fn fill(plan: &IndexPlan, embedder: Arc<Embedder>, code: Option<Arc<CodeIndex>>) {
    let sessions = fill_sessions(plan.sessions(), Arc::clone(&embedder));
    match code {
        Some(code) => tokio::join!(sessions, fill_code(plan.code(), embedder, code)).0,
        None => sessions.await,
    }
}

async fn fill_sessions(folder: IndexFolder, embedder: Arc<Embedder>) {
    loop {
        let Some(mut worker) = take(&folder, &embedder).await else { continue };
        while let Ok(Some(index)) = KeywordIndex::open(&folder.keyword()) {
            let until = IndexNote::parse(&index.note()).map_or(0, |note| note.position.0);
            let source: Arc<dyn SessionSource> = Arc::new(IndexedSessions(index));
            if let Err(error) = worker.fill_sessions(&source, until, &mut |_| {}).await {
                tracing::warn!(%error, "no vectors of sessions for a while");
                break;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        drop(worker);
        tokio::time::sleep(FAILURE_WAIT).await;
    }
}

async fn fill_code(folder: IndexFolder, embedder: Arc<Embedder>, code: Arc<CodeIndex>) {
    let source: Arc<dyn CodeSource> = Arc::new(IndexedCode(code));
    loop {
        let Some(mut worker) = take(&folder, &embedder).await else { continue };
        while let Err(error) = fill_changes(&mut worker, &source).await {
            tracing::warn!(%error, "no vectors of code for a while");
            tokio::time::sleep(FAILURE_WAIT).await;
        }
    }
}

async fn fill_changes(
    worker: &mut VectorWorker,
    source: &Arc<dyn CodeSource>,
) -> Result<(), retrace_indexer::VectorError> {
    loop {
        worker.fill_code(source, &mut |_| {}).await?;
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// The worker of `folder`; `None` after a while when another process has it, or it cannot be had.
async fn take(folder: &IndexFolder, embedder: &Arc<Embedder>) -> Option<VectorWorker> {
    match VectorWorker::open(&folder.vectors(), Arc::clone(embedder), WorkerOptions::default()).await {
        Ok(Some(worker)) => Some(worker),
        Ok(None) => {
            tokio::time::sleep(TAKE_OVER_WAIT).await;
            None
        }
        Err(error) => {
            tracing::warn!(%error, "no vectors for a while");
            tokio::time::sleep(FAILURE_WAIT).await;
            None
        }
    }
}
