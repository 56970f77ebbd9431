//! Removing a folder that was made here, with all that is in it, whatever permissions that has by now.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, fchmod, openat, unlinkat};
use rustix::io::Errno;

use super::writing::os;

/// Removes the folder of this name. Nothing is followed, and nothing is opened that is not in it.
pub(super) fn remove_tree(parent: &OwnedFd, name: &[u8]) -> Result<(), Errno> {
    // The folders on the way to where it is at work; as deep as the tree, which the system bounds.
    let mut path = vec![(open(parent, name)?, name.to_vec())];
    while let Some((folder, _)) = path.last() {
        match empty(folder)? {
            Some((inner, name)) => path.push((inner, name)),
            None => {
                let Some((_, name)) = path.pop() else { break };
                let above = path.last().map_or(parent, |(above, _)| above);
                unlinkat(above, os(&name), AtFlags::REMOVEDIR)?;
            }
        }
    }
    Ok(())
}

/// Removes what is no folder; answers the first folder in it, if there is one.
fn empty(folder: &OwnedFd) -> Result<Option<(OwnedFd, Vec<u8>)>, Errno> {
    let mut reading = Dir::read_from(folder)?;
    while let Some(entry) = reading.read() {
        let name = entry?.file_name().to_bytes().to_vec();
        if name == b"." || name == b".." {
            continue;
        }
        match unlinkat(folder, os(&name), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::ISDIR | Errno::PERM) => return Ok(Some((open(folder, &name)?, name))),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Opens a folder to work in it, and gives itself the permission for that where need be.
fn open(parent: &OwnedFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = match openat(parent, os(name), flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            rustix::fs::chmodat(parent, os(name), Mode::RWXU, AtFlags::empty())?;
            openat(parent, os(name), flags, Mode::empty())?
        }
        opened => opened?,
    };
    fchmod(&folder, Mode::RWXU)?;
    Ok(folder)
}
