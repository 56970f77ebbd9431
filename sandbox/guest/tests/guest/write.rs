//! Writing: the old file or the new one, never something in between.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use retrace_guest::message::{FailureKind, Request, Response, WriteSpec};
use retrace_guest::raw_path::RawPath;

use crate::client::{Client, eventually, kind, text};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn files_and_the_folders_above_them_are_made() {
    let mut client = Client::new();
    let done = client.write("a/b/c/file.txt", b"contents").unwrap();
    assert_eq!((done.written_bytes, done.created), (8, true));
    let file = client.path().join("a/b/c/file.txt");
    assert_eq!(fs::read(&file).unwrap(), b"contents");
    assert_eq!(mode(&file), 0o644);
    let done = client.write("a/b/c/file.txt", b"").unwrap();
    assert_eq!((done.written_bytes, done.created), (0, false));
    assert_eq!(fs::read(&file).unwrap(), b"");
}

#[test]
fn the_mode_is_kept_and_can_be_given_for_new_files() {
    let mut client = Client::new();
    let script = client.path().join("script.sh");
    fs::write(&script, "old").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o751)).unwrap();
    client.write("script.sh", b"new").unwrap();
    assert_eq!((fs::read_to_string(&script).unwrap().as_str(), mode(&script)), ("new", 0o751));
    let id = client.start(&Request::Write(WriteSpec { path: RawPath::from("run"), mode: Some(0o6755) }));
    client.send(id, &Request::Data { last: true }, b"x");
    assert!(matches!(client.finish(id)[0].0, Response::WriteDone(_)));
    // Set-user-id is not for agents.
    assert_eq!(mode(&client.path().join("run")), 0o755);
}

#[test]
fn a_link_stays_a_link_and_its_target_is_replaced() {
    let mut client = Client::new();
    fs::create_dir(client.path().join("dir")).unwrap();
    fs::write(client.path().join("dir/target"), "old").unwrap();
    symlink("dir/target", client.path().join("link")).unwrap();
    client.write("link", b"new").unwrap();
    assert!(fs::symlink_metadata(client.path().join("link")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(client.path().join("dir/target")).unwrap(), "new");
}

#[test]
fn a_reader_never_sees_half_a_file() {
    let mut client = Client::new();
    let file = client.path().join("file");
    let (old, new) = (vec![b'a'; 2_000_000], vec![b'b'; 3_000_000]);
    fs::write(&file, &old).unwrap();
    let inode = fs::metadata(&file).unwrap().ino();
    let id = client.start(&Request::Write(WriteSpec { path: RawPath::from("file"), mode: None }));
    for part in new.chunks(500_000) {
        client.send(id, &Request::Data { last: false }, part);
        assert!(fs::read(&file).unwrap() == old);
    }
    client.send(id, &Request::Data { last: true }, &[]);
    assert!(matches!(client.finish(id).pop().unwrap().0, Response::WriteDone(_)));
    assert!(fs::read(&file).unwrap() == new);
    assert_ne!(fs::metadata(&file).unwrap().ino(), inode);
}

#[test]
fn a_cancelled_write_changes_nothing_and_leaves_nothing() {
    let mut client = Client::new();
    fs::write(client.path().join("file"), "old").unwrap();
    let id = client.start(&Request::Write(WriteSpec { path: RawPath::from("file"), mode: None }));
    client.send(id, &Request::Data { last: false }, b"half");
    client.send(id, &Request::Kill, &[]);
    let (Response::Failed(failure), _) = client.next(id) else { panic!("written") };
    assert_eq!(failure.kind, FailureKind::Cancelled);
    assert_eq!(fs::read_to_string(client.path().join("file")).unwrap(), "old");
    assert_eq!(fs::read_dir(client.path()).unwrap().count(), 1);
}

#[test]
fn a_write_the_host_never_finishes_leaves_nothing() {
    let mut client = Client::new();
    let dir = client.path().to_path_buf();
    let id = client.start(&Request::Write(WriteSpec { path: RawPath::from("file"), mode: None }));
    client.send(id, &Request::Data { last: false }, b"half");
    eventually("the temporary file is there", || fs::read_dir(&dir).unwrap().count() == 1);
    drop(client.stdin.take());
    client.child.wait().unwrap();
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
}

#[test]
fn paths_that_name_no_file_are_refused() {
    let mut client = Client::new();
    for path in ["", ".", "new/..", "new/"] {
        assert!(
            matches!(
                kind(client.write(path, b"x")),
                FailureKind::BadRequest | FailureKind::NotAFile | FailureKind::NotFound
            ),
            "{path:?}"
        );
    }
    fs::write(client.path().join("file"), "").unwrap();
    assert_eq!(kind(client.write("file/below", b"x")), FailureKind::NotADirectory);
}

#[test]
fn a_full_disk_is_named_and_the_old_file_stays() {
    let mut client = Client::on_small_disk(1_000_000);
    client.write("file", b"old").unwrap();
    let failure = client.write("file", &vec![0; 2_000_000]).unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoSpace);
    assert!(failure.message.contains("file"), "{failure}");
    assert_eq!(client.read("file", 0, 100).unwrap().0, b"old");
    let names = client.shell("ls -A").stdout;
    assert_eq!(text(&names), "file\n");
}
