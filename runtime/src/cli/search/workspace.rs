//! Which workspace's code is searched: the one this is, or that the present folder lies in, if it is one at all.
//!
//! A folder is a workspace when a session has worked in it or it is the root of a repository. Without that rule a search from
//! the home folder would begin to index all of it.

use crate::cli::exit::CliError;
use crate::cli::session_name;
use crate::cli::setup::Setup;
use retrace_events::{EventLog, Token};
use retrace_indexer::KeywordIndex;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The workspace whose code is meant; `named` when the user said which folder, and then it is that one or none.
///
/// # Errors
/// When the log cannot be asked.
pub(crate) async fn of_code(setup: &Setup, log: &dyn EventLog, named: bool) -> Result<Option<PathBuf>, CliError> {
    let worked: HashSet<Token> =
        session_name::all(log, None).await?.into_iter().map(|info| info.stream.project).collect();
    let is_one = |folder: &&Path| {
        // What holds the log and the keys is no workspace: no session may work there either.
        setup.config.folders.check_outside(folder).is_ok()
            && (folder.join(".git").exists() || worked.contains(&session_name::project(folder)))
    };
    let depth = if named { 1 } else { usize::MAX };
    Ok(setup.config.workspace.ancestors().take(depth).find(is_one).map(Path::to_path_buf))
}

/// The workspaces whose code has been indexed beneath `state`, as their indexes name them.
#[must_use]
pub(crate) fn indexed(state: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(state.join("index").join("code")) else { return Vec::new() };
    let mut workspaces: Vec<PathBuf> = entries.flatten().filter_map(|entry| workspace_in(&entry.path())).collect();
    workspaces.sort();
    workspaces
}

/// The workspace that the index in `folder` says it is about.
fn workspace_in(folder: &Path) -> Option<PathBuf> {
    let index = KeywordIndex::open(&folder.join("keyword")).ok()??;
    let note: serde_json::Value = serde_json::from_str(&index.note()).ok()?;
    note.get("root")?.as_str().map(PathBuf::from)
}
