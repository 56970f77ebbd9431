//! How a command was started: flags, surroundings, output, and the wish to stop. Everything a command knows of its process
//! comes from here, so that a test can start any command line on a made-up machine.

use super::exit::{CliError, Exit};
use super::flags::{GlobalFlags, SettingFlags};
use super::interrupt;
use super::output::Output;
use super::place::Place;
use crate::config::{ConfigError, Surroundings};
use tokio_util::sync::CancellationToken;

/// How a command was started.
#[derive(Debug, Clone)]
pub(crate) struct Invocation {
    /// The flags every command has.
    pub(crate) global: GlobalFlags,
    /// Environment and folders, without the flags.
    surroundings: Surroundings,
    /// Where words go.
    pub(crate) output: Output,
    /// Cancelled when the user wants to stop.
    pub(crate) cancel: CancellationToken,
    /// Whether Ctrl-C is this command's to handle.
    catches_signals: bool,
    /// What it was started on.
    pub(crate) place: Place,
}

impl Invocation {
    /// By this process.
    ///
    /// # Errors
    /// When there is no home folder or no current folder.
    pub(crate) fn of_process(global: GlobalFlags, output: Output) -> Result<Self, ConfigError> {
        let surroundings = Surroundings::of_process(Vec::new())?;
        let (cancel, place) = (CancellationToken::new(), Place::of_process());
        Ok(Self { global, surroundings, output, cancel, catches_signals: true, place })
    }

    /// By a test.
    #[cfg(test)]
    pub(crate) fn of_test(global: GlobalFlags, surroundings: Surroundings, output: Output) -> Self {
        let place = Place::of_test(Box::new(std::io::empty()), false);
        Self { global, surroundings, output, cancel: CancellationToken::new(), catches_signals: false, place }
    }

    /// The surroundings with the global flags and those of `settings`.
    #[must_use]
    pub(crate) fn surroundings(&self, settings: &SettingFlags) -> Surroundings {
        Surroundings { flags: settings.values(&self.global), rules: settings.rules(), ..self.surroundings.clone() }
    }

    /// The environment variable `name`.
    #[must_use]
    pub(crate) fn env(&self, name: &str) -> Option<String> {
        self.surroundings.env.get(name).cloned()
    }

    /// Whether the process's signals are this command's to handle.
    #[must_use]
    pub(crate) const fn owns_process(&self) -> bool {
        self.catches_signals
    }

    /// From now on Ctrl-C cancels rather than ends the process. Must be called inside the runtime.
    ///
    /// # Errors
    /// When no handler can be installed.
    pub(crate) fn catch_signals(&self) -> Result<CancellationToken, CliError> {
        if self.catches_signals {
            interrupt::listen(self.output.clone(), self.cancel.clone())
                .map_err(|error| CliError::new(Exit::Failed, format!("cannot listen for Ctrl-C: {error}")))?;
        }
        Ok(self.cancel.clone())
    }
}
