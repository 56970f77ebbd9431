//! The `.env` file of a workspace: six names are taken from it and nothing else, and only when the user trusts the folder.
//! The process's own environment is not touched.

use super::bounded::{self, Author};
use super::error::ConfigError;
use super::key::KEYS;
use super::origin::Origin;
use super::raw::Raw;
use super::values::Entry;
use std::path::Path;

/// What a folder's `.env` says.
#[derive(Debug)]
pub(super) enum Dotenv {
    /// There is none, or it has nothing for us.
    Nothing,
    /// It has something, and the folder is not trusted: the names it would have set.
    Untrusted(Vec<&'static str>),
    /// What it sets.
    Entries(Vec<Entry>),
}

/// Reads `.env` in `folder` (canonical).
///
/// # Errors
/// Only in a trusted folder: when it cannot be read or a line makes no sense. An untrusted one stops nobody.
pub(super) fn read(folder: &Path, trusted: bool) -> Result<Dotenv, ConfigError> {
    let path = folder.join(".env");
    let entries = match bounded::read(&path, Author::Workspace) {
        Ok(None) => return Ok(Dotenv::Nothing),
        Ok(Some(file)) => parse(&path, &file.text),
        Err(error) => Err(error),
    };
    match entries {
        Ok(entries) if entries.is_empty() => Ok(Dotenv::Nothing),
        Ok(entries) if trusted => Ok(Dotenv::Entries(entries)),
        Ok(entries) => Ok(Dotenv::Untrusted(entries.iter().filter_map(|entry| entry.key.info().dotenv).collect())),
        Err(error) if trusted => Err(error),
        Err(_) => Ok(Dotenv::Nothing),
    }
}

fn parse(path: &Path, text: &str) -> Result<Vec<Entry>, ConfigError> {
    let mut entries: Vec<Entry> = Vec::new();
    for pair in dotenvy::from_read_iter(text.as_bytes()) {
        let (name, value) = pair.map_err(|error| syntax(path, text, &error))?;
        let Some(row) = KEYS.iter().find(|row| row.dotenv == Some(name.as_str())) else { continue };
        if value.trim().is_empty() {
            continue;
        }
        let origin = Origin::File { path: path.to_owned(), line: line_of(text, &name) };
        let base = path.parent().unwrap_or(Path::new("/")).to_owned();
        // The last line of a name counts, as in a shell.
        entries.retain(|entry| entry.key != row.key);
        entries.push(Entry { key: row.key, raw: Raw::Text(value), origin, base });
    }
    Ok(entries)
}

/// The last line that sets `name`, from 1.
fn line_of(text: &str, name: &str) -> usize {
    let sets = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
        line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    text.lines().enumerate().filter(|(_, line)| sets(line)).last().map_or(1, |(at, _)| at + 1)
}

/// The parser's error would quote the line, which may hold a key; only its place is told.
fn syntax(path: &Path, text: &str, error: &dotenvy::Error) -> ConfigError {
    let line = match error {
        dotenvy::Error::LineParse(bad, _) => {
            let first = bad.lines().next().unwrap_or_default();
            text.lines().position(|line| line == first).map_or(1, |at| at + 1)
        }
        _ => 1,
    };
    ConfigError::Syntax { path: path.to_owned(), line, why: "this line cannot be parsed".to_owned() }
}
