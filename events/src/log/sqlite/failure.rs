//! What SQLite and the file system say, in the log's words.

use crate::log::LogError;
use rusqlite::ErrorCode;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Writing to a file, and growing the shared memory beside it: SQLite reports only `ENOSPC` as a full disk. In both
/// cases the transaction is rolled back.
const REFUSED_WRITES: [i32; 2] = [rusqlite::ffi::SQLITE_IOERR_WRITE, rusqlite::ffi::SQLITE_IOERR_SHMSIZE];

/// The log's error for one of SQLite, of the file `file`.
pub(super) fn sqlite_failed(file: &Path, error: &rusqlite::Error) -> LogError {
    let (location, why) = (file.display().to_string(), error.to_string());
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => LogError::Full { location, why },
        // A quota or a limit of the file size; SQLite does not tell them from a disk that fails.
        Some(ErrorCode::SystemIoFailure)
            if REFUSED_WRITES.contains(&error.sqlite_extended_error_code().unwrap_or_default()) =>
        {
            LogError::Full {
                location,
                why: format!("the system refuses to write ({why}): a quota, a limit, or a bad disk"),
            }
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            let what = format!(
                "{why}\nhint: keep the folder as it is and copy it; `retrace log verify` shows what can be read"
            );
            LogError::DamagedStore { location, what }
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let why = "another process has kept it locked for too long\nhint: is one stopped in a debugger, or the disk very slow?";
            LogError::Unavailable { location, why: why.to_owned() }
        }
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            LogError::Unfit { location, why: format!("{why}\nhint: the folder and its files must be writable") }
        }
        // A row that has another form than the table was made with.
        None if is_conversion(error) => LogError::DamagedStore { location, what: why },
        _ => LogError::Unavailable { location, why },
    }
}

/// The log's error for a folder that cannot be made or used.
pub(super) fn unusable_dir(dir: &Path, error: &io::Error) -> LogError {
    let location = dir.display().to_string();
    match error.kind() {
        ErrorKind::PermissionDenied
        | ErrorKind::NotADirectory
        | ErrorKind::AlreadyExists
        | ErrorKind::ReadOnlyFilesystem => {
            LogError::Unfit { location, why: format!("{error}\nhint: name a folder that can be written, with --log") }
        }
        _ => crate::blob::io_failed(dir, error),
    }
}

/// Refuses a folder on a file system that several machines share: SQLite's WAL would be damaged there.
pub(super) fn refuse_network_filesystem(dir: &Path) -> Result<(), LogError> {
    let Ok(found) = rustix::fs::statfs(dir) else { return Ok(()) };
    match network_filesystem(u64::try_from(found.f_type).unwrap_or_default()) {
        None => Ok(()),
        Some(name) => Err(LogError::Unfit {
            location: dir.display().to_string(),
            why: format!("it is on {name}\nhint: keep it on a local disk, or use a NATS server: --log nats://…"),
        }),
    }
}

/// The name of a network file system, by its magic number (`statfs(2)`).
pub(super) const fn network_filesystem(magic: u64) -> Option<&'static str> {
    match magic {
        0x6969 => Some("NFS"),
        0x517B | 0xFE53_4D42 | 0xFF53_4D42 => Some("SMB/CIFS"),
        0x0102_1997 => Some("9p"),
        0x00C3_6400 => Some("Ceph"),
        0x5346_414F => Some("AFS"),
        0x0BD0_0BD0 => Some("Lustre"),
        _ => None,
    }
}

fn is_conversion(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..)
    )
}
