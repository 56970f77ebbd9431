//! The entries of one folder.

use std::os::fd::OwnedFd;

use rustix::fs::{Dir, FileType, Statx, StatxAttributes, readlinkat};
use rustix::io::Errno;

use super::super::folder::{Folder, look_at};

/// A folder's entries with what `stat` says of them, in the order of their names.
pub(super) struct Listing {
    pub(super) dir: OwnedFd,
    pub(super) entries: Vec<(Vec<u8>, Result<Statx, Errno>)>,
}

impl Listing {
    /// Lists a folder; more than `limit` entries are an error, [`Errno::OVERFLOW`].
    pub(super) fn read(workspace: &Folder, path: &[u8], limit: u64) -> Result<Self, Errno> {
        let dir = workspace.open_folder(path)?;
        let mut names = Vec::new();
        // A copy of the descriptor, not `.` opened again: a folder may be listed that must not be entered.
        let mut reading = Dir::new(rustix::io::fcntl_dupfd_cloexec(&dir, 0)?)?;
        while let Some(entry) = reading.read() {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(name);
            }
            if names.len() as u64 > limit {
                return Err(Errno::OVERFLOW);
            }
        }
        names.sort_unstable();
        names.dedup();
        let look = |name: Vec<u8>| {
            let stat = look_at(&dir, &name);
            (name, stat)
        };
        let entries = names.into_iter().map(look).collect();
        Ok(Self { dir, entries })
    }

    /// The entry of this name.
    pub(super) fn get(&self, name: &[u8]) -> Option<&Statx> {
        let place = self.entries.binary_search_by(|(there, _)| there.as_slice().cmp(name)).ok()?;
        self.entries.get(place).and_then(|(_, stat)| stat.as_ref().ok())
    }

    /// Where the link of this name leads.
    pub(super) fn target(&self, name: &[u8]) -> Result<Vec<u8>, Errno> {
        use std::os::unix::ffi::OsStrExt as _;
        Ok(readlinkat(&self.dir, std::ffi::OsStr::from_bytes(name), Vec::new())?.into_bytes())
    }
}

pub(super) fn kind(stat: &Statx) -> FileType {
    FileType::from_raw_mode(u32::from(stat.stx_mode))
}

pub(super) fn is_mounted(stat: &Statx) -> bool {
    stat.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT)
        && stat.stx_attributes.contains(StatxAttributes::MOUNT_ROOT)
}
