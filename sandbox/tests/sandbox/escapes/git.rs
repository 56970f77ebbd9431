//! An agent writes a repository full of commands for whoever uses git there. Nothing of ours may execute one of them: the
//! host's side only ever reads such folders as bytes.

use retrace_sandbox::snapshot::{RestoreOptions, SnapshotOptions, SnapshotStore};

use super::bait::Bait;
use super::{limits, tell};
use crate::support::{Place, prints};

/// Each is a place in a repository that names a command; all of them create a file when they are run.
pub(super) const NAMES: [&str; 12] = [
    "git: hooks",
    "git: core.hooksPath",
    "git: core.fsmonitor",
    "git: filters",
    "git: core.sshCommand",
    "git: an included configuration",
    "git: aliases",
    "git: core.pager and core.editor",
    "git: diff and merge drivers",
    "git: credential helpers and askpass",
    "git: submodules",
    "git: a .git that is a file, and worktrees",
];

/// Makes the repository. `$MARK name` is the command that must never run on the host.
const SCRIPT: &str = r#"
set -e
git init -q . && git config user.email a@b && git config user.name n
mark() { echo "touch $BAIT_DIR/ran-$1"; }
echo 1 > file && echo '*.txt filter=evil diff=evil merge=evil' > .gitattributes && echo text > a.txt
git add . && git commit -qm first
for hook in pre-commit post-checkout post-index-change fsmonitor-watchman pre-push post-merge reference-transaction \
  pre-auto-gc post-rewrite sendemail-validate p4-pre-submit proc-receive applypatch-msg; do
  printf '#!/bin/sh\n%s\n' "$(mark hook-$hook)" > .git/hooks/$hook; chmod 755 .git/hooks/$hook
done
mkdir -p hooks && cp .git/hooks/* hooks/ 2>/dev/null || true
git config core.fsmonitor "$(mark fsmonitor)"
git config core.hooksPath "$PWD/hooks"
git config filter.evil.clean "$(mark clean)"; git config filter.evil.smudge "$(mark smudge)"
git config filter.evil.process "$(mark process)"; git config filter.evil.required true
git config diff.evil.command "$(mark diff)"; git config diff.evil.textconv "$(mark textconv)"; git config diff.external "$(mark external)"
git config merge.evil.driver "$(mark merge)"
git config core.sshCommand "$(mark ssh)"; git config core.gitProxy "$(mark proxy)"; git config core.askPass "$(mark askpass)"
git config core.pager "$(mark pager)"; git config core.editor "$(mark editor)"; git config sequence.editor "$(mark sequence)"
git config credential.helper "!$(mark credential)"; git config gpg.program "$(mark gpg)"; git config commit.gpgSign true
git config alias.status "!$(mark alias)"; git config alias.st "!$(mark alias2)"
git config uploadpack.packObjectsHook "$(mark pack)"; git config remote.origin.url "ext::sh -c '$(mark ext)'"
git config remote.origin.uploadpack "$(mark uploadpack)"; git config protocol.ext.allow always
printf '[include]\n\tpath = ../evil.config\n[includeIf "gitdir:/"]\n\tpath = /etc/passwd\n' >> .git/config
printf '[core]\n\tfsmonitor = %s\n' "$(mark included)" > evil.config
printf '[submodule "x"]\n\tpath = sub\n\turl = ext::sh -c "%s"\n\tupdate = !%s\n' "$(mark suburl)" "$(mark subupdate)" > .gitmodules
mkdir -p sub worktree && echo "gitdir: ../.git" > sub/.git && echo "gitdir: $BAIT_DIR" > worktree/.git
mkdir -p .git/worktrees/w && echo "$BAIT_DIR/.git" > .git/worktrees/w/gitdir && echo ../../.. > .git/worktrees/w/commondir
echo "$BAIT_DIR" > .git/objects/info/alternates
ln -s "$BAIT_DIR/secret" .git/info/exclude.link; ln -sf "$BAIT_DIR/secret" .git/info/exclude; ln -s "$BAIT_DIR/secret" .gitignore
rm .git/HEAD && ln -s "$BAIT_DIR/secret" .git/HEAD
echo made
"#;

#[tokio::test]
async fn an_agents_repository_executes_nothing_on_the_host() {
    let place = Place::new();
    let bait = Bait::lay(&place);
    let sandbox = place.start_with(limits()).await;
    let exports: String = bait.told(&place).iter().map(|(name, value)| format!("export {name}='{value}'\n")).collect();
    assert_eq!(prints(&sandbox, &format!("{exports}{SCRIPT}")).await, "made");

    // All that we do with workspaces on the host: taken twice (the second time by what is remembered), listed, compared,
    // read, given back, brought into the very folder.
    let dir = tempfile::tempdir().unwrap();
    let store = SnapshotStore::open(&dir.path().join("store")).unwrap();
    let options = SnapshotOptions { secrets: Vec::new(), ..SnapshotOptions::default() };
    let first = store.take(place.workspace(), &options, None).unwrap();
    prints(&sandbox, "echo 2 > file; echo changed > a.txt; touch .git/index").await;
    let second = store.take(place.workspace(), &options, Some(&first.tree)).unwrap();
    let changes = store.changes(Some(&first.tree), &second.tree).unwrap();
    assert!(changes.iter().any(|change| format!("{change:?}").contains("a.txt")), "{changes:?}");
    let copy = dir.path().join("copy");
    store.restore(&second.tree, &copy, &RestoreOptions::default()).unwrap();
    assert_eq!(std::fs::read_to_string(copy.join("a.txt")).unwrap(), "changed\n");
    let listed = sandbox.list("", None, true, 100_000).await.unwrap();
    assert!(!listed.entries.is_empty());
    sandbox.shutdown().await;

    let outcome = bait.check_after_the_end(&place);
    let leaked = walk(&dir.path().join("copy")).into_iter().find(|path| {
        std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
            && std::fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(bait.secret()))
    });
    for name in NAMES {
        tell(name, &outcome.clone().map(|()| "nothing of it ran on the host".to_owned()));
    }
    outcome.unwrap();
    assert_eq!(leaked, None, "what a link led to is in the snapshot");

    // The bait is good: git itself, on the host, does run some of it.
    let status = std::process::Command::new("git")
        .args(["-c", "safe.directory=*", "-C"])
        .arg(place.workspace())
        .args(["config", "core.fsmonitor"])
        .output()
        .unwrap();
    let ours = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(ours.contains("touch") || !status.status.success(), "{ours}");
}

fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).unwrap().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
            found.push(entry.path());
        }
    }
    found
}
