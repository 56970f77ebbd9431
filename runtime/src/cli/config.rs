//! `retrace config`: what is configured and on whose word, and which folders are trusted.

use super::exit::{CliError, Exit};
use super::flags::SettingFlags;
use super::invocation::Invocation;
use super::render::clean;
use crate::config::{Config, ConfigError, Origin, PROJECT_FILE, Surroundings, TrustList};
use clap::{Args, Subcommand};
use serde_json::json;
use std::path::PathBuf;

/// Show the configuration, or trust a folder's .env and permission rules
#[derive(Debug, Args)]
pub(super) struct ConfigCommand {
    #[command(subcommand)]
    command: ConfigAction,
}

#[derive(Debug, Subcommand)]
enum ConfigAction {
    /// Show each value and where it came from
    Show {
        #[command(flatten)]
        settings: Box<SettingFlags>,
    },
    /// Show the files that are read
    Path,
    /// Read the .env of a folder from now on
    Trust {
        /// The folder [default: the workspace]
        dir: Option<PathBuf>,
    },
    /// Read the .env of a folder no longer
    Untrust {
        /// The folder [default: the workspace]
        dir: Option<PathBuf>,
    },
}

impl ConfigCommand {
    /// Runs the command.
    pub(super) fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        match self.command {
            ConfigAction::Show { settings } => show(invocation, &settings)?,
            ConfigAction::Path => paths(invocation)?,
            ConfigAction::Trust { dir } => trust(invocation, dir, true)?,
            ConfigAction::Untrust { dir } => trust(invocation, dir, false)?,
        }
        Ok(Exit::Done)
    }
}

fn show(invocation: &Invocation, settings: &SettingFlags) -> Result<(), CliError> {
    let output = &invocation.output;
    let config = Config::load(&invocation.surroundings(settings))?;
    for notice in &config.notices {
        output.warn(&clean::line(notice));
    }
    let rows = config.rows();
    let width = rows.iter().map(|row| row.shown.chars().count()).max().unwrap_or(0).min(60);
    for row in rows {
        if output.json {
            output.json_line(&json!({ "key": row.name, "value": row.value, "origin": row.origin }))?;
        } else {
            let (shown, origin) = (clean::line(&row.shown), clean::line(&row.origin));
            output.data(&format!("{:<20} {shown:<width$}  {}\n", row.name, output.data_style().dim(&origin)))?;
        }
    }
    Ok(())
}

fn paths(invocation: &Invocation) -> Result<(), CliError> {
    let output = &invocation.output;
    let surroundings = invocation.surroundings(&SettingFlags::default());
    let folders = &surroundings.folders;
    let workspace = folder(&surroundings, None)?;
    let files = [
        ("config", folders.config_file()),
        ("credentials", folders.credentials_file()),
        ("permissions", folders.permissions_file()),
        ("models", folders.config.join("models.toml")),
        ("project", workspace.join(PROJECT_FILE)),
        ("dotenv", workspace.join(".env")),
        ("state", folders.state.clone()),
        ("cache", folders.cache.clone()),
    ];
    for (name, path) in files {
        let there = path.exists();
        if output.json {
            output.json_line(&json!({ "name": name, "path": path.to_string_lossy(), "exists": there }))?;
        } else {
            let missing = if there { "" } else { "  (not there)" };
            output.data(&format!("{name:<12} {}{missing}\n", clean::line(&path.display().to_string())))?;
        }
    }
    Ok(())
}

fn trust(invocation: &Invocation, dir: Option<PathBuf>, trusted: bool) -> Result<(), CliError> {
    let output = &invocation.output;
    let surroundings = invocation.surroundings(&SettingFlags::default());
    let folder = folder(&surroundings, dir)?;
    let Some(path) = folder.to_str() else {
        return Err(CliError::new(Exit::Usage, format!("{} is not UTF-8 and cannot be trusted", folder.display())));
    };
    let mut list = TrustList::load(surroundings.folders.trust_file())?;
    let changed = list.set(path, trusted)?;
    let word = match (trusted, changed) {
        (true, true) => "trusted",
        (true, false) => "trusted already",
        (false, true) => "not trusted any more",
        (false, false) => "was not trusted",
    };
    if output.json {
        return output.json_line(&json!({ "folder": path, "trusted": trusted, "changed": changed }));
    }
    output.data(&format!("{}: {word}\n", clean::line(path)))
}

/// The canonical folder that is meant: the given one, or the workspace. A configuration that is broken does not matter
/// here, since this may be how it gets repaired.
fn folder(surroundings: &Surroundings, dir: Option<PathBuf>) -> Result<PathBuf, CliError> {
    let given = dir.map(|dir| surroundings.cwd.join(dir));
    let path = given.unwrap_or_else(|| match Config::load(surroundings) {
        Ok(config) => config.workspace,
        Err(_) => surroundings.cwd.clone(),
    });
    let unusable = |why: String| ConfigError::Workspace { path: path.clone(), origin: Origin::Flag("DIR"), why };
    let real = path.canonicalize().map_err(|error| unusable(error.to_string()))?;
    if real.is_dir() { Ok(real) } else { Err(unusable("it is not a folder".to_owned()).into()) }
}
