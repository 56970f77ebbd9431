//! An answer's text while it comes in: printed word by word, yet redacted as a whole line.
//!
//! A secret may come in pieces. So only complete words are printed, each time out of the redacted line so far; when a later
//! word turns what was printed already into something else, the line is printed once more from its start. In colours the
//! text goes through [`Markdown`] on its way, redacted and cleaned before; without, it is printed as the model wrote it.

use super::markdown::{Markdown, TAB};
use super::{Style, clean};
use retrace_events::redact::Redactor;

/// A line longer than this is printed in pieces, so that each piece of it is redacted only a bounded number of times.
const MAX_LINE_BYTES: usize = 8_192;

/// The text of one answer as it streams.
#[derive(Default)]
pub(super) struct Streamed {
    /// The present line as it came.
    line: String,
    /// What of it is on the screen.
    printed: String,
    /// Whether anything of this answer is on the screen.
    begun: bool,
    /// Makes colours of it; `None` without.
    markdown: Option<Markdown>,
    /// The line's beginning was printed as a piece, so that the rest of it is no Markdown.
    pieces: bool,
}

impl Streamed {
    /// Text in `style`.
    #[must_use]
    pub(super) fn new(style: Style) -> Self {
        let markdown = match style {
            Style::Plain => None,
            Style::Coloured => Some(Markdown::default()),
        };
        Self { markdown, ..Self::default() }
    }

    /// Takes the next piece and returns what is to be printed now.
    pub(super) fn push(&mut self, piece: &str, redactor: &Redactor) -> String {
        let mut out = String::new();
        for part in piece.split_inclusive('\n') {
            self.line.push_str(part);
            if part.ends_with('\n') || self.line.len() > MAX_LINE_BYTES {
                out.push_str(&self.end_line(redactor));
            }
        }
        // In colours only blanks end a word: the cleaner takes other white space out, and then it was none.
        let coloured = self.markdown.is_some();
        if let Some(end) = self.line.rfind(|c: char| if coloured { c == ' ' || c == '\t' } else { c.is_whitespace() }) {
            let complete = self.line[..end].trim_end().to_owned();
            out.push_str(&self.show_begun(&complete, redactor));
        }
        self.begun |= !out.is_empty();
        out
    }

    /// The rest of the answer, with a line end. Ready for the next answer afterwards.
    pub(super) fn finish(&mut self, redactor: &Redactor) -> String {
        let line = std::mem::take(&mut self.line);
        let line = line.trim_end();
        let mut out = String::new();
        if self.markdown.is_none() {
            out.push_str(&self.show(cleaned(line, false, redactor)));
            if !self.printed.is_empty() {
                out.push('\n');
            }
        } else if self.pieces || !line.is_empty() || !self.printed.is_empty() {
            out.push_str(&self.show_line(line, true, redactor));
        }
        if let Some(markdown) = &mut self.markdown {
            out.push_str(&markdown.finish(redactor));
        }
        let style = if self.markdown.is_some() { Style::Coloured } else { Style::Plain };
        *self = Self::new(style);
        out
    }

    /// Ends the line, if one is begun: what follows belongs to another block of the same answer.
    pub(super) fn end_block(&mut self, redactor: &Redactor) -> String {
        let mut out = if self.line.is_empty() { String::new() } else { self.push("\n", redactor) };
        if let Some(markdown) = &mut self.markdown {
            out.push_str(&markdown.finish(redactor));
        }
        self.begun |= !out.is_empty();
        out
    }

    /// Whether something of an answer is on the screen already.
    pub(super) const fn begun(&self) -> bool {
        self.begun
    }

    fn end_line(&mut self, redactor: &Redactor) -> String {
        let line = std::mem::take(&mut self.line);
        self.show_line(line.trim_end_matches('\n'), line.ends_with('\n'), redactor)
    }

    /// Shows a line, or a piece of one that is too long, and is ready for what follows it.
    fn show_line(&mut self, line: &str, whole: bool, redactor: &Redactor) -> String {
        let cleaned = cleaned(line, self.markdown.is_some(), redactor);
        let wanted = match &mut self.markdown {
            Some(markdown) if whole && !self.pieces => markdown.line(&cleaned, redactor),
            Some(markdown) if !self.pieces => format!("{}{cleaned}", markdown.held(redactor)),
            Some(_) | None => cleaned,
        };
        let ended = self.markdown.is_some() && whole && !self.pieces;
        let mut out = self.show(wanted);
        if whole && !ended {
            out.push('\n');
        }
        self.pieces = !whole;
        self.printed.clear();
        out
    }

    /// Shows what of a line without an end can be shown.
    fn show_begun(&mut self, line: &str, redactor: &Redactor) -> String {
        let cleaned = cleaned(line, self.markdown.is_some(), redactor);
        match &self.markdown {
            // What a control character does is known at the end of its line.
            Some(_) if self.pieces || line.contains(|c: char| c.is_control() && c != '\t') => String::new(),
            Some(markdown) => match markdown.begun(&cleaned, redactor) {
                // Less than before is known when a word has made a secret of what was printed; the line's end tells.
                begun if begun.len() < self.printed.len() => String::new(),
                begun => self.show(begun),
            },
            None => self.show(cleaned),
        }
    }

    /// Brings the screen from what is printed to `wanted`.
    fn show(&mut self, wanted: String) -> String {
        let out = match wanted.strip_prefix(&self.printed) {
            Some(rest) => rest.to_owned(),
            None => format!("\n{wanted}"),
        };
        self.printed = wanted;
        out
    }
}

/// A line as it may be shown.
fn cleaned(line: &str, markdown: bool, redactor: &Redactor) -> String {
    let redacted = redactor.redact(line);
    if markdown { clean::text(&redacted.replace('\t', TAB)) } else { clean::text(&redacted) }
}
