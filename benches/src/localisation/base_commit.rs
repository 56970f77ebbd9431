//! To what a patch was applied: the first parent of the commit whose changes of the patch's files are the patch's.

use super::LocalisationTask;
use super::git::git;
use super::patch_lines::PatchLines;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

/// A commit with the state of the code that an issue is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseCommit {
    /// Its hash.
    pub commit: String,
    /// When what settled the issue was committed, in seconds since 1970.
    pub settled_at_s: i64,
}

/// A commit while its changes are read.
#[derive(Default)]
struct Reading {
    parent: Option<String>,
    at_s: i64,
    lines: PatchLines,
}

/// The commits that the patches of `tasks` were applied to, in the clone whose git directory is `folder`, by the tasks' names.
/// Where a patch was applied several times (to older releases, or again after it was taken back), the first time counts.
/// A merge is compared with its first parent. Tasks whose changes no commit made as a whole have none.
///
/// # Errors
/// When git cannot be run or fails.
pub fn base_commits(folder: &Path, tasks: &[&LocalisationTask]) -> io::Result<BTreeMap<String, BaseCommit>> {
    let files: BTreeSet<&str> = tasks.iter().flat_map(|task| task.files()).collect();
    let mut found = BTreeMap::new();
    if files.is_empty() {
        return Ok(found);
    }
    let mut log = git(folder);
    log.args(["--literal-pathspecs", "log", "--all", "--full-history", "--diff-merges=first-parent", "-p", "-U3"]);
    log.args(["--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--diff-algorithm=myers"]);
    log.args(["--src-prefix=a/", "--dst-prefix=b/", "--format=commit %ct %P", "--"]).args(files);
    let mut log = log.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let output = log.stdout.take().ok_or_else(|| io::Error::other("git has no output"))?;
    let mut reading = Reading::default();
    for line in BufReader::new(output).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        // Lines of a patch never begin like this.
        if let Some(head) = line.strip_prefix("commit ") {
            std::mem::replace(&mut reading, Reading::of(head)).compare(tasks, &mut found);
        } else {
            reading.lines.take(&line);
        }
    }
    reading.compare(tasks, &mut found);
    let status = log.wait()?;
    if status.success() { Ok(found) } else { Err(io::Error::other(format!("git log failed: {status}"))) }
}

impl Reading {
    fn of(head: &str) -> Self {
        let mut words = head.split(' ');
        let at_s = words.next().and_then(|at| at.parse().ok()).unwrap_or(i64::MAX);
        let parent = words.next().filter(|parent| !parent.is_empty()).map(str::to_owned);
        Self { parent, at_s, lines: PatchLines::default() }
    }

    fn compare(self, tasks: &[&LocalisationTask], found: &mut BTreeMap<String, BaseCommit>) {
        let (Some(parent), at_s) = (self.parent, self.at_s) else { return };
        let changes = self.lines.finish();
        let is_made = |task: &&&LocalisationTask| {
            task.changes.iter().all(|(file, lines)| changes.get(file).is_some_and(|made| made == lines))
        };
        for task in tasks.iter().filter(is_made) {
            if found.get(&task.id).is_none_or(|known| at_s < known.settled_at_s) {
                found.insert(task.id.clone(), BaseCommit { commit: parent.clone(), settled_at_s: at_s });
            }
        }
    }
}
