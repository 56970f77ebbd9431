//! Tests of the configuration, each on a machine made up in a temporary folder.

mod amounts;
mod dotenv;
mod files;
mod folders;
mod layers;
mod lists;
mod logged;
mod permissions;
mod project;
mod raw;
mod rows;
mod trust;

use super::{Config, ConfigError, Flag, Folders, Key, Raw, Surroundings};
use crate::permissions::RuleList;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A user with folders, an environment and a workspace.
struct Machine {
    _root: tempfile::TempDir,
    home: PathBuf,
    workspace: PathBuf,
    env: BTreeMap<String, String>,
    flags: Vec<Flag>,
    rules: Vec<(RuleList, String)>,
}

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().canonicalize().unwrap().join("home");
        let workspace = root.path().canonicalize().unwrap().join("work");
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(&workspace).unwrap();
        Self { _root: root, home, workspace, env: BTreeMap::new(), flags: Vec::new(), rules: Vec::new() }
    }

    fn folders(&self) -> Folders {
        Folders {
            config: self.home.join("config/retrace"),
            state: self.home.join("state/retrace"),
            cache: self.home.join("cache/retrace"),
        }
    }

    fn user(self, text: &str) -> Self {
        write(&self.folders().config_file(), text, 0o644);
        self
    }

    fn credentials(self, text: &str, mode: u32) -> Self {
        write(&self.folders().credentials_file(), text, mode);
        self
    }

    fn project(self, text: &str) -> Self {
        write(&self.workspace.join(super::PROJECT_FILE), text, 0o644);
        self
    }

    fn dotenv(self, text: &str) -> Self {
        write(&self.workspace.join(".env"), text, 0o644);
        self
    }

    fn trusting(self) -> Self {
        let mut list = super::TrustList::load(self.folders().trust_file()).unwrap();
        list.set(self.workspace.to_str().unwrap(), true).unwrap();
        self
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    fn flag(mut self, key: Key, name: &'static str, value: &str) -> Self {
        self.flags.push(Flag { key, name, value: Raw::Text(value.to_owned()) });
        self
    }

    fn rule(mut self, list: RuleList, text: &str) -> Self {
        self.rules.push((list, text.to_owned()));
        self
    }

    fn permissions(self, text: &str) -> Self {
        write(&self.folders().permissions_file(), text, 0o600);
        self
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings {
            env: self.env.clone(),
            cwd: self.workspace.clone(),
            folders: self.folders(),
            flags: self.flags.clone(),
            rules: self.rules.clone(),
        }
    }

    fn load(&self) -> Result<Config, ConfigError> {
        Config::load(&self.surroundings())
    }

    fn config(&self) -> Config {
        self.load().unwrap()
    }

    /// The error of loading, with the machine's root folder left out.
    fn refusal(&self) -> String {
        let error = self.load().unwrap_err();
        let hint = error.hint().map(|hint| format!(" | hint: {hint}")).unwrap_or_default();
        self.plain(&format!("{error}{hint}"))
    }

    /// `text` without the path of the temporary folder.
    fn plain(&self, text: &str) -> String {
        let root = self.home.parent().unwrap();
        text.replace(root.to_str().unwrap(), "")
    }

    /// The row of `key` as `value <- origin`.
    fn row(&self, key: Key) -> String {
        let row = self.config().rows().into_iter().find(|row| row.name == key.name()).unwrap();
        self.plain(&format!("{} <- {}", row.shown, row.origin))
    }
}

fn write(path: &Path, text: &str, mode: u32) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}
