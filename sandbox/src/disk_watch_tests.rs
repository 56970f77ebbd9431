//! What counts as written, on real files; and looks at a small file system in memory, where the superuser may mount one.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{DiskWatch, Watched, free_space, written_since};

const MIB: usize = 1024 * 1024;

fn write(path: PathBuf, bytes: usize) {
    // Not zeros: some file systems keep none of those.
    fs::write(path, [7].repeat(bytes)).unwrap();
}

fn changed_ns(path: &Path) -> i128 {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::metadata(path).unwrap();
    i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec())
}

#[test]
fn only_files_that_were_changed_since_count_and_links_count_once() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path().join("old"), 3 * MIB);
    let since_ns = changed_ns(&dir.path().join("old")) + 1;
    assert_eq!(written_since(dir.path(), since_ns), 0);
    fs::create_dir_all(dir.path().join(".hidden/deep")).unwrap();
    fs::write(dir.path().join(".gitignore"), "*\n").unwrap();
    while changed_ns(&dir.path().join(".gitignore")) < since_ns {
        // The kernel's clock for files goes in steps.
        fs::write(dir.path().join(".gitignore"), "*\n").unwrap();
    }
    write(dir.path().join(".hidden/deep/new"), 2 * MIB);
    fs::hard_link(dir.path().join(".hidden/deep/new"), dir.path().join("again")).unwrap();
    std::os::unix::fs::symlink(dir.path(), dir.path().join("round")).unwrap();
    let written = written_since(dir.path(), since_ns) as usize;
    assert!((2 * MIB..2 * MIB + 64 * 1024).contains(&written), "{written}");
}

/// A file system in memory; `None` where none can be mounted.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(bytes: usize) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let options = format!("size={bytes},nr_inodes=20000");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(dir.path()).output();
        if rustix::process::geteuid().is_root() && mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(dir));
        }
        let _ = writeln!(std::io::stderr(), "no file system can be mounted here: looks at small disks are not tested");
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

/// A watched command that only counts how often it was killed. The watch's own task does not run: no looks but the test's.
async fn entered(watch: &Arc<DiskWatch>) -> (Watched, Arc<AtomicUsize>) {
    watch.lock().watched = true;
    let kills = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&kills);
    (
        watch.enter(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        }),
        kills,
    )
}

#[tokio::test]
async fn who_adds_too_much_is_killed_and_others_writes_do_not_count() {
    let Some(disk) = SmallDisk::mount(1024 * MIB) else { return };
    let workspace = disk.0.path().join("workspace");
    fs::create_dir(&workspace).unwrap();
    let watch = DiskWatch::new(&workspace, 20 * MIB as u64);
    let (watched, kills) = entered(&watch).await;
    assert!(watch.look());
    write(disk.0.path().join("somebody-else"), 30 * MIB);
    assert!(watch.look());
    write(workspace.join("small"), 5 * MIB);
    assert!(watch.look());
    assert_eq!((kills.load(Ordering::Relaxed), watched.was_hit()), (0, false));
    write(workspace.join("large"), 25 * MIB);
    assert!(watch.look());
    assert_eq!((kills.load(Ordering::Relaxed), watched.was_hit()), (1, true));
    drop(watched);
    // A command that comes later was not there, and may tidy up for as long as that takes.
    let (later, kills) = entered(&watch).await;
    write(workspace.join("written-while-it-was-killed"), MIB);
    for name in ["small", "written-while-it-was-killed"] {
        assert!(watch.look());
        fs::remove_file(workspace.join(name)).unwrap();
    }
    assert!(watch.look());
    assert_eq!((kills.load(Ordering::Relaxed), later.was_hit()), (0, false));
    // But not add to it.
    write(workspace.join("more"), MIB);
    assert!(watch.look());
    assert_eq!((kills.load(Ordering::Relaxed), later.was_hit()), (1, true));
    // With room again everything is as in the beginning.
    fs::remove_file(workspace.join("large")).unwrap();
    assert!(watch.look());
    write(workspace.join("small"), 5 * MIB);
    assert!(watch.look());
    assert_eq!(kills.load(Ordering::Relaxed), 1);
    write(workspace.join("large"), 25 * MIB);
    assert!(watch.look());
    assert_eq!(kills.load(Ordering::Relaxed), 2);
    drop(later);
    assert!(!watch.look(), "nothing runs, and it still looks");
}

#[tokio::test]
async fn a_disk_that_is_nearly_full_ends_commands_whoever_fills_it() {
    let Some(disk) = SmallDisk::mount(300 * MIB) else { return };
    let watch = DiskWatch::new(disk.0.path(), u64::MAX);
    let (watched, _kills) = entered(&watch).await;
    assert!(watch.look() && !watched.was_hit());
    write(disk.0.path().join("filler"), 200 * MIB);
    assert!(watch.look());
    assert!(watched.was_hit(), "{:?}", free_space(disk.0.path()));
    // One that only looks what could be deleted lives.
    let (later, _kills) = entered(&watch).await;
    assert!(watch.look() && watch.look());
    assert!(!later.was_hit());
    write(disk.0.path().join("more"), MIB);
    assert!(watch.look());
    assert!(later.was_hit());
}

#[tokio::test]
async fn so_does_one_without_room_for_more_files() {
    let Some(disk) = SmallDisk::mount(100 * MIB) else { return };
    let watch = DiskWatch::new(disk.0.path(), u64::MAX);
    let (watched, _kills) = entered(&watch).await;
    assert!(watch.look() && !watched.was_hit());
    for n in 0..18_500 {
        fs::File::create(disk.0.path().join(n.to_string())).unwrap();
    }
    assert!(watch.look());
    assert!(watched.was_hit(), "{:?}", free_space(disk.0.path()));
}
