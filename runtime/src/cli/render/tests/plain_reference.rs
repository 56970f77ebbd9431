//! Streaming without colours as it was before there were colours: what is piped must stay as it is, to the byte.

use crate::cli::render::clean;
use retrace_events::redact::Redactor;

/// A line longer than this is printed in pieces, so that each piece of it is redacted only a bounded number of times.
const MAX_LINE_BYTES: usize = 8_192;

/// The text of one answer as it streams.
#[derive(Debug, Default)]
pub(super) struct PlainReference {
    /// The present line as it came.
    line: String,
    /// What of it is on the screen.
    printed: String,
}

impl PlainReference {
    /// Takes the next piece and returns what is to be printed now.
    pub(super) fn push(&mut self, piece: &str, redactor: &Redactor) -> String {
        let mut out = String::new();
        for part in piece.split_inclusive('\n') {
            self.line.push_str(part);
            if part.ends_with('\n') || self.line.len() > MAX_LINE_BYTES {
                out.push_str(&self.end_line(redactor));
            }
        }
        if let Some(end) = self.line.rfind(char::is_whitespace) {
            let complete = self.line[..end].trim_end().to_owned();
            out.push_str(&self.show(&complete, redactor));
        }
        out
    }

    /// The rest of the answer, with a line end. Ready for the next answer afterwards.
    pub(super) fn finish(&mut self, redactor: &Redactor) -> String {
        let line = std::mem::take(&mut self.line);
        let mut out = self.show(line.trim_end(), redactor);
        if !self.printed.is_empty() {
            out.push('\n');
        }
        *self = Self::default();
        out
    }

    /// Ends the line, if one is begun: what follows belongs to another block of the same answer.
    pub(super) fn end_block(&mut self, redactor: &Redactor) -> String {
        if self.line.is_empty() { String::new() } else { self.push("\n", redactor) }
    }

    fn end_line(&mut self, redactor: &Redactor) -> String {
        let line = std::mem::take(&mut self.line);
        let mut out = self.show(line.trim_end_matches('\n'), redactor);
        if line.ends_with('\n') {
            out.push('\n');
        }
        self.printed.clear();
        out
    }

    /// Brings the screen from what is printed to `line`, redacted.
    fn show(&mut self, line: &str, redactor: &Redactor) -> String {
        let wanted = clean::text(&redactor.redact(line));
        let out = match wanted.strip_prefix(&self.printed) {
            Some(rest) => rest.to_owned(),
            None => format!("\n{wanted}"),
        };
        self.printed = wanted;
        out
    }
}
