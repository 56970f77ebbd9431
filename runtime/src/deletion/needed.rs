//! What the events of a log need: read once from its beginning to its end, when something is to be removed.

use crate::travelling::trees_in;
use retrace_events::blob::needed_blobs;
use retrace_events::log::{Deletion, Position};
use retrace_events::{EventLog, Hash, LogError};
use retrace_sandbox::snapshot::TreeId;
use std::collections::HashSet;

/// How many events are read at a time.
const PAGE: usize = 200;

/// What no event needs, and which snapshots some need.
#[derive(Debug, Default)]
pub(crate) struct Needed {
    /// Blobs that no event needs.
    pub(crate) unneeded_blobs: HashSet<Hash>,
    /// Snapshots that events name, each once.
    pub(crate) trees: Vec<TreeId>,
    /// And those that come before them in their sessions.
    pub(crate) previous: HashSet<TreeId>,
    /// Why nobody can say what is needed, when there is a reason: then nothing may be removed.
    pub(crate) doubt: Option<String>,
}

impl Needed {
    /// Reads all of `log`. Tells `progress` how far it is: positions read, and the last one.
    ///
    /// # Errors
    /// When the log cannot be asked.
    pub(crate) async fn by(log: &dyn EventLog, progress: &mut (dyn FnMut(u64, u64) + Send)) -> Result<Self, LogError> {
        let mut needed = Self {
            unneeded_blobs: log.blobs().list().await?.into_iter().map(|blob| blob.hash).collect(),
            ..Self::default()
        };
        let mut seen = HashSet::new();
        // What is appended later names only what was put within the last hour.
        let end = log.end().await?;
        let mut at = Position(0);
        while at < end && needed.doubt.is_none() {
            let page = match log.read_all(at, PAGE).await {
                Ok(page) => page,
                Err(error @ (LogError::Damaged { .. } | LogError::DamagedStore { .. })) => {
                    needed.doubt = Some(error.to_string());
                    break;
                }
                Err(error) => return Err(error),
            };
            let Some((last, _)) = page.last() else { break };
            at = *last;
            needed.note(page.iter().map(|(_, envelope)| envelope), &mut seen);
            progress(at.0.min(end.0), end.0);
        }
        Ok(needed)
    }

    fn note<'a>(&mut self, envelopes: impl Iterator<Item = &'a retrace_events::Envelope>, seen: &mut HashSet<TreeId>) {
        for envelope in envelopes.filter(|envelope| !Deletion::stands_in(envelope)) {
            let place = || format!("event {} of {}", envelope.seq, envelope.stream);
            match needed_blobs(envelope) {
                Ok(Some(blobs)) => {
                    for blob in &blobs {
                        self.unneeded_blobs.remove(blob);
                    }
                }
                Ok(None) => self.doubt = Some(format!("{} was written by a newer version of retrace", place())),
                Err(error) => self.doubt = Some(format!("{} cannot be read: {error}", place())),
            }
            match trees_in([envelope], seen) {
                Ok(trees) => {
                    self.trees.extend(trees.iter().map(|logged| logged.tree));
                    self.previous.extend(trees.iter().filter_map(|logged| logged.previous));
                }
                Err(error) => self.doubt = Some(format!("{} cannot be read: {error}", place())),
            }
        }
    }
}
