//! The user's own folders: configuration, state, cache. None of them may lie in a workspace.

use super::error::ConfigError;
use etcetera::BaseStrategy;
use std::path::{Path, PathBuf};

/// The user's folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// `$XDG_CONFIG_HOME/retrace`: `config.toml`, `credentials.toml`, `permissions.toml`.
    pub config: PathBuf,
    /// `$XDG_STATE_HOME/retrace`: the embedded log, the trusted folders, the guest binary.
    pub state: PathBuf,
    /// `$XDG_CACHE_HOME/retrace`: what can be made again.
    pub cache: PathBuf,
}

impl Folders {
    /// The folders of the user who runs this process.
    ///
    /// # Errors
    /// When there is no home folder.
    pub fn of_user() -> Result<Self, ConfigError> {
        let base = etcetera::choose_base_strategy().map_err(|_| ConfigError::NoHome)?;
        let state = base.state_dir().unwrap_or_else(|| base.data_dir());
        Ok(Self {
            config: base.config_dir().join("retrace"),
            state: state.join("retrace"),
            cache: base.cache_dir().join("retrace"),
        })
    }

    /// The user's configuration file.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The user's credentials file.
    #[must_use]
    pub fn credentials_file(&self) -> PathBuf {
        self.config.join("credentials.toml")
    }

    /// The user's permission rules.
    #[must_use]
    pub fn permissions_file(&self) -> PathBuf {
        self.config.join("permissions.toml")
    }

    /// The list of trusted folders.
    #[must_use]
    pub fn trust_file(&self) -> PathBuf {
        self.state.join("trusted.json")
    }

    /// The list of sessions that came from a file.
    #[must_use]
    pub fn imported_file(&self) -> PathBuf {
        self.state.join("imported.json")
    }

    /// Refuses a workspace (canonical) that contains one of the folders the agent must not reach.
    ///
    /// # Errors
    /// [`ConfigError::InsideWorkspace`] with the first that does.
    pub fn check_outside(&self, workspace: &Path) -> Result<(), ConfigError> {
        refuse_inside("the state folder", &self.state, workspace)?;
        refuse_inside("the configuration folder", &self.config, workspace)
    }
}

/// Refuses `inner` when it lies in `workspace` (canonical).
pub(super) fn refuse_inside(what: &'static str, inner: &Path, workspace: &Path) -> Result<(), ConfigError> {
    let real = resolve(inner);
    if real.starts_with(workspace) {
        return Err(ConfigError::InsideWorkspace { what, inner: real, workspace: workspace.to_owned() });
    }
    Ok(())
}

/// The canonical form of a path whose last parts may not exist yet.
fn resolve(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    let mut at = path;
    loop {
        if let Ok(real) = at.canonicalize() {
            return missing.iter().rev().fold(real, |real, name| real.join(name));
        }
        match (at.parent(), at.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name.to_owned());
                at = parent;
            }
            _ => return path.to_owned(),
        }
    }
}
