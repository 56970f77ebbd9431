//! Where instruction files are read from: a folder of the workspace, by the sandbox's guest, or a folder of the user's, by
//! this process. Only regular files are read, and only their beginning.

use retrace_sandbox::{FailureKind, Sandbox, SandboxError};
use rustix::fs::{CWD, Mode, OFlags};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// How much of a file is read, in bytes: more than is used, so that secrets are recognised before anything is cut.
const READ_BYTES: u64 = 48 * 1024;

/// A folder.
pub(super) enum Source<'a> {
    /// Of the workspace.
    Workspace {
        /// Who reads it.
        sandbox: &'a Sandbox,
        /// Relative to the workspace; empty for the workspace itself.
        folder: String,
    },
    /// Of the user, on the host.
    Host(PathBuf),
}

/// What is there under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing.
    Nothing,
    /// A file.
    File {
        /// Its beginning.
        bytes: Vec<u8>,
        /// The whole file's size.
        total_bytes: u64,
    },
    /// Something that cannot be used, and why: one line that names it.
    Unusable(String),
}

/// The sandbox is gone.
#[derive(Debug)]
pub(super) struct Gone(pub(super) String);

impl Source<'_> {
    /// The path of a file in the folder, as the model and the user are told it: absolute on the host, relative in the
    /// workspace.
    pub(super) fn path_of(&self, name: &str) -> String {
        match self {
            Self::Workspace { folder, .. } if folder.is_empty() => name.to_owned(),
            Self::Workspace { folder, .. } => format!("{folder}/{name}"),
            Self::Host(folder) => folder.join(name).display().to_string(),
        }
    }

    /// Reads the beginning of a file in the folder.
    pub(super) async fn read(&self, name: &str) -> Result<Found, Gone> {
        match self {
            Self::Workspace { sandbox, .. } => from_workspace(sandbox, &self.path_of(name)).await,
            Self::Host(folder) => {
                let path = folder.join(name);
                let shown = path.display().to_string();
                let read = tokio::task::spawn_blocking(move || from_host(&path)).await;
                Ok(read.unwrap_or_else(|error| Found::Unusable(format!("{shown} cannot be read: {error}"))))
            }
        }
    }
}

async fn from_workspace(sandbox: &Sandbox, path: &str) -> Result<Found, Gone> {
    let failure = match sandbox.read(path, 0, READ_BYTES).await {
        Ok(contents) => return Ok(Found::File { bytes: contents.bytes, total_bytes: contents.total_bytes }),
        Err(SandboxError::Guest(failure)) => failure,
        Err(gone) => return Err(Gone(gone.to_string())),
    };
    match failure.kind {
        FailureKind::NotFound | FailureKind::NotADirectory | FailureKind::BadRequest => Ok(Found::Nothing),
        // Where the folder itself leads out there is nothing to speak of; a link in it is something.
        FailureKind::OutsideWorkspace => match sandbox.stat(path, false).await {
            Ok(_) => Ok(Found::Unusable(failure.message)),
            Err(SandboxError::Guest(_)) => Ok(Found::Nothing),
            Err(gone) => Err(Gone(gone.to_string())),
        },
        FailureKind::NotAFile
        | FailureKind::Denied
        | FailureKind::TooLarge
        | FailureKind::NoSpace
        | FailureKind::Busy
        | FailureKind::SpawnFailed
        | FailureKind::Cancelled
        | FailureKind::Io => Ok(Found::Unusable(failure.message)),
    }
}

/// Links are followed here: people keep their own files that way.
fn from_host(path: &Path) -> Found {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let unusable = |why: &dyn std::fmt::Display| Found::Unusable(format!("{} cannot be read: {why}", path.display()));
    let file = match rustix::fs::openat(CWD, path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Found::Nothing,
        Err(error) => return unusable(&error),
    };
    let total_bytes = match file.metadata() {
        Ok(meta) if meta.is_file() => meta.len(),
        Ok(_) => return unusable(&"it is not a plain file"),
        Err(error) => return unusable(&error),
    };
    let mut bytes = Vec::new();
    match file.take(READ_BYTES).read_to_end(&mut bytes) {
        Ok(_) => Found::File { bytes, total_bytes },
        Err(error) => unusable(&error),
    }
}
