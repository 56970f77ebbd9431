//! The parts by themselves: stamps, what is remembered, packing, opening, removing.

use super::{Bench, chmod};
use crate::snapshot::clear::remove_tree;
use crate::snapshot::folder::{Folder, MAX_PATH};
use crate::snapshot::ids::{Kind, ObjectId};
use crate::snapshot::objects::{Packed, Packer, SeenRow};
use crate::snapshot::seen::{self, Seen};
use crate::snapshot::stamp::{Stamp, Time};
use crate::snapshot::writing::split;
use crate::snapshot::{TreeId, tree};
use proptest::prelude::*;
use rustix::io::Errno;
use std::fs;
use std::os::unix::fs::symlink;

const SECOND: i128 = 1_000_000_000;

fn packed(kind: Kind, bytes: &[u8]) -> Packed {
    Packer::new().pack(ObjectId::of(kind, bytes), kind, bytes)
}

fn unpacked(packed: &Packed) -> Result<Vec<u8>, String> {
    Packer::new().unpack(packed, <[u8]>::to_vec)
}

fn at(seconds: i64, nanoseconds: u32) -> Stamp {
    let time = Time { seconds, nanoseconds };
    Stamp { inode: 1, size: 2, mode: 0o644, modified: time, changed: time }
}

#[test]
fn a_stamp_is_settled_when_its_change_is_past() {
    let fine = at(100, 1);
    assert!(!fine.is_settled(100 * SECOND));
    assert!(!fine.is_settled(100 * SECOND + SECOND / 10));
    assert!(fine.is_settled(100 * SECOND + SECOND / 10 + 2));
    // Whole seconds: the file system may keep no more than that.
    let coarse = at(100, 0);
    assert!(!coarse.is_settled(101 * SECOND) && !coarse.is_settled(102 * SECOND));
    assert!(coarse.is_settled(102 * SECOND + 1));
    // A clock that was set back, and times that nobody can have.
    assert!(!at(5_000, 1).is_settled(100 * SECOND));
    assert!(!at(i64::MAX, 0).is_settled(Time::now_ns()));
    assert!(at(i64::MIN, 999_999_999).is_settled(Time::now_ns()));
}

/// What can be set freely by anybody does not settle anything.
#[test]
fn the_time_of_modification_does_not_count() {
    let mut stamp = at(100, 1);
    stamp.modified = Time { seconds: 0, nanoseconds: 0 };
    assert!(!stamp.is_settled(100 * SECOND));
    stamp.modified = Time { seconds: 9_999, nanoseconds: 0 };
    assert!(stamp.is_settled(200 * SECOND));
}

fn stamp() -> impl Strategy<Value = Stamp> {
    let time = || (any::<i64>(), any::<u32>()).prop_map(|(seconds, nanoseconds)| Time { seconds, nanoseconds });
    (any::<u64>(), any::<u64>(), any::<u16>(), time(), time())
        .prop_map(|(inode, size, mode, modified, changed)| Stamp { inode, size, mode, modified, changed })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_seen_is_read_as_it_was_written(
        files in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..256), stamp(), any::<[u8; 32]>()), 0..10),
        cut in any::<prop::sample::Index>(),
    ) {
        let files: Vec<_> =
            files.into_iter().map(|(name, stamp, id)| (name, stamp, ObjectId::from_slice(&id).unwrap())).collect();
        let mut row = Vec::new();
        for (name, stamp, id) in &files {
            seen::write(&mut row, &Seen { name, stamp: *stamp, id: *id });
        }
        let all: Vec<_> = seen::read(&row).map(|seen| (seen.name.to_vec(), seen.stamp, seen.id)).collect();
        prop_assert_eq!(&all, &files);
        // A row that is cut gives the files before the cut.
        let cut = cut.index(row.len() + 1);
        let some: Vec<_> = seen::read(&row[..cut]).map(|seen| (seen.name.to_vec(), seen.stamp, seen.id)).collect();
        prop_assert_eq!(&some[..], &files[..some.len()]);
    }

    #[test]
    fn what_is_packed_is_unpacked(bytes in prop::collection::vec(0_u8..4, 0..3_000), noise in any::<u8>()) {
        let packed = packed(Kind::Piece, &bytes);
        prop_assert!(packed.data.len() <= bytes.len());
        prop_assert_eq!(unpacked(&packed).unwrap(), bytes.clone());
        // Under another name or kind it is damage.
        let other = Packed { id: ObjectId::of(Kind::Piece, &[&bytes[..], &[noise]].concat()), ..packed.clone() };
        prop_assert!(unpacked(&other).is_err());
        let as_folder = Packed { kind: Kind::Tree, ..packed.clone() };
        prop_assert!(unpacked(&as_folder).is_err());
        let mut longer = packed;
        longer.length += 1;
        prop_assert!(unpacked(&longer).is_err());
    }
}

#[test]
fn what_does_not_compress_is_kept_as_it_is() {
    let noise: Vec<u8> = (0..200_u32).flat_map(|n| *blake3::hash(&n.to_le_bytes()).as_bytes()).collect();
    let packed_noise = packed(Kind::Piece, &noise);
    assert!(!packed_noise.is_compressed && packed_noise.data == noise);
    let text = "the same again ".repeat(1_000);
    let packed = packed(Kind::Piece, text.as_bytes());
    assert!(packed.is_compressed && packed.data.len() < 200);
}

/// A few bytes that say they become very many.
#[test]
fn an_object_larger_than_any_is_not_unpacked() {
    let data = zstd::bulk::compress(&vec![0; 1 << 20], 1).unwrap();
    let id = ObjectId::of(Kind::Piece, b"");
    for length in [usize::MAX, (256 << 20) + 1] {
        let packed = Packed { id, kind: Kind::Piece, length, is_compressed: true, data: data.clone() };
        assert!(unpacked(&packed).unwrap_err().contains("which nothing here has"));
    }
    // And some that become more than they say.
    let packed = Packed { id, kind: Kind::Piece, length: 10, is_compressed: true, data };
    assert!(unpacked(&packed).unwrap_err().contains("cannot be unpacked"));
}

/// With memory that is used again: nothing of one object is left in the next, however they differ in length.
#[test]
fn one_packer_packs_and_unpacks_many() {
    let mut packer = Packer::new();
    let texts = [3_000, 0, 10, 6 << 20, 63, 64, 2_999, 1 << 20, 1];
    let texts = texts.map(|length| (0..length).map(|n| (n % 7 + n % 11) as u8).collect::<Vec<u8>>());
    let all = texts.each_ref().map(|text| packed(Kind::Piece, text));
    for (text, one) in texts.iter().zip(&all) {
        let again = packer.pack(one.id, Kind::Piece, text);
        assert_eq!((again.data == one.data, again.is_compressed), (true, one.is_compressed), "{}", text.len());
        assert!(packer.unpack(one, |bytes| bytes == text).unwrap(), "{}", text.len());
        // What goes wrong leaves nothing behind either.
        for length in [one.length + 1, one.length.saturating_sub(1), one.length + (9 << 20)] {
            let other = Packed { length, ..one.clone() };
            let damaged = other.length != one.length;
            assert_eq!(packer.unpack(&other, |_| ()).is_err(), damaged, "{} as {length}", text.len());
        }
        let garbage = Packed { is_compressed: true, data: vec![7; 9], ..one.clone() };
        assert!(packer.unpack(&garbage, |_| ()).is_err());
    }
}

#[test]
fn an_id_is_the_same_of_one_piece_and_of_two() {
    for kind in [Kind::Piece, Kind::Pieces, Kind::Tree, Kind::Root] {
        for length in [0, 1, 1_022, 1_023, 1_024, 100_000] {
            let framed: Vec<u8> = std::iter::once(kind.code()).chain((0..length).map(|n| n as u8)).collect();
            assert_eq!(ObjectId::of_framed(&framed), ObjectId::of(kind, &framed[1..]));
        }
    }
}

#[test]
fn nothing_but_what_is_beneath_a_folder_is_opened() {
    let bench = Bench::new();
    bench.write("dir/file", "x");
    fs::write(bench.path("outside"), "x").unwrap();
    symlink("dir", bench.work().join("inner")).unwrap();
    symlink("/proc/self/root", bench.work().join("magic")).unwrap();
    symlink(bench.dir.path(), bench.work().join("up")).unwrap();
    let folder = Folder::open(&bench.work()).unwrap();
    assert!(
        folder.open_file(b"dir/file").is_ok() && folder.open_folder(b"dir").is_ok() && folder.open_folder(b"").is_ok()
    );
    for path in ["..", "../outside", "dir/../../outside", "up/outside", "up", "inner", "inner/file", "magic/etc/passwd"]
    {
        assert!(folder.open_file(path.as_bytes()).is_err(), "{path}");
        assert!(folder.open_folder(path.as_bytes()).is_err(), "{path}");
    }
    let absolute = bench.work().join("dir/file");
    assert!(folder.open_file(absolute.to_str().unwrap().as_bytes()).is_err());
    assert_eq!(folder.open_file(&vec![b'x'; MAX_PATH + 1]).unwrap_err(), Errno::NAMETOOLONG);
}

#[test]
fn a_folder_is_removed_with_all_that_is_in_it_and_nothing_else() {
    let bench = Bench::new();
    bench.write("gone/a/b/c/file", "x");
    bench.write("gone/a/other", "x");
    bench.write("kept/file", "x");
    symlink("../../kept", bench.work().join("gone/a/link")).unwrap();
    for dir in ["gone/a/b/c", "gone/a/b", "gone/a", "gone"] {
        chmod(&bench.work().join(dir), 0);
    }
    let parent = Folder::open(&bench.work()).unwrap().open_folder(b"").unwrap();
    remove_tree(&parent, b"gone").unwrap();
    assert_eq!(remove_tree(&parent, b"gone").unwrap_err(), Errno::NOENT);
    assert!(bench.work().join("kept/file").exists());
    symlink("kept", bench.work().join("link")).unwrap();
    assert!(remove_tree(&parent, b"link").is_err() && bench.work().join("kept/file").exists());
}

#[test]
fn paths_are_joined_and_split() {
    for (folder, name, path) in [(&b""[..], &b"a"[..], &b"a"[..]), (b"a", b"b", b"a/b"), (b"a/b", b"\xff", b"a/b/\xff")]
    {
        assert_eq!(tree::join(folder, name), path);
        assert_eq!(split(path), (folder, name));
    }
    assert_eq!(tree::to_path(b"").to_str(), Some("."));
}

#[test]
fn names_of_snapshots_are_written_and_read() {
    let id: TreeId = "0123456789abcdef".repeat(4).parse().unwrap();
    assert_eq!(id.to_string(), "0123456789abcdef".repeat(4));
    assert_eq!(format!("{id:?}"), id.to_string());
    for wrong in ["", "0", &"g".repeat(64), &"0".repeat(63), &"0".repeat(65), "\u{1b}[31m"] {
        let error = wrong.parse::<TreeId>().unwrap_err().to_string();
        assert!(error.contains("64 hexadecimal digits"), "{error}");
    }
    assert!("x".repeat(10_000).parse::<TreeId>().unwrap_err().to_string().len() < 200);
}

/// The same bytes as a file and as a folder are two objects.
#[test]
fn kinds_have_names_of_their_own() {
    let kinds = [Kind::Piece, Kind::Pieces, Kind::Tree, Kind::Root];
    let ids: std::collections::BTreeSet<_> = kinds.iter().map(|kind| ObjectId::of(*kind, b"same")).collect();
    assert_eq!(ids.len(), 4);
    for kind in kinds {
        assert_eq!(Kind::of_code(kind.code()), Some(kind));
    }
    assert_eq!((Kind::of_code(0), Kind::of_code(5)), (None, None));
}

#[test]
fn what_is_remembered_is_changed_and_forgotten_by_folder() {
    use crate::snapshot::objects::Objects;
    let bench = Bench::new();
    let mut objects = Objects::open(&bench.path("store")).unwrap();
    let row = |n: u8| SeenRow { tree: ObjectId::of(Kind::Tree, &[n]), stamps: vec![n] };
    let (here, there) = (bench.path("here"), bench.path("there"));
    objects.remember(&here, &[(b"a".to_vec(), row(1)), (b"b".to_vec(), row(2))], &[], 5);
    objects.remember(&there, &[(b"a".to_vec(), row(3))], &[], 5);
    objects.remember(&here, &[(b"b".to_vec(), row(4))], &[b"a".to_vec()], 6);
    let seen = objects.seen(&here).unwrap();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [(b"b".to_vec(), row(4))]);
    assert_eq!(objects.seen(&there).unwrap().get(&b"a"[..]), Some(&row(3)));
    assert!(objects.seen(&bench.path("nowhere")).unwrap().is_empty());
}

/// A writer that goes away in the middle leaves what it committed, and no half of the rest.
#[test]
fn what_was_not_finished_is_not_there() {
    use crate::snapshot::objects::Objects;
    let bench = Bench::new();
    let object = |n: u8| packed(Kind::Piece, &[n]);
    let mut objects = Objects::open(&bench.path("store")).unwrap();
    assert_eq!(objects.put(&object(1)).unwrap(), 1);
    assert_eq!(objects.put(&object(1)).unwrap(), 0, "it is there");
    objects.commit().unwrap();
    objects.put(&object(2)).unwrap();
    drop(objects);
    let objects = Objects::open(&bench.path("store")).unwrap();
    assert!(objects.has(&object(1).id).unwrap() && !objects.has(&object(2).id).unwrap());
    assert_eq!(objects.get(&object(1).id, Kind::Piece).unwrap(), [1]);
}
