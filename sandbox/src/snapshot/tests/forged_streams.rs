//! Streams that somebody made up: whole as streams, with a hash that fits, and wrong in what they say. Nothing of them counts.

use super::{Bench, SnapshotError, SnapshotStore, TreeId, survey};
use crate::snapshot::ids::{Kind, ObjectId};
use crate::snapshot::tree::{Entry, Node, Root, encode};

/// A stream as its writer writes it.
struct Forged(Vec<u8>);

impl Forged {
    fn new() -> Self {
        Self(b"retrace snapshots 1\n".to_vec())
    }

    /// An object whose fields are what they are said to be.
    fn record(mut self, kind: u8, compressed: u8, id: ObjectId, length: u64, stored: u64, data: &[u8]) -> Self {
        self.0.extend([1, kind, compressed]);
        self.0.extend(id.as_bytes());
        self.0.extend(length.to_le_bytes());
        self.0.extend(stored.to_le_bytes());
        self.0.extend(data);
        self
    }

    /// An object as it should be.
    fn object(self, kind: Kind, data: &[u8]) -> Self {
        let length = data.len() as u64;
        self.record(kind.code(), 0, ObjectId::of(kind, data), length, length, data)
    }

    fn snapshot(mut self, id: ObjectId) -> Self {
        self.0.push(2);
        self.0.extend(id.as_bytes());
        self
    }

    fn end(mut self) -> Vec<u8> {
        self.0.push(0);
        let hash = blake3::hash(&self.0);
        self.0.extend(hash.as_bytes());
        self.0
    }
}

/// A folder with one file, and a snapshot of it.
fn folder(contents: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let id = ObjectId::of(Kind::Piece, contents);
    let node = Node::File { mode: 0o644, size: contents.len() as u64, id };
    let tree = encode(&[Entry { name: b"file".to_vec(), node }]);
    let root = Root { mode: 0o755, tree: ObjectId::of(Kind::Tree, &tree) }.encode();
    (tree, root)
}

fn roots(bench: &Bench) -> i64 {
    bench.database().query_row("SELECT count(*) FROM roots", [], |row| row.get(0)).unwrap()
}

#[track_caller]
fn refused(bench: &Bench, stream: &[u8], expected: &str) {
    let error = bench.store.import(stream).unwrap_err();
    assert!(error.to_string().contains(expected), "`{expected}` is not in: {error}");
    assert_eq!(roots(bench), 0, "{expected}");
}

#[test]
fn a_stream_made_by_hand_is_taken_in() {
    let bench = Bench::new();
    let (tree, root) = folder(b"contents");
    let id = ObjectId::of(Kind::Root, &root);
    let stream = Forged::new().object(Kind::Root, &root).object(Kind::Tree, &tree).object(Kind::Piece, b"contents");
    let taken = bench.store.import(stream.snapshot(id).end().as_slice()).unwrap();
    assert_eq!((taken.snapshots, taken.objects), (vec![TreeId(id)], 3));
    let restored = bench.restore(&TreeId(id), "again");
    assert_eq!(survey(&restored)[&b"file"[..]].1, b"contents");
    // One that holds nothing is whole, too.
    assert_eq!(bench.store.import(Forged::new().end().as_slice()).unwrap().objects, 0);
}

#[test]
fn objects_that_are_not_what_they_say_are_refused() {
    let bench = Bench::new();
    let id = |bytes: &[u8]| ObjectId::of(Kind::Piece, bytes);
    let piece = Kind::Piece.code();
    let most = (256 << 20) as u64;
    let packed = zstd::bulk::compress(&[7; 1_000], 1).unwrap();
    let stored = packed.len() as u64;
    for (what, stream) in [
        ("unknown kind", Forged::new().record(0, 0, id(b"x"), 1, 1, b"x")),
        ("unknown kind", Forged::new().record(9, 0, id(b"x"), 1, 1, b"x")),
        ("impossible size", Forged::new().record(piece, 2, id(b"x"), 1, 1, b"x")),
        ("impossible size", Forged::new().record(piece, 0, id(b"x"), most + 1, 1, b"x")),
        ("impossible size", Forged::new().record(piece, 0, id(b"x"), 1, u64::MAX, b"x")),
        ("has other contents", Forged::new().record(piece, 0, id(b"y"), 1, 1, b"x")),
        ("has other contents", Forged::new().record(piece, 0, id(b"x"), 2, 1, b"x")),
        ("has other contents", Forged::new().record(piece, 0, id(b"x"), most, 1, b"x")),
        ("has other contents", Forged::new().record(Kind::Tree.code(), 0, id(b"x"), 1, 1, b"x")),
        ("cannot be unpacked", Forged::new().record(piece, 1, id(b"x"), 1, 1, b"x")),
        ("cannot be unpacked", Forged::new().record(piece, 1, id(&[7; 1_000]), 999, stored, &packed)),
        ("has other contents", Forged::new().record(piece, 1, id(&[7; 1_000]), 1_001, stored, &packed)),
        ("unknown kind 3", {
            let mut stream = Forged::new();
            stream.0.push(3);
            stream
        }),
    ] {
        refused(&bench, &stream.end(), what);
    }
}

/// What cannot be read as a folder never becomes part of the store, whatever its hash.
#[test]
fn objects_of_impossible_form_are_refused() {
    let bench = Bench::new();
    let entry = |name: &[u8]| encode(&[Entry { name: name.to_vec(), node: Node::Link { target: b"x".to_vec() } }]);
    for (kind, bytes, expected) in [
        (Kind::Tree, entry(b".."), "is no file name"),
        (Kind::Tree, entry(b"a/b"), "is no file name"),
        (Kind::Tree, vec![2], "unknown form"),
        (Kind::Tree, Vec::new(), "ends too early"),
        (Kind::Pieces, vec![0; 33], "middle of an id"),
        (Kind::Root, vec![1, 0, 0], "ends too early"),
        (
            Kind::Root,
            [&Root { mode: 0, tree: ObjectId::of(Kind::Tree, b"") }.encode()[..], b"x"].concat(),
            "impossible",
        ),
    ] {
        refused(&bench, &Forged::new().object(kind, &bytes).end(), expected);
        let id = ObjectId::of(kind, &bytes);
        assert!(!crate::snapshot::objects::Objects::open(&bench.path("store")).unwrap().has(&id).unwrap());
    }
}

/// Whole objects, and yet no snapshot.
#[test]
fn snapshots_that_are_not_whole_are_refused() {
    let bench = Bench::new();
    let (tree, root) = folder(b"contents");
    let id = ObjectId::of(Kind::Root, &root);
    let all = [(Kind::Root, &root[..]), (Kind::Tree, &tree), (Kind::Piece, b"contents")];
    for (missing, (kind, _)) in all.iter().enumerate() {
        let some = all.iter().enumerate().filter(|(n, _)| *n != missing);
        let stream = some.fold(Forged::new(), |stream, (_, (kind, bytes))| stream.object(*kind, bytes));
        let other = SnapshotStore::open(&bench.path(&format!("store{missing}"))).unwrap();
        let error = other.import(stream.snapshot(id).end().as_slice()).unwrap_err();
        let SnapshotError::Missing { what, .. } = &error else { panic!("{error}") };
        assert_eq!(*what, kind.name());
        assert!(
            !other.has(&TreeId(id)).unwrap_or(false)
                || other.restore(&TreeId(id), &bench.path("x"), &Default::default()).is_err()
        );
    }
    // A name that is an object's, but not a snapshot's.
    for (kind, bytes) in &all[1..] {
        let stream = all.iter().fold(Forged::new(), |stream, (kind, bytes)| stream.object(*kind, bytes));
        let error = bench.store.import(stream.snapshot(ObjectId::of(*kind, bytes)).end().as_slice()).unwrap_err();
        assert!(matches!(error, SnapshotError::Damaged { .. }), "{error}");
        assert_eq!(roots(&bench), 0);
    }
}

#[test]
fn what_is_taken_in_of_a_refused_stream_goes_with_the_next_collection() {
    let bench = Bench::new();
    let (tree, root) = folder(b"contents");
    let stream = Forged::new().object(Kind::Root, &root).object(Kind::Tree, &tree);
    assert!(bench.store.import(stream.snapshot(ObjectId::of(Kind::Root, &root)).end().as_slice()).is_err());
    let collected = bench.store.collect(&[], std::time::Duration::from_secs(3_600)).unwrap();
    assert_eq!(collected.kept, 0);
    let left: i64 = bench.database().query_row("SELECT count(*) FROM objects", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}
