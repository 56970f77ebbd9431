//! Git's index as git writes it, and as nobody should.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::repository::{Rules, gitfile, lead};
use super::tracked::Tracked;
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::process::Command;

fn git(dir: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("git")
        .current_dir(dir)
        .env("HOME", dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args(["-c", "safe.directory=*", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// A repository with names of every length up to a hundred, and an index of this version.
fn index(version: &str, format: &str) -> (tempfile::TempDir, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "-q", &format!("--object-format={format}")]);
    let mut names: Vec<String> = (1..100).map(|n| format!("{}/{}", "d".repeat(n % 7 + 1), "n".repeat(n))).collect();
    names.push("sp ace/\u{fc}".to_owned());
    for name in &names {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    git(dir.path(), &["add", "-A"]);
    git(dir.path(), &["update-index", "--index-version", version]);
    // An extended flag, which the second version has no room for.
    git(dir.path(), &["update-index", "--skip-worktree", "d/nnnnnnn"]);
    (dir, names)
}

#[test]
fn indexes_of_all_versions_are_read() {
    for (version, format) in [("2", "sha1"), ("3", "sha1"), ("4", "sha1"), ("2", "sha256"), ("4", "sha256")] {
        let (dir, names) = index(version, format);
        let tracked = Tracked::parse(&fs::read(dir.path().join(".git/index")).unwrap()).expect(version);
        for name in &names {
            assert!(tracked.has(name.as_bytes()), "{version} {format} {name}");
            assert!(tracked.has_beneath(name.split('/').next().unwrap().as_bytes()));
        }
        for absent in ["", "d", "x", "d/nope", "sp ace/", "zzz"] {
            assert!(!tracked.has(absent.as_bytes()), "{absent}");
        }
        assert!(!tracked.has_beneath(b"x") && !tracked.has_beneath(b"d/n") && !tracked.has_beneath(b""));
    }
}

#[test]
fn a_split_index_is_not_half_read() {
    let (dir, _) = index("2", "sha1");
    git(dir.path(), &["update-index", "--split-index"]);
    assert!(Tracked::parse(&fs::read(dir.path().join(".git/index")).unwrap()).is_none());
}

#[test]
fn an_index_that_is_cut_is_not_used() {
    let (dir, names) = index("4", "sha1");
    let bytes = fs::read(dir.path().join(".git/index")).unwrap();
    for cut in 0..bytes.len() {
        // The checksum is not looked at; what stands before it is.
        if let Some(tracked) = Tracked::parse(&bytes[..cut]) {
            assert!(names.iter().all(|name| tracked.has(name.as_bytes())), "{cut}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(version in 0_u8..6, count in any::<u32>(), bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let header = [b"DIRC\0\0\0", &[version][..], &(count % 5).to_be_bytes()].concat();
        let _ = Tracked::parse(&[header, bytes.clone()].concat());
        let _ = Tracked::parse(&bytes);
    }

    /// A `.git` file leads into the workspace or nowhere.
    #[test]
    fn leads_never_lead_out(folder in "[ab]{1,2}(/[ab]{1,2}){0,3}", target in "[ab./]{0,12}") {
        if let Some(path) = lead(folder.as_bytes(), target.as_bytes()) {
            prop_assert!(!path.starts_with(b"/"));
            prop_assert!(path.split(|byte| *byte == b'/').all(|part| part != b".." && part != b"."));
        }
    }
}

#[test]
fn git_files_are_read_as_git_reads_them() {
    assert_eq!(gitfile(b"gitdir: ../x\n"), Some(&b"../x"[..]));
    assert_eq!(gitfile(b"something else"), None);
    assert_eq!(lead(b"a/b", b"../../.git/modules/b"), Some(b".git/modules/b".to_vec()));
    assert_eq!(lead(b"", b"sub/.git"), Some(b"sub/.git".to_vec()));
    for target in [&b"/abs"[..], b"../../../x", b""] {
        assert_eq!(lead(b"a/b", target), None);
    }
}

#[test]
fn the_nearest_rule_decides() {
    let top = Rules::add(None, b"", "*.log\n/only-top\ndir/\n");
    let inner = Rules::add(top.clone(), b"a/b", "!keep.log\nextra\n");
    let (top, inner) = (top.unwrap(), inner.unwrap());
    for (path, is_folder, at_top, within) in [
        (&b"a/b/x.log"[..], false, true, true),
        (b"a/b/keep.log", false, true, false),
        (b"a/b/c/extra", false, false, true),
        (b"only-top", false, true, true),
        (b"a/b/only-top", false, false, false),
        (b"a/b/dir", true, true, true),
        (b"a/b/dir", false, false, false),
        (b"a/b/\xff.log", false, true, true),
    ] {
        assert_eq!(top.ignore(path, is_folder), at_top, "{}", String::from_utf8_lossy(path));
        if path.starts_with(b"a/b/") {
            assert_eq!(inner.ignore(path, is_folder), within, "{}", String::from_utf8_lossy(path));
        }
    }
    assert!(Rules::add(None, b"", "# nothing\n\n").is_none());
}
