//! Disks that are full, at every stage of what is written to them: what was begun is not there, what was there is whole, and
//! with some space it goes on. The disks are small file systems in memory; only the superuser may mount them.

use super::{Bench, BringOptions, RestoreOptions, SnapshotError, SnapshotStore, assert_same, is_root, names, survey};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What SQLite needs to read, in bytes.
const INDEX: u64 = 32 << 10;

/// A small file system, gone when this is.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts one of so many bytes and files; where that is not allowed, it is said, and there is nothing to test.
    fn mount(bench: &Bench, bytes: u64, files: u64) -> Option<Self> {
        let place = bench.path("small");
        fs::create_dir(&place).unwrap();
        let options = format!("size={bytes},nr_inodes={files}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&place).output();
        if is_root() && mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(place));
        }
        let _ = writeln!(std::io::stderr(), "no file system can be mounted here: full disks are not tested");
        None
    }

    /// Writes until so many bytes are left.
    fn fill(&self, left: u64) {
        let mut file = fs::File::create(self.0.join("filler")).unwrap();
        let mut size = 0_u64;
        while file.write_all(&[0; 4_096]).is_ok() {
            size += 4_096;
        }
        file.set_len(size.saturating_sub(left)).unwrap();
    }

    /// Makes files until there may be so many more.
    fn crowd(&self, left: usize) {
        let folder = self.0.join("fillers");
        fs::create_dir(&folder).unwrap();
        let made = (0..).take_while(|n| fs::File::create(folder.join(n.to_string())).is_ok()).count();
        (0..left.min(made)).for_each(|n| fs::remove_file(folder.join(n.to_string())).unwrap());
    }

    fn empty(&self) {
        let _ = fs::remove_file(self.0.join("filler"));
        let _ = fs::remove_dir_all(self.0.join("fillers"));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn noise(n: usize, bytes: usize) -> Vec<u8> {
    let hash = |at: usize| *blake3::hash(format!("{n} {at}").as_bytes()).as_bytes();
    (0..bytes.div_ceil(32)).flat_map(hash).take(bytes).collect()
}

/// Forty files in ten folders, of 300 kilobytes together.
fn fill(folder: &Path, round: usize) {
    for n in 0..40 {
        let dir = folder.join(format!("d{}/e{}", n % 2, n % 5));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(format!("f{n}")), noise(n + round * 100, 300 * n + 1_500)).unwrap();
    }
}

/// Makes a disk full at several places.
type Fill = Box<dyn Fn(&SmallDisk)>;

/// A result that is there or fails for want of space; true when it is there.
#[track_caller]
fn is_done<T>(result: Result<T, SnapshotError>, what: &str) -> bool {
    match result {
        Ok(_) => true,
        Err(error) => {
            assert!(error.is_no_space(), "{what}: {error}");
            false
        }
    }
}

fn places() -> Vec<(String, Fill)> {
    let bytes = (0..22).map(|step| step * 16_384).chain([600_000]);
    let by_bytes = bytes.map(|left| (format!("{left} bytes"), Box::new(move |disk: &SmallDisk| disk.fill(left)) as _));
    // One by one, since each file and each folder that is made is a stage of its own.
    let by_files =
        (0..60).map(|left| (format!("{left} files"), Box::new(move |disk: &SmallDisk| disk.crowd(left)) as _));
    by_bytes.into_iter().chain(by_files).collect()
}

/// Runs `test` on disks that are full at different moments; it tells whether there was space enough.
#[track_caller]
fn at_each_place(disk: &SmallDisk, mut test: impl FnMut(&str) -> bool) {
    let mut outcomes = Vec::new();
    for (left, make_full) in places() {
        make_full(disk);
        outcomes.push(test(&left));
        disk.empty();
    }
    let done = outcomes.iter().filter(|done| **done).count();
    assert!(done >= 2 && outcomes.len() - done >= 8, "the disk was never, or always, full: {outcomes:?}");
}

#[test]
fn a_restore_on_a_full_disk_leaves_nothing() {
    let bench = Bench::new();
    let Some(disk) = SmallDisk::mount(&bench, 2 << 20, 200) else { return };
    fill(&bench.work(), 0);
    let (tree, expected) = (bench.take().tree, survey(&bench.work()));
    at_each_place(&disk, |left| {
        let before = names(&disk.0);
        let into = disk.0.join("again");
        if !is_done(bench.store.restore(&tree, &into, &RestoreOptions::default()), left) {
            assert_eq!(names(&disk.0), before, "with {left}");
            return false;
        }
        assert_same(&survey(&into), &expected, left);
        fs::remove_dir_all(&into).unwrap();
        true
    });
}

#[test]
fn what_cannot_be_brought_to_a_full_disk_changes_nothing_there() {
    let bench = Bench::new();
    let Some(disk) = SmallDisk::mount(&bench, 2 << 20, 200) else { return };
    let work = disk.0.join("work");
    let take = || bench.store.take(&work, &bench.options, None).unwrap().tree;
    fill(&work, 0);
    fs::write(work.join("only before"), "x").unwrap();
    let (one, was) = (take(), survey(&work));
    fs::remove_dir_all(work.join("d1")).unwrap();
    fs::remove_file(work.join("only before")).unwrap();
    fs::write(work.join("d0/e0/f0"), "changed").unwrap();
    fs::write(work.join("only now"), "y").unwrap();
    let (two, is) = (take(), survey(&work));
    let bring = |tree| bench.store.bring(tree, &work, &bench.options, BringOptions::default());
    at_each_place(&disk, |left| {
        let done = is_done(bring(&one), left);
        assert_same(&survey(&work), if done { &was } else { &is }, &format!("with {left}, {done}"));
        disk.empty();
        bring(&two).unwrap();
        assert_same(&survey(&work), &is, &format!("back again, with {left}"));
        done
    });
}

/// The store itself has no space: no snapshot, and those from before are whole.
#[test]
fn a_snapshot_that_does_not_fit_is_not_there_and_the_others_are() {
    let bench = Bench::new();
    let Some(disk) = SmallDisk::mount(&bench, 4 << 20, 200) else { return };
    let store = SnapshotStore::open(&disk.0.join("store")).unwrap();
    let take = || store.take(&bench.work(), &bench.options, None);
    fill(&bench.work(), 0);
    let mut kept = vec![(take().unwrap().tree, survey(&bench.work()))];
    let mut failed = 0;
    for (round, left) in [0_u64, 4_096, 40_000, 150_000, 300_000, 360_000, 1_500_000].into_iter().enumerate() {
        fill(&bench.work(), round + 1);
        disk.fill(left);
        let taken = take();
        let restored = bench.path(&format!("full{round}"));
        // Elsewhere there is space, and of the full disk reading needs the space of an index.
        if is_done(store.restore(&kept[0].0, &restored, &RestoreOptions::default()), &format!("{left} bytes")) {
            assert_same(&survey(&restored), &kept[0].1, &format!("with {left} bytes"));
        } else {
            assert!(left <= INDEX && !restored.exists(), "with {left} bytes");
        }
        disk.empty();
        match taken {
            Ok(taken) => kept.push((taken.tree, survey(&bench.work()))),
            Err(error) => {
                assert!(error.is_no_space(), "with {left} bytes: {error}");
                failed += 1;
                // With some space it goes on.
                kept.push((take().unwrap().tree, survey(&bench.work())));
            }
        }
        for (n, (tree, expected)) in kept.iter().enumerate() {
            let into = bench.path(&format!("whole{round}-{n}"));
            store.restore(tree, &into, &RestoreOptions::default()).unwrap();
            assert_same(&survey(&into), expected, &format!("snapshot {n} after round {round}"));
        }
        store.collect(&[kept[0].0], std::time::Duration::ZERO).unwrap();
        kept.truncate(1);
    }
    assert!((2..7).contains(&failed), "{failed} of 7 did not fit");
}
