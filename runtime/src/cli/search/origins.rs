//! Where hits are from, as far as a hit does not say it itself: what a session is about, and whose code it is.

use crate::cli::sessions;
use retrace_events::{Event, EventLog, SessionState, StreamId};
use retrace_indexer::{Hit, HitSource, IndexFolder, KeywordIndex};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// How many events a session's beginning is looked at: its title is in the first one, or else its first prompt is near.
const BEGINNING: usize = 16;

/// Where hits are from. All words in it are foreign.
#[derive(Debug, Clone, Default)]
pub(super) struct Origins {
    /// Sessions by their streams.
    pub(super) sessions: HashMap<String, SessionOrigin>,
    /// Workspaces by the keys of hits in their code.
    pub(super) code: HashMap<String, String>,
}

/// A session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SessionOrigin {
    /// What it is about.
    pub(super) title: String,
    /// Where it works.
    pub(super) workspace: String,
}

impl Origins {
    /// Looks up where `hits` are from. What cannot be read is left out: it was found all the same.
    pub(super) async fn of(log: &dyn EventLog, state: &Path, code: &[PathBuf], hits: &[Hit]) -> Self {
        let mut origins = Self::default();
        let code = CodeOrigins::open(state, code);
        for hit in hits {
            match &hit.source {
                HitSource::Event { stream, .. } | HitSource::Summary { stream, .. } => {
                    if !origins.sessions.contains_key(stream) {
                        let origin = session(log, stream).await.unwrap_or_default();
                        origins.sessions.insert(stream.clone(), origin);
                    }
                }
                HitSource::File { .. } => {
                    if let Some(workspace) = code.workspace(hit) {
                        origins.code.insert(hit.key.clone(), workspace);
                    }
                }
            }
        }
        origins
    }

    /// What the hit's session is about.
    #[must_use]
    pub(super) fn title(&self, hit: &Hit) -> Option<&str> {
        self.session(hit).map(|origin| origin.title.as_str())
    }

    /// The workspace it is from.
    #[must_use]
    pub(super) fn workspace(&self, hit: &Hit) -> Option<&str> {
        match &hit.source {
            HitSource::File { .. } => self.code.get(&hit.key).map(String::as_str),
            HitSource::Event { .. } | HitSource::Summary { .. } => {
                self.session(hit).map(|origin| origin.workspace.as_str())
            }
        }
    }

    fn session(&self, hit: &Hit) -> Option<&SessionOrigin> {
        match &hit.source {
            HitSource::Event { stream, .. } | HitSource::Summary { stream, .. } => self.sessions.get(stream),
            HitSource::File { .. } => None,
        }
    }
}

async fn session(log: &dyn EventLog, stream: &str) -> Option<SessionOrigin> {
    let stream: StreamId = stream.parse().ok()?;
    let mut state = SessionState::default();
    for envelope in log.read(&stream, 0, BEGINNING).await.ok()? {
        state.apply(&Event::decode(envelope).ok()?);
    }
    Some(SessionOrigin { title: sessions::title(&state), workspace: state.workspace })
}

/// The workspaces whose code was searched, with their indexes where there are several.
struct CodeOrigins<'a>(Vec<(&'a Path, Option<KeywordIndex>)>);

impl<'a> CodeOrigins<'a> {
    fn open(state: &Path, code: &'a [PathBuf]) -> Self {
        let index =
            |workspace: &Path| KeywordIndex::open(&IndexFolder::of_code(state, workspace).keyword()).ok().flatten();
        let needed = code.len() > 1;
        Self(code.iter().map(|workspace| (workspace.as_path(), needed.then(|| index(workspace)).flatten())).collect())
    }

    /// The only workspace there is, or the one whose index has the hit.
    fn workspace(&self, hit: &Hit) -> Option<String> {
        let has = |index: &KeywordIndex| {
            index.by_key(&hit.key).is_ok_and(|found| found.is_some_and(|document| document.at_ms == hit.at_ms))
        };
        let (workspace, _) = match &self.0[..] {
            [only] => only,
            several => several.iter().find(|(_, index)| index.as_ref().is_some_and(has))?,
        };
        Some(workspace.display().to_string())
    }
}
