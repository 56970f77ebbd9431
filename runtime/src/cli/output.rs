//! The only place that writes to the terminal. Data goes to stdout, everything else to stderr; whatever text comes here
//! has been cleaned by [`super::render::clean`].

use super::exit::{CliError, Exit};
use super::render::{Style, clean};
use super::screen::Screen;
use serde_json::Value;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::Arc;

/// Where a command's words go.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    /// Data is JSON, one object a line.
    pub(crate) json: bool,
    /// Only data and errors.
    pub(crate) quiet: bool,
    /// Whether data is coloured.
    data_style: Style,
    /// Whether notes are coloured.
    note_style: Style,
    /// Whether data and notes are read on one screen.
    one_screen: bool,
    sink: Sink,
}

/// What is behind stdout and stderr.
#[derive(Debug, Clone)]
enum Sink {
    Process,
    /// A line editor is on the screen.
    Screen(Arc<Screen>),
    /// Kept for a test: data and notes.
    #[cfg(test)]
    Memory(Arc<std::sync::Mutex<(String, String)>>),
}

impl Output {
    /// The process's own stdout and stderr; colours only on a terminal, and not when `NO_COLOR` is set.
    #[must_use]
    pub(crate) fn of_process(json: bool, quiet: bool) -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let plain = set("NO_COLOR") || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let style = |terminal: bool| if terminal && !plain { Style::Coloured } else { Style::Plain };
        let (out, err) = (std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
        Self {
            json,
            quiet,
            data_style: style(out && !json),
            note_style: style(err),
            one_screen: out && err && !quiet,
            sink: Sink::Process,
        }
    }

    /// The same, while a line editor is on the screen.
    #[must_use]
    pub(crate) fn on_screen(&self, screen: Arc<Screen>) -> Self {
        Self { sink: Sink::Screen(screen), ..self.clone() }
    }

    /// Waits until not too much waits to be shown; whoever has much to say asks first.
    pub(crate) async fn ready(&self) {
        if let Sink::Screen(screen) = &self.sink {
            screen.ready().await;
        }
    }

    /// Keeps what is written.
    #[cfg(test)]
    pub(crate) fn in_memory(json: bool, quiet: bool) -> Self {
        let (style, sink) = (Style::Plain, Sink::Memory(Arc::default()));
        Self { json, quiet, data_style: style, note_style: style, one_screen: false, sink }
    }

    /// Takes what was written since the last time: data and notes.
    #[cfg(test)]
    pub(crate) fn take(&self) -> (String, String) {
        match &self.sink {
            Sink::Process | Sink::Screen(_) => Default::default(),
            Sink::Memory(kept) => std::mem::take(&mut *kept.lock().unwrap()),
        }
    }

    /// Whether data and notes are read on one screen, so that what was a note need not be repeated as data.
    #[must_use]
    pub(crate) const fn one_screen(&self) -> bool {
        self.one_screen
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
        let written = match &self.sink {
            Sink::Process => {
                let mut out = std::io::stdout().lock();
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
            Sink::Screen(screen) => {
                screen.interject(text);
                Ok(())
            }
            #[cfg(test)]
            Sink::Memory(kept) => {
                kept.lock().unwrap().0.push_str(text);
                Ok(())
            }
        };
        written.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => CliError::reader_gone(),
            _ => CliError::new(Exit::Failed, format!("cannot write to stdout: {error}")),
        })
    }

    /// Writes one JSON object as a line of data.
    ///
    /// # Errors
    /// As [`Self::data`].
    pub(crate) fn json_line(&self, value: &Value) -> Result<(), CliError> {
        self.data(&format!("{}\n", clean::json(&value.to_string())))
    }

    /// Writes a note for people, as it is, unless they asked for quiet. A stderr that cannot be written to stops nothing.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.always(text);
        }
    }

    /// Writes a note that need not end with its line: the next piece goes on there, and a [`Self::note`] in between does not
    /// break the line where a line editor is on the screen. For one writer at a time.
    pub(crate) fn piece(&self, text: &str) {
        match &self.sink {
            Sink::Screen(screen) if !self.quiet => screen.write(text),
            _ => self.note(text),
        }
    }

    /// Ends the line that pieces have begun, where it is held back until it is complete.
    pub(crate) fn end_pieces(&self) {
        if let Sink::Screen(screen) = &self.sink {
            screen.end_line();
        }
    }

    /// Writes what people must see even when they asked for quiet.
    pub(crate) fn always(&self, text: &str) {
        match &self.sink {
            Sink::Process => {
                let mut err = std::io::stderr().lock();
                let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
            }
            Sink::Screen(screen) => screen.interject(text),
            #[cfg(test)]
            Sink::Memory(kept) => kept.lock().unwrap().1.push_str(text),
        }
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
