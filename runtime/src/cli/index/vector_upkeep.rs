//! Making the vectors that are missing, from the command line: all of them, where a running session only makes them by and by.

use crate::cli::exit::{CliError, Exit};
use crate::cli::invocation::Invocation;
use crate::cli::progress::Progress;
use retrace_indexer::{
    CodeIndex, CodeSource, Embedder, Filling, IndexFolder, IndexNote, IndexedCode, IndexedSessions, KeywordIndex,
    SessionSource, VectorError, VectorWorker, WorkerOptions,
};
use std::path::Path;
use std::sync::Arc;

/// Nobody waits beside a command that was asked for just this.
const WITHOUT_REST: WorkerOptions = WorkerOptions { rest_percent: 0, max_rest_ms: 0 };

/// Makes the vectors of sessions that are missing; `false` when another process is at it. It may be dropped at any point.
///
/// # Errors
/// When index, model or table cannot be used; what was made stays.
pub(super) async fn sessions(
    invocation: &Invocation,
    folder: &IndexFolder,
    embedder: Arc<Embedder>,
) -> Result<bool, CliError> {
    let Ok(Some(index)) = KeywordIndex::open(&folder.keyword()) else { return Ok(true) };
    let until = IndexNote::parse(&index.note()).map_or(0, |note| note.position.0);
    let Some(mut worker) = VectorWorker::open(&folder.vectors(), embedder, WITHOUT_REST).await? else {
        return Ok(false);
    };
    let source: Arc<dyn SessionSource> = Arc::new(IndexedSessions(index));
    let mut progress = Progress::begin(invocation, "making vectors of sessions");
    worker.fill_sessions(&source, until, &mut |at| show(&mut progress, at, until)).await?;
    worker.optimize().await?;
    Ok(true)
}

/// As [`sessions`], for the code of `workspace`.
///
/// # Errors
/// As [`sessions`].
pub(super) async fn code(
    invocation: &Invocation,
    folder: &IndexFolder,
    workspace: &Path,
    embedder: Arc<Embedder>,
) -> Result<bool, CliError> {
    let index = CodeIndex::open(folder.path(), workspace)?;
    let Some(mut worker) = VectorWorker::open(&folder.vectors(), embedder, WITHOUT_REST).await? else {
        return Ok(false);
    };
    let source: Arc<dyn CodeSource> = Arc::new(IndexedCode(Arc::new(index)));
    let mut progress = Progress::begin(invocation, "making vectors of code");
    let mut all = 0;
    worker
        .fill_code(&source, &mut |at| {
            all = all.max(at.remaining);
            show(&mut progress, at, all);
        })
        .await?;
    worker.optimize().await?;
    Ok(true)
}

fn show(progress: &mut Progress, at: Filling, all: u64) {
    progress.at(all.saturating_sub(at.remaining), all);
}

impl From<VectorError> for CliError {
    fn from(error: VectorError) -> Self {
        Self::new(Exit::Failed, error.to_string())
            .hint("`retrace index rebuild --vectors` throws them away, `retrace index update` makes them again")
    }
}
