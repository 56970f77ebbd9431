//! Short texts out of long ones: one line, cut where a character ends, and from an output the lines that tell most.

use std::borrow::Cow;

/// What stands for what was left out.
const CUT: &str = "…";

/// The most lines of an output that are looked at, from its end.
const MAX_LINES: usize = 2_000;

/// The longest line of an output that is looked at, in bytes.
const MAX_LINE_BYTES: usize = 2_000;

/// Words by which a line tells of a failure. Matched in lower case.
const TELLING: [&str; 16] = [
    "error",
    "fail",
    "panic",
    "exception",
    "traceback",
    "fatal",
    "not found",
    "denied",
    "cannot",
    "undefined",
    "unresolved",
    "no such",
    "refused",
    "timed out",
    "assert",
    "expected",
];

/// The text on one line, without control characters, at most `max_bytes` long.
pub(super) fn line(text: &str, max_bytes: usize) -> String {
    let text = without_escapes(text);
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > max_bytes {
            return cut(&line, max_bytes);
        }
    }
    line
}

/// The beginning and the end of a text on one line: of a long prompt, the end often says what is wanted.
pub(super) fn ends(text: &str, max_bytes: usize) -> String {
    let whole = line(text, usize::MAX);
    if whole.len() <= max_bytes {
        return whole;
    }
    let room = max_bytes.saturating_sub(CUT.len() + 2);
    let head = floor(&whole, room - room / 3);
    let tail = &whole[ceil(&whole, whole.len() - room / 3)..];
    format!("{} {CUT} {}", head.trim_end(), tail.trim_start())
}

/// The beginning, at most `max_bytes` long.
pub(super) fn cut(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    format!("{}{CUT}", floor(text, max_bytes.saturating_sub(CUT.len())).trim_end())
}

/// The end, at most `max_bytes` long: of a path the end says more.
pub(super) fn tail(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    format!("{CUT}{}", &text[ceil(text, text.len() - max_bytes.saturating_sub(CUT.len()))..])
}

/// What an output says of a failure: the first lines that name one, or else its last lines.
pub(super) fn failure(output: &str, max_bytes: usize) -> String {
    let output = without_escapes(output);
    let lines: Vec<&str> = output.lines().rev().map(|line| floor(line.trim(), MAX_LINE_BYTES)).collect();
    let lines: Vec<&str> =
        lines.into_iter().filter(|line| !line.is_empty() && !line.starts_with("exit code:")).take(MAX_LINES).collect();
    let telling = lines.iter().rev().filter(|line| tells(line)).copied().take(3).collect::<Vec<_>>().join(" / ");
    let words = if telling.is_empty() {
        let mut last: Vec<&str> = lines.into_iter().take(2).collect();
        last.reverse();
        last.join(" / ")
    } else {
        telling
    };
    line(&words, max_bytes)
}

/// Whether a line tells of a failure, and not that there was none.
fn tells(line: &str) -> bool {
    let line = line.to_lowercase();
    let none = ["0 failed", "0 errors", "no errors", "0 failures"];
    TELLING.iter().any(|word| line.contains(word)) && !none.iter().any(|none| line.contains(none))
}

/// What makes two texts the same: letters in lower case and digits, and nothing else; any number is `#` where
/// `any_number` says so.
pub(super) fn key(text: &str, max_bytes: usize, any_number: bool) -> String {
    let mut key = String::with_capacity(max_bytes.min(text.len()));
    for c in text.chars() {
        if key.len() >= max_bytes {
            break;
        }
        if any_number && c.is_ascii_digit() {
            if !key.ends_with('#') {
                key.push('#');
            }
        } else if c.is_alphanumeric() {
            key.extend(c.to_lowercase());
        }
    }
    // A text of punctuation alone is the same only as itself.
    if key.is_empty() { floor(text, max_bytes).to_owned() } else { key }
}

fn without_escapes(text: &str) -> Cow<'_, str> {
    if text.contains('\x1b') {
        // What strips them takes tabs for control characters, which would join two words.
        Cow::Owned(strip_ansi_escapes::strip_str(text.replace('\t', " ")))
    } else {
        Cow::Borrowed(text)
    }
}

/// At most `max_bytes` of the beginning, whole characters.
pub(super) fn floor(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

fn ceil(text: &str, from: usize) -> usize {
    text.ceil_char_boundary(from)
}
