//! The workspace, and the only way to open something in it: beneath its root, following no link.
//!
//! Its files may be written by the agent while we read; so the kernel resolves each path, and what is opened is looked at
//! again before it is read.

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat, openat2, statat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

/// How often a path is resolved again when something was renamed meanwhile.
const RESOLVE_ATTEMPTS: u32 = 16;

/// The open root of a workspace.
#[derive(Debug)]
pub(super) struct WorkspaceRoot {
    dir: OwnedFd,
    path: PathBuf,
    /// Folders in it that are none of its work, relative to it.
    left_out: Vec<String>,
}

/// What tells that a file was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct FileStamp {
    pub(super) size_bytes: u64,
    /// When its content was changed; anybody may set this.
    pub(super) modified_ns: i64,
    /// When anything about it was changed; only the kernel sets this.
    pub(super) changed_ns: i64,
}

impl WorkspaceRoot {
    /// Opens a workspace, which may itself be named through links.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let dir = rustix::fs::open(&path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { dir, path, left_out: Vec::new() })
    }

    /// Leaves out these folders, where they are in the workspace.
    pub(super) fn leaving_out(mut self, folders: &[PathBuf]) -> Self {
        for folder in folders {
            // One that does not exist yet has a name all the same.
            let real = folder.canonicalize().or_else(|_| std::path::absolute(folder)).unwrap_or_default();
            if let Some(relative) = real.strip_prefix(&self.path).ok().and_then(Path::to_str) {
                self.left_out.push(relative.to_owned());
            }
        }
        self
    }

    pub(super) fn leaves_out(&self, relative: &str) -> bool {
        self.left_out.iter().any(|folder| folder == relative)
    }

    /// Where it really is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What a path through links leads to, when that is another place in the workspace.
    pub(super) fn behind_links(&self, relative: &str) -> Option<String> {
        let real = self.path.join(relative).canonicalize().ok()?;
        let real = real.strip_prefix(&self.path).ok()?.to_str()?;
        (real != relative).then(|| real.to_owned())
    }

    /// A folder, to be listed.
    pub(super) fn open_dir(&self, relative: &str) -> rustix::io::Result<OwnedFd> {
        self.open_at(relative, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// What a path names, without following a link in its last part either.
    pub(super) fn stat(&self, relative: &str) -> rustix::io::Result<Stat> {
        match relative.rsplit_once('/') {
            Some((dir, name)) => {
                statat(self.open_at(dir, OFlags::PATH | OFlags::DIRECTORY)?, name, AtFlags::SYMLINK_NOFOLLOW)
            }
            None if relative.is_empty() => fstat(&self.dir),
            None => statat(&self.dir, relative, AtFlags::SYMLINK_NOFOLLOW),
        }
    }

    /// The bytes of a regular file, at most `limit` and one more; and its stamp from before they were read.
    pub(super) fn read(&self, relative: &str, limit: u64) -> io::Result<(Vec<u8>, FileStamp)> {
        let fd = self.open_at(relative, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let stat = fstat(&fd)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        let stamp = FileStamp::of(&stat);
        let mut bytes = Vec::with_capacity(usize::try_from(stamp.size_bytes.min(limit)).unwrap_or_default() + 1);
        File::from(fd).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok((bytes, stamp))
    }

    fn open_at(&self, relative: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let relative = if relative.is_empty() { "." } else { relative };
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let mut attempts = 0;
        loop {
            attempts += 1;
            match openat2(&self.dir, relative, flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) if attempts < RESOLVE_ATTEMPTS => {}
                // An old kernel, or a filter of system calls that does not know it.
                Err(Errno::NOSYS | Errno::PERM) => return self.open_by_parts(relative, flags),
                result => return result,
            }
        }
    }

    /// The same, one part of the path after the other.
    pub(super) fn open_by_parts(&self, relative: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let mut parts = Path::new(relative).components().filter(|part| *part != Component::CurDir).peekable();
        let mut at: Option<OwnedFd> = None;
        while let Some(part) = parts.next() {
            let Component::Normal(name) = part else { return Err(Errno::XDEV) };
            let dir = at.as_ref().unwrap_or(&self.dir);
            let flags = if parts.peek().is_none() { flags } else { OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC };
            at = Some(openat(dir, name, flags | OFlags::NOFOLLOW, Mode::empty())?);
        }
        match at {
            Some(found) => Ok(found),
            None => openat(&self.dir, ".", flags, Mode::empty()),
        }
    }
}

impl FileStamp {
    pub(super) fn of(stat: &Stat) -> Self {
        let ns = |seconds: i64, ns: i64| seconds.saturating_mul(1_000_000_000).saturating_add(ns);
        Self {
            size_bytes: u64::try_from(stat.st_size).unwrap_or_default(),
            modified_ns: ns(stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or_default()),
            changed_ns: ns(stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or_default()),
        }
    }

    pub(super) const fn modified_ms(self) -> i64 {
        self.modified_ns.div_euclid(1_000_000)
    }
}

/// The entries of an open folder: names and what they are, without looking through links.
pub(super) fn entries(
    dir: &OwnedFd,
) -> rustix::io::Result<impl Iterator<Item = rustix::io::Result<(Vec<u8>, FileType)>>> {
    let listing = Dir::read_from(dir)?;
    Ok(listing.filter_map(|entry| match entry {
        Ok(entry) if matches!(entry.file_name().to_bytes(), b"." | b"..") => None,
        Ok(entry) => Some(Ok((entry.file_name().to_bytes().to_vec(), entry.file_type()))),
        Err(error) => Some(Err(error)),
    }))
}
