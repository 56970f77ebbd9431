//! An incremental decoder for server-sent events.
//!
//! Bytes may be cut anywhere: in the middle of a line ending, of a UTF-8 character, of a field. Lines may end in LF,
//! CR or CRLF; comments are dropped; several `data` lines are joined by LF. Sizes are bounded and invalid UTF-8 is an
//! error, because answers must be kept exactly.
//!
//! Own code, because the crates there are for this (`eventsource-stream`, `sse-codec`) bound neither a line nor an
//! event.

use thiserror::Error;

/// One event: its name (empty when the stream named none) and its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event` field.
    pub event: String,
    /// The `data` fields, joined by line feeds.
    pub data: String,
}

/// Why a stream cannot be decoded any further.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SseError {
    /// One event is larger than allowed.
    #[error("a server-sent event is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// A line is not UTF-8.
    #[error("a line of the event stream is not valid UTF-8")]
    NotUtf8,
}

/// The decoder; feed it with [`push`](Self::push). What is left unfinished at the end of a stream is no event.
#[derive(Debug)]
pub struct SseDecoder {
    limit_bytes: usize,
    line: Vec<u8>,
    event: String,
    data: String,
    has_data: bool,
    /// The last byte ended a line with CR, so a LF right after it belongs to the same line ending.
    after_cr: bool,
    /// No line has been completed yet, so a byte order mark may stand in front.
    at_start: bool,
}

impl SseDecoder {
    /// A decoder for one stream, with a limit on the size of a single event, in bytes.
    #[must_use]
    pub fn new(limit_bytes: usize) -> Self {
        Self {
            limit_bytes,
            line: Vec::new(),
            event: String::new(),
            data: String::new(),
            has_data: false,
            after_cr: false,
            at_start: true,
        }
    }

    /// Decodes the next bytes and appends the events completed by them to `out`.
    ///
    /// # Errors
    /// When an event is too large or a line is not UTF-8; the decoder is of no more use then.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut Vec<SseEvent>) -> Result<(), SseError> {
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|b| matches!(b, b'\n' | b'\r')) {
            self.keep(&bytes[..end])?;
            let ended_by_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if ended_by_cr {
                match bytes.strip_prefix(b"\n") {
                    Some(rest) => bytes = rest,
                    None => self.after_cr = bytes.is_empty(),
                }
            }
            self.end_line(out)?;
        }
        self.keep(bytes)
    }

    fn keep(&mut self, part: &[u8]) -> Result<(), SseError> {
        let size = self.line.len() + self.data.len() + self.event.len() + part.len();
        if size > self.limit_bytes {
            return Err(SseError::TooLarge { limit_bytes: self.limit_bytes });
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(&mut self, out: &mut Vec<SseEvent>) -> Result<(), SseError> {
        let mut line = std::mem::take(&mut self.line);
        {
            let text = std::str::from_utf8(&line).map_err(|_| SseError::NotUtf8)?;
            let text =
                if std::mem::take(&mut self.at_start) { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
            if text.is_empty() {
                self.dispatch(out);
            } else {
                self.field(text);
            }
        }
        line.clear();
        self.line = line; // keeps the allocation
        Ok(())
    }

    fn field(&mut self, line: &str) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => value.clone_into(&mut self.event),
            "data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                self.has_data = true;
            }
            // A comment has an empty name; `id` and `retry` are for reconnecting, which this API does not do.
            _ => {}
        }
    }

    fn dispatch(&mut self, out: &mut Vec<SseEvent>) {
        let event = std::mem::take(&mut self.event);
        let data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.has_data) {
            out.push(SseEvent { event, data });
        }
    }
}
