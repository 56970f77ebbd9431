//! What is pasted: cleaned of control characters, and kept aside when it is long, so that the line editor shows
//! `[pasted #1: 10,000 lines]` in its place. Pure; nothing here knows the terminal.
//!
//! Invariants: what is sent is what was pasted, apart from the characters the user was told about; a text that looks like a
//! placeholder is never taken for one unless it was made here; what is kept is bounded.

use crate::cli::render::units;

/// The most that one prompt may hold, in bytes.
pub(super) const MAX_PROMPT_BYTES: usize = 4 * 1024 * 1024;

/// A paste with more lines or characters than this is kept aside.
const SHOWN_LINES: usize = 5;
const SHOWN_CHARS: usize = 1_000;

/// What a placeholder begins with.
const MARK: &str = "[pasted #";

/// The long pastes of the line that is being written.
#[derive(Debug, Default)]
pub(super) struct Pastes {
    kept: Vec<(String, String)>,
    bytes: usize,
    made: u32,
}

/// What becomes of a paste.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pasted {
    /// What goes into the line: the text, or its placeholder, or nothing when it is too large.
    pub(super) insert: String,
    /// What the user should know.
    pub(super) notice: Option<String>,
}

impl Pastes {
    /// Takes a paste as the terminal hands it over.
    pub(super) fn take(&mut self, raw: &str) -> Pasted {
        let (text, removed) = clean(raw);
        let notice = (removed > 0)
            .then(|| format!("{} left out of what was pasted", units::of(removed as u64, "control character")));
        if self.bytes.saturating_add(text.len()) > MAX_PROMPT_BYTES {
            let size = units::size(text.len() as u64);
            let notice = format!("not pasted: {size} are too much; a prompt holds at most {}", most());
            return Pasted { insert: String::new(), notice: Some(notice) };
        }
        let (lines, chars) = (text.lines().count(), text.chars().count());
        if lines <= SHOWN_LINES && chars <= SHOWN_CHARS {
            return Pasted { insert: text, notice };
        }
        self.made += 1;
        let what = if lines > 1 { units::of(lines as u64, "line") } else { units::of(chars as u64, "character") };
        let placeholder = format!("{MARK}{}: {what}]", self.made);
        self.bytes += text.len();
        self.kept.push((placeholder.clone(), text));
        Pasted { insert: placeholder, notice }
    }

    /// The line with the pastes in the place of their placeholders.
    pub(super) fn put_back(&self, line: &str) -> String {
        let (mut whole, mut rest) = (String::with_capacity(line.len()), line);
        while let Some(at) = rest.find(MARK) {
            let (before, from) = rest.split_at(at);
            whole.push_str(before);
            let kept = self.kept.iter().find(|(placeholder, _)| from.starts_with(placeholder.as_str()));
            let (text, length) = kept.map_or((MARK, MARK.len()), |(placeholder, text)| (text, placeholder.len()));
            whole.push_str(text);
            rest = &from[length..];
        }
        whole.push_str(rest);
        whole
    }

    /// Forgets what is kept: the line is sent, or thrown away.
    pub(super) fn clear(&mut self) {
        self.kept.clear();
        self.bytes = 0;
    }
}

/// Says that a prompt is too large.
pub(super) fn too_large(bytes: usize) -> String {
    format!("not sent: {} are too much; a prompt holds at most {}", units::size(bytes as u64), most())
}

fn most() -> String {
    units::size(MAX_PROMPT_BYTES as u64)
}

/// The text without escape sequences and control characters, tabs and line ends aside, and how many characters went. Line
/// ends of other systems become ours.
pub(super) fn clean(raw: &str) -> (String, usize) {
    let text = raw.replace("\r\n", "\n").replace('\r', "\n");
    if !text.chars().any(forbidden) {
        return (text, 0);
    }
    let mut cleaned = String::with_capacity(text.len());
    // Piece by piece, so that an unfinished sequence cannot swallow what follows.
    for piece in text.split_inclusive(['\n', '\t']) {
        if piece.contains('\x1b') {
            let end = piece.trim_end_matches(['\n', '\t']).len();
            cleaned.extend(strip_ansi_escapes::strip_str(&piece[..end]).chars().filter(|c| !forbidden(*c)));
            cleaned.push_str(&piece[end..]);
        } else {
            cleaned.extend(piece.chars().filter(|c| !forbidden(*c)));
        }
    }
    let removed = text.chars().count().saturating_sub(cleaned.chars().count());
    (cleaned, removed)
}

fn forbidden(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}
