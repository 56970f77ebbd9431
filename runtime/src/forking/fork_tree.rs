//! Which sessions came out of which.

use retrace_events::log::StreamFilter;
use retrace_events::payload::session::SessionForkReason;
use retrace_events::{Class, EventLog, LogError, StreamId, history};
use std::collections::HashMap;

/// A session among its kin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kin {
    /// The session.
    pub stream: StreamId,
    /// Where it comes from, and why: the parent's stream and event.
    pub from: Option<(StreamId, u64, SessionForkReason)>,
}

/// All sessions of a log, with where they come from.
#[derive(Debug, Clone, Default)]
pub struct ForkTree {
    kin: Vec<Kin>,
    place: HashMap<StreamId, usize>,
}

impl ForkTree {
    /// Reads the first event of each session.
    ///
    /// # Errors
    /// When the log cannot be read. A session whose first event is damaged counts as one without a parent.
    pub async fn read(log: &dyn EventLog) -> Result<Self, LogError> {
        let filter = StreamFilter { class: Some(Class::Session), ..StreamFilter::default() };
        let mut tree = Self::default();
        for info in log.streams(&filter).await? {
            let from = match history::forked_from(log, &info.stream).await {
                Ok(forked) => forked.map(|forked| (forked.parent, forked.parent_seq, forked.reason)),
                Err(LogError::Damaged { .. } | LogError::Codec(_) | LogError::Newer { .. }) => None,
                Err(error) => return Err(error),
            };
            tree.place.insert(info.stream.clone(), tree.kin.len());
            tree.kin.push(Kin { stream: info.stream, from });
        }
        Ok(tree)
    }

    /// The sessions that come from no other one of this log, the one written last first.
    pub fn roots(&self) -> impl Iterator<Item = &Kin> {
        self.kin.iter().filter(|kin| !kin.from.as_ref().is_some_and(|(parent, ..)| self.place.contains_key(parent)))
    }

    /// The forks of `stream`, by the event they begin at.
    #[must_use]
    pub fn forks_of(&self, stream: &StreamId) -> Vec<&Kin> {
        let comes = |kin: &&Kin| kin.from.as_ref().is_some_and(|(parent, ..)| parent == stream);
        let mut forks: Vec<&Kin> = self.kin.iter().filter(comes).collect();
        forks.sort_by_key(|kin| (kin.from.as_ref().map(|(_, seq, _)| *seq), kin.stream.id.clone()));
        forks
    }

    /// Where `stream` comes from.
    #[must_use]
    pub fn of(&self, stream: &StreamId) -> Option<&Kin> {
        self.place.get(stream).map(|place| &self.kin[*place])
    }

    /// Every session below `root` with its depth, each before its forks.
    #[must_use]
    pub fn below(&self, root: &StreamId) -> Vec<(usize, &Kin)> {
        let mut found = Vec::new();
        let mut open: Vec<(usize, &Kin)> = self.of(root).map(|kin| (0, kin)).into_iter().collect();
        while let Some((depth, kin)) = open.pop() {
            if found.len() > self.kin.len() {
                // A circle made by hand.
                break;
            }
            found.push((depth, kin));
            open.extend(self.forks_of(&kin.stream).into_iter().rev().map(|fork| (depth + 1, fork)));
        }
        found
    }
}
