//! What can be wrong with a configuration, each with the place and a hint.

use super::origin::Origin;
use std::path::PathBuf;

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file has a key that does not exist.
    #[error("{}:{line}: unknown key `{key}`", path.display())]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The key as written.
        key: String,
        /// The known key most like it.
        similar: Option<&'static str>,
    },
    /// A file is not TOML (or `.env`) at all.
    #[error("{}:{line}: {why}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the parser says.
        why: String,
    },
    /// A value makes no sense for its key.
    #[error("{origin}: `{key}` {why}")]
    InvalidValue {
        /// Where the value came from.
        origin: Origin,
        /// The key's name.
        key: &'static str,
        /// What would make sense.
        why: String,
    },
    /// A secret stands in a file that is not for secrets.
    #[error("{}:{line}: `{key}` is a secret and not read from this file", path.display())]
    SecretInFile {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The key's name.
        key: &'static str,
        /// The file it belongs into.
        credentials: PathBuf,
    },
    /// The credentials file can be read by others.
    #[error("{}: other users may read this file (mode {mode:03o})", path.display())]
    CredentialsExposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A file is there and cannot be read.
    #[error("{}: cannot be read: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A file cannot be written.
    #[error("{}: cannot be written: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The workspace is not a folder.
    #[error("the workspace {} ({origin}) cannot be used: {why}", path.display())]
    Workspace {
        /// The folder.
        path: PathBuf,
        /// Who named it.
        origin: Origin,
        /// Why not.
        why: String,
    },
    /// The agent could reach what must be out of its reach.
    #[error("the workspace {} contains {what} ({}), which the agent must not reach", workspace.display(), inner.display())]
    InsideWorkspace {
        /// What lies inside.
        what: &'static str,
        /// Where it is.
        inner: PathBuf,
        /// The workspace.
        workspace: PathBuf,
    },
    /// What the environment says about the NATS server makes no sense.
    #[error(transparent)]
    Log(#[from] retrace_events::LogError),
    /// There is no home folder to keep anything in.
    #[error("no home folder is known")]
    NoHome,
}

impl ConfigError {
    /// What to do about it, when there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownKey { similar: Some(name), .. } => Some(format!("did you mean `{name}`?")),
            Self::UnknownKey { similar: None, .. } => Some("`retrace config show` lists all keys".to_owned()),
            Self::SecretInFile { credentials, .. } => {
                Some(format!("put it into {} (mode 600) or the environment", credentials.display()))
            }
            Self::CredentialsExposed { path, .. } => Some(format!("chmod 600 {}", path.display())),
            Self::Workspace { .. } => Some("name an existing folder with --workspace DIR".to_owned()),
            Self::InsideWorkspace { .. } => {
                Some("choose a folder below it with --workspace, or move the state with XDG_STATE_HOME".to_owned())
            }
            Self::NoHome => Some("set HOME, or XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_CACHE_HOME".to_owned()),
            Self::Syntax { .. }
            | Self::InvalidValue { .. }
            | Self::Unreadable { .. }
            | Self::Unwritable { .. }
            | Self::Log(_) => None,
        }
    }
}
