//! Everything that a snapshot needs, each object once.

use std::collections::HashSet;

use super::error::SnapshotError;
use super::ids::{Kind, ObjectId};
use super::objects::PIECE;
use super::reader::Reader;
use super::tree::{self, Node};

/// Calls `visit` for every object of the snapshot that is not in `visited`, and puts it there. Where `visit` says no, or
/// what is needed to go on cannot be read and `on_fault` bears it, what lies beneath is passed over.
pub(super) fn walk(
    reader: &Reader<'_>,
    visited: &mut HashSet<ObjectId>,
    mut visit: impl FnMut(&ObjectId, Kind, &[u8]) -> Result<bool, SnapshotError>,
    mut on_fault: impl FnMut(SnapshotError) -> Result<(), SnapshotError>,
) -> Result<(), SnapshotError> {
    let root_id = reader.snapshot().0;
    if !visited.insert(root_id) || !visit(&root_id, Kind::Root, b"")? {
        return Ok(());
    }
    let mut todo = match reader.root() {
        Ok(root) => vec![(root.tree, Vec::new())],
        Err(error) => return on_fault(error),
    };
    while let Some((id, path)) = todo.pop() {
        if !visited.insert(id) || !visit(&id, Kind::Tree, &path)? {
            continue;
        }
        let entries = match reader.tree(&id, &path) {
            Ok(entries) => entries,
            Err(error) => {
                on_fault(error)?;
                continue;
            }
        };
        for entry in entries {
            let path = tree::join(&path, &entry.name);
            match entry.node {
                Node::Link { .. } => {}
                Node::Folder { id, .. } => todo.push((id, path)),
                Node::File { size, id, .. } if size <= PIECE as u64 => {
                    if visited.insert(id) {
                        visit(&id, Kind::Piece, &path)?;
                    }
                }
                Node::File { size, id, .. } => {
                    if !visited.insert(id) || !visit(&id, Kind::Pieces, &path)? {
                        continue;
                    }
                    match reader.pieces(&id, size, &path) {
                        Ok(pieces) => {
                            for piece in pieces.into_iter().filter(|piece| visited.insert(*piece)) {
                                visit(&piece, Kind::Piece, &path)?;
                            }
                        }
                        Err(error) => on_fault(error)?,
                    }
                }
            }
        }
    }
    Ok(())
}
