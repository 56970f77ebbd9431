//! Runs of text, each in one look. The only place where rendered Markdown gets its colour codes, and everything is cleaned
//! on its way in: a code in what comes out is one of ours.

use crate::cli::render::{Style, clean};

/// How a run looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Look {
    pub(super) bold: bool,
    pub(super) dim: bool,
    pub(super) italic: bool,
    pub(super) underline: bool,
    pub(super) struck: bool,
    /// One of the terminal's own colours, 1 to 6: they fit its background, be it dark or light.
    pub(super) colour: Option<u8>,
}

impl Look {
    /// What matters less.
    pub(super) const DIM: Self = Self { dim: true, ..Self::PLAIN };
    /// As the terminal shows text anyhow.
    pub(super) const PLAIN: Self =
        Self { bold: false, dim: false, italic: false, underline: false, struck: false, colour: None };

    /// What both ask for.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            bold: self.bold || other.bold,
            dim: self.dim || other.dim,
            italic: self.italic || other.italic,
            underline: self.underline || other.underline,
            struck: self.struck || other.struck,
            colour: other.colour.or(self.colour),
        }
    }

    fn codes(self) -> String {
        let set = [(self.bold, "1"), (self.dim, "2"), (self.italic, "3"), (self.underline, "4"), (self.struck, "9")];
        let mut codes: Vec<String> = set.iter().filter(|(on, _)| *on).map(|(_, code)| (*code).to_owned()).collect();
        codes.extend(self.colour.map(|colour| (30 + colour.min(7)).to_string()));
        codes.join(";")
    }
}

/// A line, or a piece of one.
#[derive(Debug, Clone, Default)]
pub(super) struct Spans {
    runs: Vec<(Look, String)>,
    /// The next run stands by itself, even if it looks like the one before it.
    closed: bool,
}

impl Spans {
    /// Adds `text`; whatever could disturb a terminal is taken out of it, line ends too.
    pub(super) fn push(&mut self, look: Look, text: &str) {
        let text = clean::text(text).replace('\n', " ");
        if text.is_empty() {
            return;
        }
        match self.runs.last_mut() {
            Some((last, run)) if *last == look && !self.closed => run.push_str(&text),
            Some(_) | None => self.runs.push((look, text)),
        }
        self.closed = false;
    }

    /// Adds all of `other`.
    pub(super) fn append(&mut self, other: Self) {
        self.runs.extend(other.runs);
    }

    /// The same in bold.
    pub(super) fn bold(mut self) -> Self {
        self.runs.iter_mut().for_each(|(look, _)| look.bold = true);
        self
    }

    /// Keeps what comes next apart from what is there: what is on the screen stays as it is then.
    pub(super) const fn close(&mut self) {
        self.closed = true;
    }

    /// How much is there.
    pub(super) fn mark(&self) -> (usize, usize) {
        (self.runs.len(), self.runs.last().map_or(0, |(_, text)| text.len()))
    }

    /// Goes back to where [`Self::mark`] was.
    pub(super) fn cut(&mut self, (runs, bytes): (usize, usize)) {
        self.runs.truncate(runs);
        if let Some((_, text)) = self.runs.last_mut() {
            text.truncate(bytes);
        }
    }

    /// The words without colours.
    pub(super) fn visible(&self) -> String {
        self.runs.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// The words as they are printed.
    pub(super) fn screen(&self) -> String {
        let printed = |(look, text): &(Look, String)| match look.codes() {
            codes if codes.is_empty() || text.trim().is_empty() => text.clone(),
            codes => Style::Coloured.paint(&codes, text),
        };
        self.runs.iter().map(printed).collect()
    }
}
