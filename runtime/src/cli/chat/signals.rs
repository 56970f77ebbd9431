//! Signs from outside that a conversation is to stop: signals, and a terminal that is gone.

use crate::cli::exit::{CliError, Exit};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// How often it is looked whether the terminal is still there.
const LOOK: Duration = Duration::from_secs(2);

/// A sign from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// Ctrl-C, where the terminal makes a signal of it.
    Interrupt,
    /// The process is to end: it is told so, or its terminal is closed.
    Terminate,
}

/// Where the signs come from.
#[derive(Debug)]
pub(super) struct Signals {
    process: Option<Process>,
    /// Cancelled when the conversation is to end.
    cancel: CancellationToken,
}

#[derive(Debug)]
struct Process {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
    quit: Signal,
    /// Some, when there is a terminal that may go.
    look: Option<Interval>,
}

impl Signals {
    /// Those of this process, when `owned`. Must be called inside the runtime.
    ///
    /// # Errors
    /// When no handler can be installed.
    pub(super) fn listen(owned: bool, terminal: bool, cancel: CancellationToken) -> Result<Self, CliError> {
        let process = match owned {
            true => Some(
                Process::listen(terminal)
                    .map_err(|error| CliError::new(Exit::Failed, format!("cannot listen for signals: {error}")))?,
            ),
            false => None,
        };
        Ok(Self { process, cancel })
    }

    /// The next sign. Cancel-safe.
    pub(super) async fn next(&mut self) -> Sign {
        match &mut self.process {
            None => self.cancel.cancelled().await,
            Some(process) => tokio::select! {
                () = self.cancel.cancelled() => {}
                sign = process.next() => return sign,
            },
        }
        Sign::Terminate
    }
}

impl Process {
    fn listen(terminal: bool) -> std::io::Result<Self> {
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            // Else it would end the process with the terminal left as the chat has it.
            quit: signal(SignalKind::quit())?,
            look: terminal.then_some(look),
        })
    }

    async fn next(&mut self) -> Sign {
        let look = self.look.as_mut();
        let gone = async {
            let Some(look) = look else { return std::future::pending().await };
            // Whoever ignores hang-ups, as under nohup, would otherwise stay for ever.
            loop {
                look.tick().await;
                if rustix::termios::tcgetwinsize(std::io::stdin()).is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => Sign::Interrupt,
            _ = self.terminate.recv() => Sign::Terminate,
            _ = self.hang_up.recv() => Sign::Terminate,
            _ = self.quit.recv() => Sign::Terminate,
            () = gone => Sign::Terminate,
        }
    }
}
