//! Bringing indexes up to date from the command line, where no other process does it already.

use crate::cli::exit::{CliError, Exit};
use crate::cli::invocation::Invocation;
use crate::cli::progress::Progress;
use crate::cli::setup::Setup;
use retrace_events::EventLog;
use retrace_events::log::Holder;
use retrace_events::mint::{Mint as _, SystemMint};
use retrace_indexer::{
    CodeError, CodeIndex, CodeReport, FollowError, FollowProgress, Follower, IndexFolder, IndexNote, KeywordIndex,
    Witness,
};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// The folder of the index over the sessions in `log`.
#[must_use]
pub(crate) fn sessions_folder(setup: &Setup, log: &dyn EventLog) -> IndexFolder {
    IndexFolder::of_log(&setup.config.folders.state, &log.location())
}

/// This process, to whoever wants to write the same index.
#[must_use]
pub(crate) fn holder(command: &str) -> Holder {
    Holder::this_process(command, SystemMint.now())
}

/// Reads into the index over sessions what the log has and it has not; why it was begun anew, when it was.
///
/// # Errors
/// [`FollowError::Busy`] when another process does; otherwise when index or log cannot be used.
pub(crate) async fn sessions(
    invocation: &Invocation,
    setup: &Setup,
    log: &Arc<dyn EventLog>,
) -> Result<Option<String>, FollowError> {
    let folder = sessions_folder(setup, log.as_ref());
    if is_current(&folder, log.as_ref()).await? {
        return Ok(None);
    }
    let mut progress = Progress::begin(invocation, "indexing sessions");
    let holder = holder("retrace search");
    let mut follower = Follower::open(Arc::clone(log), &folder, Arc::clone(&setup.redactor), &holder).await?;
    let begun_anew = follower.begun_anew().map(str::to_owned);
    follower.catch_up(&mut |at| show(&mut progress, at)).await?;
    Ok(begun_anew)
}

/// Whether there is nothing to do: to open an index for writing takes longer than to search it.
async fn is_current(folder: &IndexFolder, log: &dyn EventLog) -> Result<bool, FollowError> {
    let end = log.end().await?;
    let index = match KeywordIndex::open(&folder.keyword()) {
        Ok(Some(index)) => index,
        // Of an empty log there is nothing to index.
        Ok(None) => return Ok(end.0 == 0),
        Err(_) => return Ok(false),
    };
    let Some(note) = IndexNote::parse(&index.note()) else { return Ok(false) };
    Ok(note.position == end && note.compare(log).await? == Witness::Agrees)
}

/// How far reading the log has come.
pub(super) fn show(progress: &mut Progress, at: FollowProgress) {
    progress.at(at.position.0, at.end.0);
}

/// Brings the index over the code of `workspace` up to date. Ends early when the user wants to stop.
///
/// # Errors
/// [`CodeError::Busy`] when another process does; otherwise when index or workspace cannot be used.
pub(crate) async fn code(invocation: &Invocation, setup: &Setup, workspace: &Path) -> Result<CodeReport, CodeError> {
    let folders = &setup.config.folders;
    let index = CodeIndex::open(IndexFolder::of_code(&folders.state, workspace).path(), workspace)?
        .leaving_out(&[folders.state.clone(), folders.config.clone()]);
    let mut progress = Progress::begin(invocation, "indexing code");
    let cancel = invocation.cancel.clone();
    let update = move || {
        index.update(&mut |at| {
            // How many files there are is known only when all have been seen.
            progress.at(if at.is_walked { at.read } else { 0 }, at.seen);
            if cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    };
    tokio::task::spawn_blocking(update).await.unwrap_or_else(|error| {
        let source = std::io::Error::other(error);
        Err(CodeError::Workspace { path: workspace.to_path_buf(), source })
    })
}

impl From<FollowError> for CliError {
    fn from(error: FollowError) -> Self {
        match error {
            FollowError::Log(error) => error.into(),
            FollowError::Busy(_) => Self::new(Exit::Failed, error.to_string())
                .hint("that process keeps it up to date; `retrace index status` says how far it is"),
            FollowError::Outdated(_) | FollowError::Keyword(_) => Self::new(Exit::Failed, error.to_string())
                .hint("`retrace index rebuild` makes it again, nothing is lost"),
            FollowError::Folder { .. } => {
                Self::new(Exit::Failed, error.to_string()).hint("`retrace doctor` looks at the state folder")
            }
        }
    }
}

impl From<CodeError> for CliError {
    fn from(error: CodeError) -> Self {
        let plain = Self::new(Exit::Failed, error.to_string());
        match error {
            CodeError::Busy { .. } => {
                plain.hint("that process brings it up to date; its index can be searched meanwhile")
            }
            CodeError::Keyword(_) => plain.hint("`retrace index rebuild --code` makes it again, nothing is lost"),
            CodeError::Workspace { .. } | CodeError::Clear { .. } => plain,
        }
    }
}
