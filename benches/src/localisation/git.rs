//! Git, asked by fixed arguments, without anybody's configuration and without hooks. Clones are only read: what is written (a
//! work tree, an index file) lies elsewhere.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The git directory of a clone, which may be bare; `None` when there is none.
#[must_use]
pub fn git_folder(clone: &Path) -> Option<PathBuf> {
    let inner = clone.join(".git");
    [inner.as_path(), clone].into_iter().find(|folder| folder.join("HEAD").is_file()).map(Path::to_owned)
}

/// A command on the clone whose git directory is `folder`.
pub(super) fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
    for setting in ["core.hooksPath=/dev/null", "core.fsmonitor=false", "core.autocrlf=false", "gc.auto=0"] {
        command.args(["-c", setting]);
    }
    command.arg("--git-dir").arg(folder);
    command
}

/// A work tree that is brought from commit to commit; only what differs is written.
#[derive(Debug)]
pub struct Checkout {
    git_folder: PathBuf,
    tree: PathBuf,
    index: PathBuf,
}

impl Checkout {
    /// An empty one in `folder`, which must not exist.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn new(git_folder: &Path, folder: &Path) -> io::Result<Self> {
        std::fs::create_dir(folder)?;
        let tree = folder.join("tree");
        std::fs::create_dir(&tree)?;
        Ok(Self { git_folder: std::path::absolute(git_folder)?, tree, index: folder.join("index") })
    }

    /// Where the files are.
    #[must_use]
    pub fn tree(&self) -> &Path {
        &self.tree
    }

    /// Makes the tree that of a commit.
    ///
    /// # Errors
    /// When git cannot be run or refuses.
    pub fn go_to(&self, commit: &str) -> io::Result<()> {
        let mut git = git(&self.git_folder);
        git.env("GIT_INDEX_FILE", &self.index).arg("--work-tree").arg(&self.tree).current_dir(&self.tree);
        let done = git.args(["read-tree", "--reset", "-u", "--end-of-options", commit]).output()?;
        if done.status.success() {
            return Ok(());
        }
        Err(io::Error::other(format!("cannot check {commit} out: {}", String::from_utf8_lossy(&done.stderr).trim())))
    }
}
