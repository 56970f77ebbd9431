//! Reading a snapshot: objects by their place in it, so that whatever is wrong is said with snapshot and path.

use super::error::SnapshotError;
use super::ids::{Kind, ObjectId, TreeId};
use super::objects::{Fault, MAX_OBJECT, Objects, PIECE};
use super::tree::{self, Entry, Root};

/// A snapshot, open for reading.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    objects: &'a Objects,
    snapshot: TreeId,
}

impl<'a> Reader<'a> {
    pub(super) fn new(objects: &'a Objects, snapshot: TreeId) -> Self {
        Self { objects, snapshot }
    }

    pub(super) fn snapshot(&self) -> TreeId {
        self.snapshot
    }

    pub(super) fn root(&self) -> Result<Root, SnapshotError> {
        let bytes = self.get(&self.snapshot.0, Kind::Root, b"")?;
        Root::decode(&bytes).map_err(|reason| self.damaged(Kind::Root, b"", reason))
    }

    /// The entries of the folder at `path`.
    pub(super) fn tree(&self, id: &ObjectId, path: &[u8]) -> Result<Vec<Entry>, SnapshotError> {
        let bytes = self.get(id, Kind::Tree, path)?;
        tree::decode(&bytes).map_err(|reason| self.damaged(Kind::Tree, path, reason))
    }

    /// The ids of the objects that hold a file's bytes, in order.
    pub(super) fn pieces(&self, id: &ObjectId, size: u64, path: &[u8]) -> Result<Vec<ObjectId>, SnapshotError> {
        if size <= PIECE as u64 {
            return Ok(vec![*id]);
        }
        if size.div_ceil(PIECE as u64) > (MAX_OBJECT / ObjectId::LEN) as u64 {
            return Err(self.damaged(Kind::Pieces, path, format!("says that the file has {size} bytes")));
        }
        let bytes = self.get(id, Kind::Pieces, path)?;
        let pieces = tree::decode_pieces(&bytes).map_err(|reason| self.damaged(Kind::Pieces, path, reason))?;
        if pieces.len() as u64 == size.div_ceil(PIECE as u64) {
            Ok(pieces)
        } else {
            Err(self.damaged(Kind::Pieces, path, "has another length than its folder says".to_owned()))
        }
    }

    /// Hands a file's bytes over, piece by piece.
    pub(super) fn contents(
        &self,
        id: &ObjectId,
        size: u64,
        path: &[u8],
        mut sink: impl FnMut(&[u8]) -> Result<(), SnapshotError>,
    ) -> Result<(), SnapshotError> {
        let mut left = size;
        for piece in self.pieces(id, size, path)? {
            let length = left.min(PIECE as u64);
            let done = self.objects.with(&piece, Kind::Piece, |bytes| {
                if bytes.len() as u64 == length {
                    sink(bytes)
                } else {
                    Err(self.damaged(Kind::Piece, path, "have another length than their folder says".to_owned()))
                }
            });
            done.map_err(|fault| self.explain(fault, Kind::Piece, path))??;
            left -= length;
        }
        Ok(())
    }

    fn get(&self, id: &ObjectId, kind: Kind, path: &[u8]) -> Result<Vec<u8>, SnapshotError> {
        self.objects.get(id, kind).map_err(|fault| self.explain(fault, kind, path))
    }

    /// Says where in the snapshot an object is missing or damaged.
    pub(super) fn explain(&self, fault: Fault, kind: Kind, path: &[u8]) -> SnapshotError {
        match fault {
            Fault::Missing => {
                let (snapshot, path) = (self.snapshot, tree::to_path(path));
                SnapshotError::Missing { snapshot, what: kind.name(), path }
            }
            Fault::Damaged(reason) => self.damaged(kind, path, reason),
            Fault::Store(error) => error,
        }
    }

    fn damaged(&self, kind: Kind, path: &[u8], reason: String) -> SnapshotError {
        SnapshotError::Damaged { snapshot: self.snapshot, what: kind.name(), path: tree::to_path(path), reason }
    }
}
