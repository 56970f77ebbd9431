//! What changed between two snapshots, where the store has both.

use super::audit_row::FilesBehind;
use crate::snapshots::{SnapshotPlan, on_store};
use retrace_sandbox::snapshot::{Change, SnapshotError, TreeId};

/// What changed behind a call.
#[derive(Debug, Clone)]
pub(crate) enum TreeChanges {
    /// Nothing that snapshots hold.
    Nothing,
    /// These paths.
    Paths(Vec<Change>),
    /// Nobody knows, and why.
    Unknown(String),
}

/// What the store of snapshots says of the files behind a call. A snapshot that is not there is said, and nothing is guessed.
pub(crate) async fn resolve(plan: &SnapshotPlan, behind: &FilesBehind) -> TreeChanges {
    let (before, after) = match behind {
        FilesBehind::Untouched | FilesBehind::Same => return TreeChanges::Nothing,
        FilesBehind::Unknown(why) => return TreeChanges::Unknown(why.clone()),
        FilesBehind::Changed { before: None, .. } => {
            return TreeChanges::Unknown("what the files were before is not known".to_owned());
        }
        FilesBehind::Changed { before: Some(before), after } => (before.clone(), after.clone()),
    };
    // Opening makes a store where there is none, and looking should leave no trace.
    if !plan.dir.exists() {
        return TreeChanges::Unknown("there is no store of snapshots here".to_owned());
    }
    match changes(plan, &before, &after).await {
        Ok(changes) => TreeChanges::Paths(changes),
        Err(error) => {
            TreeChanges::Unknown(error.to_string().lines().next().unwrap_or("the store cannot be read").to_owned())
        }
    }
}

async fn changes(plan: &SnapshotPlan, before: &str, after: &str) -> Result<Vec<Change>, SnapshotError> {
    let (before, after): (TreeId, TreeId) = (before.parse()?, after.parse()?);
    on_store(plan, move |store, _| store.changes(Some(&before), &after)).await
}
