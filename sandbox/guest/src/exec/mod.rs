//! Running commands.
//!
//! Each command is started beneath a supervisor: a forked child of the guest that is a *child subreaper*, so that
//! every process of the call stays below it whatever it does (`setsid`, double fork, cleared environ). Killing a call
//! means: stop everything below the supervisor until nothing new appears, then kill it all.

mod launcher;
mod pump;
mod supervisor;
mod terminal;
mod tree;

use std::time::Instant;

use crate::machine::Stopped;
use crate::mailbox::Mailbox;
use crate::message::{ExecSpec, Failure, Response};
use crate::server::Guest;

pub(crate) use launcher::Launcher;

/// Runs one command to its end, sending its output as it comes.
pub(crate) fn run(guest: &Guest, id: u64, spec: &ExecSpec, mailbox: &Mailbox) -> Result<Response, Failure> {
    let started = Instant::now();
    // Before there is anything that could be stopped.
    let before = Stopped::now();
    let cwd = guest.root.open_dir(spec.cwd.as_ref())?;
    let launched = guest.launcher.launch(id, spec, &cwd)?;
    drop(cwd);
    let end = pump::Pump::new(guest, id, spec, mailbox, before, launched, started).run();
    Ok(Response::Exited(end))
}
