//! An open folder, and the only way to reach something beneath it.
//!
//! Every path is resolved by the kernel with `openat2`: beneath the root, through no link of any kind, and not into
//! another mount. So whatever is planted or swapped meanwhile, nothing outside is opened.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, Statx, StatxFlags, openat2, statx};
use rustix::io::Errno;

use super::error::SnapshotError;
use super::tree;

/// The longest path below the root, in bytes: what the system takes at once.
pub(super) const MAX_PATH: usize = 4_095;
/// How often a path is resolved again when something was renamed meanwhile.
const ATTEMPTS: u32 = 16;

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder {
    root: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder; a link at `path` itself is followed, since a person named it.
    pub(super) fn open(path: &Path) -> Result<Self, SnapshotError> {
        let opened = path.canonicalize().and_then(|real| {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            Ok((rustix::fs::open(&real, flags, Mode::empty())?, real))
        });
        let (root, path) = opened.map_err(SnapshotError::io("open the folder", path))?;
        Ok(Self { root, path })
    }

    /// Takes an open folder that was just made.
    pub(super) fn of(root: OwnedFd, path: PathBuf) -> Self {
        Self { root, path }
    }

    /// Its real path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of something beneath it, for messages.
    pub(super) fn path_of(&self, relative: &[u8]) -> PathBuf {
        if relative.is_empty() { self.path.clone() } else { self.path.join(tree::to_path(relative)) }
    }

    /// Opens a folder beneath it for listing and for work in it.
    pub(super) fn open_folder(&self, relative: &[u8]) -> Result<OwnedFd, Errno> {
        self.open_at(relative, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Opens what should be a regular file for reading; a fifo put there instead does not block.
    pub(super) fn open_file(&self, relative: &[u8]) -> Result<OwnedFd, Errno> {
        self.open_at(relative, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)
    }

    fn open_at(&self, relative: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        if relative.len() > MAX_PATH {
            return Err(Errno::NAMETOOLONG);
        }
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
        let mut attempts = 0;
        loop {
            attempts += 1;
            match openat2(&self.root, tree::to_path(relative), flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) if attempts < ATTEMPTS => {}
                result => return result,
            }
        }
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.root.as_fd()
    }
}

/// What stands under a name of an open folder, not followed and without mounting anything.
pub(super) fn look_at(folder: &OwnedFd, name: &[u8]) -> Result<Statx, Errno> {
    use std::os::unix::ffi::OsStrExt as _;
    let wanted = StatxFlags::BASIC_STATS;
    statx(folder, std::ffi::OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT, wanted)
}
