//! The language toolchains of the user's home folder, shown read-only at their own paths.
//!
//! Only what is listed here: programs, libraries and package caches. Never a credential file, and no folder that
//! holds one beside them.

use std::fs;
use std::path::{Path, PathBuf};

/// The most bytes of a configuration file that is looked through for secrets.
const MAX_CONFIG_BYTES: u64 = 64 * 1024;

/// One toolchain, as found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Toolchain {
    /// A folder that the tool must be able to write to (locks); in memory inside.
    pub(super) writable_base: Option<PathBuf>,
    /// What is shown.
    pub(super) shown: Vec<PathBuf>,
    /// Variables that point to it.
    pub(super) env: Vec<(&'static str, String)>,
}

/// How one toolchain lies in a home folder.
struct Layout {
    /// The variable that can place it elsewhere, and that is set inside.
    variable: Option<&'static str>,
    /// Where it is otherwise, relative to the home folder.
    base: &'static str,
    /// What of it is shown, relative to its base; all of it when empty.
    shown: &'static [&'static str],
    /// The base itself must be writable.
    writable: bool,
    /// Further variables.
    env: &'static [(&'static str, &'static str)],
}

const fn whole(variable: Option<&'static str>, base: &'static str) -> Layout {
    Layout { variable, base, shown: &[], writable: false, env: &[] }
}

const LAYOUTS: [Layout; 16] = [
    Layout {
        variable: Some("CARGO_HOME"),
        base: ".cargo",
        shown: &["bin", "registry", "git", "config.toml"],
        writable: true,
        // There is no network; asking for it would only cost time.
        env: &[("CARGO_NET_OFFLINE", "true")],
    },
    Layout { env: &[("RUSTUP_AUTO_INSTALL", "0")], ..whole(Some("RUSTUP_HOME"), ".rustup") },
    whole(Some("PYENV_ROOT"), ".pyenv"),
    whole(Some("NVM_DIR"), ".nvm"),
    whole(Some("VOLTA_HOME"), ".volta"),
    Layout {
        shown: &["bin", "pkg"],
        env: &[("GOFLAGS", "-mod=mod"), ("GOPROXY", "off")],
        ..whole(Some("GOPATH"), "go")
    },
    whole(Some("BUN_INSTALL"), ".bun"),
    Layout { shown: &["bin"], ..whole(None, ".deno") },
    Layout { shown: &["candidates"], ..whole(Some("SDKMAN_DIR"), ".sdkman") },
    Layout { shown: &["bin", "ghc", "cabal"], ..whole(None, ".ghcup") },
    Layout { shown: &["installs", "shims"], ..whole(Some("ASDF_DATA_DIR"), ".asdf") },
    Layout { shown: &["installs", "shims"], ..whole(None, ".local/share/mise") },
    Layout { shown: &["python", "tools"], ..whole(None, ".local/share/uv") },
    whole(None, ".local/pipx/venvs"),
    whole(None, ".local/bin"),
    whole(None, ".local/lib"),
];

/// The toolchains of this home folder.
pub(super) fn found(home: Option<&Path>) -> Vec<Toolchain> {
    let Some(home) = home else { return Vec::new() };
    LAYOUTS.iter().filter_map(|layout| find(home, layout, |name| std::env::var(name).ok())).collect()
}

fn find(home: &Path, layout: &Layout, variable: impl Fn(&str) -> Option<String>) -> Option<Toolchain> {
    let placed = layout.variable.and_then(variable).map(PathBuf::from);
    // A variable may only say *where* the toolchain is, not expose the home folder or the root.
    let placed = placed.filter(|path| path.is_absolute() && path.is_dir() && !home.starts_with(path));
    let base = placed.unwrap_or_else(|| home.join(layout.base)).canonicalize().ok()?;
    let candidates: Vec<PathBuf> = if layout.shown.is_empty() {
        vec![base.clone()]
    } else {
        layout.shown.iter().map(|part| base.join(part)).collect()
    };
    let shown: Vec<PathBuf> = candidates.into_iter().filter(|path| is_showable(path)).collect();
    if shown.is_empty() {
        return None;
    }
    let own = layout.variable.map(|name| (name, base.to_string_lossy().into_owned()));
    let further = layout.env.iter().map(|(name, value)| (*name, (*value).to_owned()));
    let env = own.into_iter().chain(further).collect();
    Some(Toolchain { writable_base: layout.writable.then_some(base), shown, env })
}

/// Folders are; of files, those that name no secret.
fn is_showable(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    if metadata.is_dir() {
        return true;
    }
    if !metadata.is_file() || metadata.len() > MAX_CONFIG_BYTES {
        return false;
    }
    let text = fs::read_to_string(path).unwrap_or_default().to_ascii_lowercase();
    !["token", "secret", "password", "credential", "://"].iter().any(|part| {
        // A URL without a user part is fine (`replace-with` needs it offline too).
        if *part == "://" {
            text.split("://").skip(1).any(|rest| host_part(rest).contains('@'))
        } else {
            text.contains(part)
        }
    })
}

fn host_part(url_rest: &str) -> &str {
    url_rest.split(['/', '"', '\'', '\n', ' ']).next().unwrap_or_default()
}

#[cfg(test)]
#[path = "toolchains_tests.rs"]
mod toolchains_tests;
