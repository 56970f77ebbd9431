//! Lines of a file that may be packed, damaged, endless, or no text at all. Memory is bounded by the longest line.

use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The longest line that is read, in bytes; a longer one is left out. An event holds 32 MiB at the most.
pub(in crate::import) const MAX_LINE_BYTES: usize = 30 * 1024 * 1024;
/// The most that is read of a file, unpacked, in bytes: a packed file can hold anything.
const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024 * 1024;
/// How a packed file begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A line, or what stands in its place.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::import) enum Line<'a> {
    /// Text, without its end.
    Text(&'a str),
    /// Bytes that are no text.
    NotUtf8,
    /// More than [`MAX_LINE_BYTES`].
    TooLong,
    /// The file ends within this line.
    Unfinished(&'a str),
}

/// The lines of a file.
pub(in crate::import) struct Lines {
    reader: Box<dyn BufRead + Send>,
    buffer: Vec<u8>,
    /// The number of the line read last, from 1.
    pub(in crate::import) number: u64,
}

impl Lines {
    /// Opens a file, packed or not.
    pub(in crate::import) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let mut reader = BufReader::with_capacity(128 * 1024, file);
        let packed = reader.fill_buf()?.starts_with(&GZIP);
        let reader: Box<dyn BufRead + Send> = if packed {
            Box::new(BufReader::with_capacity(128 * 1024, MultiGzDecoder::new(reader).take(MAX_FILE_BYTES)))
        } else {
            Box::new(reader.take(MAX_FILE_BYTES))
        };
        Ok(Self { reader, buffer: Vec::new(), number: 0 })
    }

    /// The next line; `None` at the end.
    pub(in crate::import) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        self.number += 1;
        let limit = MAX_LINE_BYTES as u64 + 1;
        let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut self.buffer)?;
        if read == 0 {
            return Ok(None);
        }
        let ended = self.buffer.last() == Some(&b'\n');
        if !ended && read as u64 == limit {
            self.skip()?;
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(match std::str::from_utf8(&self.buffer) {
            Ok(text) if ended => Line::Text(text.trim()),
            Ok(text) => Line::Unfinished(text.trim()),
            Err(_) => Line::NotUtf8,
        }))
    }

    /// Reads on to the end of the line.
    fn skip(&mut self) -> io::Result<()> {
        self.buffer.clear();
        loop {
            let available = self.reader.fill_buf()?;
            if available.is_empty() {
                return Ok(());
            }
            if let Some(end) = available.iter().position(|byte| *byte == b'\n') {
                self.reader.consume(end + 1);
                return Ok(());
            }
            let all = available.len();
            self.reader.consume(all);
        }
    }
}
