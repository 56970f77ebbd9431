//! What of a document is embedded: a gist of some sixty tokens. Embedding costs by the token, and the head of a thing says
//! mostly what it is about; the keyword index has all of it.
//!
//! A gist is a pure function of its document. When this file changes what it says, [`GIST_VERSION`] goes up: vectors of
//! other gists do not compare, so the tables are made again.

use crate::document::{Document, DocumentKind};

/// The version of what this file makes of a document.
pub(super) const GIST_VERSION: u32 = 1;

/// The tokens that a model reads of a text; the rest is cut by its tokenizer.
pub(super) const MAX_GIST_TOKENS: usize = 64;

/// The most characters of a gist: more never fit into the tokens of ordinary text.
const MAX_GIST_CHARS: usize = 320;
/// From how many characters on an answer's sentences suffice.
const ENOUGH_SENTENCE_CHARS: usize = 140;
/// How much of a text is looked at for its first words or for an error, in bytes.
const MAX_LOOK_BYTES: usize = 64 * 1024;
/// The most characters of one line of output.
const MAX_LINE_CHARS: usize = 160;
/// Fewer letters than this say nothing.
const MIN_LETTERS: usize = 3;

/// What is embedded of `document`; `None` when it says nothing that a search by meaning would find.
#[must_use]
pub fn gist(document: &Document) -> Option<String> {
    let head = head_of(&document.text);
    let gist = match document.kind {
        DocumentKind::Prompt | DocumentKind::Summary => words(head, MAX_GIST_CHARS),
        DocumentKind::Answer | DocumentKind::Thinking => sentences(head),
        DocumentKind::Note if document.is_error => words(head, MAX_GIST_CHARS),
        DocumentKind::Note => sentences(head),
        DocumentKind::Call => call(document, head),
        DocumentKind::Result => result(document, head)?,
        DocumentKind::Code => code(document, head),
    };
    (gist.chars().filter(|char| char.is_alphabetic()).take(MIN_LETTERS).count() == MIN_LETTERS).then_some(gist)
}

/// Which tool, on what: the input as it was given names both.
fn call(document: &Document, head: &str) -> String {
    let tool = document.tool.as_deref().unwrap_or_default();
    let input = words(head, MAX_GIST_CHARS);
    if tool.is_empty() || input.starts_with(tool) { input } else { words(&format!("{tool} {input}"), MAX_GIST_CHARS) }
}

/// How it ended and what it said first, or what it complained of. The later parts of a long output only count when they
/// report a failure: otherwise the call has said already what was done.
fn result(document: &Document, head: &str) -> Option<String> {
    let failed = document.is_error || document.exit.is_some_and(|exit| exit != 0);
    let complaint = lines(head).find(|line| is_complaint(line));
    if document.part > 0 && complaint.is_none() {
        return None;
    }
    let mut parts = Vec::new();
    parts.extend(document.tool.clone());
    parts.extend(document.paths.first().cloned());
    match document.exit {
        Some(0) | None if failed => parts.push("failed".to_owned()),
        Some(0) | None => {}
        Some(exit) => parts.push(format!("exit {exit}")),
    }
    let first = lines(head).next();
    let said = match (failed, complaint) {
        (true, Some(complaint)) => Some(complaint),
        (_, _) => first,
    };
    // A file that was read, a list, a search: its first line, under the name of the file.
    let said = words(said?, MAX_LINE_CHARS);
    parts.push(said);
    if let (false, Some(complaint)) = (failed, complaint)
        && first != Some(complaint)
    {
        parts.push(words(complaint, MAX_LINE_CHARS));
    }
    Some(words(&parts.join(" "), MAX_GIST_CHARS))
}

/// Where it is, what it defines, and the words somebody wrote above it or, without those, its signature.
fn code(document: &Document, head: &str) -> String {
    let mut parts = Vec::new();
    parts.extend(document.paths.first().cloned());
    parts.extend(document.symbol.clone());
    let comments: Vec<&str> = lines(head).map_while(comment_text).filter(|text| !text.is_empty()).take(3).collect();
    if !comments.is_empty() {
        parts.push(words(&comments.join(" "), MAX_LINE_CHARS));
    }
    // The signature: what follows the comments and attributes.
    let signature =
        lines(head).find(|line| comment_text(line).is_none() && !line.starts_with("#[") && !line.starts_with('@'));
    parts.extend(signature.map(|line| words(line, MAX_LINE_CHARS)));
    words(&parts.join(" "), MAX_GIST_CHARS)
}

/// The text of a line that is a comment in any of the usual languages.
fn comment_text(line: &str) -> Option<&str> {
    const MARKS: [&str; 10] = ["///", "//!", "//", "/**", "/*", "*/", "\"\"\"", "--", "*", "#"];
    if line.starts_with("#[") || line.starts_with("#include") || line.starts_with("#define") {
        return None;
    }
    let mark = MARKS.iter().find(|mark| line.starts_with(**mark))?;
    Some(line.get(mark.len()..).unwrap_or_default().trim_end_matches("*/").trim_end_matches("\"\"\"").trim())
}

/// Whether a line of output tells of a failure.
fn is_complaint(line: &str) -> bool {
    const SIGNS: [&str; 14] = [
        "error",
        "failed",
        "failure",
        "fatal",
        "panic",
        "exception",
        "traceback",
        "not found",
        "no such",
        "denied",
        "refused",
        "undefined",
        "cannot",
        "timed out",
    ];
    let line: String = line.chars().take(MAX_LINE_CHARS).flat_map(char::to_lowercase).collect();
    SIGNS.iter().any(|sign| line.contains(sign))
}

/// The lines that say something, without the space around them.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric))
}

/// The first sentences: enough of them to say something, since the first is often "let me look".
fn sentences(text: &str) -> String {
    let text = words(text, MAX_GIST_CHARS);
    let mut end = 0;
    let mut chars = 0;
    let mut before = ' ';
    for (at, char) in text.char_indices() {
        chars += 1;
        if char == ' ' && matches!(before, '.' | '!' | '?' | ':') && chars > ENOUGH_SENTENCE_CHARS {
            end = at;
            break;
        }
        before = char;
    }
    if end == 0 { text } else { text.get(..end).unwrap_or(&text).to_owned() }
}

/// The words of `text` with single spaces between them, without control characters and terminal sequences, up to
/// `max_chars` characters.
fn words(text: &str, max_chars: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut chars = text.chars();
    let mut space = false;
    while let Some(char) = chars.next() {
        if count + usize::from(space) >= max_chars {
            break;
        }
        if char == '\u{1b}' {
            skip_sequence(&mut chars);
        } else if char.is_whitespace() || char.is_control() {
            space = !out.is_empty();
        } else {
            if space {
                out.push(' ');
                count += 1;
                space = false;
            }
            out.push(char);
            count += 1;
        }
    }
    out
}

/// Skips a terminal sequence such as `[31m`, whose escape character was read.
fn skip_sequence(chars: &mut std::str::Chars<'_>) {
    if chars.as_str().starts_with('[') {
        chars.next();
        for char in chars.by_ref() {
            if ('\u{40}'..='\u{7e}').contains(&char) {
                break;
            }
        }
    }
}

/// The beginning of a text that may be very long.
fn head_of(text: &str) -> &str {
    let mut end = text.len().min(MAX_LOOK_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
