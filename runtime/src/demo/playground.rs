//! The copy that the agent works on, and what became of it.

use super::crate_source::{CrateSource, DemoError};
use super::manifest;
use similar::TextDiff;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long the copies of earlier demos are kept.
const KEEP: Duration = Duration::from_secs(24 * 3_600);

/// A copy of a crate's sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Playground {
    /// Where it is.
    pub path: PathBuf,
    source: CrateSource,
}

impl Playground {
    /// Copies `source` to `path`, which must not exist or be empty.
    ///
    /// # Errors
    /// When it has something in it, or a file cannot be copied.
    pub fn make(source: CrateSource, path: &Path) -> Result<Self, DemoError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| DemoError::Copy { path, source }
        };
        std::fs::create_dir_all(path).map_err(failed(path))?;
        if std::fs::read_dir(path).map_err(failed(path))?.next().is_some() {
            return Err(DemoError::NotEmpty { path: path.to_owned() });
        }
        for file in &source.files {
            let (from, to) = (source.path.join(file), path.join(file));
            let folder = to.parent().unwrap_or(path);
            std::fs::create_dir_all(folder).map_err(failed(folder))?;
            match file.to_str() {
                // The lock file names dependencies that the copy does not have any more.
                Some("Cargo.lock") => {}
                Some("Cargo.toml") => {
                    let text = std::fs::read_to_string(&from).map_err(failed(&from))?;
                    let text = manifest::without_network(&text).unwrap_or(text);
                    std::fs::write(&to, text).map_err(failed(&to))?;
                }
                // Written anew rather than copied: cargo keeps its sources read-only on some machines.
                _ => {
                    let bytes = std::fs::read(&from).map_err(failed(&from))?;
                    std::fs::write(&to, bytes).map_err(failed(&to))?;
                }
            }
        }
        Ok(Self { path: path.to_owned(), source })
    }

    /// The sources it was copied from.
    #[must_use]
    pub const fn source(&self) -> &CrateSource {
        &self.source
    }

    /// What was changed in the crate's Rust files since, as a unified diff.
    #[must_use]
    pub fn diff(&self) -> String {
        let rust = self.source.files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
        let one = |file: &PathBuf| {
            let before = std::fs::read_to_string(self.source.path.join(file)).unwrap_or_default();
            let after = std::fs::read_to_string(self.path.join(file)).unwrap_or_default();
            if before == after {
                return String::new();
            }
            let (old, new) = (format!("a/{}", file.display()), format!("b/{}", file.display()));
            TextDiff::from_lines(&before, &after).unified_diff().context_radius(2).header(&old, &new).to_string()
        };
        rust.map(one).collect()
    }

    /// Removes the copies in `folder` that earlier demos left behind; what cannot be removed stays.
    pub fn prune(folder: &Path) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        for entry in entries {
            let age = entry
                .metadata()
                .and_then(|meta| meta.modified())
                .ok()
                .and_then(|at| SystemTime::now().duration_since(at).ok());
            if age.is_some_and(|age| age > KEEP) && std::fs::remove_dir_all(entry.path()).is_err() {
                tracing::debug!(path = %entry.path().display(), "an old demo folder stays");
            }
        }
    }
}
