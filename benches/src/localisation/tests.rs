//! Tasks are read as they are published, and their commits are found in a real clone.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::{BaseCommit, Checkout, LocalisationTask, base_commits, git_folder, localisation_tasks};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Twelve lines, with an empty one in the middle.
const OLD: &str = "a\nb\nc\nd\ne\n\nf\ng\nh\ni\nj\nk\n";

/// A clone that is being written.
struct Clone {
    folder: tempfile::TempDir,
}

impl Clone {
    fn new() -> Self {
        let clone = Self { folder: tempfile::tempdir().unwrap() };
        clone.git(&["init", "-q", "-b", "main"], 0);
        clone
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn git(&self, args: &[&str], at_s: i64) -> String {
        let mut git = Command::new("git");
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").current_dir(self.path());
        for role in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{role}_NAME"), "a").env(format!("GIT_{role}_EMAIL"), "a@b");
            git.env(format!("GIT_{role}_DATE"), format!("{} +0000", 1_600_000_000 + at_s));
        }
        let done = git.args(args).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    /// Writes files and commits them; the commit's hash.
    fn commit(&self, at_s: i64, files: &[(&str, &str)]) -> String {
        for (name, text) in files {
            let path = self.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        self.git(&["add", "-A"], at_s);
        self.git(&["commit", "-q", "-m", "commit 7 of many\n\ndiff --git a/x b/x"], at_s);
        self.git(&["rev-parse", "HEAD"], at_s)
    }

    fn folder(&self) -> PathBuf {
        git_folder(self.path()).unwrap()
    }

    fn base(&self, task: &LocalisationTask) -> Option<BaseCommit> {
        base_commits(&self.folder(), &[task]).unwrap().remove(&task.id)
    }
}

/// What a table makes of a patch of `OLD`'s first line: the space in front of an empty line is lost.
fn task(file: &str) -> LocalisationTask {
    let patch = format!(
        "diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n@@ -2,7 +2,7 @@ def around(it):\n b\n c\n d\n-e\n+E\n\n f\n g\n"
    );
    table(&[("pallets__flask-1", "It fails", &patch)]).remove(0)
}

fn table(rows: &[(&str, &str, &str)]) -> Vec<LocalisationTask> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tasks.csv");
    let mut writer = csv::Writer::from_path(&file).unwrap();
    writer.write_record(["instance_id", "problem_statement", "patch", "file location"]).unwrap();
    rows.iter().for_each(|(id, issue, patch)| writer.write_record([id, issue, patch, &"None"]).unwrap());
    writer.flush().unwrap();
    localisation_tasks(&file).unwrap()
}

fn changed(text: &str) -> String {
    text.replace("e\n", "E\n")
}

#[test]
fn a_table_gives_tasks_in_order_with_the_files_of_their_patches() {
    let patch = "diff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-x\n+y\n\
                 diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+z\n\
                 diff --git a/gone.py b/gone.py\n--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n---- a/no/file.py\n";
    let tasks = table(&[
        ("psf__requests-2", "two", patch),
        ("nameless", "three", patch),
        ("pallets__flask-9", "no patch", ""),
        ("pallets__flask-4", "one, \"quoted\"\nand long", patch),
    ]);
    let read: Vec<_> = tasks.iter().map(|task| (task.repository.as_str(), task.issue.as_str())).collect();
    assert_eq!(read, [("flask", "one, \"quoted\"\nand long"), ("requests", "two")]);
    assert_eq!(tasks[0].files().collect::<Vec<_>>(), ["b.py", "gone.py", "new.py"]);
}

#[test]
fn a_table_without_its_columns_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tasks.csv");
    std::fs::write(&file, "a,b\n1,2\n").unwrap();
    assert!(localisation_tasks(&file).is_err());
    assert!(localisation_tasks(&folder.path().join("none.csv")).is_err());
}

#[test]
fn a_patch_was_applied_to_the_parent_of_the_commit_that_makes_its_changes() {
    let clone = Clone::new();
    clone.commit(0, &[("src/a.py", OLD), ("other.py", "1\n")]);
    let base = clone.commit(10, &[("other.py", "2\n")]);
    // Documents and other files may change in the same commit.
    clone.commit(20, &[("src/a.py", &changed(OLD)), ("docs.md", "E\n")]);
    clone.commit(30, &[("src/a.py", OLD)]);
    clone.commit(40, &[("src/a.py", &changed(OLD))]);
    assert_eq!(clone.base(&task("src/a.py")), Some(BaseCommit { commit: base, settled_at_s: 1_600_000_020 }));
    assert_eq!(clone.base(&task("other.py")), None);
}

#[test]
fn other_lines_around_a_change_make_it_another() {
    let clone = Clone::new();
    clone.commit(0, &[("a.py", &OLD.replace("g\n", "G\n"))]);
    clone.commit(10, &[("a.py", &changed(&OLD.replace("g\n", "G\n")))]);
    assert_eq!(clone.base(&task("a.py")), None);
}

#[test]
fn a_merge_of_several_commits_counts_as_one_change() {
    let clone = Clone::new();
    let base = clone.commit(0, &[("a.py", OLD)]);
    clone.git(&["checkout", "-q", "-b", "branch"], 0);
    clone.commit(10, &[("a.py", &OLD.replace("e\n", "x\n"))]);
    clone.commit(20, &[("a.py", &changed(OLD))]);
    clone.git(&["checkout", "-q", "main"], 0);
    clone.git(&["merge", "-q", "--no-ff", "-m", "merge", "branch"], 30);
    assert_eq!(clone.base(&task("a.py")).unwrap().commit, base);
}

#[test]
fn a_checkout_goes_from_commit_to_commit_and_leaves_the_clone_alone() {
    let clone = Clone::new();
    let first = clone.commit(0, &[("a.py", OLD), ("folder/gone.py", "1\n")]);
    std::fs::remove_file(clone.path().join("folder/gone.py")).unwrap();
    let second = clone.commit(10, &[("a.py", "2\n")]);
    let folder = tempfile::tempdir().unwrap();
    let checkout = Checkout::new(&clone.folder(), &folder.path().join("work")).unwrap();
    let text = |name: &str| std::fs::read_to_string(checkout.tree().join(name)).ok();
    for _ in 0..2 {
        checkout.go_to(&first).unwrap();
        assert_eq!((text("a.py").as_deref(), text("folder/gone.py").as_deref()), (Some(OLD), Some("1\n")));
        checkout.go_to(&second).unwrap();
        assert_eq!((text("a.py").as_deref(), text("folder/gone.py")), (Some("2\n"), None));
    }
    assert_eq!(clone.git(&["status", "--porcelain"], 0), "");
    assert_eq!(clone.git(&["rev-parse", "HEAD"], 0), second);
    let error = checkout.go_to("--nonsense").unwrap_err().to_string();
    assert!(error.starts_with("cannot check --nonsense out: "), "{error}");
}

#[test]
fn a_bare_clone_is_one_and_an_empty_folder_is_none() {
    let clone = Clone::new();
    clone.commit(0, &[("a.py", OLD)]);
    assert_eq!(git_folder(&clone.folder()), Some(clone.folder()));
    assert_eq!(git_folder(tempfile::tempdir().unwrap().path()), None);
}
