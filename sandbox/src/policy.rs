//! What a sandbox may see of the host.
//!
//! A policy is checked before anything starts: exposing the whole home folder, or the folder that holds the guest
//! itself, is refused rather than silently allowed.

use std::path::{Path, PathBuf};

use crate::error::SandboxError;
use crate::network::AllowList;

/// Names of environment variables that never get in, even by request: parts of names that mean secrets.
const SECRET_PARTS: [&str; 8] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "ANTHROPIC", "AUTH"];
/// Folders that must not be a workspace, nor lie in one.
const SYSTEM_DIRS: [&str; 14] = [
    "/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/dev", "/proc", "/sys", "/run", "/tmp", "/var/tmp",
    "/home",
];
/// Folders in which nothing may be a workspace.
const KERNEL_DIRS: [&str; 4] = ["/proc", "/sys", "/dev", "/etc"];

/// The network of a sandbox. It never has an interface but its own loopback.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Network {
    /// None at all, not even the host's loopback.
    #[default]
    None,
    /// What is listed, through a proxy in the host's process.
    Allow(AllowList),
}

/// Which container engine and image the backends `container` and `krun` use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// The engine's socket. Without it: the one that `RETRACE_CONTAINER_SOCKET`, `CONTAINER_HOST` or `DOCKER_HOST` names,
    /// else the first of the usual ones that answers.
    pub socket: Option<PathBuf>,
    /// The image, as the engine names it; retrace's own when `None`.
    pub image: Option<String>,
}

/// What a sandbox may see of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The folder to work in: readable and writable, at [`crate::Sandbox::workspace_inside`].
    pub workspace: PathBuf,
    /// Further paths of the host to show, read-only, at their own paths.
    pub expose: Vec<PathBuf>,
    /// File names that read as empty wherever they are found in the upper levels of the workspace, such as `.env`.
    pub masked_names: Vec<String>,
    /// Variables of the host's environment to pass on.
    pub env_passthrough: Vec<String>,
    /// Show the language toolchains in the user's home folder (`~/.cargo`, `~/.pyenv`, …) read-only.
    pub home_toolchains: bool,
    /// The network.
    pub network: Network,
    /// Where containers come from.
    pub engine: EngineOptions,
}

impl Policy {
    /// The default policy for a workspace.
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            expose: Vec::new(),
            masked_names: [".env", ".env.local", ".env.production", ".env.development", ".env.test", ".envrc"]
                .map(str::to_owned)
                .to_vec(),
            env_passthrough: Vec::new(),
            home_toolchains: true,
            network: Network::None,
            engine: EngineOptions::default(),
        }
    }

    /// The policy with all paths made real, if it can be allowed.
    pub(crate) fn checked(&self, guest_dir: &Path, home: Option<&Path>) -> Result<Self, SandboxError> {
        let workspace = self
            .workspace
            .canonicalize()
            .map_err(|source| SandboxError::Workspace { path: self.workspace.clone(), source: source.into() })?;
        if !workspace.is_dir() {
            return Err(refused(&workspace, "is not a folder"));
        }
        if let Some(reason) = unfit(&workspace, home) {
            return Err(refused(&workspace, &reason));
        }
        if guest_dir.starts_with(&workspace) {
            let reason = format!("contains {}, which commands must not reach", guest_dir.display());
            return Err(refused(&workspace, &reason));
        }
        let mut expose = Vec::new();
        for path in &self.expose {
            let real = path
                .canonicalize()
                .map_err(|source| SandboxError::Exposed { path: path.clone(), source: source.into() })?;
            let is_home = home.is_some_and(|home| home.starts_with(&real));
            if is_home || KERNEL_DIRS.iter().any(|dir| real.starts_with(dir)) || guest_dir.starts_with(&real) {
                return Err(refused(&real, "cannot be exposed to a sandbox"));
            }
            expose.push(real);
        }
        for name in &self.env_passthrough {
            if looks_secret(name) {
                return Err(SandboxError::SecretVariable { name: name.clone() });
            }
        }
        for name in &self.masked_names {
            if name.is_empty() || name == "." || name == ".." || name.contains('/') || name.contains('\0') {
                return Err(SandboxError::MaskedName { name: name.clone() });
            }
        }
        Ok(Self { workspace, expose, ..self.clone() })
    }
}

/// Whether a variable's name says that it holds a secret.
pub(crate) fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_PARTS.iter().any(|part| name.contains(part))
}

fn unfit(workspace: &Path, home: Option<&Path>) -> Option<String> {
    if workspace.to_str().is_none_or(|path| path.contains('\n')) {
        return Some("has a path that is not plain UTF-8".to_owned());
    }
    if let Some(home) = home.filter(|home| home.starts_with(workspace)) {
        return Some(format!("would expose the whole home folder {}", home.display()));
    }
    if let Some(system) = SYSTEM_DIRS.iter().find(|dir| Path::new(dir).starts_with(workspace)) {
        return Some(format!("would expose {system}"));
    }
    let inside = KERNEL_DIRS.iter().find(|dir| workspace.starts_with(dir))?;
    Some(format!("lies in {inside}"))
}

fn refused(path: &Path, reason: &str) -> SandboxError {
    SandboxError::Refused { path: path.to_path_buf(), reason: reason.to_owned() }
}
