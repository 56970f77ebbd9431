//! Files as text: which encoding, byte order mark and line ends they have, and the way back to the same bytes.
//!
//! Nothing is guessed silently: what was assumed is in [`Encoding`] and is told to the model. A text that would not
//! come back as the bytes it was made from is refused for writing.

use encoding_rs::{UTF_16BE, UTF_16LE, WINDOWS_1252};

/// How a file's bytes stand for text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// UTF-8 without a byte order mark.
    Utf8,
    /// UTF-8 with a byte order mark.
    Utf8Bom,
    /// UTF-16, low byte first, with a byte order mark.
    Utf16Le,
    /// UTF-16, high byte first, with a byte order mark.
    Utf16Be,
    /// Windows-1252, of which Latin-1 text is a part. Assumed, since such files do not say what they are.
    Windows1252,
}

impl Encoding {
    /// Its name for the model; `None` for plain UTF-8, of which nothing needs to be said.
    pub(super) const fn label(self) -> Option<&'static str> {
        match self {
            Self::Utf8 => None,
            Self::Utf8Bom => Some("UTF-8 with byte order mark"),
            Self::Utf16Le => Some("UTF-16 LE with byte order mark"),
            Self::Utf16Be => Some("UTF-16 BE with byte order mark"),
            Self::Windows1252 => Some("not UTF-8; read as Windows-1252 (Latin-1)"),
        }
    }

    /// That of a file which is written as `text` is: UTF-8, with the mark that the text itself may begin with.
    pub(super) fn of_new(text: &str) -> Self {
        if text.starts_with('\u{FEFF}') { Self::Utf8Bom } else { Self::Utf8 }
    }

    /// A decoder for the file's bytes from its very first one.
    pub(super) fn decoder(self) -> encoding_rs::Decoder {
        match self {
            Self::Utf8 => encoding_rs::UTF_8.new_decoder_without_bom_handling(),
            Self::Utf8Bom => encoding_rs::UTF_8.new_decoder_with_bom_removal(),
            Self::Utf16Le => UTF_16LE.new_decoder_with_bom_removal(),
            Self::Utf16Be => UTF_16BE.new_decoder_with_bom_removal(),
            Self::Windows1252 => WINDOWS_1252.new_decoder_without_bom_handling(),
        }
    }

    /// The bytes of `text`, byte order mark included. `Err` has the first character that has no bytes in this encoding.
    pub(super) fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        match self {
            Self::Utf8 => Ok(text.as_bytes().to_vec()),
            Self::Utf8Bom => Ok([b"\xEF\xBB\xBF", text.as_bytes()].concat()),
            Self::Utf16Le => Ok(utf16(text, u16::to_le_bytes)),
            Self::Utf16Be => Ok(utf16(text, u16::to_be_bytes)),
            Self::Windows1252 => {
                let mut bytes = vec![0; text.len()];
                let mut encoder = WINDOWS_1252.new_encoder();
                let (result, _, written) = encoder.encode_from_utf8_without_replacement(text, &mut bytes, true);
                match result {
                    encoding_rs::EncoderResult::Unmappable(character) => Err(character),
                    encoding_rs::EncoderResult::InputEmpty | encoding_rs::EncoderResult::OutputFull => {
                        bytes.truncate(written);
                        Ok(bytes)
                    }
                }
            }
        }
    }
}

/// A whole file as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextFile {
    /// The text, without byte order mark, with the line ends it has.
    pub(super) text: String,
    /// How it is written.
    pub(super) encoding: Encoding,
}

/// Why bytes are not a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotText {
    /// They are something else.
    #[error("a binary file")]
    Binary,
    /// They are text, most likely, in an encoding that cannot be told from the bytes.
    #[error("not UTF-8, and in an encoding that cannot be told from its bytes")]
    UnknownEncoding,
    /// They are nearly text: some bytes are not valid, and would be lost when it is written back.
    #[error("{0} with invalid bytes in it")]
    Invalid(&'static str),
}

/// Tells the encoding from a file's first bytes (`sample`); `whole` says whether that is all of it.
pub(super) fn detect(sample: &[u8], whole: bool) -> Result<Encoding, NotText> {
    if sample.starts_with(b"\xFF\xFE\0\0") || sample.starts_with(b"\0\0\xFE\xFF") {
        return Err(NotText::UnknownEncoding);
    }
    if sample.starts_with(b"\xFF\xFE") {
        return Ok(Encoding::Utf16Le);
    }
    if sample.starts_with(b"\xFE\xFF") {
        return Ok(Encoding::Utf16Be);
    }
    if sample.contains(&0) || controls(sample) * 50 > sample.len() {
        return Err(NotText::Binary);
    }
    match std::str::from_utf8(sample) {
        Ok(_) => return Ok(utf8_kind(sample)),
        // The sample may end inside a character.
        Err(error) if error.error_len().is_none() && !whole => return Ok(utf8_kind(sample)),
        Err(_) if sample.starts_with(b"\xEF\xBB\xBF") => return Ok(Encoding::Utf8Bom),
        Err(_) => {}
    }
    let high = sample.iter().filter(|byte| **byte >= 0x80).count();
    // A few bad bytes in what is otherwise multi-byte UTF-8 are damage, not another encoding.
    let multibyte = String::from_utf8_lossy(sample).chars().filter(|c| *c as u32 >= 0x80 && *c != '\u{FFFD}').count();
    if multibyte * 4 > high {
        return Ok(Encoding::Utf8);
    }
    // Western texts have few letters beyond ASCII; mostly high bytes are another alphabet, or no text at all.
    if high * 10 > sample.len() * 3 && sample.len() > 16 {
        Err(NotText::UnknownEncoding)
    } else {
        Ok(Encoding::Windows1252)
    }
}

/// Decodes a whole file, so that [`Encoding::encode`] gives the same bytes back.
pub(super) fn decode(bytes: &[u8]) -> Result<TextFile, NotText> {
    let encoding = detect(bytes, true)?;
    let invalid = || NotText::Invalid(encoding.label().unwrap_or("UTF-8"));
    let mut decoder = encoding.decoder();
    let room = decoder.max_utf8_buffer_length(bytes.len()).ok_or(NotText::Binary)?;
    let mut text = String::with_capacity(room);
    let (_, _, damaged) = decoder.decode_to_string(bytes, &mut text, true);
    if damaged || encoding.encode(&text).as_deref() != Ok(bytes) {
        return Err(invalid());
    }
    text.shrink_to_fit();
    Ok(TextFile { text, encoding })
}

/// The line ends of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct LineEnds {
    /// Lines that end in `\r\n`.
    pub(super) crlf: u64,
    /// Lines that end in `\n` alone.
    pub(super) lf: u64,
}

impl LineEnds {
    /// Counts those of `text`.
    pub(super) fn of(text: &str) -> Self {
        let all = text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        let crlf = text.matches("\r\n").count() as u64;
        Self { crlf, lf: all - crlf }
    }

    /// What new lines in this text should end in.
    pub(super) const fn dominant(self) -> &'static str {
        if self.crlf > self.lf { "\r\n" } else { "\n" }
    }

    /// A remark for the model; `None` when all is `\n`.
    pub(super) fn label(self) -> Option<String> {
        match (self.crlf, self.lf) {
            (0, _) => None,
            (_, 0) => Some("CRLF line ends".to_owned()),
            (crlf, lf) => Some(format!("mixed line ends ({crlf} CRLF, {lf} LF)")),
        }
    }
}

const fn utf8_kind(sample: &[u8]) -> Encoding {
    if matches!(sample, [0xEF, 0xBB, 0xBF, ..]) { Encoding::Utf8Bom } else { Encoding::Utf8 }
}

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(bytes).collect()
}

/// Control characters that texts do not have; tab, line end, form feed and escape are fine.
fn controls(sample: &[u8]) -> usize {
    let odd =
        |byte: &&u8| **byte == 0x7F || (**byte < 0x20 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x0C | 0x1B | 0x08));
    sample.iter().filter(odd).count()
}
