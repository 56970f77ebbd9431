//! By what it is known, without reading it, that a file is the same as before.
//!
//! The inode's change time decides: no program can set it back. One thing escapes every such scheme: a file changed
//! twice within one tick of the file system's clock, once before and once after it was read. So a stamp whose change
//! time is not yet safely in the past when the look around began is not *settled*, and is not relied upon next time.

use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{Stat, Statx};

/// How long a change must be past: clocks of file systems tick every few milliseconds.
const TICK_NS: i128 = 100_000_000;
/// The same, where a file system keeps whole seconds only.
const COARSE_TICK_NS: i128 = 2_000_000_000;

/// What `stat` says of a regular file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) inode: u64,
    pub(super) size: u64,
    pub(super) mode: u16,
    pub(super) modified: Time,
    pub(super) changed: Time,
}

/// A moment of a file system's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Time {
    pub(super) seconds: i64,
    pub(super) nanoseconds: u32,
}

impl Time {
    fn as_ns(self) -> i128 {
        i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanoseconds)
    }

    /// The moment now, in nanoseconds since 1970.
    pub(super) fn now_ns() -> i128 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i128::try_from(since.as_nanos()).unwrap_or(i128::MAX)
    }
}

impl Stamp {
    pub(super) fn of_statx(stat: &Statx) -> Self {
        Self {
            inode: stat.stx_ino,
            size: stat.stx_size,
            mode: stat.stx_mode & super::tree::MODE_BITS,
            modified: Time { seconds: stat.stx_mtime.tv_sec, nanoseconds: stat.stx_mtime.tv_nsec },
            changed: Time { seconds: stat.stx_ctime.tv_sec, nanoseconds: stat.stx_ctime.tv_nsec },
        }
    }

    pub(super) fn of_stat(stat: &Stat) -> Self {
        let time = |seconds, nanoseconds| Time { seconds, nanoseconds: u32::try_from(nanoseconds).unwrap_or_default() };
        Self {
            inode: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            mode: u16::try_from(stat.st_mode & u32::from(super::tree::MODE_BITS)).unwrap_or_default(),
            modified: time(stat.st_mtime, stat.st_mtime_nsec),
            changed: time(stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// Whether a change after this look must show in the stamp. `began_ns` is when the look around began.
    pub(super) fn is_settled(&self, began_ns: i128) -> bool {
        let tick = if self.changed.nanoseconds == 0 { COARSE_TICK_NS } else { TICK_NS };
        self.changed.as_ns() + tick < began_ns
    }
}
