//! Configuration: every value with the place it came from.
//!
//! ```text
//! built in < user's config.toml < project's .retrace.toml (only tightens) < .env (trusted folders only)
//!          < credentials.toml, for keys only, at the user file's place < environment < flags
//!
//! permission rules: the user's permissions.toml + flags + the project's [permissions] (what it allows: trusted folders only)
//! ```
//!
//! Invariants: a repository can forbid more but never allow more or redirect anything; keys never come from a file in
//! the workspace unless the user trusts the folder; the state and configuration folders lie outside the workspace;
//! nothing here changes the process's environment.

pub(crate) mod bounded;
mod choice;
mod dotenv;
mod error;
mod file;
mod folders;
mod key;
mod logged;
mod origin;
mod project;
mod raw;
mod rows;
mod sandbox_values;
mod surroundings;
mod trust;
mod values;

#[cfg(test)]
mod tests;

pub use choice::{CompactionChoice, LogChoice, SnapshotChoice, SummaryChoice, ThinkingChoice};
pub use error::ConfigError;
pub use folders::Folders;
pub use key::{Home, KEYS, Key, KeyInfo, similar};
pub use logged::{LoggedError, Resumed};
pub use origin::{Origin, Sourced};
pub use raw::Raw;
pub use rows::Row;
pub use sandbox_values::{NetworkCredential, SandboxValues};
pub use surroundings::{Flag, Surroundings};
pub use trust::TrustList;
pub use values::{Entry, Values};

use crate::claude::{Auth, ModelTable};
use crate::permissions::{self, ApprovalMode, Permissions, RuleSet};
use dotenv::Dotenv;
use retrace_events::log::LogLocation;
use retrace_events::payload::settings::Settings;
use std::path::{Path, PathBuf};

/// The name of a project's own file.
pub const PROJECT_FILE: &str = ".retrace.toml";

/// The most tokens of an answer when nothing is configured, unless the model's limit is lower.
const DEFAULT_MAX_TOKENS: u32 = 32_000;

/// The configuration of one command.
#[derive(Debug, Clone)]
pub struct Config {
    /// The values with their origins.
    pub values: Values,
    /// The workspace, canonical.
    pub workspace: PathBuf,
    /// Where the event log is.
    pub log: LogLocation,
    /// The user's folders.
    pub folders: Folders,
    /// The permission rules that hold: of the user, the flags and the project.
    pub rules: RuleSet,
    /// What the user should be told: refused lines, an untrusted `.env`.
    pub notices: Vec<String>,
    /// Whether something of the workspace is left out only because the user does not trust the folder.
    pub needs_trust: bool,
}

impl Config {
    /// Reads all sources.
    ///
    /// # Errors
    /// The first thing that is wrong, with file and line.
    pub fn load(surroundings: &Surroundings) -> Result<Self, ConfigError> {
        let folders = &surroundings.folders;
        let credentials = folders.credentials_file();
        let mut values = Values::builtin(surroundings.cwd.clone());
        let (mut notices, mut needs_trust) = (Vec::new(), false);

        let user = [file::user(&folders.config_file(), &credentials)?, file::credentials(&credentials)?].concat();
        apply(&mut values, &user)?;
        let own = [surroundings.env_entries(), surroundings.flag_entries()].concat();

        // Where the workspace is decides which `.env` is read, and that may move the workspace on.
        let mut named = values.clone();
        apply(&mut named, &own)?;
        let first = canonical(&named.workspace)?;
        let trusted = is_trusted(folders, &first)?;
        let dotenv = match dotenv::read(&first, trusted)? {
            Dotenv::Nothing => Vec::new(),
            Dotenv::Entries(entries) => entries,
            Dotenv::Untrusted(names) => {
                let file = first.join(".env");
                needs_trust = true;
                notices.push(format!(
                    "{} sets {} and is not read, because the folder is not trusted (hint: retrace config trust)",
                    file.display(),
                    names.join(", ")
                ));
                Vec::new()
            }
        };
        apply(&mut named, &dotenv)?;
        apply(&mut named, &own)?;
        let workspace = canonical(&named.workspace)?;

        let project_file = workspace.join(PROJECT_FILE);
        let (project, project_rules) = file::project(&project_file, &credentials)?;
        notices.extend(project::tighten(&mut values, &project)?);
        let mut rules = permissions::read_user(&folders.permissions_file())?;
        rules.extend(surroundings.rules()?);
        let trusted = is_trusted(folders, &workspace)?;
        let untrusted_rules = project::add_rules(&mut rules, project_rules, &project_file, trusted);
        needs_trust |= untrusted_rules.is_some();
        notices.extend(untrusted_rules);
        apply(&mut values, &dotenv)?;
        apply(&mut values, &own)?;

        folders.check_outside(&workspace)?;
        let log = log_location(&values, surroundings)?;
        if let LogLocation::Embedded(folder) = &log {
            folders::refuse_inside("the event log", folder, &workspace)?;
        }
        notices.extend(plain_text_warning(&values));
        Ok(Self { values, workspace, log, folders: folders.clone(), rules, notices, needs_trust })
    }

    /// The settings of a new session. Requests, limits and sandbox as configured; what is left open is settled by the
    /// model's row of `models`.
    #[must_use]
    pub fn settings(&self, models: &ModelTable) -> Settings {
        let values = &self.values;
        let row = models.row(&values.model.value);
        let most = u32::try_from(row.max_output_tokens).unwrap_or(u32::MAX);
        let max_tokens = values.max_tokens.value.unwrap_or_else(|| DEFAULT_MAX_TOKENS.min(most));
        Settings {
            model: values.model.value.clone(),
            max_tokens,
            thinking: values.thinking.value.field(&row, max_tokens),
            effort: values.effort.value.clone(),
            base_url: values.base_url.value.clone(),
            sandbox: values.sandbox.value.as_str().to_owned(),
            approvals: values.approvals.value.as_str().to_owned(),
            budget: values.budget(),
            tree_budget: values.tree_budget(),
            command_timeout_ms: values.command_timeout_ms.value,
            max_attempts: values.max_attempts.value,
        }
    }

    /// The rules with what a session's settings say about calls that no rule is about. `sandboxed` says whether calls run
    /// in a sandbox rather than on the host.
    #[must_use]
    pub fn permissions(&self, settings: &Settings, sandboxed: bool) -> Permissions {
        let mode = ApprovalMode::of_settings(&settings.approvals);
        Permissions::new(mode, sandboxed, self.rules.clone(), Some(self.folders.permissions_file()))
    }

    /// How requests authenticate: by key when there is one, by token otherwise; `None` when nothing is set.
    #[must_use]
    pub fn auth(&self) -> Option<Auth> {
        let key = self.values.api_key.as_ref().map(|key| Auth::ApiKey(key.value.clone()));
        key.or_else(|| self.values.auth_token.as_ref().map(|token| Auth::Bearer(token.value.clone())))
    }
}

/// Whether the user trusts `folder` (canonical).
///
/// # Errors
/// When the list of trusted folders cannot be read.
pub fn is_trusted(folders: &Folders, folder: &Path) -> Result<bool, ConfigError> {
    let list = TrustList::load(folders.trust_file())?;
    Ok(folder.to_str().is_some_and(|folder| list.contains(folder)))
}

/// Where the log is, with what the environment says about reaching a NATS server.
fn log_location(values: &Values, surroundings: &Surroundings) -> Result<LogLocation, ConfigError> {
    match &values.log.value {
        LogChoice::Embedded => Ok(LogLocation::Embedded(surroundings.folders.state.clone())),
        LogChoice::At(LogLocation::Embedded(folder)) => Ok(LogLocation::Embedded(folder.clone())),
        LogChoice::At(LogLocation::Nats(options)) => {
            let mut options = options.clone();
            options.fill_from_env(|name| surroundings.env.get(name).cloned())?;
            options.accept_nondurable |= values.accept_nondurable.value;
            Ok(LogLocation::Nats(options))
        }
    }
}

fn apply(values: &mut Values, entries: &[Entry]) -> Result<(), ConfigError> {
    entries.iter().try_for_each(|entry| values.apply(entry))
}

fn canonical(workspace: &Sourced<PathBuf>) -> Result<PathBuf, ConfigError> {
    let unusable =
        |why: String| ConfigError::Workspace { path: workspace.value.clone(), origin: workspace.origin.clone(), why };
    let path = workspace.value.canonicalize().map_err(|error| unusable(error.to_string()))?;
    if path.is_dir() { Ok(path) } else { Err(unusable("it is not a folder".to_owned())) }
}

/// A key sent over plain HTTP to another machine can be read on the way.
fn plain_text_warning(values: &Values) -> Option<String> {
    let url = reqwest::Url::parse(&values.base_url.value).ok()?;
    let host = url.host_str()?.trim_matches(['[', ']']);
    let here = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    (url.scheme() == "http" && !here)
        .then(|| format!("{}: requests and key go to {host} unencrypted (http)", values.base_url.origin))
}
