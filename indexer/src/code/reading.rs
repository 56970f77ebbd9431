//! From a path to documents: reading a file, hashing it, and cutting it into chunks. Done by several threads at once.

use super::chunking::{Chunk, chunk_file, chunk_lines};
use super::content::{MAX_FILE_BYTES, text_of};
use super::file_record::FileRecord;
use super::root::WorkspaceRoot;
use super::skip::SkipReason;
use crate::document::{Document, DocumentKind};
use retrace_events::redact::Redactor;
use rustix::io::Errno;
use std::io;
use std::panic::catch_unwind;
use std::time::{SystemTime, UNIX_EPOCH};

/// A file to be read, with what was known of it.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) path: String,
    pub(super) known: Option<FileRecord>,
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Only its stamp is new.
    Unchanged(FileRecord),
    /// It has these documents now.
    Changed(FileRecord, Vec<Document>),
    /// It is not there, or not for us.
    Absent(Option<SkipReason>),
    /// It could not be read just now; what is known of it stays.
    Unknown,
}

/// Reads files of one workspace.
pub(super) struct Reader<'a> {
    pub(super) root: &'a WorkspaceRoot,
    pub(super) workspace: &'a str,
    pub(super) redactor: &'a Redactor,
}

impl Reader<'_> {
    pub(super) fn read(&self, work: &Work) -> Outcome {
        let read_at_ns = now_ns();
        let (bytes, stamp) = match self.root.read(&work.path, MAX_FILE_BYTES) {
            Ok(found) => found,
            Err(error) => return failed(&error),
        };
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Outcome::Absent(Some(SkipReason::TooLarge));
        }
        let mut record = FileRecord::new(stamp, hash(&bytes), read_at_ns);
        if let Some(known) = &work.known {
            // Why it was left out is a matter of its content, too.
            record.skipped = known.skipped;
            if record.has_same_documents(known) {
                record.chunks = known.chunks;
                record.generation = known.generation;
                return Outcome::Unchanged(record);
            }
        }
        let documents = match text_of(&work.path, &bytes) {
            Ok(text) => {
                record.skipped = None;
                let chunks = chunks_of(&work.path, &text);
                chunks.into_iter().map(|chunk| self.document(&work.path, chunk, stamp.modified_ms())).collect()
            }
            Err(reason) => {
                record.skipped = Some(reason);
                Vec::new()
            }
        };
        record.chunks = u32::try_from(documents.len()).unwrap_or(u32::MAX);
        Outcome::Changed(record, documents)
    }

    fn document(&self, path: &str, chunk: Chunk, at_ms: i64) -> Document {
        Document {
            key: key(path, chunk.first_line),
            kind: DocumentKind::Code,
            workspace: self.workspace.to_owned(),
            at_ms,
            paths: vec![path.to_owned()],
            symbol: chunk.symbol,
            first_line: chunk.first_line,
            last_line: chunk.last_line,
            text: self.redactor.redact(&chunk.text).into_owned(),
            ..Document::default()
        }
    }
}

/// The chunks of a file. Should a parser panic over it, the file is cut by lines.
fn chunks_of(path: &str, text: &str) -> Vec<Chunk> {
    catch_unwind(|| chunk_file(path, text)).unwrap_or_else(|_| {
        tracing::warn!(path, "a parser failed; the file is cut by lines");
        chunk_lines(text)
    })
}

/// The key of the chunk that begins in this line.
pub(super) fn key(path: &str, first_line: u32) -> String {
    format!("code/{path}#{first_line}")
}

fn failed(error: &io::Error) -> Outcome {
    match Errno::from_io_error(error) {
        Some(Errno::NOENT | Errno::NOTDIR | Errno::XDEV) => Outcome::Absent(None),
        Some(Errno::LOOP) => Outcome::Absent(Some(SkipReason::Link)),
        Some(Errno::ACCESS | Errno::PERM) => Outcome::Absent(Some(SkipReason::Unreadable)),
        Some(_) => Outcome::Unknown,
        None => Outcome::Absent(Some(SkipReason::Special)),
    }
}

fn hash(bytes: &[u8]) -> u128 {
    let hash = blake3::hash(bytes);
    let half: [u8; 16] = std::array::from_fn(|at| hash.as_bytes()[at]);
    u128::from_le_bytes(half)
}

fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
