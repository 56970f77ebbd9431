//! Lists the user keeps in the state folder: the folders whose `.env` is trusted, by canonical path, and the sessions
//! that came from a file.

use super::bounded::{self, Author};
use super::error::ConfigError;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A list of words in a file, one user's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustList {
    file: PathBuf,
    items: BTreeSet<String>,
}

impl TrustList {
    /// Reads the list; a file that does not exist is an empty list.
    ///
    /// # Errors
    /// When it is there and is not such a list.
    pub fn load(file: PathBuf) -> Result<Self, ConfigError> {
        let items = match bounded::read(&file, Author::User)? {
            None => BTreeSet::new(),
            Some(found) => serde_json::from_str(&found.text).map_err(|error| ConfigError::Syntax {
                path: file.clone(),
                line: error.line(),
                why: "not a list of texts".to_owned(),
            })?,
        };
        Ok(Self { file, items })
    }

    /// Whether `item` is on it.
    #[must_use]
    pub fn contains(&self, item: &str) -> bool {
        self.items.contains(item)
    }

    /// Everything on it, in order.
    pub fn items(&self) -> impl Iterator<Item = &str> {
        self.items.iter().map(String::as_str)
    }

    /// Puts `item` on the list, or takes it off; tells whether that changed anything.
    ///
    /// # Errors
    /// When the list cannot be written.
    pub fn set(&mut self, item: &str, listed: bool) -> Result<bool, ConfigError> {
        let changed = if listed { self.items.insert(item.to_owned()) } else { self.items.remove(item) };
        if changed {
            self.save().map_err(|source| ConfigError::Unwritable { path: self.file.clone(), source })?;
        }
        Ok(changed)
    }

    /// Replaces the file whole, so that nobody ever reads half of it.
    fn save(&self) -> std::io::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut temporary, &self.items)?;
        temporary.write_all(b"\n")?;
        temporary.as_file().sync_all()?;
        temporary.persist(&self.file)?;
        Ok(())
    }
}
