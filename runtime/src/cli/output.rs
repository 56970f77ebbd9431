//! The only place that writes to the terminal. Data goes to stdout, everything else to stderr; whatever text comes here
//! has been cleaned by [`super::render::clean`].

use super::exit::{CliError, Exit};
use super::render::Style;
use serde_json::Value;
use std::io::{ErrorKind, IsTerminal, Write};

/// Where a command's words go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Output {
    /// Data is JSON, one object a line.
    pub(crate) json: bool,
    /// Only data and errors.
    pub(crate) quiet: bool,
    /// Whether data is coloured.
    data_style: Style,
    /// Whether notes are coloured.
    note_style: Style,
}

impl Output {
    /// The process's own stdout and stderr; colours only on a terminal, and not when `NO_COLOR` is set.
    #[must_use]
    pub(crate) fn of_process(json: bool, quiet: bool) -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let plain = set("NO_COLOR") || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let style = |terminal: bool| if terminal && !plain { Style::Coloured } else { Style::Plain };
        Self {
            json,
            quiet,
            data_style: style(std::io::stdout().is_terminal() && !json),
            note_style: style(std::io::stderr().is_terminal()),
        }
    }

    /// How data is coloured.
    #[must_use]
    pub(crate) const fn data_style(&self) -> Style {
        self.data_style
    }

    /// How notes are coloured.
    #[must_use]
    pub(crate) const fn note_style(&self) -> Style {
        self.note_style
    }

    /// Writes data as it is.
    ///
    /// # Errors
    /// When it cannot be written; quietly when the reader is gone.
    pub(crate) fn data(&self, text: &str) -> Result<(), CliError> {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => CliError::reader_gone(),
            _ => CliError::new(Exit::Failed, format!("cannot write to stdout: {error}")),
        })
    }

    /// Writes one JSON object as a line of data.
    ///
    /// # Errors
    /// As [`Self::data`].
    pub(crate) fn json_line(&self, value: &Value) -> Result<(), CliError> {
        self.data(&format!("{value}\n"))
    }

    /// Writes a note for people, as it is, unless they asked for quiet. A stderr that cannot be written to stops nothing.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.always(text);
        }
    }

    /// Writes what people must see even when they asked for quiet.
    pub(crate) fn always(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }

    /// A line that warns.
    pub(crate) fn warn(&self, text: &str) {
        self.always(&format!("{} {text}\n", self.note_style.yellow("warning:")));
    }

    /// Reports why the command failed.
    pub(crate) fn error(&self, error: &CliError) {
        if error.quiet {
            return;
        }
        if self.json {
            // A reader that is gone cannot be told.
            let _ = self.json_line(&error.json());
        }
        self.always(&error.lines().replacen("error:", &self.note_style.red("error:"), 1));
    }
}
