//! Answers of the model, which are Markdown, for a terminal: line after line as they come in.
//!
//! A line is shown once, as soon as nothing that follows can change it; a table is held back until it is whole. So that
//! this is possible a line is read by itself: what spans lines elsewhere (emphasis, a link) is shown as it was written.
//! Lines come in redacted and cleaned. What markup would put together again is looked at once more: a secret with stars
//! in the middle is no secret to the redactor until the stars are gone.
//!
//! Invariants: no word of the model's is lost; the time for a line is bounded, and what is over a limit (length, depth)
//! is shown as it was written.

mod code;
mod line;
mod spans;
mod table;

use code::{Code, CodeBudget};
use line::Line;
use retrace_events::redact::Redactor;
use spans::{Look, Spans};

/// What a tab is shown as: blanks at the beginning of a line mean something in Markdown.
pub(super) const TAB: &str = "    ";

/// A longer line is shown as it is.
const MAX_LINE_BYTES: usize = 4_096;

/// A line that has no end yet is read again with every word; after so much it has to wait for its end.
const MAX_BEGUN_BYTES: usize = 2_000;

/// Markdown as it comes in.
#[derive(Default)]
pub(super) struct Markdown {
    fence: Option<Fence>,
    /// The lines of what is a table or may become one.
    table: Vec<String>,
    /// Whether a list is going on, in which blanks at the beginning mean depth and not code.
    list: bool,
    /// Whether the line before was text, which a line with blanks at its beginning goes on.
    text: bool,
    budget: CodeBudget,
}

/// A block of code that is open.
struct Fence {
    /// The sign of its fence and how often it stands there.
    sign: char,
    count: usize,
    /// The quotes it is in.
    quotes: usize,
    code: Code,
}

/// All of `text`, which is redacted and clean.
#[must_use]
pub(super) fn whole(text: &str, redactor: &Redactor) -> String {
    let mut markdown = Markdown::default();
    let mut shown: String = text.lines().map(|line| markdown.line(line, redactor)).collect();
    shown.push_str(&markdown.finish(redactor));
    shown
}

impl Markdown {
    /// The next line, without its line end, as whole lines; none when it is held back.
    pub(super) fn line(&mut self, line: &str, redactor: &Redactor) -> String {
        let line = line.trim_end();
        if let Some(shown) = self.in_fence(line) {
            return shown;
        }
        if self.in_table(line) {
            return String::new();
        }
        let held = self.held(redactor);
        if table::may_be_row(line) && line.len() <= MAX_LINE_BYTES {
            self.table.push(line.to_owned());
            return held;
        }
        format!("{held}{}\n", self.text_line(line, redactor))
    }

    /// What of a line that has no end yet can be shown; empty when that is not known.
    pub(super) fn begun(&self, line: &str, redactor: &Redactor) -> String {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        let unknown = self.fence.is_some() || !self.table.is_empty() || table::may_be_row(line);
        if unknown || line.len() > MAX_BEGUN_BYTES || self.is_code(indent) {
            return String::new();
        }
        let Some(spans) = line::begun(body) else { return String::new() };
        let visible = spans.visible();
        if redactor.redact(&visible) != visible {
            return String::new();
        }
        format!("{}{}", &line[..indent], spans.screen())
    }

    /// As [`Self::held`]; another text begins afterwards.
    pub(super) fn finish(&mut self, redactor: &Redactor) -> String {
        let held = self.held(redactor);
        *self = Self { budget: std::mem::take(&mut self.budget), ..Self::default() };
        held
    }

    /// A line of a block of code, when one is open.
    fn in_fence(&mut self, line: &str) -> Option<String> {
        let fence = self.fence.as_mut()?;
        let Some((bars, inner)) = unquoted(line, fence.quotes) else {
            self.fence = None;
            return None;
        };
        let (bare, mut spans) = (inner.trim(), Spans::default());
        spans.push(Look::DIM, &"│ ".repeat(bars));
        if bare.len() >= fence.count && bare.chars().all(|c| c == fence.sign) {
            spans.push(Look::DIM, inner);
            self.fence = None;
        } else {
            spans.append(fence.code.line(inner, &mut self.budget));
        }
        Some(format!("{}\n", spans.screen()))
    }

    /// Whether `line` goes on what may be a table, and is held back with it.
    fn in_table(&mut self, line: &str) -> bool {
        let bytes: usize = self.table.iter().map(String::len).sum();
        let goes_on = match self.table.as_slice() {
            [] => false,
            [head] => table::may_be_row(line) && table::is_table(head, line),
            [_, _, ..] => table::may_be_row(line),
        };
        let room = self.table.len() < table::MAX_LINES && bytes + line.len() <= table::MAX_BYTES;
        if goes_on && room {
            self.table.push(line.to_owned());
        }
        goes_on && room
    }

    /// What is held back: a table, or a line that may have begun one. Everything else goes on.
    pub(super) fn held(&mut self, redactor: &Redactor) -> String {
        let lines = std::mem::take(&mut self.table);
        if let [line] = lines.as_slice() {
            return format!("{}\n", self.text_line(line, redactor));
        }
        if lines.is_empty() {
            return String::new();
        }
        (self.list, self.text) = (false, false);
        let written = || lines.iter().map(|line| format!("{line}\n")).collect();
        let Some(rows) = table::read(&lines) else { return written() };
        let visible: String = rows.iter().map(|row| row.visible() + "\n").collect();
        if !same_words(&lines.concat(), &visible) || redactor.redact(&visible) != visible {
            return written();
        }
        rows.iter().map(|row| row.screen() + "\n").collect()
    }

    /// A line outside of code and tables.
    fn text_line(&mut self, line: &str, redactor: &Redactor) -> String {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        if body.is_empty() {
            self.text = false;
            return String::new();
        }
        if line.len() > MAX_LINE_BYTES || self.is_code(indent) {
            return line.to_owned();
        }
        let Some(read) = line::read(body) else { return line.to_owned() };
        self.take_in(&read, body, indent);
        let visible = read.spans.visible();
        let redacted = redactor.redact(&visible);
        if redacted != visible {
            return format!("{}{redacted}", &line[..indent]);
        }
        if !same_words(body, &visible) {
            return line.to_owned();
        }
        format!("{}{}", &line[..indent], read.spans.screen())
    }

    /// What a line means for those after it.
    fn take_in(&mut self, read: &Line, body: &str, indent: usize) {
        self.text = read.fence.is_none();
        self.list = read.item || (self.list && indent > 0);
        if let Some((at, info)) = &read.fence {
            let signs = &body[*at..];
            let sign = signs.chars().next().unwrap_or('`');
            let count = signs.chars().take_while(|c| *c == sign).count();
            self.fence = Some(Fence { sign, count, quotes: read.quotes, code: Code::new(info) });
        }
    }

    /// Whether a line that begins with `indent` blanks is code because of them.
    const fn is_code(&self, indent: usize) -> bool {
        indent >= 4 && !self.list && !self.text
    }
}

/// `line` without the signs of `quotes` quotes, and how many it had; `None` when it has fewer.
fn unquoted(line: &str, quotes: usize) -> Option<(usize, &str)> {
    let mut rest = line;
    for _ in 0..quotes {
        rest = rest.trim_start().strip_prefix('>')?;
        rest = rest.strip_prefix(' ').unwrap_or(rest);
    }
    Some((quotes, rest))
}

/// Whether all letters and digits of `source` are in `shown`, in their order, and no others.
fn same_words(source: &str, shown: &str) -> bool {
    source.chars().filter(|c| c.is_alphanumeric()).eq(shown.chars().filter(|c| c.is_alphanumeric()))
}
