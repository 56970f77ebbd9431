//! The guest's file: written once, verified always.

use super::*;

#[test]
fn it_is_written_once_and_reused() {
    let dir = tempfile::tempdir().unwrap();
    let first = GuestFiles::unpack(dir.path()).unwrap();
    let written = fs::metadata(&first.executable).unwrap();
    assert_eq!(written.permissions().mode() & 0o7777, 0o555);
    assert_eq!(written.len(), GUEST.len() as u64);
    assert_eq!(fs::read(&first.empty).unwrap(), b"");
    let second = GuestFiles::unpack(dir.path()).unwrap();
    assert_eq!(first.executable, second.executable);
    assert_eq!(written.modified().unwrap(), fs::metadata(&second.executable).unwrap().modified().unwrap());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4);
}

#[test]
fn a_tampered_file_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let files = GuestFiles::unpack(dir.path()).unwrap();
    let tamper: [&dyn Fn(&Path); 4] = [
        &|path| {
            let mut bytes = fs::read(path).unwrap();
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            fs::remove_file(path).unwrap();
            fs::write(path, bytes).unwrap();
            fs::set_permissions(path, Permissions::from_mode(0o555)).unwrap();
        },
        &|path| fs::remove_file(path).unwrap(),
        &|path| fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap(),
        &|path| {
            let elsewhere = path.with_extension("elsewhere");
            fs::rename(path, &elsewhere).unwrap();
            std::os::unix::fs::symlink(&elsewhere, path).unwrap();
        },
    ];
    for tamper in tamper {
        tamper(&files.executable);
        GuestFiles::unpack(dir.path()).unwrap();
        let metadata = fs::symlink_metadata(&files.executable).unwrap();
        assert!(metadata.is_file() && metadata.permissions().mode() & 0o7777 == 0o555);
        assert!(fs::read(&files.executable).unwrap() == GUEST);
    }
}

#[test]
fn it_is_a_static_executable() {
    assert_eq!(GUEST.get(..4), Some(&b"\x7fELF"[..]));
    // A dynamic one would name its loader.
    assert!(!GUEST.windows(8).any(|window| window == b"/ld-linu"));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = GuestFiles::unpack(&file.path().join("below")).unwrap_err();
    assert!(error.to_string().contains("below"), "{error}");
}

/// A sandbox mounts the file by its name a moment after it was found: nobody may put another in its place meanwhile.
#[test]
fn of_many_that_unpack_at_once_one_file_stays() {
    for _ in 0..8 {
        let dir = tempfile::tempdir().unwrap();
        let start = std::sync::Barrier::new(8);
        let inode = || {
            start.wait();
            let files = GuestFiles::unpack(dir.path()).unwrap();
            fs::metadata(&files.executable).unwrap().ino()
        };
        let inodes: Vec<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(inode)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(inodes.iter().all(|inode| *inode == inodes[0]), "{inodes:?}");
    }
}
