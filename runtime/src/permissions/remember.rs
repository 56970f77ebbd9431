//! Writing a rule into the user's file of rules, so that nothing else in it changes and nobody ever reads half of it.
//!
//! One writer at a time, by a lock that a dead process gives up; the file is replaced whole. A link in its place is not
//! followed: what it leads to may be kept by a program that would not expect this, or be somebody else's.

use super::permission_file;
use super::rule::parse_rule;
use super::rule_error::RuleError;
use super::rule_set::{GivenRule, RuleList, RuleSet};
use crate::config::bounded::{self, Author, Bounded};
use crate::config::{ConfigError, Origin};
use rustix::fs::{CWD, Mode, OFlags};
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use toml_edit::{Array, DocumentMut, Item, Value};

/// How long another process is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(10);
/// How often the lock is tried meanwhile.
const LOCK_RETRY: Duration = Duration::from_millis(10);
/// The most the file may grow to, in bytes; a larger one would not be read.
const MAX_BYTES: usize = 256 * 1024;

/// Why a rule was not remembered.
#[derive(Debug, thiserror::Error)]
pub enum RememberError {
    /// There is nowhere to write it.
    #[error("there is no file to remember rules in")]
    NoFile,
    /// It is no rule.
    #[error("`{rule}` cannot be remembered: as a rule it {why}")]
    NoRule {
        /// The text.
        rule: String,
        /// Why it is none.
        why: RuleError,
    },
    /// A link is where the file should be.
    #[error("{}: is a symbolic link, which is not written through", path.display())]
    Link {
        /// The file.
        path: PathBuf,
        /// The rule.
        rule: String,
    },
    /// There is no more room in it.
    #[error("{}: would grow beyond {MAX_BYTES} bytes", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Another process writes, for very long.
    #[error("{}: is locked by another process", path.display())]
    Locked {
        /// The lock.
        path: PathBuf,
    },
    /// The file cannot be read, understood or written.
    #[error(transparent)]
    File(#[from] ConfigError),
}

impl RememberError {
    /// What to do about it, when there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Link { rule, .. } => Some(format!("add `{rule}` to its list `allow` by hand")),
            Self::Locked { path } => Some(format!("see who holds {}", path.display())),
            Self::File(error) => error.hint(),
            Self::NoFile | Self::NoRule { .. } | Self::Full { .. } => None,
        }
    }
}

/// Adds `rule` to the list `allow` of `path` unless it is there; returns its line.
pub(super) fn add(path: &Path, rule: &str) -> Result<usize, RememberError> {
    let rule = match parse_rule(rule) {
        Ok(parsed) => parsed.to_string(),
        Err(why) => return Err(RememberError::NoRule { rule: rule.chars().take(80).collect(), why }),
    };
    let origin = Origin::File { path: path.to_owned(), line: 0 };
    let wanted = GivenRule::read(RuleList::Allow, &rule, origin)?.rule;
    let unwritable = |source| ConfigError::Unwritable { path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    let _lock = lock(&folder.join(".permissions.toml.lock"))?;

    if std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
        return Err(RememberError::Link { path: path.to_owned(), rule });
    }
    let old = bounded::read(path, Author::Workspace)?.unwrap_or(Bounded { text: String::new(), mode: 0o600 });
    let before = permission_file::read_file(path, &old)?;
    if let Some(line) = line_of(&before, |given| given.rule == wanted) {
        return Ok(line);
    }
    let text = with_rule(path, &old.text, &rule)?;
    if text.len() > MAX_BYTES {
        return Err(RememberError::Full { path: path.to_owned() });
    }
    // What is written must say what it said before, and the new rule. If it would not, nothing is written.
    let after = permission_file::read_file(path, &Bounded { text: text.clone(), mode: 0o600 })?;
    let same = RuleList::ALL.iter().all(|list| {
        let texts = |rules: &RuleSet| rules.list(*list).iter().map(|given| given.rule.to_string()).collect::<Vec<_>>();
        let mut expected = texts(&before);
        expected.extend((*list == RuleList::Allow).then(|| rule.clone()));
        texts(&after) == expected
    });
    if !same {
        return Err(
            unwritable(std::io::Error::other("its form does not allow for another rule; add it by hand")).into()
        );
    }
    replace(path, folder, &text).map_err(unwritable)?;
    Ok(line_of(&after, |given| given.rule == wanted).unwrap_or(1))
}

fn line_of(rules: &RuleSet, is: impl Fn(&GivenRule) -> bool) -> Option<usize> {
    rules.allow.iter().find(|given| is(given)).and_then(|given| match &given.origin {
        Origin::File { line, .. } => Some(*line),
        Origin::Default | Origin::Env(_) | Origin::Flag(_) | Origin::Session => None,
    })
}

/// Held until dropped, or until the process dies.
fn lock(path: &Path) -> Result<File, RememberError> {
    let unwritable = |source: std::io::Error| ConfigError::Unwritable { path: path.to_owned(), source };
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file =
        File::from(rustix::fs::openat(CWD, path, flags, Mode::RUSR | Mode::WUSR).map_err(|e| unwritable(e.into()))?);
    let end = Instant::now() + LOCK_WAIT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(unwritable(error).into()),
            Err(TryLockError::WouldBlock) if Instant::now() >= end => {
                return Err(RememberError::Locked { path: path.to_owned() });
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_RETRY),
        }
    }
}

/// The text of the file with one more rule, everything else in it as it was.
fn with_rule(path: &Path, text: &str, rule: &str) -> Result<String, ConfigError> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| ConfigError::Syntax {
        path: path.to_owned(),
        line: 1,
        why: error.message().lines().next().unwrap_or_default().to_owned(),
    })?;
    match document.get_mut("allow") {
        Some(Item::Value(Value::Array(rules))) => push(rules, rule),
        Some(_) | None => {
            let mut rules = Array::new();
            push(&mut rules, rule);
            document.insert("allow", Item::Value(Value::Array(rules)));
        }
    }
    Ok(document.to_string())
}

/// Puts `rule` at the end of the list, on a line of its own. Comments stay behind the rules they stand behind.
fn push(rules: &mut Array, rule: &str) {
    let own_line = |value: &Value| {
        let prefix = value.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
        prefix.rsplit_once('\n').map(|(_, indent)| indent.to_owned())
    };
    let indent = rules.iter().filter_map(own_line).last().unwrap_or_else(|| "    ".to_owned());
    let mut between = rules.trailing().as_str().unwrap_or_default().to_owned();
    if !rules.trailing_comma()
        && let Some(last) = rules.iter_mut().last()
    {
        // Without a comma what follows the last rule belongs to it.
        between = format!("{}{between}", last.decor().suffix().and_then(|suffix| suffix.as_str()).unwrap_or_default());
        last.decor_mut().set_suffix("");
    }
    let mut value = Value::from(rule);
    value.decor_mut().set_prefix(format!("{}\n{indent}", between.trim_end()));
    rules.push_formatted(value);
    rules.set_trailing("\n");
    rules.set_trailing_comma(true);
}

/// Replaces the file whole, for its owner alone.
fn replace(path: &Path, folder: &Path, text: &str) -> std::io::Result<()> {
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(text.as_bytes())?;
    temporary.as_file().sync_all()?;
    temporary.persist(path)?;
    File::open(folder)?.sync_all()
}
