//! Which instruction files an epoch has: a function of the log, so that a resumed session knows them too.

use retrace_events::SessionState;
use retrace_events::payload::context::{ContextPassage, ContextSource};
use std::collections::BTreeSet;

/// How many folders are looked into at once, and how deep below the workspace they may lie.
const MAX_FOLDERS: usize = 64;
const MAX_DEPTH: usize = 32;

/// Folders whose files do not speak for the project: git's own, and those that other people's packages are put into.
const FOREIGN: [&str; 4] = [".git", "node_modules", "site-packages", ".venv"];

/// The instruction files of an epoch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownInstructions {
    workspace: String,
    paths: BTreeSet<String>,
    bytes: usize,
}

/// The instruction files that the present epoch has, at its beginning or in its course.
#[must_use]
pub fn known_instructions(state: &SessionState) -> KnownInstructions {
    let mut known = KnownInstructions { workspace: state.workspace.clone(), ..KnownInstructions::default() };
    let seed = state.epoch.iter().flat_map(|epoch| &epoch.start.seed);
    seed.chain(state.transcript.passages()).for_each(|passage| known.add(passage));
    known
}

impl KnownInstructions {
    fn add(&mut self, passage: &ContextPassage) {
        if let ContextSource::Instructions(path) = &passage.source {
            self.paths.insert(path.clone());
            self.bytes += passage.text.len();
        }
    }

    /// What the files take in the context, in bytes.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The folders above `touched` that were not looked into yet, outer ones first; never the workspace itself.
    pub(super) fn unknown_folders(&self, touched: &[String]) -> Vec<String> {
        let looked_into: BTreeSet<&str> = self.paths.iter().filter_map(|path| Some(path.rsplit_once('/')?.0)).collect();
        let mut folders = BTreeSet::new();
        for path in touched {
            let Some(path) = self.in_workspace(path) else { continue };
            let Some((folder, _)) = path.rsplit_once('/') else { continue };
            let parts: Vec<&str> = folder.split('/').collect();
            if parts.len() > MAX_DEPTH || parts.iter().any(|part| FOREIGN.contains(part)) {
                continue;
            }
            folders.extend((1..=parts.len()).map(|depth| parts[..depth].join("/")));
        }
        // By name, a folder stands before what lies in it.
        folders.into_iter().filter(|folder| !looked_into.contains(folder.as_str())).take(MAX_FOLDERS).collect()
    }

    /// The path relative to the workspace; `None` for one that lies elsewhere.
    fn in_workspace<'a>(&self, path: &'a str) -> Option<&'a str> {
        if !path.starts_with('/') {
            return Some(path);
        }
        path.strip_prefix(self.workspace.trim_end_matches('/'))?.strip_prefix('/')
    }
}
