//! Whether the bytes of a file are worth indexing, and their text.

use super::skip::SkipReason;
use std::borrow::Cow;

/// Larger files are skipped.
pub(super) const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// How much of a file is looked at for a NUL, which no text holds.
const BINARY_PROBE_BYTES: usize = 32 * 1024;
/// How many bytes that are not UTF-8 a text may hold, of this many: an older encoding in a few comments.
const FOREIGN_SHARE: usize = 20;
/// A file with lines this long on average was not written by a person…
const MEAN_LINE_BYTES: usize = 300;
/// …when it is larger than this.
const MINIFIED_BYTES: usize = 4 * 1024;
/// A line longer than this, in a file of which it is most, is data.
const DATA_LINE_BYTES: usize = 16 * 1024;
/// Where a file says that it was generated, if it does.
const GENERATED_PROBE_BYTES: usize = 1_500;

/// The text of a file.
///
/// # Errors
/// Why it is left out.
pub(super) fn text_of<'a>(path: &str, bytes: &'a [u8]) -> Result<Cow<'a, str>, SkipReason> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let probe = &bytes[..bytes.len().min(BINARY_PROBE_BYTES)];
    if probe.contains(&0) {
        return Err(SkipReason::Binary);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => lossy(bytes)?,
    };
    if is_generated(path, &text) {
        return Err(SkipReason::Generated);
    }
    if is_minified(path, &text) {
        return Err(SkipReason::Minified);
    }
    if holds_private_key(&text) {
        return Err(SkipReason::Secret);
    }
    Ok(text)
}

fn lossy(bytes: &[u8]) -> Result<Cow<'_, str>, SkipReason> {
    let foreign: usize = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    let controls = bytes.iter().filter(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31)).count();
    if (foreign + controls) * FOREIGN_SHARE > bytes.len() {
        return Err(if controls * FOREIGN_SHARE > bytes.len() { SkipReason::Binary } else { SkipReason::NotUtf8 });
    }
    Ok(String::from_utf8_lossy(bytes))
}

fn is_generated(path: &str, text: &str) -> bool {
    const LOCKS: [&str; 14] = [
        "Cargo.lock",
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "bun.lock",
        "poetry.lock",
        "uv.lock",
        "Pipfile.lock",
        "Gemfile.lock",
        "composer.lock",
        "go.sum",
        "mix.lock",
        "flake.lock",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    if LOCKS.contains(&name) {
        return true;
    }
    let head = &text[..text.floor_char_boundary(GENERATED_PROBE_BYTES)];
    head.lines().take(20).any(|line| {
        let line = line.trim_start();
        let is_comment = ["//", "#", "/*", "*", "--", ";", "<!--", "%"].iter().any(|sign| line.starts_with(sign));
        let says = line.contains("@generated") || (line.contains("generated") && line.contains("DO NOT EDIT"));
        is_comment && says
    })
}

fn is_minified(path: &str, text: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    if [".min.js", ".min.css", ".min.mjs", ".map"].iter().any(|end| name.ends_with(end)) {
        return true;
    }
    if text.len() <= MINIFIED_BYTES {
        return false;
    }
    let (mut lines, mut longest) = (0_usize, 0);
    for line in text.lines() {
        lines += 1;
        longest = longest.max(line.len());
    }
    // Prose with a paragraph a line has long lines, too.
    let is_prose = [".md", ".markdown", ".txt", ".rst", ".tex", ".adoc"].iter().any(|end| name.ends_with(end));
    let is_data = longest > DATA_LINE_BYTES && longest * 2 > text.len();
    is_data || (!is_prose && text.len() / lines.max(1) > MEAN_LINE_BYTES)
}

/// A file that is a key, as opposed to one that talks about keys.
fn holds_private_key(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default();
    first.starts_with("-----BEGIN ") && first.contains("PRIVATE KEY")
}
