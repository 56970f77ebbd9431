//! From the beginning of a file to the text that goes into a request: decoded, cleaned, redacted, and cut at a line.

use retrace_events::redact::Redactor;

/// How much of one file is used, in bytes.
const FILE_BYTES: usize = 32 * 1024;

/// The text of a file, and what was done to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The text, with a last line that says so when it is not all.
    pub(super) text: String,
    /// What the user should know, a line each.
    pub(super) notices: Vec<String>,
}

/// Makes a text of `bytes`, the beginning of the file `path` of `total_bytes`, with room for `room_bytes`.
///
/// # Errors
/// Why it cannot be used, in one line.
pub(super) fn excerpt(
    path: &str,
    bytes: &[u8],
    total_bytes: u64,
    room_bytes: usize,
    redactor: &Redactor,
) -> Result<Excerpt, String> {
    if bytes.contains(&0) {
        return Err(format!("{path} is not a text"));
    }
    let text = decoded(bytes, total_bytes).ok_or_else(|| format!("{path} is not UTF-8 text"))?;
    let mut notices = Vec::new();
    let (clean, hidden) = without_hidden(text);
    if hidden > 0 {
        notices.push(format!("{path} has {hidden} characters that cannot be seen; they are left out"));
    }
    // Secrets go before anything is cut: half of one might not be recognised.
    let redacted = redactor.redact(&clean);
    let limit = FILE_BYTES.min(room_bytes);
    let kept = cut_at_line(&redacted, limit);
    if kept.len() == redacted.len() && bytes.len() as u64 == total_bytes {
        return Ok(Excerpt { text: redacted.into_owned(), notices });
    }
    if limit < FILE_BYTES && kept.is_empty() {
        return Err(format!("{path} has no room beside the other instruction files"));
    }
    let note =
        format!("{path} is {} bytes; the first {} are used", thousands(total_bytes), thousands(kept.len() as u64));
    let text = format!("{}\n[cut here: {note}]", kept.trim_end_matches('\n'));
    notices.push(note);
    Ok(Excerpt { text, notices })
}

/// The bytes as UTF-8, without a byte order mark. The last character may be cut where the file goes on.
fn decoded(bytes: &[u8], total_bytes: u64) -> Option<&str> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() && (bytes.len() as u64) < total_bytes => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    Some(text.strip_prefix('\u{FEFF}').unwrap_or(text))
}

/// The text without carriage returns, and without characters that a reader does not see while a model reads them: a
/// person who looked at the file would not know what it says. Joiners stay, which scripts and emoji need.
fn without_hidden(text: &str) -> (String, usize) {
    let mut hidden = 0;
    let mut seen = |c: &char| {
        let is_hidden = match c {
            '\n' | '\t' | '\r' | '\u{C}' => false,
            '\u{200B}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}' => {
                true
            }
            c => c.is_control(),
        };
        hidden += usize::from(is_hidden);
        !is_hidden && *c != '\r'
    };
    let clean = text.chars().filter(|c| seen(c)).collect();
    (clean, hidden)
}

/// The longest beginning of at most `limit` bytes that ends with a line; of a line that is longer, what fits.
fn cut_at_line(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = &text[..end];
    head.rfind('\n').map_or(head, |line_end| &head[..=line_end])
}

/// With commas between groups of three digits.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}
