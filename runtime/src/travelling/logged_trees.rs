//! Which snapshots a log's events name.

use retrace_events::payload::{Payload, Workspace};
use retrace_events::{Envelope, Event, EventLog, LogError, StreamId};
use retrace_sandbox::snapshot::TreeId;
use std::collections::HashSet;

/// How many events are read at a time.
const PAGE: usize = 500;

/// The kinds of events that name snapshots all begin with this.
const SUBJECT: &str = "workspace.";

/// A snapshot as an event names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoggedTree {
    /// The snapshot.
    pub(crate) tree: TreeId,
    /// The one before it in its session.
    pub(crate) previous: Option<TreeId>,
}

/// The snapshot that `envelope` names. What is no snapshot's name is none.
pub(crate) fn logged_tree(envelope: &Envelope) -> Result<Option<LoggedTree>, LogError> {
    if !envelope.kind.starts_with(SUBJECT) {
        return Ok(None);
    }
    let event = Event::decode(envelope.clone())?;
    let Some(Payload::Workspace(workspace)) = event.payload.known() else { return Ok(None) };
    Ok(match workspace {
        Workspace::Snapshotted(snapshotted) => snapshotted.tree.parse().ok().map(|tree| LoggedTree {
            tree,
            previous: snapshotted.previous.as_ref().and_then(|previous| previous.parse().ok()),
        }),
        Workspace::SnapshotFailed(_) => None,
    })
}

/// The snapshots that `envelopes` name, in their order, each once.
pub(crate) fn trees_in<'a>(
    envelopes: impl IntoIterator<Item = &'a Envelope>,
    seen: &mut HashSet<TreeId>,
) -> Result<Vec<LoggedTree>, LogError> {
    let mut trees = Vec::new();
    for envelope in envelopes {
        trees.extend(logged_tree(envelope)?.filter(|logged| seen.insert(logged.tree)));
    }
    Ok(trees)
}

/// The snapshots that the events of `streams` name, in their order, each once.
///
/// # Errors
/// When a stream cannot be read.
pub(crate) async fn logged_trees(log: &dyn EventLog, streams: &[StreamId]) -> Result<Vec<LoggedTree>, LogError> {
    let (mut trees, mut seen) = (Vec::new(), HashSet::new());
    for stream in streams {
        let mut next = 0;
        loop {
            let page = log.read(stream, next, PAGE).await?;
            trees.extend(trees_in(&page, &mut seen)?);
            match page.last() {
                Some(last) if page.len() == PAGE => next = last.seq + 1,
                Some(_) | None => break,
            }
        }
    }
    Ok(trees)
}
