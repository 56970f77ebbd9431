//! The database file: opening, recognising and creating it.
//!
//! The file is ours when its application id says so; its `user_version` is the layout's version. A layout never
//! changes in place without a new version, and a newer one is refused rather than guessed at.

use super::failure::sqlite_failed;
use crate::log::LogError;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::path::Path;
use std::time::{Duration, Instant};

/// `rtrc`.
pub(super) const APPLICATION_ID: i32 = 0x7274_7263;

/// The version of the layout below.
pub(super) const LAYOUT: i32 = 1;

/// How long a writer waits for another process's transaction.
const BUSY: Duration = Duration::from_secs(10);

/// After how many pages in the WAL they are moved into the file, 16 MiB: each move costs two more syncs.
const CHECKPOINT_PAGES: i64 = 4_000;

/// What the WAL is cut back to once it could be emptied.
const WAL_LIMIT_BYTES: i64 = 64 * 1024 * 1024;

const TABLES: &str = "
    CREATE TABLE streams (
        id INTEGER PRIMARY KEY,
        tenant TEXT NOT NULL,
        project TEXT NOT NULL,
        class TEXT NOT NULL,
        name TEXT NOT NULL,
        head_seq INTEGER NOT NULL,
        head_hash BLOB NOT NULL,
        head_at INTEGER NOT NULL,
        head_position INTEGER NOT NULL,
        UNIQUE (tenant, project, class, name)
    ) STRICT;
    CREATE TABLE events (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        stream INTEGER NOT NULL REFERENCES streams (id),
        seq INTEGER NOT NULL,
        id BLOB NOT NULL UNIQUE,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        hash BLOB NOT NULL,
        payload_bytes INTEGER NOT NULL,
        payload_blob BLOB,
        envelope BLOB NOT NULL,
        UNIQUE (stream, seq)
    ) STRICT;
    CREATE INDEX streams_by_head ON streams (head_position DESC);
";

/// Opens the log's file, or makes it.
pub(super) fn open_or_create(file: &Path) -> Result<Connection, LogError> {
    let mut connection = connect(file).map_err(|e| sqlite_failed(file, &e))?;
    if !is_ours(&connection, file)? {
        create(&mut connection).map_err(|e| sqlite_failed(file, &e))?;
        // Another process may have made the file in between; then it has to be ours now.
        is_ours(&connection, file)?;
    }
    let mode = to_wal(&connection).map_err(|e| sqlite_failed(file, &e))?;
    if mode != "wal" {
        let why =
            format!("the file system does not support SQLite's WAL (mode is {mode})\nhint: keep it on a local disk");
        return Err(LogError::Unfit { location: file.display().to_string(), why });
    }
    Ok(connection)
}

/// A connection that only reads, to a file that [`open_or_create`] has seen.
pub(super) fn open_reader(file: &Path) -> rusqlite::Result<Connection> {
    let connection = connect(file)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.pragma_update(None, "journal_size_limit", WAL_LIMIT_BYTES)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

/// Whether the file is a log of this version; `false` when it is still empty.
fn is_ours(connection: &Connection, file: &Path) -> Result<bool, LogError> {
    let ask = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
    let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
    let read = ask("application_id").and_then(|id| Ok((id, ask("user_version")?, tables?)));
    let location = file.display().to_string();
    match read.map_err(|e| sqlite_failed(file, &e))? {
        (0, 0, 0) => Ok(false),
        (APPLICATION_ID, LAYOUT, _) => Ok(true),
        (APPLICATION_ID, layout, _) if layout > LAYOUT => Err(LogError::Newer {
            what: format!("the log at {location} (layout {layout}, this version knows {LAYOUT})"),
        }),
        _ => Err(LogError::Unfit {
            location,
            why: "it is a database of another program\nhint: name another folder".to_owned(),
        }),
    }
}

fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", LAYOUT)?;
    }
    transaction.commit()
}

/// Switches to WAL. SQLite's busy handler does not cover this switch, so a second process that opens the file at the
/// same moment has to ask again.
fn to_wal(connection: &Connection) -> rusqlite::Result<String> {
    let until = Instant::now() + BUSY;
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0)) {
            Err(e) if e.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}
