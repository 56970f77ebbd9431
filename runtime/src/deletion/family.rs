//! Which sessions were forked from which.

use retrace_events::history::parent_of;
use retrace_events::log::StreamFilter;
use retrace_events::{Class, EventLog, LogError, StreamId};
use std::collections::{BTreeMap, BTreeSet};

/// The sessions of a log, and where forks come from.
#[derive(Debug, Default)]
pub(crate) struct Family {
    parents: BTreeMap<StreamId, StreamId>,
    /// Sessions whose first event cannot be read.
    pub(crate) unreadable: Vec<StreamId>,
}

impl Family {
    /// Reads the first event of every session.
    ///
    /// # Errors
    /// When the log cannot be asked.
    pub(crate) async fn of(log: &dyn EventLog) -> Result<Self, LogError> {
        let filter = StreamFilter { class: Some(Class::Session), ..StreamFilter::default() };
        let mut family = Self::default();
        for info in log.streams(&filter).await? {
            match parent_of(log, &info.stream).await {
                Ok(Some(parent)) => drop(family.parents.insert(info.stream, parent)),
                Ok(None) => {}
                Err(LogError::Damaged { .. } | LogError::Codec(_)) => family.unreadable.push(info.stream),
                Err(error) => return Err(error),
            }
        }
        Ok(family)
    }

    /// All that were forked from one of `sessions`, from a fork of it, and so on; not those in `sessions` themselves.
    pub(crate) fn descendants(&self, sessions: &[StreamId]) -> Vec<StreamId> {
        let mut found: BTreeSet<&StreamId> = sessions.iter().collect();
        loop {
            let before = found.len();
            found.extend(
                self.parents
                    .iter()
                    .filter(|(_, parent)| found.contains(parent))
                    .map(|(fork, _)| fork)
                    .collect::<Vec<_>>(),
            );
            if found.len() == before {
                break;
            }
        }
        found.into_iter().filter(|stream| !sessions.contains(stream)).cloned().collect()
    }

    /// `sessions` with each fork before what it was forked from.
    pub(crate) fn forks_first(&self, sessions: &[StreamId]) -> Vec<StreamId> {
        let mut ordered: Vec<(usize, StreamId)> =
            sessions.iter().map(|stream| (self.generation(stream), stream.clone())).collect();
        ordered.sort_by(|a, b| b.cmp(a));
        ordered.dedup();
        ordered.into_iter().map(|(_, stream)| stream).collect()
    }

    /// How many generations of forks lie before `stream`. A loop, which no log should hold, ends.
    fn generation(&self, stream: &StreamId) -> usize {
        let mut at = stream;
        let mut generation = 0;
        while let Some(parent) = self.parents.get(at).filter(|_| generation <= self.parents.len()) {
            (at, generation) = (parent, generation + 1);
        }
        generation
    }
}

/// The sessions that `stream` was forked from, the oldest first: as far back as the log has them. Whether the first of all is
/// among them.
///
/// # Errors
/// When the log cannot be read.
pub(crate) async fn ancestors(log: &dyn EventLog, stream: &StreamId) -> Result<(Vec<StreamId>, bool), LogError> {
    let mut found: Vec<StreamId> = Vec::new();
    let mut at = stream.clone();
    while let Some(parent) = parent_of(log, &at).await? {
        if parent == *stream || found.contains(&parent) || log.head(&parent).await?.is_none() {
            found.reverse();
            return Ok((found, false));
        }
        found.push(parent.clone());
        at = parent;
    }
    found.reverse();
    Ok((found, true))
}
