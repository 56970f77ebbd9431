//! A command's output as text: both streams in the order of arrival, decoded, without terminal escapes.
//!
//! Memory is bounded: at most [`MAX_KEPT_BYTES`] are kept (what comes later is counted), and at most one line, or
//! [`MAX_PENDING_BYTES`] of it, waits for its end. Nothing here redacts: a secret may span lines, so that is done on
//! the whole text at the end.

use std::borrow::Cow;

/// The most output that is kept of one command, in bytes.
pub(super) const MAX_KEPT_BYTES: usize = 64 * 1024 * 1024;
/// How long an unfinished line may be before it is passed on as it is, in bytes.
const MAX_PENDING_BYTES: usize = 64 * 1024;

/// Where a piece of output comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What a command wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Captured {
    /// The text.
    pub(super) text: String,
    /// Whether some of its bytes were no text; they are `�` now.
    pub(super) lossy: bool,
    /// Bytes of text that came after [`MAX_KEPT_BYTES`] and are lost.
    pub(super) lost_bytes: u64,
}

/// Gathers a command's output.
pub(super) struct Capture {
    // One decoder a stream: a character may be split over two pieces, with a piece of the other stream between them.
    stdout: encoding_rs::Decoder,
    stderr: encoding_rs::Decoder,
    pending: String,
    captured: Captured,
    limit_bytes: usize,
}

impl Capture {
    /// One that keeps at most `limit_bytes`.
    pub(super) fn new(limit_bytes: usize) -> Self {
        let decoder = || encoding_rs::UTF_8.new_decoder_without_bom_handling();
        let captured = Captured::default();
        Self { stdout: decoder(), stderr: decoder(), pending: String::new(), captured, limit_bytes }
    }

    /// Takes a piece and gives back the lines that are complete by it, for whoever watches.
    pub(super) fn push(&mut self, source: Source, bytes: &[u8]) -> Option<String> {
        self.decode(source, bytes, false);
        // A progress bar ends its lines with `\r`; one at the very end may be the first half of `\r\n`.
        let ended = |c: char| c == '\n' || c == '\r';
        let complete = match self.pending.strip_suffix('\r').unwrap_or(&self.pending).rfind(ended) {
            Some(end) => end + 1,
            None if self.pending.len() > MAX_PENDING_BYTES => self.pending.trim_end_matches('\r').len(),
            None => 0,
        };
        let rest = self.pending.split_off(complete);
        let lines = std::mem::replace(&mut self.pending, rest);
        self.keep(&lines)
    }

    /// The last unfinished line, if there is one, and all that was kept.
    pub(super) fn finish(mut self) -> (Option<String>, Captured) {
        self.decode(Source::Stdout, &[], true);
        self.decode(Source::Stderr, &[], true);
        let lines = std::mem::take(&mut self.pending);
        let last = self.keep(&lines);
        (last, self.captured)
    }

    fn decode(&mut self, source: Source, bytes: &[u8], last: bool) {
        let decoder = match source {
            Source::Stdout => &mut self.stdout,
            Source::Stderr => &mut self.stderr,
        };
        let room = decoder.max_utf8_buffer_length(bytes.len()).unwrap_or_default();
        self.pending.reserve(room);
        let (_, _, lossy) = decoder.decode_to_string(bytes, &mut self.pending, last);
        self.captured.lossy |= lossy;
    }

    fn keep(&mut self, lines: &str) -> Option<String> {
        let clean = clean(lines);
        if clean.is_empty() {
            return None;
        }
        let room = self.limit_bytes.saturating_sub(self.captured.text.len());
        let kept = super::output::head_of(&clean, room);
        self.captured.text.push_str(kept);
        self.captured.lost_bytes += (clean.len() - kept.len()) as u64;
        if self.captured.lost_bytes > 0 {
            // Behind a gap nothing is kept, so that the text is a true beginning of the output.
            self.limit_bytes = self.captured.text.len();
        }
        Some(clean.into_owned())
    }
}

/// `text` as a model or a log should see it: without terminal escapes and control characters, with every `\r` (progress
/// bars) a line end, and NUL visible.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    let odd = |byte: u8| (byte < 0x20 && byte != b'\n' && byte != b'\t') || byte == 0x7F;
    if !text.bytes().any(odd) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "␀").replace('\x7F', "");
    let mut clean = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.bytes().any(odd) {
            // The library takes tabs for control characters and drops them, so it is given what is between them.
            let parts: Vec<String> = line.split('\t').map(strip_ansi_escapes::strip_str).collect();
            clean.push_str(&parts.join("\t"));
        } else {
            clean.push_str(line);
        }
    }
    Cow::Owned(clean)
}
