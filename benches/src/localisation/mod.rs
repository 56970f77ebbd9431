//! SWE-bench Lite: issues of public repositories, and the files that were changed to settle them.
//!
//! Tasks come from a table with the columns `instance_id`, `problem_statement` and `patch`, as the repository
//! OpenAutoCoder/Agentless has it. It does not say to what a patch was applied: [`base_commits`] finds that in a clone, by the
//! commit whose own changes are those of the patch.

mod base_commit;
mod git;
mod patch_lines;

pub use base_commit::{BaseCommit, base_commits};
pub use git::{Checkout, git_folder};

use patch_lines::PatchLines;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// An issue with what settled it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalisationTask {
    /// Its name: `pallets__flask-4992`.
    pub id: String,
    /// The last part of its repository's name: `flask`.
    pub repository: String,
    /// The issue, as it was written.
    pub issue: String,
    /// The changed lines of each file, see [`base_commits`].
    changes: BTreeMap<String, Vec<String>>,
}

impl LocalisationTask {
    /// The files that were changed.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.changes.keys().map(String::as_str)
    }
}

/// A row of the table; it has more columns.
#[derive(Deserialize)]
struct Row {
    instance_id: String,
    problem_statement: String,
    patch: String,
}

/// The tasks of a table, in the order of their names. Those without a name of that form, or without a changed file, are left out.
///
/// # Errors
/// When the file cannot be read or is no such table.
pub fn localisation_tasks(path: &Path) -> io::Result<Vec<LocalisationTask>> {
    let mut tasks = Vec::new();
    for row in csv::Reader::from_path(path)?.deserialize() {
        let Row { instance_id: id, problem_statement: issue, patch } = row?;
        let name = id.rsplit_once('-').and_then(|(repository, _)| repository.split_once("__"));
        let Some(repository) = name.map(|(_, name)| name.to_owned()) else { continue };
        let mut changes = PatchLines::default();
        patch.lines().for_each(|line| changes.take(line));
        let changes = changes.finish();
        if !changes.is_empty() {
            tasks.push(LocalisationTask { id, repository, issue, changes });
        }
    }
    tasks.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(tasks)
}

#[cfg(test)]
mod tests;
