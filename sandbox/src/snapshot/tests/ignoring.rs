//! What git ignores is left out, and nothing else: whatever the rules are, git itself is asked.

use super::{Bench, ItemKind, git};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

const NAMES: [&str; 9] = ["a", "b", "c.o", "x.log", "ab", "a b", "#a", "!b", "build"];
const FOLDERS: [&str; 7] = ["", "a/", "b/", "a/b/", "build/", "build/a/", "a/b/ab/"];
const PARTS: [&str; 16] =
    ["a", "b", "*", "*.o", "*.log", "a*", "?", "**", "[ab]", "[!a]", "[a-c]*", "build", "\\#a", "\\!b", "a b", "x.*"];

/// A line of a `.gitignore`.
fn line() -> impl Strategy<Value = String> {
    let parts = prop::collection::vec(prop::sample::select(&PARTS[..]), 1..4);
    let pattern = (any::<bool>(), prop::bool::weighted(0.3), parts, prop::bool::weighted(0.3)).prop_map(
        |(rooted, taken_back, parts, folder)| {
            let (not, root, slash) =
                (["", "!"][usize::from(taken_back)], ["", "/"][usize::from(rooted)], if folder { "/" } else { "" });
            format!("{not}{root}{}{slash}", parts.join("/"))
        },
    );
    let odd = prop::sample::select(vec!["", "# a", "#a", "!", "/", "   ", "*.o  ", "\\", "a\\ ", "!*"]);
    prop_oneof![8 => pattern, 1 => odd.prop_map(str::to_owned)]
}

/// Rules in some folders, files, and some of these tracked whatever the rules say.
type Case = (Vec<(usize, Vec<String>)>, Vec<(usize, usize)>, Vec<prop::sample::Index>);

fn case() -> impl Strategy<Value = Case> {
    let rules = prop::collection::vec((0..4_usize, prop::collection::vec(line(), 1..6)), 0..4);
    let files = prop::collection::vec((0..FOLDERS.len(), 0..NAMES.len()), 4..25);
    (rules, files, prop::collection::vec(any::<prop::sample::Index>(), 0..3))
}

/// What git would put into a commit of everything.
fn git_says(dir: &Path) -> BTreeSet<Vec<u8>> {
    let mut command = Command::new("git");
    command.current_dir(dir).env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", dir);
    command.args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let output = command.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout.split(|&byte| byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect()
}

fn snapshot_says(bench: &Bench) -> BTreeSet<Vec<u8>> {
    let tree = bench.take().tree;
    let changes = bench.store.changes(None, &tree).unwrap().into_iter();
    let files = changes.filter(|change| change.after.as_ref().is_some_and(|item| item.kind != ItemKind::Folder));
    files.map(|change| change.path.as_os_str().as_bytes().to_vec()).filter(|path| !path.starts_with(b".git/")).collect()
}

#[test]
fn whatever_the_rules_are_git_has_the_same_opinion() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[21; 32]));
    let result = runner.run(&case(), |(rules, files, tracked)| {
        let mut bench = Bench::new();
        bench.options.secrets.clear();
        for (folder, name) in &files {
            let path = bench.work().join(format!("{}{}", FOLDERS[*folder], NAMES[*name]));
            // A name that is a folder by now, or has a file on the way to it, is passed over.
            let made = fs::create_dir_all(path.parent().unwrap());
            let _ = made.and_then(|()| fs::write(&path, "x"));
        }
        for (folder, lines) in &rules {
            let path = bench.work().join(FOLDERS[*folder]).join(".gitignore");
            let _ = fs::write(path, lines.join("\n") + "\n");
        }
        assert!(git(&bench.work(), &["init", "-q"]));
        for index in &tracked {
            let (folder, name) = index.get(&files);
            git(&bench.work(), &["add", "-f", "--", &format!("{}{}", FOLDERS[*folder], NAMES[*name])]);
        }
        prop_assert_eq!(
            snapshot_says(&bench).iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect::<Vec<_>>(),
            git_says(&bench.work()).iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect::<Vec<_>>()
        );
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
