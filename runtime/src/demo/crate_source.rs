//! Finds the sources of a real crate on this machine: cargo keeps those of everything it has built.

use std::path::{Path, PathBuf};

/// The crate the demo's script was written for.
const CRATE: &str = "regex-syntax";

/// The largest crate that is copied.
const MAX_FILES: usize = 5_000;
const MAX_BYTES: u64 = 200 * 1024 * 1024;

/// Why there is nothing to demonstrate on.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// Cargo's folder of sources has no such crate.
    #[error("no sources of {CRATE} in {}\nhint: build something that uses regex (such as retrace itself), or name a crate's folder with --crate-dir", registry.display())]
    NoCrate {
        /// The folder that was searched.
        registry: PathBuf,
    },
    /// The folder is no crate.
    #[error("{} is not the folder of a crate: {why}", path.display())]
    NotACrate {
        /// The folder.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The folder to work in has something in it.
    #[error("{} is not empty\nhint: name a folder that does not exist yet", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// The copy cannot be made.
    #[error("cannot copy to {}: {source}", path.display())]
    Copy {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The crate is too large for a demo.
    #[error("{} has more than {MAX_FILES} files or {MAX_BYTES} bytes", path.display())]
    TooLarge {
        /// The folder.
        path: PathBuf,
    },
}

/// The sources of a crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrateSource {
    /// Its folder.
    pub path: PathBuf,
    /// Name and version, as the folder is called.
    pub name: String,
    /// Its files, relative, without links, build output and version control.
    pub files: Vec<PathBuf>,
    /// Lines of Rust in them.
    pub lines: usize,
}

impl CrateSource {
    /// The newest version of the demo's crate in the sources that the user's cargo keeps; `env` reads the environment.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(env: impl Fn(&str) -> Option<String>) -> Result<Self, DemoError> {
        let home = env("CARGO_HOME").map(PathBuf::from).or_else(|| Some(etcetera::home_dir().ok()?.join(".cargo")));
        Self::newest_in(&home.unwrap_or_default().join("registry").join("src"))
    }

    /// The newest version in `registry`, which has a folder for each registry and in it one for each crate.
    ///
    /// # Errors
    /// When there is none.
    pub fn newest_in(registry: &Path) -> Result<Self, DemoError> {
        let folders = |path: &Path| -> Vec<PathBuf> {
            let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
            entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
        };
        let crates = folders(registry).into_iter().flat_map(|registry| folders(&registry));
        let newest = crates.filter_map(|path| Some((version_of(&path)?, path))).max();
        match newest {
            Some((_, path)) => Self::at(&path),
            None => Err(DemoError::NoCrate { registry: registry.to_owned() }),
        }
    }

    /// The crate in `path`.
    ///
    /// # Errors
    /// When it has no manifest, or is too large.
    pub fn at(path: &Path) -> Result<Self, DemoError> {
        let refuse = |why: &str| DemoError::NotACrate { path: path.to_owned(), why: why.to_owned() };
        let path = path.canonicalize().map_err(|error| refuse(&error.to_string()))?;
        if !path.join("Cargo.toml").is_file() {
            return Err(refuse("it has no Cargo.toml"));
        }
        let (mut files, mut lines, mut bytes) = (Vec::new(), 0, 0);
        // Ignore files would be those of the folder above, where a registry may be ignored as a whole.
        let walk =
            ignore::WalkBuilder::new(&path).standard_filters(false).filter_entry(|entry| !is_ballast(entry)).build();
        for entry in walk.filter_map(Result::ok).filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file())) {
            let Ok(relative) = entry.path().strip_prefix(&path) else { continue };
            bytes += entry.metadata().map_or(0, |meta| meta.len());
            if files.len() >= MAX_FILES || bytes > MAX_BYTES {
                return Err(DemoError::TooLarge { path: path.clone() });
            }
            if relative.extension().is_some_and(|extension| extension == "rs") {
                lines += std::fs::read_to_string(entry.path()).map_or(0, |text| text.lines().count());
            }
            files.push(relative.to_owned());
        }
        files.sort();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { path, name, files, lines })
    }
}

/// Build output and version control are not sources.
fn is_ballast(entry: &ignore::DirEntry) -> bool {
    entry.depth() == 1 && ["target", ".git"].iter().any(|name| entry.file_name() == *name)
}

/// The version in the folder's name `regex-syntax-0.8.11`, as numbers; `None` for other crates and odd versions.
fn version_of(path: &Path) -> Option<Vec<u64>> {
    let version = path.file_name()?.to_str()?.strip_prefix(CRATE)?.strip_prefix('-')?;
    version.split('.').map(|part| part.parse().ok()).collect()
}
