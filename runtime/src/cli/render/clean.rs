//! Foreign text made safe for a terminal: no escape sequences, no control characters, nothing that reorders or hides
//! what is written. All text that is not ours goes through here before it is printed.

/// The longest single line that is shown, in characters.
const MAX_LINE_CHARS: usize = 2_000;

/// Text of several lines, such as a command's output: escape sequences go (colours are usual there), line ends stay,
/// tabs become spaces. Each line is cleaned for itself, so that an unfinished sequence cannot swallow the next.
#[must_use]
pub(crate) fn text(foreign: &str) -> String {
    let mut cleaned = String::with_capacity(foreign.len());
    for (number, line) in foreign.split('\n').enumerate() {
        if number > 0 {
            cleaned.push('\n');
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.contains(['\x1b', '\u{9b}', '\u{9d}', '\u{90}']) {
            cleaned.extend(strip_ansi_escapes::strip_str(line).chars().filter_map(visible));
        } else {
            cleaned.extend(line.chars().filter_map(visible));
        }
    }
    cleaned
}

/// One line, such as a command or a path: control characters are shown as pictures, so that nothing in it is hidden, and
/// line ends as `⏎`. Cut when it is very long.
#[must_use]
pub(crate) fn line(foreign: &str) -> String {
    let shown = |c: char| match c {
        '\n' => Some('⏎'),
        '\t' => Some(' '),
        _ => pictured(c),
    };
    let mut chars = foreign.trim().chars().filter_map(shown);
    let mut cleaned: String = chars.by_ref().take(MAX_LINE_CHARS).collect();
    if chars.next().is_some() {
        cleaned.push('…');
    }
    cleaned
}

/// Text of several lines on which a person decides: nothing is stripped or cut, so that nothing hides. Control characters
/// are shown as pictures; line ends stay, tabs become four spaces.
#[must_use]
pub(crate) fn exact(foreign: &str) -> String {
    let mut cleaned = String::with_capacity(foreign.len());
    for c in foreign.chars() {
        match c {
            '\n' => cleaned.push('\n'),
            '\t' => cleaned.push_str("    "),
            _ => cleaned.extend(pictured(c)),
        }
    }
    cleaned
}

/// The character as it may be printed, a control character as its picture.
fn pictured(c: char) -> Option<char> {
    match c {
        '\u{7f}' => Some('␡'),
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)),
        _ => visible(c),
    }
}

/// One line of at most `max_chars` characters.
#[must_use]
pub(crate) fn short(foreign: &str, max_chars: usize) -> String {
    let whole = line(foreign);
    if whole.chars().count() <= max_chars {
        return whole;
    }
    whole.chars().take(max_chars.saturating_sub(1)).chain(['…']).collect()
}

/// A line of JSON with everything that could disturb a terminal escaped: the same value, for programs and people.
#[must_use]
pub(crate) fn json(line: &str) -> String {
    let mut cleaned = String::with_capacity(line.len());
    let mut units = [0; 2];
    for c in line.chars() {
        if c == '\n' || visible(c) == Some(c) {
            cleaned.push(c);
        } else {
            // Such characters stand in strings only, where an escape means the same.
            cleaned.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    cleaned
}

/// The character as it may be printed; `None` when it may not.
fn visible(c: char) -> Option<char> {
    match c {
        '\t' => Some(' '),
        // A carriage return alone would overwrite what is there; line and paragraph separators are line ends.
        '\r' | '\u{2028}' | '\u{2029}' => Some(' '),
        // C0, DEL and C1.
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => None,
        // Marks, embeddings, overrides and isolates that change the order of what is shown.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => None,
        // Invisible: zero width, word joiner, byte order mark, tags.
        '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}' => None,
        other => Some(other),
    }
}
