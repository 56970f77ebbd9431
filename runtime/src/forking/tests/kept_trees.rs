//! Keeps the workspace's tree aside at the moment each event is made: an agent asks its mint for an id directly before it appends,
//! when nothing writes.

use super::trees::{Tree, tree};
use retrace_events::mint::SystemMint;
use retrace_events::{EventId, Mint, Timestamp};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug)]
pub(super) struct KeepingMint {
    workspace: PathBuf,
    kept: Mutex<HashMap<EventId, Arc<Tree>>>,
}

impl KeepingMint {
    pub(super) fn new(workspace: PathBuf) -> Arc<Self> {
        Arc::new(Self { workspace, kept: Mutex::default() })
    }

    /// The tree as it was when `event` was made; `None` for events of others.
    pub(super) fn find(&self, event: EventId) -> Option<Arc<Tree>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&event).cloned()
    }
}

impl Mint for KeepingMint {
    fn now(&self) -> Timestamp {
        SystemMint.now()
    }

    fn event_id(&self) -> EventId {
        let id = SystemMint.event_id();
        // A fork's first request is made while its files are still coming.
        if self.workspace.exists() {
            let now = Arc::new(tree(&self.workspace));
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).insert(id, now);
        }
        id
    }
}
