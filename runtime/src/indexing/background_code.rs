//! The workspace's code in the index: what the agent wrote at once, what others write as the system tells of it.

use super::background_index::{IndexPlan, on_thread, step_back};
use crate::agent::Live;
use retrace_events::Event;
use retrace_events::payload::{Payload, Tool};
use retrace_indexer::{CodeIndex, CodeWatch, WatchEvent, WatchSettings};
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// Follows until `cancel` is cancelled.
pub(super) fn begin(code: Arc<CodeIndex>, plan: &IndexPlan, cancel: CancellationToken) {
    let mut heard = plan.live.listen();
    on_thread("retrace-code", cancel, async move {
        let mut first = true;
        let watched = code.watch(WatchSettings::default(), move |event| {
            // It is called on the watcher's own thread, which is to let others go first, too.
            if std::mem::take(&mut first) {
                step_back();
            }
            tell(&event);
        });
        let _watch: Option<CodeWatch> = match watched {
            Ok(watch) => Some(watch),
            Err(error) => {
                tracing::warn!(%error, "the workspace is not watched");
                None
            }
        };
        loop {
            match heard.recv().await {
                Ok(Live::Logged(event)) => touch(&code, &event),
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    });
}

/// Looks at the files that a call of the agent has changed. Another process that is at it looks at them, too.
fn touch(code: &CodeIndex, event: &Event) {
    let Some(Payload::Tool(Tool::Finished(finished))) = event.payload.known() else { return };
    if !finished.changed.is_empty()
        && let Err(error) = code.touch(&finished.changed)
    {
        tracing::debug!(%error, "the agent's changes are indexed later");
    }
}

fn tell(event: &WatchEvent) {
    match event {
        WatchEvent::Following(folders) => tracing::debug!(folders, "following the workspace"),
        WatchEvent::Rescanning(why) => tracing::info!(why, "the workspace is walked now and then"),
        WatchEvent::Updated(report) => tracing::debug!(?report, "code indexed"),
        WatchEvent::Failed(error) => tracing::warn!(%error, "code not indexed for a while"),
    }
}
