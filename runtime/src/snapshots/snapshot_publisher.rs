//! Puts a session's snapshots beside a shared log while it goes on, so that other hosts can fork and resume it with its files.
//!
//! In the background and in order: no call waits for it. What is not there when the process ends is put there by the next one that
//! opens the session.

use super::snapshot_plan::SnapshotPlan;
use crate::travelling::publish;
use retrace_events::EventLog;
use retrace_events::payload::workspace::WorkspaceSnapshotted;
use retrace_sandbox::snapshot::TreeId;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How long the end of a session waits for what is still on its way.
const LAST: Duration = Duration::from_secs(8);

/// A snapshot, and the one before it.
type Order = (TreeId, Option<TreeId>);

/// Puts snapshots beside a shared log.
#[derive(Debug, Default)]
pub(crate) struct SnapshotPublisher {
    orders: Option<mpsc::UnboundedSender<Order>>,
    worker: Option<JoinHandle<()>>,
}

impl SnapshotPublisher {
    /// Begins; does nothing where the log is of this machine alone, or no snapshots are taken.
    pub(crate) fn begin(log: &Arc<dyn EventLog>, plan: Option<&SnapshotPlan>) -> Self {
        let Some(plan) = plan.filter(|_| log.objects().is_some()).cloned() else { return Self::default() };
        let log = Arc::clone(log);
        let (orders, mut coming) = mpsc::unbounded_channel::<Order>();
        let worker = tokio::spawn(async move {
            while let Some((tree, previous)) = coming.recv().await {
                let opened = plan.clone();
                let store = match tokio::task::spawn_blocking(move || opened.store()).await {
                    Ok(Ok(store)) => store,
                    Ok(Err(error)) => return tracing::warn!(%error, "snapshots stay on this host"),
                    Err(error) => return tracing::warn!(%error, "snapshots stay on this host"),
                };
                if let Err(error) = publish(log.as_ref(), &store, &tree, previous.as_ref()).await {
                    tracing::warn!(%error, %tree, "a snapshot stays on this host");
                }
            }
        });
        Self { orders: Some(orders), worker: Some(worker) }
    }

    /// Puts the snapshot there some time soon.
    pub(crate) fn send(&self, taken: &WorkspaceSnapshotted) {
        let previous = taken.previous.as_deref().and_then(|tree| tree.parse().ok());
        if let (Some(orders), Ok(tree)) = (&self.orders, taken.tree.parse()) {
            let _ = orders.send((tree, previous));
        }
    }

    /// Waits for what is on its way, but not for long.
    pub(crate) async fn close(&mut self) {
        self.orders = None;
        if let Some(worker) = self.worker.take()
            && tokio::time::timeout(LAST, worker).await.is_err()
        {
            tracing::warn!("some snapshots stay on this host until the session is opened again");
        }
    }
}
