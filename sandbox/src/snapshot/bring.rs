//! Bringing a folder to a snapshot, in place: only what differs is touched.
//!
//! First the folder as it is goes into the store, so nothing that snapshots hold is ever lost. Then all new files and
//! folders are made in a folder of their own in it, where a full disk harms nothing; only then are they renamed into their
//! places, each in one step. What snapshots do not hold (ignored files, secrets, sockets) stays where it is; if it is in
//! the way, it is put aside under another name.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{AtFlags, RenameFlags, fstat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;

use super::changes::{Difference, differences};
use super::clear::remove_tree;
use super::error::SnapshotError;
use super::folder::Folder;
use super::ids::TreeId;
use super::objects::Objects;
use super::options::{LeftOutList, SnapshotOptions};
use super::reader::Reader;
use super::stamp::Time;
use super::take::take;
use super::tree::{self, MODE_BITS, Node};
use super::writing::{NewFile, jobs_in, make_folder, os, set_mode, split, write_all};

/// What bringing a folder to a snapshot did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brought {
    /// The folder as it was, in the store.
    pub before: TreeId,
    /// The folder as it is now. Another one than asked for only if something kept writing to it.
    pub after: TreeId,
    /// Paths that were changed.
    pub changed: u64,
    /// What was in the way and is not part of any snapshot: where it is now.
    pub put_aside: Vec<PathBuf>,
    /// What is not part of the snapshots, and was left alone.
    pub left_out: LeftOutList,
}

/// Brings the folder to the snapshot. When it is not as `expected`, that is an error unless `force`.
pub(super) fn bring(
    objects: &mut Objects,
    snapshot: TreeId,
    workspace: &Folder,
    options: &SnapshotOptions,
    expected: Option<TreeId>,
    force: bool,
) -> Result<Brought, SnapshotError> {
    let taken = take(objects, workspace, options)?;
    let before = TreeId(taken.root);
    if let Some(expected) = expected.filter(|expected| *expected != before && !force) {
        return Err(changed_since(objects, workspace, expected, before)?);
    }
    let now = Reader::new(objects, before);
    let wanted = differences(Some(&now), &Reader::new(objects, snapshot))?;
    let mut work = Work {
        workspace,
        suffix: format!("{}-{}", std::process::id(), Time::now_ns()),
        put_aside: Vec::new(),
        modes: BTreeMap::new(),
    };
    let staging = format!(".retrace-staging-{}", work.suffix).into_bytes();
    let done = work.apply(objects, snapshot, &wanted, &staging);
    let _ = remove_tree(&work.folder(b"")?, &staging);
    let restored = work.restore_modes();
    done.and(restored)?;
    let after = take(objects, workspace, options)?;
    let (changed, put_aside) = (wanted.len() as u64, work.put_aside);
    Ok(Brought { before, after: TreeId(after.root), changed, put_aside, left_out: after.left_out })
}

/// The error that names what differs from what was expected.
fn changed_since(
    objects: &Objects,
    workspace: &Folder,
    expected: TreeId,
    now: TreeId,
) -> Result<SnapshotError, SnapshotError> {
    const NAMED: usize = 10;
    let found = differences(Some(&Reader::new(objects, expected)), &Reader::new(objects, now))?;
    let paths: Vec<PathBuf> = found.iter().take(NAMED).map(|difference| tree::to_path(&difference.path)).collect();
    let more = (found.len() - paths.len()) as u64;
    Ok(SnapshotError::Changed { folder: workspace.path().to_path_buf(), paths, more, now })
}

/// Whether there is to be a folder where there is none.
fn is_new_folder(Difference { path, before, after }: &Difference) -> bool {
    let is_folder = |node: &Option<Node>| matches!(node, Some(Node::Folder { .. }));
    !path.is_empty() && is_folder(after) && !is_folder(before)
}

/// What the n-th new folder is called until it is in its place; files have numbers.
fn folder_name(n: usize) -> Vec<u8> {
    format!("folder{n}").into_bytes()
}

struct Work<'a> {
    workspace: &'a Folder,
    /// Makes names that nobody else uses.
    suffix: String,
    put_aside: Vec<PathBuf>,
    /// Folders whose permission bits are to be set at the end.
    modes: BTreeMap<Vec<u8>, u16>,
}

impl Work<'_> {
    fn apply(
        &mut self,
        objects: &Objects,
        snapshot: TreeId,
        wanted: &[Difference],
        staging: &[u8],
    ) -> Result<(), SnapshotError> {
        let files = wanted.iter().filter_map(|difference| match &difference.after {
            Some(node @ (Node::File { .. } | Node::Link { .. })) => Some((&difference.path, node)),
            _ => None,
        });
        let files: Vec<NewFile> = files
            .enumerate()
            .map(|(n, (path, node))| NewFile { name: n.to_string().into(), node: node.clone(), path: path.clone() })
            .collect();
        let new_folders = wanted.iter().filter(|difference| is_new_folder(difference)).count();
        if new_folders > 0 || !files.is_empty() {
            let root = self.folder(b"")?;
            self.at(b"", make_folder(&root, staging))?;
            let staged = self.folder(staging)?;
            (0..new_folders).try_for_each(|n| self.at(staging, make_folder(&staged, &folder_name(n))))?;
        }
        let jobs = jobs_in(staging, files);
        write_all(self.workspace, objects, snapshot, &jobs, true)?;
        // Deepest first: a folder is empty when its turn comes.
        for difference in wanted.iter().rev() {
            self.remove(difference)?;
        }
        let mut staged = (0..new_folders).map(folder_name);
        for difference in wanted {
            if let Some(Node::Folder { mode, .. }) = difference.after {
                let name = if is_new_folder(difference) { staged.next() } else { None };
                self.make(&difference.path, mode, staging, name.as_deref())?;
            }
        }
        for file in jobs.into_iter().flat_map(|job| job.files) {
            self.place(staging, &file, wanted)?;
        }
        Ok(())
    }

    /// Removes what is to be gone, or is to become something else. A file that is replaced by a file stays until then.
    fn remove(&mut self, difference: &Difference) -> Result<(), SnapshotError> {
        let Difference { path, before: Some(before), after } = difference else { return Ok(()) };
        let was_folder = matches!(before, Node::Folder { .. });
        let is_folder = matches!(after, Some(Node::Folder { .. }));
        if path.is_empty() || (after.is_some() && was_folder == is_folder) {
            return Ok(());
        }
        let (parent, name) = split(path);
        let flags = if was_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        let dir = self.writable(parent)?;
        match unlinkat(&dir, os(name), flags) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            // What no snapshot holds is still in it. It stays, unless its place is needed.
            Err(Errno::NOTEMPTY) if after.is_none() => Ok(()),
            Err(Errno::NOTEMPTY | Errno::ISDIR | Errno::NOTDIR | Errno::PERM) => self.move_aside(path),
            Err(error) => self.at(path, Err(error)),
        }
    }

    /// Puts a folder there, the one that was made for it where there is one, or takes the one that is there.
    fn make(&mut self, path: &[u8], mode: u16, staging: &[u8], staged: Option<&[u8]>) -> Result<(), SnapshotError> {
        if !path.is_empty() {
            let (parent, name) = split(path);
            let dir = self.writable(parent)?;
            let from = staged.map(|staged| Ok((self.folder(staging)?, staged))).transpose()?;
            let put = || match &from {
                Some((from, staged)) => renameat_with(from, os(staged), &dir, os(name), RenameFlags::NOREPLACE),
                None => make_folder(&dir, name),
            };
            match put() {
                Err(Errno::EXIST) if self.workspace.open_folder(path).is_err() => {
                    self.move_aside(path)?;
                    self.at(path, put())?;
                }
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return self.at(path, Err(error)),
            }
        }
        self.modes.insert(path.to_vec(), mode);
        Ok(())
    }

    /// Puts a file that is written into its place, in one step.
    fn place(&mut self, staging: &[u8], file: &NewFile, wanted: &[Difference]) -> Result<(), SnapshotError> {
        let (parent, name) = split(&file.path);
        let (from, dir) = (self.folder(staging)?, self.writable(parent)?);
        // Only what the store holds may be written over.
        let is_kept = wanted
            .binary_search_by(|difference| difference.path.cmp(&file.path))
            .ok()
            .and_then(|at| wanted.get(at))
            .is_some_and(|difference| matches!(difference.before, Some(Node::File { .. } | Node::Link { .. })));
        let put = |is_kept: bool| {
            if is_kept {
                renameat(&from, os(&file.name), &dir, os(name))
            } else {
                renameat_with(&from, os(&file.name), &dir, os(name), RenameFlags::NOREPLACE)
            }
        };
        match put(is_kept) {
            Err(Errno::EXIST | Errno::ISDIR | Errno::NOTEMPTY) => {
                self.move_aside(&file.path)?;
                self.at(&file.path, put(false))
            }
            done => self.at(&file.path, done),
        }
    }

    /// Gives what is in the way another name.
    fn move_aside(&mut self, path: &[u8]) -> Result<(), SnapshotError> {
        /// As much of a name is kept, in bytes.
        const KEPT: usize = 180;
        let (parent, name) = split(path);
        let dir = self.writable(parent)?;
        // Names that are cut may have become the same: they are counted, too.
        let end = std::str::from_utf8(name).map_or(name.len().min(KEPT), |name| name.floor_char_boundary(KEPT));
        let ending = format!(".aside-{}-{}", self.suffix, self.put_aside.len());
        let aside = [name.get(..end).unwrap_or_default(), ending.as_bytes()].concat();
        match renameat_with(&dir, os(name), &dir, os(&aside), RenameFlags::NOREPLACE) {
            Ok(()) => {
                self.put_aside.push(tree::to_path(&tree::join(parent, &aside)));
                Ok(())
            }
            Err(Errno::NOENT) => Ok(()),
            Err(error) => self.at(path, Err(error)),
        }
    }

    fn folder(&self, path: &[u8]) -> Result<OwnedFd, SnapshotError> {
        let opened = self.workspace.open_folder(path);
        opened.map_err(SnapshotError::io("open the folder", &self.workspace.path_of(path)))
    }

    /// Opens a folder to change what is in it; permission for that is given for the time being.
    fn writable(&mut self, path: &[u8]) -> Result<OwnedFd, SnapshotError> {
        const OWNER: u16 = 0o700;
        let dir = self.folder(path)?;
        let stat = self.at(path, fstat(&dir))?;
        let mode = u16::try_from(stat.st_mode & u32::from(MODE_BITS)).unwrap_or_default();
        if mode & OWNER != OWNER {
            self.at(path, set_mode(&dir, mode | OWNER))?;
            self.modes.entry(path.to_vec()).or_insert(mode);
        }
        Ok(dir)
    }

    /// Sets the permission bits of folders, from the innermost outwards.
    fn restore_modes(&self) -> Result<(), SnapshotError> {
        for (path, mode) in self.modes.iter().rev() {
            match self.workspace.open_folder(path).and_then(|dir| set_mode(&dir, *mode)) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return self.at(path, Err(error)),
            }
        }
        Ok(())
    }

    fn at<T>(&self, path: &[u8], result: Result<T, Errno>) -> Result<T, SnapshotError> {
        result.map_err(SnapshotError::io("change", &self.workspace.path_of(path)))
    }
}
