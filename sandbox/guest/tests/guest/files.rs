//! Reading, looking and listing; and that no path leads out.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use retrace_guest::message::{EntryKind, FailureKind, ListSpec, Truncation};
use retrace_guest::raw_path::RawPath;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::client::{Client, kind, text};

fn everything(path: &str) -> ListSpec {
    ListSpec { path: RawPath::from(path), depth: None, respect_gitignore: true, limit: 100_000 }
}

fn paths(entries: &[retrace_guest::message::Entry]) -> Vec<String> {
    entries.iter().map(|entry| entry.path.to_string()).collect()
}

#[test]
fn ranges_are_read() {
    let mut client = Client::new();
    fs::write(client.path().join("file"), "0123456789").unwrap();
    let mut read = |offset, limit| {
        let (bytes, done) = client.read("file", offset, limit).unwrap();
        assert_eq!((done.total_bytes, done.sent_bytes), (10, bytes.len() as u64));
        text(&bytes)
    };
    assert_eq!(read(0, 100), "0123456789");
    assert_eq!(read(3, 4), "3456");
    assert_eq!(read(8, 4), "89");
    assert_eq!(read(10, 4), "");
    assert_eq!(read(u64::MAX / 4, 4), "");
    assert_eq!(read(0, 0), "");
}

#[test]
fn a_large_file_comes_in_many_parts() {
    let mut client = Client::new();
    let data: Vec<u8> = (0..5_000_000u32).map(|n| (n / 7) as u8).collect();
    fs::write(client.path().join("big"), &data).unwrap();
    let (bytes, done) = client.read("big", 0, u64::MAX).unwrap();
    assert!(bytes == data);
    assert_eq!(done.total_bytes, 5_000_000);
}

/// A folder outside, with a secret in it, and a client whose workspace links to it in every way.
fn with_escapes() -> (Client, tempfile::TempDir, Vec<PathBuf>) {
    let client = Client::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    let ws = client.path().to_path_buf();
    fs::create_dir(ws.join("dir")).unwrap();
    symlink(outside.path().join("secret"), ws.join("link")).unwrap();
    symlink(outside.path(), ws.join("linkdir")).unwrap();
    symlink("linkdir/secret", ws.join("chain")).unwrap();
    let name = outside.path().file_name().unwrap();
    symlink(Path::new("../..").join(name).join("secret"), ws.join("dir/relative")).unwrap();
    symlink(format!("/proc/self/root{}", outside.path().join("secret").display()), ws.join("magic")).unwrap();
    let up = Path::new("..").join(name).join("secret");
    let escapes = vec![
        up.clone(),
        Path::new("dir/..").join(&up),
        outside.path().join("secret"),
        "link".into(),
        "linkdir/secret".into(),
        "chain".into(),
        "dir/relative".into(),
        "magic".into(),
    ];
    (client, outside, escapes)
}

#[test]
fn no_path_leads_out() {
    let (mut client, outside, escapes) = with_escapes();
    for path in &escapes {
        assert_eq!(kind(client.read(path, 0, 10)), FailureKind::OutsideWorkspace, "read {path:?}");
        assert_eq!(kind(client.stat(path, true)), FailureKind::OutsideWorkspace, "stat {path:?}");
        assert_eq!(kind(client.write(path, b"overwritten")), FailureKind::OutsideWorkspace, "write {path:?}");
    }
    for dir in ["..", "linkdir", "/", "dir/../.."] {
        assert_eq!(kind(client.list(everything(dir))), FailureKind::OutsideWorkspace, "list {dir}");
    }
    assert_eq!(fs::read_to_string(outside.path().join("secret")).unwrap(), "secret");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn new_files_cannot_be_made_outside_either() {
    let (mut client, outside, _) = with_escapes();
    for path in ["linkdir/new", "linkdir/a/b/new", "../new-file-outside", "dir/../../new-file-outside"] {
        assert_eq!(kind(client.write(path, b"x")), FailureKind::OutsideWorkspace, "{path}");
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn paths_that_stay_inside_are_fine() {
    let mut client = Client::new();
    let ws = client.path().canonicalize().unwrap();
    fs::create_dir_all(ws.join("a/b")).unwrap();
    fs::write(ws.join("a/b/file"), "inside").unwrap();
    symlink("a/b", ws.join("short")).unwrap();
    symlink("../a/b/file", ws.join("a/link")).unwrap();
    for path in
        [PathBuf::from("a/b/file"), "a/../a/b/file".into(), "short/file".into(), "a/link".into(), ws.join("a/b/file")]
    {
        assert_eq!(text(&client.read(&path, 0, 100).unwrap().0), "inside", "{path:?}");
    }
    assert_eq!(client.stat("short", false).unwrap().kind, EntryKind::Symlink);
    assert_eq!(client.stat("short", true).unwrap().kind, EntryKind::Directory);
}

/// A folder is replaced by a link that leads out, again and again, while a file below it is read and written.
#[test]
fn a_folder_swapped_for_a_link_in_between_does_not_lead_out() {
    let mut client = Client::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("file"), "secret").unwrap();
    let ws = client.path().to_path_buf();
    fs::create_dir(ws.join("real")).unwrap();
    fs::write(ws.join("real/file"), "inside").unwrap();
    fs::rename(ws.join("real"), ws.join("dir")).unwrap();
    symlink(outside.path(), ws.join("evil")).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let swapper = std::thread::spawn(move || {
        let mut swaps = 0;
        while !stopped.load(Ordering::Relaxed) {
            let (dir, evil) = (ws.join("dir"), ws.join("evil"));
            renameat_with(CWD, &dir, CWD, &evil, RenameFlags::EXCHANGE).unwrap();
            swaps += 1;
        }
        swaps
    });
    let (mut inside, mut refused) = (0, 0);
    for round in 0..1500 {
        match client.read("dir/file", 0, 100) {
            Ok((bytes, _)) => {
                assert!(bytes == b"inside" || bytes.starts_with(b"round"), "{}", text(&bytes));
                inside += 1;
            }
            Err(_) => refused += 1,
        }
        if round % 10 == 0 {
            let _ = client.write("dir/file", format!("round {round}").as_bytes());
        }
    }
    stop.store(true, Ordering::Relaxed);
    assert!(swapper.join().unwrap() > 100);
    assert!(inside > 0 && refused > 0, "inside {inside}, refused {refused}: the race did not happen");
    assert_eq!(fs::read_to_string(outside.path().join("file")).unwrap(), "secret");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn special_files_are_refused_without_blocking() {
    let mut client = Client::new();
    client.shell("mkfifo fifo; python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('sock')\"");
    let ws = client.path().to_path_buf();
    fs::create_dir(ws.join("dir")).unwrap();
    for path in ["fifo", "sock", "dir", "."] {
        assert_eq!(kind(client.read(path, 0, 10)), FailureKind::NotAFile, "{path}");
    }
    assert_eq!(kind(client.write("fifo", b"x")), FailureKind::NotAFile);
    assert_eq!(kind(client.write("dir", b"x")), FailureKind::NotAFile);
    assert_eq!(client.stat("fifo", true).unwrap().kind, EntryKind::Special);
    if rustix::process::geteuid().is_root() {
        client.shell("mknod device c 1 5");
        assert_eq!(kind(client.read("device", 0, 10)), FailureKind::NotAFile);
    }
}

#[test]
fn missing_and_wrong_paths_are_told_apart() {
    let mut client = Client::new();
    fs::write(client.path().join("file"), "").unwrap();
    assert_eq!(kind(client.read("nothing", 0, 1)), FailureKind::NotFound);
    assert_eq!(kind(client.read("file/below", 0, 1)), FailureKind::NotADirectory);
    assert_eq!(kind(client.list(everything("file"))), FailureKind::NotADirectory);
    assert_eq!(kind(client.list(everything("nothing"))), FailureKind::NotFound);
    assert_eq!(kind(client.read("x".repeat(300), 0, 1)), FailureKind::BadRequest);
    assert_eq!(kind(client.read("nul\0byte", 0, 1)), FailureKind::BadRequest);
    symlink("loop", client.path().join("loop")).unwrap();
    assert_eq!(kind(client.read("loop", 0, 1)), FailureKind::Io);
}

#[test]
fn names_that_are_not_utf8_work_throughout() {
    let mut client = Client::new();
    let name = PathBuf::from(OsStr::from_bytes(b"na\xffme"));
    client.write(&name, b"contents").unwrap();
    assert_eq!(client.read(&name, 0, 100).unwrap().0, b"contents");
    let (entries, _) = client.list(everything("")).unwrap();
    assert_eq!(entries[0].path.as_path(), name);
}

#[test]
fn stat_tells_what_there_is() {
    let mut client = Client::new();
    let file = client.path().join("file");
    fs::write(&file, "12345").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o750)).unwrap();
    let stat = client.stat("file", true).unwrap();
    assert_eq!((stat.kind, stat.size_bytes, stat.mode), (EntryKind::File, 5, 0o750));
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    let expected = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64;
    assert_eq!(stat.modified_ms, expected);
}

#[test]
fn listing_obeys_gitignore_and_depth() {
    let mut client = Client::new();
    let ws = client.path();
    for dir in ["src/deep", "target/debug", ".git", ".github"] {
        fs::create_dir_all(ws.join(dir)).unwrap();
    }
    for file in ["src/a.rs", "src/deep/b.rs", "target/debug/x", ".git/HEAD", ".github/ci", "notes.log"] {
        fs::write(ws.join(file), "12").unwrap();
    }
    fs::write(ws.join(".gitignore"), "target\n*.log\n").unwrap();
    symlink("src", ws.join("alias")).unwrap();
    let (entries, done) = client.list(everything("")).unwrap();
    let expected = [".github", ".github/ci", ".gitignore", "alias", "src", "src/a.rs", "src/deep", "src/deep/b.rs"];
    assert_eq!(paths(&entries), expected);
    assert_eq!((done.entries, done.truncated), (8, None));
    assert_eq!(entries[3].kind, EntryKind::Symlink);
    assert_eq!((entries[5].kind, entries[5].size_bytes), (EntryKind::File, 2));
    // The rules of the folders above hold below too.
    fs::write(client.path().join("src/c.log"), "").unwrap();
    assert_eq!(paths(&client.list(everything("src")).unwrap().0), ["src/a.rs", "src/deep", "src/deep/b.rs"]);
    let (shallow, _) = client.list(ListSpec { depth: Some(1), ..everything("src") }).unwrap();
    assert_eq!(paths(&shallow), ["src/a.rs", "src/deep"]);
    let (all, _) = client.list(ListSpec { respect_gitignore: false, ..everything("") }).unwrap();
    assert!(paths(&all).contains(&"target/debug/x".to_owned()) && paths(&all).contains(&".git/HEAD".to_owned()));
}

#[test]
fn ten_thousand_files_are_bounded() {
    let mut client = Client::new();
    for n in 0..10_000 {
        fs::write(client.path().join(format!("file-with-a-rather-long-name-to-fill-frames-{n:05}")), "").unwrap();
    }
    let (entries, done) = client.list(ListSpec { limit: 700, ..everything("") }).unwrap();
    assert_eq!((entries.len(), done.entries, done.truncated), (700, 700, Some(Truncation::Count)));
    let (entries, done) = client.list(everything("")).unwrap();
    assert_eq!((entries.len(), done.truncated), (10_000, None));
    assert!(entries.is_sorted_by(|a, b| a.path < b.path));
    let (exact, done) = client.list(ListSpec { limit: 10_000, ..everything("") }).unwrap();
    assert_eq!((exact.len(), done.truncated), (10_000, None));
}

#[test]
fn links_are_listed_but_not_followed() {
    let mut client = Client::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "").unwrap();
    symlink(outside.path(), client.path().join("out")).unwrap();
    symlink(".", client.path().join("self")).unwrap();
    let (entries, _) = client.list(everything("")).unwrap();
    assert_eq!(paths(&entries), ["out", "self"]);
    assert_eq!(paths(&client.list(ListSpec { depth: Some(1), ..everything("self") }).unwrap().0), ["out", "self"]);
}
