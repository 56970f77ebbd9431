//! The workspace root, and the only way to open something beneath it.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat2};
use rustix::io::Errno;

use crate::message::{EntryKind, Failure, FailureKind};
use crate::raw_path::RawPath;

/// How often a path is resolved again when something was renamed meanwhile.
const RESOLVE_ATTEMPTS: u32 = 16;

/// The open workspace root.
#[derive(Debug)]
pub(crate) struct Root {
    dir: OwnedFd,
    /// Its real path; entries found by a walk lie beneath it.
    path: PathBuf,
}

impl Root {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let dir = rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let path = real_path(&dir)?;
        Ok(Self { dir, path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path relative to the root. `..` stays in it: the kernel judges whether it leads out.
    pub(crate) fn relative(&self, path: &RawPath) -> Result<PathBuf, Failure> {
        let path = path.as_path();
        let relative = if path.is_absolute() {
            path.strip_prefix(&self.path).map_err(|_| outside(path))?.to_path_buf()
        } else {
            path.to_path_buf()
        };
        Ok(if relative.as_os_str().is_empty() { PathBuf::from(".") } else { relative })
    }

    /// Opens a path that is relative to the root.
    pub(crate) fn open_at(&self, relative: &Path, flags: OFlags) -> Result<OwnedFd, Failure> {
        let flags = flags | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let mut attempts = 0;
        loop {
            attempts += 1;
            match openat2(&self.dir, relative, flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) if attempts < RESOLVE_ATTEMPTS => {}
                result => return result.map_err(|error| failure(relative, error)),
            }
        }
    }

    /// Opens a folder as a place to be in.
    pub(crate) fn open_dir(&self, path: Option<&RawPath>) -> Result<OwnedFd, Failure> {
        let relative = path.map_or_else(|| Ok(PathBuf::from(".")), |path| self.relative(path))?;
        self.open_at(&relative, OFlags::PATH | OFlags::DIRECTORY)
    }

    /// Opens a regular file for reading. It is looked at first without opening it, since opening a device or a fifo
    /// can have effects or block; and once more afterwards, since it may have been swapped.
    pub(crate) fn open_file(&self, relative: &Path) -> Result<(File, Stat), Failure> {
        self.checked_file(relative, &self.open_at(relative, OFlags::PATH)?)?;
        let file = self.open_at(relative, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let stat = self.checked_file(relative, &file)?;
        Ok((File::from(file), stat))
    }

    /// What the open file is, if it is a regular one.
    pub(crate) fn checked_file(&self, relative: &Path, file: &OwnedFd) -> Result<Stat, Failure> {
        let stat = fstat(file).map_err(|error| failure(relative, error))?;
        match kind_of(&stat) {
            EntryKind::File => Ok(stat),
            EntryKind::Directory => Err(not_a_file(relative, "a folder")),
            EntryKind::Symlink => Err(not_a_file(relative, "a symbolic link")),
            EntryKind::Special => Err(not_a_file(relative, "a fifo, socket or device")),
        }
    }

    /// Where an open file really is, relative to the root.
    pub(crate) fn locate(&self, asked: &Path, file: &OwnedFd) -> Result<PathBuf, Failure> {
        let real = real_path(file).map_err(|error| io_failure(asked, &error))?;
        let relative = real.strip_prefix(&self.path).map_err(|_| outside(asked))?;
        Ok(if relative.as_os_str().is_empty() { PathBuf::from(".") } else { relative.to_path_buf() })
    }
}

pub(super) fn kind_of(stat: &Stat) -> EntryKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Directory,
        FileType::Symlink => EntryKind::Symlink,
        _ => EntryKind::Special,
    }
}

fn real_path(file: &OwnedFd) -> io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

fn outside(path: &Path) -> Failure {
    Failure::new(FailureKind::OutsideWorkspace, format!("{} leads out of the workspace", path.display()))
}

fn not_a_file(path: &Path, what: &str) -> Failure {
    Failure::new(FailureKind::NotAFile, format!("{} is {what}, not a regular file", path.display()))
}

/// Says what a system error means for a path.
pub(super) fn failure(path: &Path, error: Errno) -> Failure {
    let kind = match error {
        Errno::XDEV => return outside(path),
        Errno::NOENT => FailureKind::NotFound,
        Errno::NOTDIR => FailureKind::NotADirectory,
        Errno::ISDIR | Errno::NXIO => FailureKind::NotAFile,
        Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::BUSY | Errno::TXTBSY => FailureKind::Denied,
        Errno::NOSPC | Errno::DQUOT => FailureKind::NoSpace,
        Errno::FBIG => FailureKind::TooLarge,
        Errno::NAMETOOLONG | Errno::INVAL => FailureKind::BadRequest,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM => FailureKind::Busy,
        _ => FailureKind::Io,
    };
    Failure::new(kind, format!("{}: {}", path.display(), io::Error::from(error)))
}

/// As [`failure`], for errors that come through the standard library.
pub(super) fn io_failure(path: &Path, error: &io::Error) -> Failure {
    match Errno::from_io_error(error) {
        Some(errno) => failure(path, errno),
        None => Failure::new(FailureKind::Io, format!("{}: {error}", path.display())),
    }
}
