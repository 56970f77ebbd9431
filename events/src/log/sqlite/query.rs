//! The questions a reading connection can answer. Each is answered from one transaction, so that a count and the
//! rows it counts agree.

use super::failure::sqlite_failed;
use crate::blob::FileBlobs;
use crate::envelope::Envelope;
use crate::hash::Hash;
use crate::id::{StreamId, Timestamp, Token};
use crate::log::chain::{Chain, StoredEvent, damaged, lost_tail, payload_of};
use crate::log::{Head, LogError, Position, Positioned, StreamFilter, StreamInfo};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, named_params, params};
use std::path::PathBuf;

/// How much is read at most: a page ends with the event that reaches either. At least one event is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) events: usize,
    pub(super) bytes: usize,
}

/// What was read of the order over all streams.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) events: Vec<Positioned>,
    /// Everything up to here that the filter means is in this page or was before it.
    pub(super) reached: Position,
    /// Whether there is more already.
    pub(super) more: bool,
}

/// A connection and the blobs beside it.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) file: PathBuf,
    pub(super) connection: Connection,
    pub(super) blobs: FileBlobs,
}

const HEAD: &str =
    "SELECT streams.id, head_seq, head_hash, head_at FROM streams LEFT JOIN events ON position = head_position
    WHERE tenant = ?1 AND project = ?2 AND class = ?3 AND name = ?4 AND coalesce(kind != 'stream.deleted', TRUE)";

const OF_STREAM: &str = "SELECT seq, hash, payload_blob, envelope FROM events
    WHERE stream = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3";

const MEANT: &str = "(:tenant IS NULL OR tenant = :tenant) AND (:project IS NULL OR project = :project)
    AND (:class IS NULL OR class = :class) AND (:id IS NULL OR name = :id)";

const END: &str = "SELECT coalesce(max(position), 0) FROM events";

impl Reader {
    pub(super) fn head(&self, stream: &StreamId) -> Result<Option<Head>, LogError> {
        let head = self.head_row(&self.connection, stream).map_err(|e| self.failed(&e))?;
        Ok(head.map(|(_, head)| head))
    }

    pub(super) fn read(&self, stream: &StreamId, from_seq: u64, limit: usize) -> Result<Vec<Envelope>, LogError> {
        let transaction = self.connection.unchecked_transaction().map_err(|e| self.failed(&e))?;
        let Some((row_id, head)) = self.head_row(&transaction, stream).map_err(|e| self.failed(&e))? else {
            return Ok(Vec::new());
        };
        // The stream's own record says how many there must be: one that is missing at the end is noticed too.
        let expected = (head.seq + 1).saturating_sub(from_seq).min(limit as u64);
        let rows = stored_rows(&transaction, row_id, from_seq, expected).map_err(|e| self.failed(&e))?;
        let (subject, mut chain) = (stream.subject(), Chain::default());
        let mut events = Vec::with_capacity(rows.len());
        let mut rows = rows.into_iter();
        for seq in (from_seq..).take(usize::try_from(expected).unwrap_or(usize::MAX)) {
            let Some((_, stored)) = rows.next().filter(|(found, _)| *found == seq) else {
                return Err(damaged(&subject, seq, "it is missing"));
            };
            events.push(self.restore(&subject, seq, &stored, &mut chain)?);
        }
        Ok(events)
    }

    /// The last position.
    pub(super) fn end(&self) -> Result<Position, LogError> {
        let last = self.connection.prepare_cached(END).and_then(|mut end| end.query_row([], |row| row.get(0)));
        last.map(Position).map_err(|e| self.failed(&e))
    }

    /// What `filter` means after the position `after`.
    pub(super) fn page(
        &self,
        filter: &StreamFilter,
        after: Position,
        limits: Limits,
        chain: &mut Chain,
    ) -> Result<Page, LogError> {
        let transaction = self.connection.unchecked_transaction().map_err(|e| self.failed(&e))?;
        let Position(last) = self.end()?;
        if after.0 > last {
            self.check_seen(&transaction, after)?;
        }
        let sql = format!(
            "SELECT position, tenant, project, class, name, seq, hash, payload_blob, envelope, payload_bytes
             FROM events JOIN streams ON streams.id = events.stream
             WHERE position > :after AND {MEANT} ORDER BY position LIMIT :limit"
        );
        let mut select = transaction.prepare_cached(&sql).map_err(|e| self.failed(&e))?;
        let (tenant, project, class, id) = filter_values(filter);
        let (after_row, limit) = (signed(after.0), signed(limits.events as u64));
        let values = named_params! {
            ":after": after_row, ":limit": limit, ":tenant": tenant, ":project": project, ":class": class, ":id": id,
        };
        let mut rows = select.query(values).map_err(|e| self.failed(&e))?;
        let (mut events, mut bytes, mut more) = (Vec::new(), 0, false);
        while let Some(row) = rows.next().map_err(|e| self.failed(&e))? {
            if bytes >= limits.bytes && !events.is_empty() {
                more = true;
                break;
            }
            let (position, stream, seq, stored, size) = positioned_row(row).map_err(|e| self.failed(&e))?;
            bytes += size;
            let envelope = self.restore(&stream, seq, &stored, chain)?;
            events.push((position, envelope));
        }
        more |= events.len() == limits.events;
        let reached =
            if more { events.last().map_or(after, |(position, _)| *position) } else { after.max(Position(last)) };
        Ok(Page { events, reached, more })
    }

    /// The streams that `filter` means: the deleted ones, or the others.
    pub(super) fn streams(&self, filter: &StreamFilter, deleted: bool) -> Result<Vec<StreamInfo>, LogError> {
        let sql = format!(
            "SELECT tenant, project, class, name, head_seq, head_hash, head_at
             FROM streams LEFT JOIN events ON position = head_position
             WHERE {MEANT} AND coalesce(kind = 'stream.deleted', FALSE) = :deleted ORDER BY head_position DESC"
        );
        let (tenant, project, class, id) = filter_values(filter);
        let values =
            named_params! { ":tenant": tenant, ":project": project, ":class": class, ":id": id, ":deleted": deleted };
        let ask = || -> rusqlite::Result<Vec<([String; 4], Head)>> {
            let mut select = self.connection.prepare_cached(&sql)?;
            let rows = select.query_map(values as &[(&str, &dyn ToSql)], |row| {
                let parts = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
                Ok((parts, Head { seq: row.get(4)?, hash: Hash::from_bytes(row.get(5)?), at: Timestamp(row.get(6)?) }))
            })?;
            rows.collect()
        };
        let rows = ask().map_err(|e| self.failed(&e))?;
        rows.into_iter().map(|(parts, head)| Ok(StreamInfo { stream: self.stream_id(parts)?, head })).collect()
    }

    /// Refuses a position that the log has never given.
    fn check_seen(&self, connection: &Connection, seen: Position) -> Result<(), LogError> {
        let given = "SELECT seq FROM sqlite_sequence WHERE name = 'events'";
        let given: Option<u64> =
            connection.query_row(given, [], |row| row.get(0)).optional().map_err(|e| self.failed(&e))?;
        let given = given.unwrap_or_default();
        if seen.0 > given { Err(lost_tail(self.file.display().to_string(), seen.0, given)) } else { Ok(()) }
    }

    fn stream_id(&self, [tenant, project, class, id]: [String; 4]) -> Result<StreamId, LogError> {
        let parse = || {
            Ok(StreamId {
                tenant: Token::new(&tenant)?,
                project: Token::new(&project)?,
                class: class.parse()?,
                id: Token::new(&id)?,
            })
        };
        parse().map_err(|e: crate::id::InvalidId| LogError::DamagedStore {
            location: self.file.display().to_string(),
            what: e.to_string(),
        })
    }

    fn head_row(&self, connection: &Connection, stream: &StreamId) -> rusqlite::Result<Option<(i64, Head)>> {
        let key = params![stream.tenant.as_str(), stream.project.as_str(), stream.class.as_str(), stream.id.as_str()];
        let head = |row: &Row<'_>| {
            let head = Head { seq: row.get(1)?, hash: Hash::from_bytes(row.get(2)?), at: Timestamp(row.get(3)?) };
            Ok((row.get(0)?, head))
        };
        connection.prepare_cached(HEAD)?.query_row(key, head).optional()
    }

    fn restore(&self, stream: &str, seq: u64, stored: &StoredEvent, chain: &mut Chain) -> Result<Envelope, LogError> {
        let payload = match stored.payload_blob {
            None => None,
            Some(blob) => Some(payload_of(stream, seq, self.blobs.read_blocking(blob, 0..u64::MAX))?),
        };
        let envelope = stored.restore(stream, seq, payload)?;
        chain.see(&envelope, stored.hash)?;
        Ok(envelope)
    }

    fn failed(&self, error: &rusqlite::Error) -> LogError {
        sqlite_failed(&self.file, error)
    }
}

/// A number as SQLite holds it. All numbers were checked to fit before they were stored; a question beyond the
/// range is a question for the very end.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Tenant, project, class and id, as far as they are given.
fn filter_values(filter: &StreamFilter) -> (Option<&str>, Option<&str>, Option<&'static str>, Option<&str>) {
    let StreamFilter { tenant, project, class, id } = filter;
    let class = class.map(crate::id::Class::as_str);
    (tenant.as_ref().map(Token::as_str), project.as_ref().map(Token::as_str), class, id.as_ref().map(Token::as_str))
}

fn stored_rows(
    connection: &Connection,
    stream: i64,
    from_seq: u64,
    count: u64,
) -> rusqlite::Result<Vec<(u64, StoredEvent)>> {
    let mut select = connection.prepare_cached(OF_STREAM)?;
    let rows =
        select.query_map(params![stream, signed(from_seq), signed(count)], |row| Ok((row.get(0)?, stored(row, 1)?)))?;
    rows.collect()
}

fn stored(row: &Row<'_>, first_column: usize) -> rusqlite::Result<StoredEvent> {
    Ok(StoredEvent {
        hash: Hash::from_bytes(row.get(first_column)?),
        payload_blob: row.get::<_, Option<[u8; 32]>>(first_column + 1)?.map(Hash::from_bytes),
        bytes: row.get(first_column + 2)?,
    })
}

type PositionedRow = (Position, String, u64, StoredEvent, usize);

fn positioned_row(row: &Row<'_>) -> rusqlite::Result<PositionedRow> {
    let part = |column: usize| row.get::<_, String>(column);
    let subject = format!("ev.{}.{}.{}.{}", part(1)?, part(2)?, part(3)?, part(4)?);
    let size = row.get::<_, u64>(9)?;
    Ok((Position(row.get(0)?), subject, row.get(5)?, stored(row, 6)?, usize::try_from(size).unwrap_or(usize::MAX)))
}
