//! What a process is started with: its environment, the folder it is in, the user's folders, the flags. Everything that
//! the configuration reads comes through here, so that a test can make up a whole machine.

use super::error::ConfigError;
use super::folders::Folders;
use super::key::{KEYS, Key};
use super::origin::Origin;
use super::raw::Raw;
use super::values::Entry;
use crate::permissions::{RuleList, RuleSet};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A value given by a flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// What it is for.
    pub key: Key,
    /// The flag's name, `--model`.
    pub name: &'static str,
    /// The value.
    pub value: Raw,
}

/// What a process is started with.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The environment; values that are not UTF-8 are left out.
    pub env: BTreeMap<String, String>,
    /// The current folder.
    pub cwd: PathBuf,
    /// The user's folders.
    pub folders: Folders,
    /// The flags.
    pub flags: Vec<Flag>,
    /// Permission rules given by flags: `--allow`, `--ask`, `--deny`.
    pub rules: Vec<(RuleList, String)>,
}

impl Surroundings {
    /// Those of this process.
    ///
    /// # Errors
    /// When there is no home folder, or the current folder is gone.
    pub fn of_process(flags: Vec<Flag>) -> Result<Self, ConfigError> {
        let utf8 = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let cwd = std::env::current_dir()
            .map_err(|error| ConfigError::Unreadable { path: PathBuf::from("."), why: error.to_string() })?;
        Ok(Self {
            env: std::env::vars_os().filter_map(utf8).collect(),
            cwd,
            folders: Folders::of_user()?,
            flags,
            rules: Vec::new(),
        })
    }

    /// What the environment says, one entry a key at most. Empty variables count as not set.
    pub(super) fn env_entries(&self) -> Vec<Entry> {
        KEYS.iter()
            .filter_map(|row| {
                let name =
                    row.env.iter().find(|name| self.env.get(**name).is_some_and(|text| !text.trim().is_empty()))?;
                let raw = Raw::Text(self.env.get(*name)?.clone());
                Some(Entry { key: row.key, raw, origin: Origin::Env(name), base: self.cwd.clone() })
            })
            .collect()
    }

    /// The permission rules of the flags.
    pub(super) fn rules(&self) -> Result<RuleSet, ConfigError> {
        let mut rules = RuleSet::default();
        for (list, text) in &self.rules {
            let flag = match list {
                RuleList::Deny => "--deny",
                RuleList::Ask => "--ask",
                RuleList::Allow => "--allow",
            };
            rules.read(*list, text, Origin::Flag(flag))?;
        }
        Ok(rules)
    }

    /// What the flags say.
    pub(super) fn flag_entries(&self) -> Vec<Entry> {
        let entry = |flag: &Flag| Entry {
            key: flag.key,
            raw: flag.value.clone(),
            origin: Origin::Flag(flag.name),
            base: self.cwd.clone(),
        };
        self.flags.iter().map(entry).collect()
    }
}
