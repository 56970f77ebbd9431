//! Restoring a snapshot into a folder of its own.
//!
//! It is made beside its place under another name and renamed when it is whole, so that under the right name there is
//! never half a workspace. What a killed restore leaves behind is removed by the next one.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, RenameFlags, flock, openat, renameat, renameat_with};
use rustix::io::Errno;

use super::clear::remove_tree;
use super::error::SnapshotError;
use super::folder::Folder;
use super::ids::TreeId;
use super::objects::Objects;
use super::reader::Reader;
use super::stamp::Time;
use super::tree::{self, Node};
use super::writing::{Job, NewFile, make_folder, set_mode, write_all};

/// How often a folder is made anew that another restore removed at once.
const ATTEMPTS: u32 = 16;
/// What the owner of a folder needs to work in it.
const OWNER: u16 = 0o700;

/// How a snapshot is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestoreOptions {
    /// Whether programs get their set-user and set-group bits back. They run as whoever restores: say no for snapshots
    /// that come from elsewhere.
    pub keeps_set_id: bool,
    /// With more files and folders than this nothing is restored.
    pub max_entries: u64,
    /// With more bytes in files than this nothing is restored.
    pub max_total_bytes: u64,
}

impl Default for RestoreOptions {
    fn default() -> Self {
        Self { keeps_set_id: true, max_entries: 4_000_000, max_total_bytes: 64 << 30 }
    }
}

/// What was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Where, as a real path.
    pub folder: PathBuf,
    /// Files and links.
    pub files: u64,
    /// Bytes in files.
    pub bytes: u64,
}

/// What is to be made.
#[derive(Default)]
struct Plan {
    /// Each with its permission bits, before those in it; the root is the first.
    folders: Vec<(Vec<u8>, u16)>,
    jobs: Vec<Job>,
    files: u64,
    bytes: u64,
}

/// Restores a snapshot into a folder that does not exist or is empty.
pub(super) fn restore(
    objects: &mut Objects,
    snapshot: TreeId,
    into: &Path,
    options: &RestoreOptions,
) -> Result<Restored, SnapshotError> {
    // Whether all of it can be read as folders is known before anything is made.
    let plan = {
        let _reading = objects.reading()?;
        plan(&Reader::new(objects, snapshot), options, into)?
    };
    let place = Place::find(into)?;
    let partial = Partial::make(&place)?;
    let stamped = fill(objects, snapshot, &plan, &partial.folder, options)?;
    let handed_over_ns = Time::now_ns();
    let folder = partial.put(&place)?;
    let rows: Vec<_> = stamped.into_iter().map(|stamped| stamped.row(handed_over_ns)).collect();
    let now_ms = i64::try_from(handed_over_ns / 1_000_000).unwrap_or(i64::MAX);
    objects.remember(&folder, &rows, &[], now_ms);
    Ok(Restored { folder, files: plan.files, bytes: plan.bytes })
}

fn plan(reader: &Reader<'_>, options: &RestoreOptions, into: &Path) -> Result<Plan, SnapshotError> {
    let root = reader.root()?;
    let too_large = |what, limit| SnapshotError::TooLarge { folder: into.to_path_buf(), what, limit };
    let mut plan = Plan::default();
    let mut todo = vec![(Vec::new(), root.mode, root.tree)];
    while let Some((path, mode, id)) = todo.pop() {
        let mut files = Vec::new();
        for entry in reader.tree(&id, &path)? {
            let full = tree::join(&path, &entry.name);
            match entry.node {
                Node::Folder { mode, id } => todo.push((full, mode, id)),
                node => {
                    let size = if let Node::File { size, .. } = &node { *size } else { 0 };
                    plan.bytes = plan.bytes.saturating_add(size);
                    plan.files += 1;
                    files.push(NewFile { name: entry.name, node, path: full });
                }
            }
        }
        // Nobody else comes into the root before all is there; a folder that its owner may not use gets its bits last.
        let is_open = !path.is_empty() && mode & OWNER == OWNER;
        plan.folders.push((path.clone(), mode));
        plan.jobs.push(Job { folder: path, tree: id, mode: is_open.then_some(mode), files });
        if plan.files + (plan.folders.len() + todo.len()) as u64 > options.max_entries {
            return Err(too_large("files and folders", options.max_entries));
        }
        if plan.bytes > options.max_total_bytes {
            return Err(too_large("bytes in files", options.max_total_bytes));
        }
    }
    Ok(plan)
}

fn fill(
    objects: &Objects,
    snapshot: TreeId,
    plan: &Plan,
    root: &Folder,
    options: &RestoreOptions,
) -> Result<Vec<super::writing::Stamped>, SnapshotError> {
    for (path, _) in plan.folders.iter().filter(|(path, _)| !path.is_empty()) {
        let (parent, name) = super::writing::split(path);
        let made = root.open_folder(parent).and_then(|parent| make_folder(&parent, name));
        made.map_err(SnapshotError::io("make the folder", &root.path_of(path)))?;
    }
    let stamped = write_all(root, objects, snapshot, &plan.jobs, options.keeps_set_id)?;
    // From the innermost outwards: a folder that may not be entered comes after what is in it.
    let closed = plan.folders.iter().zip(&plan.jobs).filter(|(_, job)| job.mode.is_none());
    for ((path, mode), _) in closed.rev() {
        let set = root.open_folder(path).and_then(|folder| set_mode(&folder, *mode));
        set.map_err(SnapshotError::io("set the permissions of", &root.path_of(path)))?;
    }
    Ok(stamped)
}

/// Where the restored folder is to be.
struct Place {
    parent: OwnedFd,
    parent_path: PathBuf,
    name: OsString,
    /// Whether an empty folder is there already.
    exists: bool,
}

impl Place {
    fn find(into: &Path) -> Result<Self, SnapshotError> {
        let absolute = std::path::absolute(into).map_err(SnapshotError::io("find", into))?;
        let not_empty = || SnapshotError::NotEmpty { path: into.to_path_buf() };
        let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else { return Err(not_empty()) };
        std::fs::create_dir_all(parent).map_err(SnapshotError::io("make the folder", parent))?;
        let parent_path = parent.canonicalize().map_err(SnapshotError::io("find", parent))?;
        let exists = match absolute.symlink_metadata() {
            Ok(found) if found.is_dir() => {
                let mut listing = absolute.read_dir().map_err(SnapshotError::io("list", into))?;
                if listing.next().is_some() {
                    return Err(not_empty());
                }
                true
            }
            Ok(_) => return Err(not_empty()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => return Err(SnapshotError::io("look at", into)(error)),
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&parent_path, flags, Mode::empty());
        let parent = opened.map_err(SnapshotError::io("open the folder", &parent_path))?;
        let place = Self { parent, parent_path, name: name.to_owned(), exists };
        place.remove_stale();
        Ok(place)
    }

    fn prefix(&self) -> Vec<u8> {
        [b".", self.name.as_bytes(), b".partial-"].concat()
    }

    /// Removes what killed restores of this folder left behind. Whoever is still at it holds a lock.
    fn remove_stale(&self) {
        let prefix = self.prefix();
        let Ok(listing) = std::fs::read_dir(&self.parent_path) else { return };
        for entry in listing.flatten().filter(|entry| entry.file_name().as_bytes().starts_with(&prefix)) {
            let name = entry.file_name();
            // Locked until it is gone: whoever has just made it must not take it for their own.
            let Ok(folder) = open_folder(&self.parent, &name) else { continue };
            if lock(&folder).is_ok() {
                let _ = remove_tree(&self.parent, name.as_bytes());
            }
        }
    }
}

fn open_folder(parent: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

fn lock(folder: &OwnedFd) -> Result<(), Errno> {
    flock(folder, FlockOperation::NonBlockingLockExclusive)
}

/// A folder being made; removed with all that is in it unless it is put in its place.
struct Partial<'a> {
    parent: &'a OwnedFd,
    name: OsString,
    folder: Folder,
    is_placed: bool,
}

impl<'a> Partial<'a> {
    fn make(place: &'a Place) -> Result<Self, SnapshotError> {
        let mut attempts = 0;
        let (name, path, made) = loop {
            attempts += 1;
            let suffix = format!("{}-{}", std::process::id(), Time::now_ns());
            let name = OsStr::from_bytes(&[place.prefix(), suffix.into_bytes()].concat()).to_owned();
            match Self::make_locked(place, &name) {
                // Another restore of this folder took it for abandoned before it was locked.
                Err(Errno::NOENT | Errno::AGAIN | Errno::EXIST) if attempts < ATTEMPTS => {}
                made => break (name.clone(), place.parent_path.join(&name), made),
            }
        };
        let folder = made.map_err(SnapshotError::io("make the folder", &path))?;
        Ok(Self { parent: &place.parent, name, folder: Folder::of(folder, path), is_placed: false })
    }

    fn make_locked(place: &Place, name: &OsStr) -> Result<OwnedFd, Errno> {
        make_folder(&place.parent, name.as_bytes())?;
        let folder = open_folder(&place.parent, name)?;
        lock(&folder)?;
        if rustix::fs::fstat(&folder)?.st_nlink == 0 { Err(Errno::NOENT) } else { Ok(folder) }
    }

    fn put(mut self, place: &Place) -> Result<PathBuf, SnapshotError> {
        let path = place.parent_path.join(&place.name);
        let renamed = if place.exists {
            renameat(self.parent, &self.name, &place.parent, &place.name)
        } else {
            renameat_with(self.parent, &self.name, &place.parent, &place.name, RenameFlags::NOREPLACE)
        };
        match renamed {
            Ok(()) => {
                self.is_placed = true;
                Ok(path)
            }
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => Err(SnapshotError::NotEmpty { path }),
            Err(error) => Err(SnapshotError::io("make the folder", &path)(error)),
        }
    }
}

impl Drop for Partial<'_> {
    fn drop(&mut self) {
        if !self.is_placed {
            let _ = remove_tree(self.parent, self.name.as_bytes());
        }
    }
}
