//! Walking the workspace: every file that may be indexed, with its stamp, and a count of what is left out.
//!
//! Invariants: no link is followed; each folder is opened beneath the root; a folder is in memory only as its path.

use super::ignore_rules::IgnoreRules;
use super::root::{FileStamp, WorkspaceRoot, entries};
use super::secret_names::looks_secret;
use super::skip::SkipReason;
use rustix::fs::{AtFlags, FileType, statat};
use rustix::io::Errno;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;

/// Folders nested deeper are left out.
const MAX_DEPTH: usize = 100;
/// Longer paths are left out.
const MAX_PATH_BYTES: usize = 2_000;

/// What a walk comes across.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// A file that may be indexed.
    File { path: String, stamp: FileStamp },
    /// A folder that is walked.
    Folder(String),
    /// Something that is left out, and counted.
    Skipped(SkipReason),
    /// A folder could not be read just now; what is known of it stays.
    Unknown(String),
}

/// Whoever takes what a walk comes across may end it.
pub(super) type Take<'a> = dyn FnMut(Seen) -> ControlFlow<()> + 'a;

/// Walks what a path names: the whole workspace (`""`), a folder, or one file. A path that is left out by rule, or that
/// does not exist, has nothing to see.
pub(super) fn walk(root: &WorkspaceRoot, path: &str, take: &mut Take<'_>) -> ControlFlow<()> {
    let Some((dir, rules)) = start(root, path) else { return ControlFlow::Continue(()) };
    let mut walk = Walk { root, take, folders: Vec::new() };
    if dir == path {
        walk.folders.push((dir.to_owned(), rules));
    } else {
        walk.single(dir, path, &rules)?;
    }
    while let Some((dir, rules)) = walk.folders.pop() {
        walk.folder(&dir, &rules)?;
    }
    ControlFlow::Continue(())
}

/// Which folder a walk begins in, with the rules that hold there: the path itself, or what is around it when it is a file.
/// `None` when something on the way is left out.
fn start<'a>(root: &WorkspaceRoot, path: &'a str) -> Option<(&'a str, IgnoreRules)> {
    let mut rules = IgnoreRules::of_root(root);
    let mut dir = "";
    let ends = path.match_indices('/').map(|(at, _)| at).chain((!path.is_empty()).then_some(path.len()));
    for end in ends {
        let part = &path[..end];
        let kind = FileType::from_raw_mode(root.stat(part).ok()?.st_mode);
        if kind != FileType::Directory {
            return (end == path.len()).then_some((dir, rules));
        }
        if rules.leave_out(root, part, name_of(part), true) {
            return None;
        }
        rules = rules.within(root, part);
        dir = part;
    }
    Some((dir, rules))
}

struct Walk<'a, 'b> {
    root: &'a WorkspaceRoot,
    take: &'a mut Take<'b>,
    folders: Vec<(String, IgnoreRules)>,
}

impl Walk<'_, '_> {
    fn single(&mut self, dir: &str, path: &str, rules: &IgnoreRules) -> ControlFlow<()> {
        match self.root.open_dir(dir) {
            Ok(open) => self.entry(&open, path.to_owned(), name_of(path), FileType::Unknown, rules),
            Err(error) => (self.take)(failed(dir, error)),
        }
    }

    fn folder(&mut self, dir: &str, rules: &IgnoreRules) -> ControlFlow<()> {
        let open = match self.root.open_dir(dir) {
            Ok(open) => open,
            Err(error) => return (self.take)(failed(dir, error)),
        };
        (self.take)(Seen::Folder(dir.to_owned()))?;
        let listing = match entries(&open) {
            Ok(listing) => listing,
            Err(error) => return (self.take)(failed(dir, error)),
        };
        for entry in listing {
            let (name, kind) = match entry {
                Ok(entry) => entry,
                Err(_) => return (self.take)(Seen::Unknown(dir.to_owned())),
            };
            let Ok(name) = String::from_utf8(name) else {
                (self.take)(Seen::Skipped(SkipReason::Name))?;
                continue;
            };
            let path = if dir.is_empty() { name.clone() } else { format!("{dir}/{name}") };
            self.entry(&open, path, &name, kind, rules)?;
        }
        ControlFlow::Continue(())
    }

    fn entry(
        &mut self,
        dir: &OwnedFd,
        path: String,
        name: &str,
        kind: FileType,
        rules: &IgnoreRules,
    ) -> ControlFlow<()> {
        let mut kind = kind;
        let mut stat = None;
        if matches!(kind, FileType::Unknown | FileType::RegularFile) {
            // What is gone by now was not there.
            let Ok(found) = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) else { return ControlFlow::Continue(()) };
            kind = FileType::from_raw_mode(found.st_mode);
            stat = Some(found);
        }
        let is_dir = kind == FileType::Directory;
        if rules.leave_out(self.root, &path, name, is_dir) {
            return ControlFlow::Continue(());
        }
        let skip = match kind {
            FileType::Symlink => Some(SkipReason::Link),
            FileType::RegularFile if looks_secret(name) => Some(SkipReason::Secret),
            FileType::RegularFile | FileType::Directory if is_too_deep(&path) => Some(SkipReason::TooDeep),
            FileType::RegularFile | FileType::Directory => None,
            _ => Some(SkipReason::Special),
        };
        match (skip, stat) {
            (Some(reason), _) => (self.take)(Seen::Skipped(reason)),
            (None, Some(stat)) if !is_dir => (self.take)(Seen::File { path, stamp: FileStamp::of(&stat) }),
            (None, _) => {
                let rules = rules.within(self.root, &path);
                self.folders.push((path, rules));
                ControlFlow::Continue(())
            }
        }
    }
}

fn is_too_deep(path: &str) -> bool {
    path.len() > MAX_PATH_BYTES || path.bytes().filter(|byte| *byte == b'/').count() >= MAX_DEPTH
}

/// A folder that we may not read is left out; one that cannot be read for another reason may be there again soon.
fn failed(dir: &str, error: Errno) -> Seen {
    match error {
        Errno::ACCESS | Errno::PERM => Seen::Skipped(SkipReason::Unreadable),
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => Seen::Skipped(SkipReason::Link),
        _ => Seen::Unknown(dir.to_owned()),
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
