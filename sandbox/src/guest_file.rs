//! The embedded guest binary, written once to a content-addressed file.
//!
//! The file's name holds a hash of its contents, and an existing file is compared byte for byte before it is used, so
//! that neither an older version nor a tampered file is ever run. It must lie where no command can write.

use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::backend::seccomp;
use crate::error::SandboxError;
use crate::leftover::temporary;

/// The guest agent, statically linked, as `build.rs` made it.
static GUEST: &[u8] = include_bytes!(env!("RETRACE_GUEST_BINARY"));

/// The files that a sandbox needs on the host.
#[derive(Debug, Clone)]
pub(crate) struct GuestFiles {
    /// The folder that holds them, made real.
    pub(crate) dir: PathBuf,
    /// The agent's executable.
    pub(crate) executable: PathBuf,
    /// An empty file, to mask others with.
    pub(crate) empty: PathBuf,
    /// The system call filter, as the kernel takes it.
    pub(crate) filter: PathBuf,
    /// The names of the machine inside, for `/etc/hosts`.
    pub(crate) hosts: PathBuf,
}

/// Nothing of the host's names and addresses.
pub(crate) const HOSTS: &str = "127.0.0.1 localhost retrace\n::1 localhost\n";

impl GuestFiles {
    /// Makes sure that the files are there and are ours.
    pub(crate) fn unpack(dir: &Path) -> Result<Self, SandboxError> {
        let fail = |source: io::Error| SandboxError::GuestFile { path: dir.to_path_buf(), source: source.into() };
        fs::create_dir_all(dir).map_err(fail)?;
        let dir = dir.canonicalize().map_err(fail)?;
        // The comparison below is what protects; the hash only keeps versions apart.
        let executable = dir.join(concat!("retrace-guest-", env!("RETRACE_GUEST_HASH")));
        ensure(&executable, GUEST, 0o555).map_err(fail)?;
        let empty = dir.join("empty");
        ensure(&empty, b"", 0o444).map_err(fail)?;
        let program = seccomp::filter()?;
        let name = blake3::hash(&program).to_hex();
        let filter = dir.join(format!("filter-{}", name.get(..16).unwrap_or_default()));
        ensure(&filter, &program, 0o444).map_err(fail)?;
        let hosts = dir.join("hosts");
        ensure(&hosts, HOSTS.as_bytes(), 0o444).map_err(fail)?;
        Ok(Self { dir, executable, empty, filter, hosts })
    }
}

/// Files that this process has compared already, with what would change if someone replaced or wrote to them.
static COMPARED: Mutex<Vec<(PathBuf, Identity)>> = Mutex::new(Vec::new());

/// Device, inode, size, mode, and the time of the last change of any of it, which cannot be set back.
type Identity = (u64, u64, u64, u32, (i64, i64));

fn ensure(path: &Path, contents: &[u8], mode: u32) -> io::Result<()> {
    let compared = || COMPARED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = identity(path).ok();
    if let Some(identity) = found {
        let known = (path.to_path_buf(), identity);
        if compared().contains(&known) {
            return Ok(());
        }
        if is_same(path, contents, mode).unwrap_or(false) {
            compared().push(known);
            return Ok(());
        }
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut temporary = temporary(dir)?;
    temporary.write_all(contents)?;
    temporary.as_file().set_permissions(Permissions::from_mode(mode))?;
    temporary.as_file().sync_all()?;
    // A writable descriptor kept open would make the kernel refuse to run it ("text file busy").
    let temporary = temporary.into_temp_path();
    if found.is_some() {
        temporary.persist(path)?;
        return Ok(());
    }
    // Several processes may unpack at once. The first wins, and its file stays: another may be mounting it already.
    match temporary.persist_noclobber(path) {
        Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists && is_same(path, contents, mode)? => {
            Ok(())
        }
        placed => Ok(placed?),
    }
}

fn identity(path: &Path) -> io::Result<Identity> {
    let metadata = fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino(), metadata.len(), metadata.mode(), (metadata.ctime(), metadata.ctime_nsec())))
}

fn is_same(path: &Path, contents: &[u8], mode: u32) -> io::Result<bool> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o7777 != mode || metadata.len() != contents.len() as u64
    {
        return Ok(false);
    }
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 256 * 1024];
    let mut rest = contents;
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(rest.is_empty());
        }
        let Some((expected, after)) = rest.split_at_checked(count) else { return Ok(false) };
        if buffer.get(..count) != Some(expected) {
            return Ok(false);
        }
        rest = after;
    }
}

#[cfg(test)]
#[path = "guest_file_tests.rs"]
mod guest_file_tests;
