//! Where a command was started: what of stdin, stdout and stderr is a terminal, and where lines are read from.

use std::io::{IsTerminal, Read};
#[cfg(test)]
use std::sync::{Arc, Mutex, PoisonError};

/// Where a command was started.
#[derive(Clone)]
pub(crate) struct Place {
    /// Whether somebody is there who can be asked.
    pub(crate) stdin_is_terminal: bool,
    /// Whether everything that is written is seen on a terminal that can move its cursor.
    screen: bool,
    #[cfg(test)]
    typed: Option<Typed>,
}

/// What a test types.
#[cfg(test)]
#[derive(Clone)]
struct Typed(Arc<Mutex<Box<dyn Read + Send>>>);

#[cfg(test)]
impl Read for Typed {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).read(buffer)
    }
}

impl Place {
    /// Where this process was started.
    pub(crate) fn of_process() -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        Self {
            stdin_is_terminal: std::io::stdin().is_terminal(),
            screen: !dumb && std::io::stdout().is_terminal() && std::io::stderr().is_terminal(),
            #[cfg(test)]
            typed: None,
        }
    }

    /// A place where a test types; `asked` makes it a (simple) terminal.
    #[cfg(test)]
    pub(crate) fn of_test(typed: Box<dyn Read + Send>, asked: bool) -> Self {
        Self { stdin_is_terminal: asked, screen: false, typed: Some(Typed(Arc::new(Mutex::new(typed)))) }
    }

    /// Whether a line editor can be used.
    pub(crate) const fn has_editor(&self) -> bool {
        self.stdin_is_terminal && self.screen
    }

    /// What is typed, or piped in.
    pub(crate) fn stdin(&self) -> Box<dyn Read + Send> {
        #[cfg(test)]
        if let Some(typed) = &self.typed {
            return Box::new(typed.clone());
        }
        Box::new(std::io::stdin())
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place").field("stdin_is_terminal", &self.stdin_is_terminal).finish_non_exhaustive()
    }
}
