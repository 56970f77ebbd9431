//! Reading and writing the rows.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::super::error::SnapshotError;
use super::super::ids::{Kind, ObjectId};
use super::{Objects, Packed};

/// A snapshot that is found again is written down as taken now if that was longer ago than this, in milliseconds: it is
/// a fraction of any sensible grace period.
const REFRESH_MS: i64 = 10 * 60 * 1_000;
/// What is known of a workspace is forgotten when nobody asked for so long, in milliseconds.
const FORGET_MS: i64 = 30 * 24 * 3_600 * 1_000;

/// Why an object cannot be had.
#[derive(Debug)]
pub(in super::super) enum Fault {
    /// It is not there.
    Missing,
    /// It is not what was stored.
    Damaged(String),
    /// The database fails.
    Store(SnapshotError),
}

/// What is known of a folder: its tree, and the stamps of the files in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct SeenRow {
    pub(in super::super) tree: ObjectId,
    pub(in super::super) stamps: Vec<u8>,
}

impl Objects {
    /// Whether the object is there.
    pub(in super::super) fn has(&self, id: &ObjectId) -> Result<bool, SnapshotError> {
        let mut query = self.prepared("SELECT 1 FROM objects WHERE id = ?1")?;
        query.exists([id.as_bytes()]).map_err(|error| self.error(error))
    }

    /// Whether the snapshot was whole here once: an import that was cut may have left its first object, and no more.
    pub(in super::super) fn has_root(&self, id: &ObjectId) -> Result<bool, SnapshotError> {
        let mut query = self.prepared("SELECT 1 FROM roots JOIN objects USING (id) WHERE id = ?1")?;
        query.exists([id.as_bytes()]).map_err(|error| self.error(error))
    }

    /// The object as it is stored; unchecked.
    pub(in super::super) fn packed(&self, id: &ObjectId) -> Result<Packed, Fault> {
        self.find(id, |Packed { id, kind, length, is_compressed, data }| {
            Ok(Packed { id, kind, length, is_compressed, data: data.to_vec() })
        })
    }

    /// The object's bytes, checked.
    pub(in super::super) fn get(&self, id: &ObjectId, kind: Kind) -> Result<Vec<u8>, Fault> {
        self.with(id, kind, <[u8]>::to_vec)
    }

    /// Hands over the object's bytes, checked. `work` asks this connection for nothing.
    pub(in super::super) fn with<T>(
        &self,
        id: &ObjectId,
        kind: Kind,
        work: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, Fault> {
        self.find(id, |packed| {
            if packed.kind == kind {
                self.unpack(&packed, work).map_err(Fault::Damaged)
            } else {
                Err(Fault::Damaged(format!("is kept as a {}", packed.kind.name())))
            }
        })
    }

    /// Hands over the bytes of an object that came from here or elsewhere, checked.
    pub(in super::super) fn unpack<T>(
        &self,
        packed: &Packed<impl AsRef<[u8]>>,
        work: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, String> {
        self.packer.borrow_mut().unpack(packed, work)
    }

    /// Packs bytes whose id is known.
    pub(in super::super) fn pack(&self, id: ObjectId, kind: Kind, bytes: &[u8]) -> Packed {
        self.packer.borrow_mut().pack(id, kind, bytes)
    }

    fn find<T>(&self, id: &ObjectId, work: impl FnOnce(Packed<&[u8]>) -> Result<T, Fault>) -> Result<T, Fault> {
        let failed = |error| Fault::Store(self.error(error));
        let sql = "SELECT kind, length, compressed, data FROM objects WHERE id = ?1";
        let mut query = self.prepared(sql).map_err(Fault::Store)?;
        let mut rows = query.query([id.as_bytes()]).map_err(failed)?;
        let row = rows.next().map_err(failed)?.ok_or(Fault::Missing)?;
        let (kind, length, is_compressed, data) = fields(row).map_err(failed)?;
        let kind = u8::try_from(kind).ok().and_then(Kind::of_code);
        match (kind, usize::try_from(length).ok()) {
            (Some(kind), Some(length)) => work(Packed { id: *id, kind, length, is_compressed, data }),
            _ => Err(Fault::Damaged("has impossible fields".to_owned())),
        }
    }

    /// Stores the object; answers the bytes that it took, zero if it was there.
    pub(in super::super) fn put(&mut self, packed: &Packed) -> Result<u64, SnapshotError> {
        self.begin()?;
        let sql = "INSERT INTO objects (id, kind, length, compressed, data) VALUES (?1, ?2, ?3, ?4, ?5)
                   ON CONFLICT (id) DO NOTHING";
        let length = i64::try_from(packed.length).unwrap_or(i64::MAX);
        let mut insert = self.prepared(sql)?;
        let row = params![packed.id.as_bytes(), packed.kind.code(), length, packed.is_compressed, packed.data];
        let rows = insert.execute(row).map_err(|error| self.error(error))?;
        drop(insert);
        let bytes = if rows == 0 { 0 } else { packed.data.len() as u64 };
        self.wrote(bytes)?;
        Ok(bytes)
    }

    fn prepared(&self, sql: &str) -> Result<rusqlite::CachedStatement<'_>, SnapshotError> {
        self.connection.prepare_cached(sql).map_err(|error| self.error(error))
    }

    /// Writes down that the snapshots exist, durably, and with them everything written before. A snapshot that was
    /// taken a moment ago and is written down needs nothing.
    pub(in super::super) fn finish(&mut self, roots: &[ObjectId], now_ms: i64) -> Result<(), SnapshotError> {
        let mut stale = Vec::new();
        for root in roots {
            let mut query =
                self.prepared("SELECT taken_ms FROM roots JOIN owners ON root = id WHERE id = ?1 AND owner = ?2")?;
            let taken: Option<i64> = query
                .query_row(params![root.as_bytes(), self.owner], |row| row.get(0))
                .optional()
                .map_err(|error| self.error(error))?;
            if taken.is_none_or(|taken| (now_ms - taken).abs() > REFRESH_MS) {
                stale.push(*root);
            }
        }
        if stale.is_empty() {
            return self.commit();
        }
        let owner = self.owner.clone();
        self.commit_durably(|connection| {
            let sql = "INSERT INTO roots (id, taken_ms) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET taken_ms = ?2";
            stale.iter().try_for_each(|root| connection.execute(sql, params![root.as_bytes(), now_ms]).map(|_| ()))?;
            own(connection, &owner, &stale, now_ms)
        })
    }

    /// Writes down that the owner wants those of these snapshots that are here.
    pub(in super::super) fn own(&mut self, roots: &[ObjectId], now_ms: i64) -> Result<(), SnapshotError> {
        let owner = self.owner.clone();
        self.commit_durably(|connection| own(connection, &owner, roots, now_ms))
    }

    /// Writes down that the owner wants no others than `live` and those it wanted at `since_ms` or later; answers what all
    /// owners want then.
    pub(in super::super) fn own_only(
        &mut self,
        live: &[ObjectId],
        since_ms: i64,
        now_ms: i64,
    ) -> Result<Vec<ObjectId>, SnapshotError> {
        let owner = self.owner.clone();
        self.commit_durably(|connection| {
            own(connection, &owner, live, now_ms)?;
            let wanted: HashSet<&[u8]> = live.iter().map(|id| id.as_bytes().as_slice()).collect();
            let mut select = connection.prepare("SELECT root FROM owners WHERE owner = ?1 AND since_ms < ?2")?;
            let rows = select.query_map(params![owner, since_ms], |row| row.get::<_, Vec<u8>>(0))?;
            let unwanted = rows.filter(|row| row.as_ref().map_or(true, |root| !wanted.contains(root.as_slice())));
            let unwanted: Vec<Vec<u8>> = unwanted.collect::<rusqlite::Result<_>>()?;
            let mut delete = connection.prepare("DELETE FROM owners WHERE owner = ?1 AND root = ?2")?;
            unwanted.iter().try_for_each(|root| delete.execute(params![owner, root]).map(|_| ()))
        })?;
        let mut query = self.prepared("SELECT DISTINCT root FROM owners")?;
        let rows = query.query_map([], |row| row.get::<_, Vec<u8>>(0)).map_err(|error| self.error(error))?;
        let mut roots = Vec::new();
        for root in rows {
            roots.extend(ObjectId::from_slice(&root.map_err(|error| self.error(error))?));
        }
        Ok(roots)
    }

    /// What is known of the workspace's folders.
    pub(in super::super) fn seen(&self, workspace: &Path) -> Result<HashMap<Vec<u8>, SeenRow>, SnapshotError> {
        let sql = "SELECT folder, tree, stamps FROM seen JOIN workspaces ON number = workspace WHERE path = ?1";
        let mut query = self.prepared(sql)?;
        let rows = query.query_map([key(workspace)], |row| {
            Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, Vec<u8>>(2)?))
        });
        let mut seen = HashMap::new();
        for row in rows.map_err(|error| self.error(error))? {
            let (folder, tree, stamps) = row.map_err(|error| self.error(error))?;
            if let Some(tree) = ObjectId::from_slice(&tree) {
                seen.insert(folder, SeenRow { tree, stamps });
            }
        }
        Ok(seen)
    }

    /// Changes what is known of the workspace's folders. That this is lost, to a loss of power or to a full disk, costs time
    /// and never truth: what it says of a file is believed only as long as the file's stamp is the same.
    pub(in super::super) fn remember(
        &mut self,
        workspace: &Path,
        changed: &[(Vec<u8>, SeenRow)],
        gone: &[Vec<u8>],
        now_ms: i64,
    ) {
        if let Err(error) = self.try_to_remember(workspace, changed, gone, now_ms) {
            tracing::debug!(%error, "what was seen of a workspace is not remembered");
        }
    }

    fn try_to_remember(
        &mut self,
        workspace: &Path,
        changed: &[(Vec<u8>, SeenRow)],
        gone: &[Vec<u8>],
        now_ms: i64,
    ) -> Result<(), SnapshotError> {
        if changed.is_empty() && gone.is_empty() {
            return Ok(());
        }
        self.commit()?;
        self.in_transaction(|connection| {
            let sql = "INSERT INTO workspaces (path, used_ms) VALUES (?1, ?2)
                       ON CONFLICT (path) DO UPDATE SET used_ms = ?2 RETURNING number";
            let number: i64 = connection.query_row(sql, params![key(workspace), now_ms], |row| row.get(0))?;
            let sql = "INSERT INTO seen (workspace, folder, tree, stamps) VALUES (?1, ?2, ?3, ?4)
                       ON CONFLICT (workspace, folder) DO UPDATE SET tree = ?3, stamps = ?4";
            let mut upsert = connection.prepare_cached(sql)?;
            for (folder, row) in changed {
                upsert.execute(params![number, folder, row.tree.as_bytes(), row.stamps])?;
            }
            let mut delete = connection.prepare_cached("DELETE FROM seen WHERE workspace = ?1 AND folder = ?2")?;
            gone.iter().try_for_each(|folder| delete.execute(params![number, folder]).map(|_| ()))
        })
    }

    /// The snapshots that were taken at `since_ms` or later.
    pub(in super::super) fn roots_since(&self, since_ms: i64) -> Result<Vec<ObjectId>, SnapshotError> {
        let mut query = self.prepared("SELECT id FROM roots WHERE taken_ms >= ?1")?;
        let rows = query.query_map([since_ms], |row| row.get::<_, Vec<u8>>(0)).map_err(|error| self.error(error))?;
        let mut roots = Vec::new();
        for id in rows {
            roots.extend(ObjectId::from_slice(&id.map_err(|error| self.error(error))?));
        }
        Ok(roots)
    }

    /// Removes all objects but these, in one step; answers how many, and their bytes. Only under the exclusive lock.
    pub(in super::super) fn keep_only(
        &mut self,
        live: &HashSet<ObjectId>,
        now_ms: i64,
    ) -> Result<(u64, u64), SnapshotError> {
        let removed = self.in_transaction(|connection| {
            connection.execute_batch("CREATE TEMP TABLE live (id BLOB NOT NULL PRIMARY KEY) WITHOUT ROWID")?;
            let mut insert = connection.prepare("INSERT INTO live (id) VALUES (?1)")?;
            live.iter().try_for_each(|id| insert.execute([id.as_bytes()]).map(|_| ()))?;
            drop(insert);
            let removed = remove(connection, now_ms)?;
            connection.execute_batch("DROP TABLE temp.live")?;
            Ok(removed)
        })?;
        // Gives the room back to the file system.
        let shrink = "PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);";
        self.connection.execute_batch(shrink).map_err(|error| self.error(error))?;
        Ok(removed)
    }
}

fn fields<'a>(row: &'a Row<'_>) -> rusqlite::Result<(i64, i64, bool, &'a [u8])> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get_ref(3)?.as_blob()?))
}

/// Notes that `owner` wants those of `roots` that are here.
fn own(connection: &Connection, owner: &str, roots: &[ObjectId], now_ms: i64) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO owners (root, owner, since_ms) SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM objects WHERE id = ?1)
         ON CONFLICT (root, owner) DO UPDATE SET since_ms = max(since_ms, ?3)",
    )?;
    roots.iter().try_for_each(|root| insert.execute(params![root.as_bytes(), owner, now_ms]).map(|_| ()))
}

/// What is known of a folder goes with its tree: it says that the files' objects are there.
fn remove(connection: &Connection, now_ms: i64) -> rusqlite::Result<(u64, u64)> {
    let sql = "SELECT count(*), coalesce(sum(length(data)), 0) FROM objects WHERE id NOT IN (SELECT id FROM temp.live)";
    let removed = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for table in ["objects WHERE id", "roots WHERE id", "owners WHERE root", "seen WHERE tree"] {
        connection.execute(&format!("DELETE FROM {table} NOT IN (SELECT id FROM temp.live)"), [])?;
    }
    connection.execute("DELETE FROM workspaces WHERE used_ms < ?1", [now_ms - FORGET_MS])?;
    connection.execute("DELETE FROM seen WHERE workspace NOT IN (SELECT number FROM workspaces)", [])?;
    Ok(removed)
}

fn key(workspace: &Path) -> &[u8] {
    use std::os::unix::ffi::OsStrExt as _;
    workspace.as_os_str().as_bytes()
}
