//! Reading files that others may have put there: never a link, a pipe or a device, never more than a limit.

use super::error::ConfigError;
use rustix::fs::{CWD, Mode, OFlags};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The largest configuration file that is read, in bytes.
const LIMIT_BYTES: u64 = 256 * 1024;

/// A file's text and permission bits.
pub(crate) struct Bounded {
    /// The text.
    pub(crate) text: String,
    /// The permission bits.
    pub(crate) mode: u32,
}

/// Whose word a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Author {
    /// The user's: links are followed, because people keep their dot-files that way.
    User,
    /// The workspace's: a link could point at a file that is none of its business.
    Workspace,
}

/// Reads `path`; `None` when it does not exist.
///
/// # Errors
/// When it is there but is no plain file, too large, not UTF-8, or unreadable.
pub(crate) fn read(path: &Path, author: Author) -> Result<Option<Bounded>, ConfigError> {
    let unreadable = |why: String| ConfigError::Unreadable { path: path.to_owned(), why };
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    if author == Author::Workspace {
        flags |= OFlags::NOFOLLOW;
    }
    let file = match rustix::fs::openat(CWD, path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(None),
        Err(rustix::io::Errno::LOOP) => return Err(unreadable("it is a symbolic link".to_owned())),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let meta = file.metadata().map_err(|error| unreadable(error.to_string()))?;
    if !meta.is_file() {
        return Err(unreadable("it is not a plain file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(LIMIT_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > LIMIT_BYTES {
        return Err(unreadable(format!("it is larger than {LIMIT_BYTES} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))?;
    Ok(Some(Bounded { text, mode: meta.mode() & 0o777 }))
}
