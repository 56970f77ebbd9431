//! Text as it is worth indexing: without terminal escapes, without control characters, and without what nobody looks for by a
//! word: binary lines, lines that are far too long, and runs of encoded bytes.

use std::borrow::Cow;

/// The longest line that is taken whole, in bytes; of a longer one only a beginning.
pub(super) const MAX_LINE_BYTES: usize = 64 * 1024;
/// What is taken of a line that is too long, in bytes.
pub(super) const LINE_HEAD_BYTES: usize = 8 * 1024;
/// So many letters and digits in a row, in bytes, are no word, no path and no hash: they are base64 or the like.
pub(super) const ENCODED_RUN_BYTES: usize = 512;

/// What of a text did not get into documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LeftOut {
    /// Lines of which all or a part is missing.
    pub(crate) lines: u64,
    /// Bytes that are missing.
    pub(crate) bytes: u64,
}

impl LeftOut {
    pub(super) const fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.bytes += other.bytes;
    }

    pub(super) const fn count(&mut self, bytes: usize) {
        self.lines += 1;
        self.bytes += bytes as u64;
    }
}

/// `text` without terminal escapes and control characters; every `\r` (progress bars) is a line end.
pub(super) fn without_escapes(text: &str) -> Cow<'_, str> {
    let odd = |byte: u8| (byte < 0x20 && byte != b'\n' && byte != b'\t' && byte != 0) || byte == 0x7F;
    if !text.bytes().any(odd) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n").replace(['\r', '\x0B', '\x0C'], "\n").replace('\x7F', "");
    let mut clean = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        // NUL marks a binary line, which is left out later; the library would only drop it.
        if line.bytes().any(odd) && !line.contains('\0') {
            // The library takes tabs for control characters and drops them, so it is given what is between them.
            let parts: Vec<String> = line.split('\t').map(strip_ansi_escapes::strip_str).collect();
            clean.push_str(&parts.join("\t"));
        } else {
            clean.push_str(line);
        }
    }
    Cow::Owned(clean)
}

/// What is worth indexing of `line` (its line end included); empty when nothing is.
pub(super) fn worth<'a>(line: &'a str, left_out: &mut LeftOut) -> Cow<'a, str> {
    if is_binary(line) {
        left_out.count(line.len());
        return Cow::Borrowed("");
    }
    let kept = if line.len() > MAX_LINE_BYTES {
        let head = without_encoded(&line[..line.floor_char_boundary(LINE_HEAD_BYTES)]);
        if line.ends_with('\n') { Cow::Owned(format!("{head}\n")) } else { head }
    } else {
        without_encoded(line)
    };
    let missing = line.len().saturating_sub(kept.len());
    if missing > 0 {
        left_out.count(missing);
    }
    kept
}

/// A line with NUL in it, or one of which more than an eighth could not be read as text.
fn is_binary(line: &str) -> bool {
    if line.is_ascii() {
        return line.contains('\0');
    }
    let odd = line.chars().filter(|c| *c == '\u{FFFD}').count();
    line.contains('\0') || odd * 8 > line.chars().count()
}

/// `line` with a space in place of each run of encoded bytes.
fn without_encoded(line: &str) -> Cow<'_, str> {
    if line.len() < ENCODED_RUN_BYTES {
        return Cow::Borrowed(line);
    }
    let is_code = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b'\\');
    let mut kept: Option<String> = None;
    let mut copied = 0;
    let mut at = 0;
    let bytes = line.as_bytes();
    while at < bytes.len() {
        let run = bytes[at..].iter().take_while(|byte| is_code(byte)).count();
        if run >= ENCODED_RUN_BYTES {
            let kept = kept.get_or_insert_default();
            kept.push_str(&line[copied..at]);
            kept.push(' ');
            copied = at + run;
        }
        // Behind the run stands a byte that is no code, or the end.
        at += run + 1;
    }
    match kept {
        None => Cow::Borrowed(line),
        Some(mut kept) => {
            kept.push_str(&line[copied..]);
            Cow::Owned(kept)
        }
    }
}
