//! What the host sends to a running request: data, credit, and the wish to end it.
//!
//! The reader thread fills it and must never be blocked by one request, or all others would hang: what may wait here is
//! bounded (a command's stdin in total, a file's contents by a window), and a host that sends more than it may ends
//! that request.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, eventfd};

use crate::message::{INITIAL_CREDIT_BYTES, MAX_STDIN_BYTES, TerminalSize, WRITE_WINDOW_BYTES};

/// Credit is given back in portions of at least this size.
const GRANT_BYTES: u64 = WRITE_WINDOW_BYTES / 4;

/// What the owner of a mailbox does with data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intake {
    /// A command's stdin: bounded in total.
    Stdin,
    /// A file's contents: bounded by the window; more is allowed as it is taken.
    File,
}

/// The next thing a file write has to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Append these bytes.
    Bytes(Vec<u8>),
    /// All has come.
    End,
    /// The host gave up.
    Killed,
}

/// One request's mailbox.
#[derive(Debug)]
pub(crate) struct Mailbox {
    intake: Intake,
    state: Mutex<Mail>,
    changed: Condvar,
    wake: OwnedFd,
}

#[derive(Debug, Default)]
struct Mail {
    credit_bytes: u64,
    data: VecDeque<Vec<u8>>,
    /// What has come and may not be allowed for again yet.
    used_bytes: u64,
    /// What was taken and not yet allowed for again.
    taken_bytes: u64,
    size: Option<TerminalSize>,
    last: bool,
    killed: bool,
    terminated: bool,
    closed: bool,
}

impl Mailbox {
    pub(crate) fn new(intake: Intake) -> std::io::Result<Self> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let state = Mutex::new(Mail { credit_bytes: INITIAL_CREDIT_BYTES, ..Mail::default() });
        Ok(Self { intake, state, changed: Condvar::new(), wake })
    }

    /// Becomes readable when something changed; see [`Mailbox::settle`].
    pub(crate) fn wake_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Takes the readability back, before looking at the state.
    pub(crate) fn settle(&self) {
        // The only possible error is "nothing to take back".
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
    }

    pub(crate) fn grant(&self, bytes: u64) {
        let mut mail = self.lock();
        mail.credit_bytes = mail.credit_bytes.saturating_add(bytes);
        self.notify(mail);
    }

    pub(crate) fn credit_bytes(&self) -> u64 {
        self.lock().credit_bytes
    }

    pub(crate) fn spend(&self, bytes: u64) {
        let mut mail = self.lock();
        mail.credit_bytes = mail.credit_bytes.saturating_sub(bytes);
    }

    pub(crate) fn kill(&self) {
        let mut mail = self.lock();
        mail.killed = true;
        self.notify(mail);
    }

    pub(crate) fn killed(&self) -> bool {
        self.lock().killed
    }

    /// The terminal's newest size wins.
    pub(crate) fn resize(&self, size: TerminalSize) {
        let mut mail = self.lock();
        mail.size = Some(size);
        self.notify(mail);
    }

    pub(crate) fn take_size(&self) -> Option<TerminalSize> {
        self.lock().size.take()
    }

    /// A command is asked to end; everything else simply ends.
    pub(crate) fn terminate(&self) {
        let mut mail = self.lock();
        mail.terminated = true;
        mail.killed |= self.intake == Intake::File;
        self.notify(mail);
    }

    pub(crate) fn terminated(&self) -> bool {
        self.lock().terminated
    }

    /// The request has ended: what still comes is dropped.
    pub(crate) fn close(&self) {
        let mut mail = self.lock();
        mail.closed = true;
        mail.data.clear();
        self.notify(mail);
    }

    /// Takes one part from the host. More than is allowed ends the request.
    pub(crate) fn push(&self, part: Vec<u8>, last: bool) {
        let allowed_bytes = match self.intake {
            Intake::Stdin => MAX_STDIN_BYTES,
            Intake::File => WRITE_WINDOW_BYTES,
        };
        let mut mail = self.lock();
        if mail.closed || mail.last {
            return;
        }
        mail.used_bytes = mail.used_bytes.saturating_add(part.len() as u64);
        if mail.used_bytes > allowed_bytes {
            mail.killed = true;
        } else {
            if !part.is_empty() {
                mail.data.push_back(part);
            }
            mail.last = last;
        }
        self.notify(mail);
    }

    /// The next part of a command's stdin, if it has come.
    pub(crate) fn try_next(&self) -> Option<Vec<u8>> {
        Self::pop(&mut self.lock())
    }

    /// Nothing waits and nothing will come.
    pub(crate) fn exhausted(&self) -> bool {
        let mail = self.lock();
        mail.last && mail.data.is_empty()
    }

    /// How much the host is to be allowed now for what was taken; it counts as allowed then.
    pub(crate) fn take_grant(&self) -> Option<u64> {
        let mut mail = self.lock();
        if mail.taken_bytes < GRANT_BYTES {
            return None;
        }
        let bytes = std::mem::take(&mut mail.taken_bytes);
        mail.used_bytes = mail.used_bytes.saturating_sub(bytes);
        Some(bytes)
    }

    /// Waits for the next part of a file.
    pub(crate) fn next_part(&self) -> Part {
        let mut mail = self.lock();
        loop {
            if mail.killed {
                return Part::Killed;
            }
            if let Some(part) = Self::pop(&mut mail) {
                return Part::Bytes(part);
            }
            if mail.last {
                return Part::End;
            }
            mail = self.changed.wait(mail).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn pop(mail: &mut Mail) -> Option<Vec<u8>> {
        let part = mail.data.pop_front()?;
        mail.taken_bytes = mail.taken_bytes.saturating_add(part.len() as u64);
        Some(part)
    }

    fn lock(&self) -> MutexGuard<'_, Mail> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify(&self, mail: MutexGuard<'_, Mail>) {
        drop(mail);
        self.changed.notify_all();
        // Can only fail when the counter is full, and then the reader is awake anyway.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }
}

#[cfg(test)]
#[path = "mailbox_tests.rs"]
mod mailbox_tests;
