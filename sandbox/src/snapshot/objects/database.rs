//! Opening the database, its tables, and the lock beside it.

use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::super::error::SnapshotError;
use super::Packer;

/// Says that a database is one of these: "rtsn".
const APPLICATION_ID: i64 = 0x7274_736e;
const LAYOUT: i64 = 1;
/// How long another process may hold the database for writing.
const BUSY: Duration = Duration::from_secs(60);
/// After so many bytes written, what is done so far is committed: others wait no longer, and the log stays small.
const BATCH_BYTES: u64 = 32 << 20;

/// `roots` are the snapshots, with the time at which they were last taken; `seen` is what is known of the files of
/// each workspace (the tree of a folder, and stamps of the files in it).
const TABLES: &str = "
CREATE TABLE objects (
    id BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL, length INTEGER NOT NULL, compressed INTEGER NOT NULL, data BLOB NOT NULL
) STRICT;
CREATE TABLE roots (id BLOB NOT NULL PRIMARY KEY, taken_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE workspaces (number INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, used_ms INTEGER NOT NULL) STRICT;
CREATE TABLE seen (
    workspace INTEGER NOT NULL, folder BLOB NOT NULL, tree BLOB NOT NULL, stamps BLOB NOT NULL, UNIQUE (workspace, folder)
) STRICT;
";

/// On whose behalf a snapshot is kept. A store that was made before there was this table gets it when it is opened; what it
/// holds by then is nobody's.
const OWNERS: &str = "
CREATE TABLE owners (
    root BLOB NOT NULL, owner TEXT NOT NULL, since_ms INTEGER NOT NULL, PRIMARY KEY (root, owner)
) STRICT, WITHOUT ROWID;
INSERT INTO owners (root, owner, since_ms) SELECT id, '', taken_ms FROM roots;
";

/// One connection to the store. Not shared between threads: each opens its own.
#[derive(Debug)]
pub(in super::super) struct Objects {
    pub(super) connection: Connection,
    pub(super) dir: PathBuf,
    /// On whose behalf snapshots are taken.
    pub(super) owner: String,
    /// Bytes written since the last commit, while a transaction is open.
    pub(super) open_bytes: Option<u64>,
    pub(super) packer: RefCell<Packer>,
}

/// Held while a snapshot is taken: nothing is removed meanwhile.
#[derive(Debug)]
pub(in super::super) struct SharedLock(#[expect(dead_code, reason = "unlocks when it is closed")] File);

impl Objects {
    /// Opens the store, and makes it where there is none.
    pub(in super::super) fn open(dir: &Path) -> Result<Self, SnapshotError> {
        Self::open_for(dir, "")
    }

    /// As [`Self::open`], for taking snapshots on behalf of `owner`.
    pub(in super::super) fn open_for(dir: &Path, owner: &str) -> Result<Self, SnapshotError> {
        std::fs::create_dir_all(dir).map_err(SnapshotError::io("make the folder", dir))?;
        let file = dir.join("objects.db");
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let failed = |error| Self::failed(dir, error);
        let mut connection = Connection::open_with_flags(&file, flags).map_err(failed)?;
        let layout = prepare(&mut connection).map_err(failed)?;
        if layout != LAYOUT {
            return Err(SnapshotError::Foreign { file, layout });
        }
        let packer = RefCell::new(Packer::new());
        Ok(Self { connection, dir: dir.to_path_buf(), owner: owner.to_owned(), open_bytes: None, packer })
    }

    /// Another connection to the same store.
    pub(in super::super) fn again(&self) -> Result<Self, SnapshotError> {
        Self::open_for(&self.dir, &self.owner)
    }

    pub(super) fn error(&self, error: rusqlite::Error) -> SnapshotError {
        Self::failed(&self.dir, error)
    }

    fn failed(dir: &Path, error: rusqlite::Error) -> SnapshotError {
        SnapshotError::Store { dir: dir.to_path_buf(), source: Box::new(error) }
    }

    /// Waits until nothing is being removed, and keeps it so.
    pub(in super::super) fn lock_shared(dir: &Path) -> Result<SharedLock, SnapshotError> {
        let (file, path) = lock_file(dir)?;
        file.lock_shared().map_err(SnapshotError::io("lock", &path))?;
        Ok(SharedLock(file))
    }

    /// Waits until no snapshot is being taken, and keeps it so until the file is closed.
    pub(in super::super) fn lock_exclusive(dir: &Path) -> Result<File, SnapshotError> {
        let (file, path) = lock_file(dir)?;
        file.lock().map_err(SnapshotError::io("lock", &path))?;
        Ok(file)
    }

    /// Reads what follows as of one moment, until that goes, which spares a lock for each object. Not while writing.
    pub(in super::super) fn reading(&self) -> Result<Transaction<'_>, SnapshotError> {
        self.connection.unchecked_transaction().map_err(|error| self.error(error))
    }

    /// Begins to write, if that was not begun.
    pub(super) fn begin(&mut self) -> Result<(), SnapshotError> {
        if self.open_bytes.is_none() {
            self.connection.execute_batch("BEGIN IMMEDIATE").map_err(|error| self.error(error))?;
            self.open_bytes = Some(0);
        }
        Ok(())
    }

    /// Counts what was written, and commits when it is much. Objects that nothing names yet do no harm.
    pub(super) fn wrote(&mut self, bytes: u64) -> Result<(), SnapshotError> {
        let open = self.open_bytes.unwrap_or_default() + bytes;
        self.open_bytes = Some(open);
        if open < BATCH_BYTES { Ok(()) } else { self.commit() }
    }

    /// Makes visible to others what was written; not yet safe from a loss of power.
    pub(in super::super) fn commit(&mut self) -> Result<(), SnapshotError> {
        if self.open_bytes.take().is_none() {
            return Ok(());
        }
        self.connection.execute_batch("COMMIT").map_err(|error| {
            let _ = self.connection.execute_batch("ROLLBACK");
            self.error(error)
        })
    }

    /// Commits what was written so far, then `last`, and answers when all of it is safe from a loss of power: the one
    /// flush of the write-ahead log covers what was committed before it.
    pub(super) fn commit_durably(
        &mut self,
        last: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<(), SnapshotError> {
        self.commit()?;
        self.connection.pragma_update(None, "synchronous", "FULL").map_err(|error| self.error(error))?;
        let done = self.in_transaction(last);
        self.connection.pragma_update(None, "synchronous", "NORMAL").map_err(|error| self.error(error))?;
        done
    }

    /// All of `work` or nothing of it.
    pub(super) fn in_transaction<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, SnapshotError> {
        let result =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).and_then(|transaction| {
                let result = work(&transaction)?;
                transaction.commit()?;
                Ok(result)
            });
        result.map_err(|error| Self::failed(&self.dir, error))
    }
}

fn lock_file(dir: &Path) -> Result<(File, PathBuf), SnapshotError> {
    std::fs::create_dir_all(dir).map_err(SnapshotError::io("make the folder", dir))?;
    let path = dir.join("removing.lock");
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    Ok((file.map_err(SnapshotError::io("open", &path))?, path))
}

/// Settings of the connection, and the tables; answers the layout.
fn prepare(connection: &mut Connection) -> rusqlite::Result<i64> {
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "cache_size", -16_000)?;
    if describe(connection)? == (0, 0) {
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        to_wal(connection)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been quicker.
        if describe(&transaction)? == (0, 0) {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", LAYOUT)?;
        }
        transaction.commit()?;
    }
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 4_000)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    match describe(connection)? {
        (APPLICATION_ID, LAYOUT) => {
            if !has_owners(connection)? {
                let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                if !has_owners(&transaction)? {
                    transaction.execute_batch(OWNERS)?;
                }
                transaction.commit()?;
            }
            Ok(LAYOUT)
        }
        (APPLICATION_ID, layout) => Ok(layout),
        (_, layout) => Ok(-layout.abs()),
    }
}

fn has_owners(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'owners'")?.exists([])
}

fn describe(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    let ask = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    Ok((ask("application_id")?, ask("user_version")?))
}

/// SQLite's busy handler does not cover this switch, so a second process that opens the file at the same moment has to
/// ask again.
fn to_wal(connection: &Connection) -> rusqlite::Result<()> {
    let until = Instant::now() + BUSY;
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0)) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other.map(|_| ()),
        }
    }
}
