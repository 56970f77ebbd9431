//! Reads recorded sessions in the open recording format: one JSON object a line (`session`, `i`, `ts`, `kind`, `tool`, `path`,
//! `text`), lines of several sessions mixed in any way, plain or packed with gzip.
//!
//! Invariant: a damaged line is an error that names it; nothing is skipped, since a missing item would shift all points.

use super::item::{Item, ItemKind};
use super::session::BenchSession;
use flate2::bufread::MultiGzDecoder;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

/// The longest line, in bytes.
const MAX_LINE_BYTES: usize = 32 * 1024 * 1024;

/// The most that is read, unpacked, in bytes: a packed file can hold anything, and all of it is kept in memory.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024 * 1024;

/// How a packed file begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A line is not one of a recording.
    #[error("line {line}: {what}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// There is too much of it.
    #[error("more than {} GiB of recordings", MAX_FILE_BYTES / (1024 * 1024 * 1024))]
    TooLarge,
}

/// A line as far as it is needed.
#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    session: Cow<'a, str>,
    #[serde(borrow)]
    ts: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    tool: Option<Cow<'a, str>>,
    #[serde(borrow)]
    path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

/// The sessions in the file at `path`, in the order in which they begin.
///
/// # Errors
/// When it cannot be read, is too large, or holds a line that is none of a recording.
pub fn recorded_sessions(path: &Path) -> Result<Vec<BenchSession>, RecordedError> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file").into());
    }
    let mut reader = BufReader::with_capacity(128 * 1024, file);
    if reader.fill_buf()?.starts_with(&GZIP) {
        sessions(BufReader::with_capacity(128 * 1024, MultiGzDecoder::new(reader)))
    } else {
        sessions(reader)
    }
}

/// The sessions in what `reader` gives.
pub(super) fn sessions(mut reader: impl BufRead) -> Result<Vec<BenchSession>, RecordedError> {
    let (mut sessions, mut places) = (Vec::<BenchSession>::new(), HashMap::<String, usize>::new());
    let (mut buffer, mut number, mut total) = (Vec::new(), 0, 0_u64);
    loop {
        buffer.clear();
        number += 1;
        let read = reader.by_ref().take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', &mut buffer);
        let read = read.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => {
                RecordedError::Line { line: number, what: format!("the packed data is damaged ({error})") }
            }
            _ => error.into(),
        })?;
        total += read as u64;
        if read == 0 {
            return Ok(sessions);
        }
        if total > MAX_FILE_BYTES {
            return Err(RecordedError::TooLarge);
        }
        let damaged = |what: String| RecordedError::Line { line: number, what };
        if read > MAX_LINE_BYTES {
            return Err(damaged(format!("longer than {} MiB", MAX_LINE_BYTES / (1024 * 1024))));
        }
        if buffer.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let row: Row<'_> = serde_json::from_slice(&buffer).map_err(|error| damaged(plain(&error)))?;
        let place = match places.get(row.session.as_ref()) {
            Some(place) => *place,
            None => {
                let id = row.session.clone().into_owned();
                places.insert(id.clone(), sessions.len());
                sessions.push(BenchSession { id, items: Vec::new() });
                sessions.len() - 1
            }
        };
        if let Some(session) = sessions.get_mut(place) {
            let item = item(&row, session.items.last().map_or(0, |item| item.at_ms)).map_err(damaged)?;
            session.items.push(item);
        }
    }
}

/// The item that a line is, not before `after_ms`: lines of one answer were written down in another order than they ended.
fn item(row: &Row<'_>, after_ms: u64) -> Result<Item, String> {
    let kind = ItemKind::parse(&row.kind).ok_or_else(|| format!("there is no kind {:?}", short(&row.kind)))?;
    let at: jiff::Timestamp = row.ts.parse().map_err(|_| format!("{:?} is no time", short(&row.ts)))?;
    let at_ms = u64::try_from(at.as_millisecond()).unwrap_or(0).max(after_ms);
    let (tool, path) = (row.tool.as_deref().unwrap_or_default(), row.path.as_deref().unwrap_or_default());
    Ok(Item::new(kind, tool, path, &row.text, at_ms))
}

/// What is wrong with a line of JSON, without the line number that is always 1.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

fn short(text: &str) -> &str {
    super::characters::first(text, 40)
}
