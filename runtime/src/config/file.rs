//! TOML files as entries: the user's configuration and credentials, a project's `.retrace.toml`. Tables are flattened
//! (`[budget] steps` is `budget.steps`), and every key must be known. A project's file may have permission rules too, in
//! `[permissions]`; the user's are in a file of their own.

use super::bounded::{self, Author};
use super::error::ConfigError;
use super::key::{Home, KEYS, KeyInfo, similar};
use super::origin::Origin;
use super::raw::Raw;
use super::values::Entry;
use crate::permissions::{self, RuleSet};
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The table with a project's rules.
const PERMISSIONS: &str = "permissions";

/// The user's `config.toml`; no entries when there is none.
///
/// # Errors
/// When it cannot be read, is not TOML, or has a key that does not belong there.
pub(super) fn user(path: &Path, credentials: &Path) -> Result<Vec<Entry>, ConfigError> {
    match bounded::read(path, Author::User)? {
        Some(file) => Reader { path, text: &file.text, home: Home::Config, credentials }.entries(),
        None => Ok(Vec::new()),
    }
}

/// The user's `credentials.toml`, which nobody else may be able to read.
///
/// # Errors
/// As [`user`], and when its permission bits let others in.
pub(super) fn credentials(path: &Path) -> Result<Vec<Entry>, ConfigError> {
    let Some(file) = bounded::read(path, Author::User)? else { return Ok(Vec::new()) };
    if file.mode & 0o077 != 0 {
        return Err(ConfigError::CredentialsExposed { path: path.to_owned(), mode: file.mode });
    }
    Reader { path, text: &file.text, home: Home::Credentials, credentials: path }.entries()
}

/// A project's `.retrace.toml`.
///
/// # Errors
/// As [`user`]; also when it is a link.
pub(super) fn project(path: &Path, credentials: &Path) -> Result<(Vec<Entry>, RuleSet), ConfigError> {
    let Some(file) = bounded::read(path, Author::Workspace)? else { return Ok((Vec::new(), RuleSet::default())) };
    let reader = Reader { path, text: &file.text, home: Home::Config, credentials };
    let mut table = reader.table()?;
    let rules = match table.get_mut().remove(PERMISSIONS) {
        None => RuleSet::default(),
        Some(value) => match value.get_ref() {
            DeValue::Table(lists) => permissions::read_table(path, &file.text, lists, "permissions.")?,
            _ => return Err(reader.syntax(value.span().start, "`permissions` must be a table of deny, ask and allow")),
        },
    };
    let mut entries = Vec::new();
    reader.walk(table.get_ref(), "", &mut entries)?;
    Ok((entries, rules))
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    home: Home,
    credentials: &'a Path,
}

impl Reader<'_> {
    fn entries(&self) -> Result<Vec<Entry>, ConfigError> {
        let table = self.table()?;
        if let Some((key, _)) = table.get_ref().get_key_value(PERMISSIONS) {
            return Err(self.syntax(key.span().start, "permission rules are in permissions.toml, beside config.toml"));
        }
        let mut entries = Vec::new();
        self.walk(table.get_ref(), "", &mut entries)?;
        Ok(entries)
    }

    fn table(&self) -> Result<Spanned<DeTable<'_>>, ConfigError> {
        DeTable::parse(self.text).map_err(|error| {
            // Only the first line: the rest shows the text, which may be a secret.
            let why = error.message().lines().next().unwrap_or_default();
            self.syntax(error.span().map_or(0, |span| span.start), why)
        })
    }

    fn syntax(&self, offset: usize, why: &str) -> ConfigError {
        ConfigError::Syntax { path: self.path.to_owned(), line: self.line(offset), why: why.to_owned() }
    }

    fn walk(&self, table: &DeTable<'_>, prefix: &str, entries: &mut Vec<Entry>) -> Result<(), ConfigError> {
        for (key, value) in table {
            let name = format!("{prefix}{}", key.get_ref());
            let line = self.line(key.span().start);
            let is_table =
                KEYS.iter().any(|row| row.name.strip_prefix(&name).is_some_and(|rest| rest.starts_with('.')));
            if let (DeValue::Table(inner), true) = (value.get_ref(), is_table) {
                self.walk(inner, &format!("{name}."), entries)?;
                continue;
            }
            let row = KEYS.iter().find(|row| row.name == name).ok_or_else(|| self.unknown(&name, line))?;
            self.check_home(row, line)?;
            let origin = Origin::File { path: self.path.to_owned(), line };
            let raw = raw(value.get_ref()).map_err(|why| ConfigError::InvalidValue {
                origin: origin.clone(),
                key: row.name,
                why: why.to_owned(),
            })?;
            let base = self.path.parent().unwrap_or(Path::new("/")).to_owned();
            entries.push(Entry { key: row.key, raw, origin, base });
        }
        Ok(())
    }

    fn check_home(&self, row: &'static KeyInfo, line: usize) -> Result<(), ConfigError> {
        match (row.home, self.home) {
            (Home::Config, Home::Config) | (Home::Credentials, Home::Credentials) => Ok(()),
            (Home::Credentials, Home::Config) => Err(ConfigError::SecretInFile {
                path: self.path.to_owned(),
                line,
                key: row.name,
                credentials: self.credentials.to_owned(),
            }),
            (Home::Config, Home::Credentials) => Err(self.unknown(row.name, line)),
        }
    }

    fn unknown(&self, name: &str, line: usize) -> ConfigError {
        let rows = || KEYS.iter().filter(|row| row.home == self.home);
        let tables = rows().filter_map(|row| row.name.split_once('.')).map(|(table, _)| table);
        let here: Vec<&'static str> = rows().map(|row| row.name).chain(tables).collect();
        // Cut: a hostile key may be as long as the file.
        let key: String = name.chars().filter(|c| !c.is_control()).take(80).collect();
        let similar = similar(&key, &here).filter(|found| *found != name);
        ConfigError::UnknownKey { path: self.path.to_owned(), line, key, similar }
    }

    fn line(&self, offset: usize) -> usize {
        self.text.as_bytes().iter().take(offset).filter(|b| **b == b'\n').count() + 1
    }
}

fn raw(value: &DeValue<'_>) -> Result<Raw, &'static str> {
    Ok(match value {
        DeValue::String(text) => Raw::Text(text.clone().into_owned()),
        DeValue::Integer(number) => {
            let parsed = i64::from_str_radix(number.as_str(), number.radix());
            Raw::Integer(parsed.map_err(|_| "is a number that is too large")?)
        }
        DeValue::Float(number) => Raw::Decimal(number.as_str().to_owned()),
        DeValue::Boolean(value) => Raw::Bool(*value),
        DeValue::Array(items) => {
            let texts: Option<Vec<String>> =
                items.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect();
            Raw::List(texts.ok_or("must be a list of strings")?)
        }
        DeValue::Datetime(_) => return Err("must not be a date"),
        DeValue::Table(_) => return Err("must not be a table"),
    })
}
