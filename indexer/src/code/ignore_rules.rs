//! What of a workspace is left out by rule: `.gitignore`, `.ignore`, `.git/info/exclude`, and folders that hold no work of
//! anybody's.
//!
//! The rules are read like any other file of the workspace: beneath its root, bounded, through no link. Only those of the
//! folders above it, up to the repository it belongs to, are read as the user's own.

use super::root::WorkspaceRoot;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger files of rules are cut.
const MAX_RULES_BYTES: u64 = 256 * 1024;
/// The most rules of one file.
const MAX_RULES: usize = 4_000;
/// How far up a repository's root is looked for.
const MAX_LEVELS_UP: usize = 24;
/// Folders of version control, of tools, and of other people's packages.
const LEFT_OUT: [&str; 26] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".bzr",
    "node_modules",
    "bower_components",
    "__pycache__",
    ".venv",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".cache",
    ".gradle",
    ".terraform",
    ".next",
    ".nuxt",
    ".yarn",
    ".pnpm-store",
    ".eggs",
    ".bundle",
    ".stack-work",
    ".direnv",
    ".ssh",
];
/// The files that hold rules; of two that say something, the first counts.
const RULE_FILES: [&str; 2] = [".ignore", ".gitignore"];

/// The rules that hold in a folder: its own, then those of the folders around it.
#[derive(Debug, Clone)]
pub(super) struct IgnoreRules {
    level: Option<Arc<Level>>,
}

#[derive(Debug)]
struct Level {
    rules: Vec<Gitignore>,
    outer: Option<Arc<Level>>,
}

impl IgnoreRules {
    /// The rules that hold in the root of a workspace.
    pub(super) fn of_root(root: &WorkspaceRoot) -> Self {
        let mut above: Vec<PathBuf> = Vec::new();
        if !root.path().join(".git").exists() {
            let parents: Vec<&Path> = root.path().ancestors().skip(1).take(MAX_LEVELS_UP).collect();
            let repository = parents.iter().position(|parent| parent.join(".git").exists());
            above.extend(parents.iter().take(repository.map_or(0, |at| at + 1)).rev().map(|it| it.to_path_buf()));
        }
        let mut rules = Self { level: None };
        for dir in above {
            let own = RULE_FILES.iter().filter_map(|name| compile(&dir, &read_outside(&dir.join(name))?));
            rules = rules.with(own.collect());
        }
        let exclude = read(root, ".git/info/exclude").and_then(|text| compile(root.path(), &text));
        rules.with(exclude.into_iter().collect()).within(root, "")
    }

    /// The rules that hold in a folder of the folder whose rules these are.
    pub(super) fn within(&self, root: &WorkspaceRoot, dir: &str) -> Self {
        let own = RULE_FILES.iter().filter_map(|name| {
            let path = if dir.is_empty() { (*name).to_owned() } else { format!("{dir}/{name}") };
            compile(&root.path().join(dir), &read(root, &path)?)
        });
        self.with(own.collect())
    }

    fn with(&self, rules: Vec<Gitignore>) -> Self {
        if rules.is_empty() {
            return self.clone();
        }
        Self { level: Some(Arc::new(Level { rules, outer: self.level.clone() })) }
    }

    /// Whether something in the folder is left out.
    pub(super) fn leave_out(&self, root: &WorkspaceRoot, path: &str, name: &str, is_dir: bool) -> bool {
        // In a worktree, `.git` is a file.
        if name == ".git" || (is_dir && (LEFT_OUT.contains(&name) || root.leaves_out(path))) {
            return true;
        }
        let whole = root.path().join(path);
        let mut level = self.level.as_deref();
        while let Some(Level { rules, outer }) = level {
            for rules in rules {
                match rules.matched(&whole, is_dir) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                }
            }
            level = outer.as_deref();
        }
        false
    }
}

/// Whether a change of this file changes what is left out.
pub(super) fn holds_rules(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    RULE_FILES.contains(&name) || path == ".git/info/exclude"
}

fn read(root: &WorkspaceRoot, path: &str) -> Option<String> {
    let (bytes, _) = root.read(path, MAX_RULES_BYTES).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A regular file outside the workspace.
fn read_outside(path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_RULES_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A rule that is none is passed over, as git does.
fn compile(dir: &Path, text: &str) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(dir);
    for line in text.lines().take(MAX_RULES) {
        drop(builder.add_line(None, line));
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
