//! Forged snapshots: nothing is ever written outside of the folder that is restored into.

use super::{Bench, RestoreOptions, SnapshotError, TreeId, survey};
use crate::snapshot::ids::{Kind, ObjectId};
use crate::snapshot::objects::Objects;
use crate::snapshot::tree::{Entry, Node, Root, decode, encode};
use proptest::prelude::*;

/// Puts an object in as it is.
fn put(bench: &Bench, kind: Kind, bytes: &[u8]) -> ObjectId {
    let id = ObjectId::of(kind, bytes);
    let mut objects = Objects::open(&bench.path("store")).unwrap();
    let packed = objects.pack(id, kind, bytes);
    objects.put(&packed).unwrap();
    objects.commit().unwrap();
    id
}

fn file(bench: &Bench, name: &[u8]) -> Entry {
    Entry { name: name.to_vec(), node: Node::File { mode: 0o644, size: 4, id: put(bench, Kind::Piece, b"evil") } }
}

fn snapshot_of(bench: &Bench, tree: &[u8]) -> TreeId {
    let tree = put(bench, Kind::Tree, tree);
    TreeId(put(bench, Kind::Root, &Root { mode: 0o755, tree }.encode()))
}

/// Restores and brings, and expects both to refuse; the folder around is as it was.
fn assert_refused(bench: &Bench, tree: &[u8], expected: &str) {
    let forged = snapshot_of(bench, tree);
    bench.write("mine", "x");
    let before = survey(&bench.work());
    let error = bench.store.restore(&forged, &bench.path("again"), &RestoreOptions::default()).unwrap_err();
    assert!(matches!(error, SnapshotError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains(expected), "{error}");
    let error = bench.store.bring(&forged, &bench.work(), &bench.options, super::BringOptions::default()).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
    assert_eq!(survey(&bench.work()), before);
    assert_eq!(std::fs::read_dir(bench.dir.path()).unwrap().count(), 2);
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let bench = Bench::new();
    for name in [&b".."[..], b".", b"a/b", b"../evil", b"/tmp/evil", b"", b"a\0b", &[b'x'; 255]] {
        let bytes = encode(&[file(&bench, name)]);
        if name.len() == 255 {
            assert_eq!(decode(&bytes).unwrap().len(), 1, "the longest name there is");
        } else {
            assert_refused(&bench, &bytes, "which is no file name");
            let forged = snapshot_of(&bench, &bytes);
            assert!(bench.store.export(&[forged], &[], std::io::sink()).is_err(), "nor is it sent on");
        }
    }
}

#[test]
fn a_name_twice_or_out_of_order_is_refused() {
    let bench = Bench::new();
    let link = Entry { name: b"a".to_vec(), node: Node::Link { target: b"/etc".to_vec() } };
    let inner = put(&bench, Kind::Tree, &encode(&[file(&bench, b"passwd")]));
    let folder = Entry { name: b"a".to_vec(), node: Node::Folder { mode: 0o755, id: inner } };
    // A link, and then files beneath it.
    assert_refused(&bench, &encode(&[link, folder]), "twice or out of order");
    assert_refused(&bench, &encode(&[file(&bench, b"b"), file(&bench, b"a")]), "twice or out of order");
}

#[test]
fn impossible_fields_are_refused() {
    let bench = Bench::new();
    let id = put(&bench, Kind::Piece, b"evil");
    let of = |node| encode(&[Entry { name: b"a".to_vec(), node }]);
    assert_refused(&bench, &of(Node::File { mode: 0o10_644, size: 4, id }), "impossible permission bits");
    assert_refused(&bench, &of(Node::Link { target: Vec::new() }), "impossible target");
    assert_refused(&bench, &of(Node::Link { target: b"a\0b".to_vec() }), "impossible target");
    assert_refused(&bench, &of(Node::Link { target: vec![b'a'; 5_000] }), "impossible target");
    assert_refused(&bench, &[9], "unknown form");
    assert_refused(&bench, &[1, 7, 0, 0, 1, b'a'], "unknown kind 7");
    let mut long = encode(&[file(&bench, b"a")]);
    long.push(1);
    assert_refused(&bench, &long, "ends too early");
    assert_refused(&bench, b"", "ends too early");
}

#[test]
fn sizes_that_are_not_true_are_refused() {
    let bench = Bench::new();
    let id = put(&bench, Kind::Piece, b"evil");
    let list = put(&bench, Kind::Pieces, id.as_bytes());
    let of = |size, id| encode(&[Entry { name: b"a".to_vec(), node: Node::File { mode: 0o644, size, id } }]);
    assert_refused(&bench, &of(5, id), "have another length than their folder says");
    assert_refused(&bench, &of(2 << 20, list), "another length than its folder says");
    let lists = put(&bench, Kind::Pieces, &[*id.as_bytes(), *id.as_bytes()].concat());
    assert_refused(&bench, &of((1 << 20) + 1, lists), "have another length than their folder says");
}

/// Each folder names the next one twice: two to the thirtieth folders in thirty objects.
#[test]
fn a_tree_that_unfolds_without_end_is_stopped() {
    let bench = Bench::new();
    let mut id = put(&bench, Kind::Tree, &encode(&[]));
    for _ in 0..30 {
        let folder = |name: &[u8]| Entry { name: name.to_vec(), node: Node::Folder { mode: 0o755, id } };
        id = put(&bench, Kind::Tree, &encode(&[folder(b"a"), folder(b"b")]));
    }
    let forged = TreeId(put(&bench, Kind::Root, &Root { mode: 0o755, tree: id }.encode()));
    let options = RestoreOptions { max_entries: 10_000, ..RestoreOptions::default() };
    let error = bench.store.restore(&forged, &bench.path("again"), &options).unwrap_err();
    assert!(matches!(error, SnapshotError::TooLarge { .. }), "{error}");
    assert!(!bench.path("again").exists());
    let collected = bench.store.collect(&[forged], std::time::Duration::ZERO).unwrap();
    assert_eq!((collected.kept, collected.incomplete), (32, 0));
}

#[test]
fn a_bomb_of_bytes_is_stopped() {
    let bench = Bench::new();
    let zeros = vec![0; 1 << 20];
    let piece = put(&bench, Kind::Piece, &zeros);
    let list = put(&bench, Kind::Pieces, &piece.as_bytes().repeat(4_096));
    let node = Node::File { mode: 0o644, size: 4_096 << 20, id: list };
    let forged = snapshot_of(&bench, &encode(&[Entry { name: b"bomb".to_vec(), node }]));
    let options = RestoreOptions { max_total_bytes: 1 << 30, ..RestoreOptions::default() };
    let error = bench.store.restore(&forged, &bench.path("again"), &options).unwrap_err();
    assert!(error.to_string().contains("bytes in files"), "{error}");
    let error = bench.store.read(&forged, "bomb".as_ref(), 1 << 20).unwrap_err();
    assert!(error.to_string().contains("more than"), "{error}");
}

fn node() -> impl Strategy<Value = Node> {
    let id = any::<[u8; 32]>().prop_map(|bytes| ObjectId::from_slice(&bytes).unwrap());
    prop_oneof![
        (0..0o10_000_u16, any::<u64>(), id.clone()).prop_map(|(mode, size, id)| Node::File { mode, size, id }),
        (0..0o10_000_u16, id).prop_map(|(mode, id)| Node::Folder { mode, id }),
        prop::collection::vec(1_u8.., 1..80).prop_map(|target| Node::Link { target }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// There is one way to write a folder down: what is read is what was written, and writes itself again.
    #[test]
    fn folders_are_read_as_they_are_written(
        nodes in prop::collection::btree_map(prop::collection::vec(1_u8..=255, 1..20), node(), 0..20),
        cut in any::<prop::sample::Index>(),
        flip in any::<(prop::sample::Index, u8)>(),
    ) {
        let valid = |name: &Vec<u8>| !name.contains(&b'/') && name != b"." && name != b"..";
        let entries: Vec<Entry> =
            nodes.into_iter().filter(|(name, _)| valid(name)).map(|(name, node)| Entry { name, node }).collect();
        let mut bytes = encode(&entries);
        prop_assert_eq!(decode(&bytes).unwrap(), entries);
        // Whatever is done to the bytes: an error, or a folder that writes itself as exactly these bytes.
        if let Ok(entries) = decode(&bytes[..cut.index(bytes.len())]) {
            prop_assert_eq!(&encode(&entries)[..], &bytes[..encode(&entries).len()]);
        }
        let at = flip.0.index(bytes.len());
        bytes[at] ^= flip.1;
        if let Ok(entries) = decode(&bytes) {
            prop_assert_eq!(encode(&entries), bytes);
        }
    }
}
