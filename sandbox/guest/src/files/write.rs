//! Writing a whole file so that it is either the old one or the new one, also after power loss.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags, fchmod, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::root::{Root, failure, io_failure};
use crate::mailbox::{Mailbox, Part};
use crate::message::{Failure, FailureKind, MAX_WRITE_BYTES, Response, WriteDone, WriteSpec};
use crate::server::Guest;

/// What the new contents replace.
struct Target {
    parent: OwnedFd,
    name: PathBuf,
    mode: Mode,
    created: bool,
}

/// A temporary file beside the target that disappears unless it is renamed.
struct Temporary<'a> {
    parent: &'a OwnedFd,
    name: String,
    kept: bool,
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.kept {
            // Nobody can be told any more; a leftover is named as one.
            let _ = unlinkat(self.parent, &self.name, AtFlags::empty());
        }
    }
}

/// Writes what comes through the mailbox. Hard links to the old file keep the old contents.
pub(crate) fn write(guest: &Guest, id: u64, spec: &WriteSpec, mailbox: &Mailbox) -> Result<Response, Failure> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    if spec.path.as_path().as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(Failure::new(FailureKind::BadRequest, format!("{} names a folder, not a file", spec.path)));
    }
    let root = &guest.root;
    let relative = root.relative(&spec.path)?;
    let target = find_target(root, &relative, spec.mode)?;
    let fail = |error| failure(&relative, error);

    let name = format!(".retrace-{}-{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(&target.parent, &name, flags, Mode::RUSR | Mode::WUSR).map_err(fail)?;
    let mut temporary = Temporary { parent: &target.parent, name, kept: false };
    let mut file = File::from(file);
    let grant = |bytes| {
        // The host is gone when this fails, and the reader will end everything.
        let _ = guest.outbox.send(id, &Response::Credit { bytes }, &[]);
    };
    let written_bytes = receive(&mut file, &relative, mailbox, grant)?;
    fchmod(&file, target.mode).map_err(fail)?;
    file.sync_all().map_err(|error| io_failure(&relative, &error))?;
    renameat(&target.parent, &temporary.name, &target.parent, &target.name).map_err(fail)?;
    temporary.kept = true;
    rustix::fs::fsync(&target.parent).map_err(fail)?;
    Ok(Response::WriteDone(WriteDone { written_bytes, created: target.created }))
}

fn receive(file: &mut File, relative: &Path, mailbox: &Mailbox, grant: impl Fn(u64)) -> Result<u64, Failure> {
    let mut written_bytes = 0;
    loop {
        match mailbox.next_part() {
            Part::Bytes(part) => {
                written_bytes += part.len() as u64;
                if written_bytes > MAX_WRITE_BYTES {
                    let message = format!("{}: more than {MAX_WRITE_BYTES} bytes", relative.display());
                    return Err(Failure::new(FailureKind::TooLarge, message));
                }
                file.write_all(&part).map_err(|error| io_failure(relative, &error))?;
                mailbox.take_grant().into_iter().for_each(&grant);
            }
            Part::End => return Ok(written_bytes),
            Part::Killed => {
                let message = format!("{}: writing was cancelled, the file is unchanged", relative.display());
                return Err(Failure::new(FailureKind::Cancelled, message));
            }
        }
    }
}

fn find_target(root: &Root, relative: &Path, mode: Option<u32>) -> Result<Target, Failure> {
    let existing = match root.open_at(relative, OFlags::PATH) {
        Ok(file) => Some(file),
        Err(failure) if failure.kind == FailureKind::NotFound => None,
        Err(failure) => return Err(failure),
    };
    let (place, mode, created) = match existing {
        Some(file) => {
            let stat = root.checked_file(relative, &file)?;
            // Through a link, the file it leads to is replaced and the link stays.
            (root.locate(relative, &file)?, Mode::from_raw_mode(stat.st_mode & 0o7777), false)
        }
        None => (relative.to_path_buf(), Mode::from_raw_mode(mode.unwrap_or(0o644) & 0o777), true),
    };
    let Some(Component::Normal(name)) = place.components().next_back() else {
        let message = format!("{} does not name a file", relative.display());
        return Err(Failure::new(FailureKind::BadRequest, message));
    };
    let parent = place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = open_or_create_dir(root, parent)?;
    Ok(Target { parent, name: PathBuf::from(name), mode, created })
}

/// Opens a folder, creating what is missing of it, each step beneath the root.
fn open_or_create_dir(root: &Root, relative: &Path) -> Result<OwnedFd, Failure> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    match root.open_at(relative, flags) {
        Err(missing) if missing.kind == FailureKind::NotFound => {
            let (Some(parent), Some(Component::Normal(name))) = (relative.parent(), relative.components().next_back())
            else {
                return Err(missing);
            };
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            let above = open_or_create_dir(root, parent)?;
            match mkdirat(&above, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => root.open_at(relative, flags),
                Err(error) => Err(failure(relative, error)),
            }
        }
        result => result,
    }
}
