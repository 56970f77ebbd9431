//! The user's `permissions.toml`, and the table `[permissions]` of a project: three lists of rules, each rule with its line.

use super::rule_set::{RuleList, RuleSet};
use crate::config::bounded::{self, Author, Bounded};
use crate::config::{ConfigError, Origin, similar};
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// Reads the user's file of rules; one that is not there has none.
///
/// # Errors
/// When it cannot be read, others may write it, or a line of it is not understood: then nobody knows what was forbidden.
pub(crate) fn read_user(path: &Path) -> Result<RuleSet, ConfigError> {
    match bounded::read(path, Author::User)? {
        Some(file) => read_file(path, &file),
        None => Ok(RuleSet::default()),
    }
}

/// Reads a file of rules that was opened already.
pub(super) fn read_file(path: &Path, file: &Bounded) -> Result<RuleSet, ConfigError> {
    if file.mode & 0o002 != 0 {
        let why = format!("other users may write it (mode {:03o}); chmod 600", file.mode);
        return Err(ConfigError::Unreadable { path: path.to_owned(), why });
    }
    let table = DeTable::parse(&file.text).map_err(|error| ConfigError::Syntax {
        path: path.to_owned(),
        line: line(&file.text, error.span().map_or(0, |span| span.start)),
        why: error.message().lines().next().unwrap_or_default().to_owned(),
    })?;
    read_table(path, &file.text, table.get_ref(), "")
}

/// Reads the lists of a table; `prefix` is the table's name with its dot.
///
/// # Errors
/// When a key is unknown or a rule is none, with file and line.
pub(crate) fn read_table(path: &Path, text: &str, table: &DeTable<'_>, prefix: &str) -> Result<RuleSet, ConfigError> {
    let mut rules = RuleSet::default();
    for (key, value) in table {
        let name: String = key.get_ref().chars().filter(|c| !c.is_control()).take(80).collect();
        let at = line(text, key.span().start);
        let Some(list) = RuleList::ALL.into_iter().find(|list| list.as_str() == name) else {
            let known = RuleList::ALL.map(RuleList::as_str);
            let similar = similar(&name, &known);
            return Err(ConfigError::UnknownKey {
                path: path.to_owned(),
                line: at,
                key: format!("{prefix}{name}"),
                similar,
            });
        };
        let misfit = |line: usize| ConfigError::InvalidValue {
            origin: Origin::File { path: path.to_owned(), line },
            key: list.key(),
            why: "must be a list of rules, like [\"bash(cargo test *)\"]".to_owned(),
        };
        let DeValue::Array(items) = value.get_ref() else { return Err(misfit(at)) };
        for item in items {
            let line = line(text, item.span().start);
            let rule = item.get_ref().as_str().ok_or_else(|| misfit(line))?;
            rules.read(list, rule, Origin::File { path: path.to_owned(), line })?;
        }
    }
    Ok(rules)
}

/// The line at `offset`, from 1.
fn line(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|b| **b == b'\n').count() + 1
}
