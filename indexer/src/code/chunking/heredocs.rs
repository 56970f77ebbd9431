//! Takes here-documents out of a text before it is parsed: scanners keep the words that end them in a buffer of 1,024 bytes,
//! with counters of one byte, and do not always look whether something still fits. No definition stands in one anyway.
//!
//! The sign and its word become a string, the lines of the document become blank, everything keeps its place. Afterwards no
//! scanner sees a here-document in the text, whatever the text was.

use std::ops::Range;

/// How a language writes here-documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HereDocuments {
    /// It has none.
    None,
    /// `<<EOF`, `<< 'EOF'`, `<<-EOF`.
    Bash,
    /// `<<EOF`, `<<~"EOF"`, with nothing between.
    Ruby,
    /// `<<<EOF`, `<<< 'EOF'`.
    Php,
}

/// How many lines may be looked at for ends, for each line of the text.
const LOOKS_A_LINE: usize = 20;

/// Takes them out; `false` when that did not succeed.
pub(super) fn take_out(style: HereDocuments, bytes: &mut [u8]) -> bool {
    if style == HereDocuments::None {
        return true;
    }
    let lines = line_ranges(bytes);
    let mut looks = lines.len() * LOOKS_A_LINE;
    let mut row = 0;
    while let Some(line) = lines.get(row) {
        row += 1;
        let mut at = line.start;
        while let Some(opener) = opener(style, bytes, at..line.end) {
            let word = bytes[opener.word.clone()].to_vec();
            at = opener.end;
            match find_end(style, bytes, lines.get(row..).unwrap_or_default(), &word, &mut looks) {
                Some((count, end)) => {
                    blank(bytes, lines[row].start..end);
                    row += count;
                    bytes[opener.start..opener.end].fill(b'x');
                    bytes[opener.start] = b'"';
                    bytes[opener.end - 1] = b'"';
                }
                // It was an operator, then, or the string behind `<<<` in bash.
                None => {
                    let sign = bytes[opener.start..opener.word.start].iter().take_while(|byte| **byte == b'<').count();
                    let kept = usize::from(sign == 2 || style == HereDocuments::Php);
                    blank(bytes, opener.start + kept..opener.start + sign);
                }
            }
        }
    }
    (0..lines.len()).all(|row| opener(style, bytes, lines[row].clone()).is_none())
}

impl HereDocuments {
    fn sign(self) -> &'static [u8] {
        match self {
            Self::None | Self::Bash | Self::Ruby => b"<<",
            Self::Php => b"<<<",
        }
    }
}

/// Where a here-document is announced: the whole, and the word that ends it.
struct Opener {
    start: usize,
    end: usize,
    word: Range<usize>,
}

/// The first opener in a line.
fn opener(style: HereDocuments, bytes: &[u8], line: Range<usize>) -> Option<Opener> {
    let sign = style.sign();
    let mut start = line.start;
    while start + sign.len() < line.end {
        if !bytes[start..line.end].starts_with(sign) {
            start += 1;
            continue;
        }
        let mut at = start + sign.len();
        let skipped: &[u8] = match style {
            HereDocuments::None | HereDocuments::Ruby => b"~-",
            HereDocuments::Bash => b"<- \t\\",
            HereDocuments::Php => b" \t",
        };
        while at < line.end && skipped.contains(&bytes[at]) {
            at += 1;
        }
        let quote = bytes.get(at).copied().filter(|byte| at < line.end && b"\"'`".contains(byte));
        at += usize::from(quote.is_some());
        let is_end = |byte: u8| quote.map_or(!byte.is_ascii_alphanumeric() && byte != b'_', |quote| byte == quote);
        let length = bytes[at..line.end].iter().take_while(|byte| !is_end(**byte) && **byte != b'\n').count();
        let end = (at + length + usize::from(quote.is_some())).min(line.end);
        // In bash each such sign counts: what follows may be put together from anything.
        if length > 0 || quote.is_some() || style == HereDocuments::Bash {
            return Some(Opener { start, end: end.max(start + sign.len()), word: at..at + length });
        }
        start += 1;
    }
    None
}

/// How many lines a here-document has, its last one included, and where it ends.
fn find_end(
    style: HereDocuments,
    bytes: &[u8],
    lines: &[Range<usize>],
    word: &[u8],
    looks: &mut usize,
) -> Option<(usize, usize)> {
    if word.is_empty() {
        return None;
    }
    for (index, line) in lines.iter().enumerate() {
        *looks = looks.checked_sub(1)?;
        let text = bytes[line.clone()].trim_ascii();
        let ends = match style {
            HereDocuments::Php => text.strip_prefix(word).is_some_and(|rest| !rest.first().is_some_and(is_word)),
            HereDocuments::None | HereDocuments::Bash | HereDocuments::Ruby => text == word,
        };
        if ends {
            let indent = bytes[line.clone()].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            return Some((index + 1, line.start + indent + word.len()));
        }
    }
    None
}

fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

fn blank(bytes: &mut [u8], range: Range<usize>) {
    bytes[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// Where each line is, without its end.
fn line_ranges(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut start = 0;
    let range = |line: &[u8]| {
        let range = start..start + line.len();
        start = range.end + 1;
        range
    };
    bytes.split(|byte| *byte == b'\n').map(range).collect()
}
