//! Which folders are watched: one watch for each folder that is walked, so that what `.gitignore` names costs none.

use crate::code::root::WorkspaceRoot;
use crate::code::walk::{Seen, walk};
use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ops::{Bound, ControlFlow};

/// The system has no more watches to give, or we take no more.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutOfWatches(pub(super) String);

/// The folders that are watched.
pub(super) struct WatchedFolders {
    watcher: RecommendedWatcher,
    watched: BTreeSet<String>,
    at_most: usize,
}

impl WatchedFolders {
    pub(super) const fn new(watcher: RecommendedWatcher, at_most: usize) -> Self {
        Self { watcher, watched: BTreeSet::new(), at_most }
    }

    pub(super) fn count(&self) -> usize {
        self.watched.len()
    }

    /// Watches all folders beneath a path that are walked, and no longer those that are not.
    pub(super) fn follow(&mut self, root: &WorkspaceRoot, path: &str) -> Result<(), OutOfWatches> {
        let mut found = BTreeSet::new();
        let ended = walk(root, path, &mut |seen| {
            if let Seen::Folder(folder) = seen {
                found.insert(folder);
            }
            if found.len() > self.at_most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if ended.is_break() {
            return Err(OutOfWatches(format!("more than {} folders", self.at_most)));
        }
        let gone: Vec<String> = self.beneath(path).filter(|folder| !found.contains(*folder)).cloned().collect();
        for folder in gone {
            self.watched.remove(&folder);
            // A folder that was deleted has lost its watch already.
            let _ = self.watcher.unwatch(&root.path().join(&folder));
        }
        for folder in found {
            if !self.watched.contains(&folder) {
                self.add(root, folder)?;
            }
        }
        Ok(())
    }

    /// A folder that was made anew under an old name needs a new watch.
    pub(super) fn forget(&mut self, root: &WorkspaceRoot, path: &str) {
        if !path.is_empty() && self.watched.remove(path) {
            let _ = self.watcher.unwatch(&root.path().join(path));
        }
    }

    fn add(&mut self, root: &WorkspaceRoot, folder: String) -> Result<(), OutOfWatches> {
        if self.watched.len() >= self.at_most {
            return Err(OutOfWatches(format!("more than {} folders", self.at_most)));
        }
        match self.watcher.watch(&root.path().join(&folder), RecursiveMode::NonRecursive) {
            Ok(()) => {
                self.watched.insert(folder);
                Ok(())
            }
            Err(error) if is_exhausted(&error.kind) => Err(OutOfWatches("the system has no more watches".to_owned())),
            // It is gone again, or may not be read.
            Err(_) => Ok(()),
        }
    }

    fn beneath<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a String> {
        let is_within = move |folder: &&String| {
            path.is_empty() || folder.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let from = (Bound::Included(path.to_owned()), Bound::Unbounded);
        self.watched.range(from).take_while(move |folder| folder.starts_with(path)).filter(is_within)
    }
}

fn is_exhausted(kind: &ErrorKind) -> bool {
    match kind {
        ErrorKind::MaxFilesWatch => true,
        ErrorKind::Io(error) => {
            matches!(Errno::from_io_error(error), Some(Errno::NOSPC | Errno::MFILE | Errno::NFILE | Errno::NOMEM))
        }
        _ => false,
    }
}
