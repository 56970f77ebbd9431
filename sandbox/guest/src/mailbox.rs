//! What the host sends to a running request: data, credit, and the wish to end it.
//!
//! The reader thread fills it and must never be blocked for long by one request, or all others would hang: a command's
//! stdin is therefore bounded in total, and only a file write (whose thread always drains) may make the reader wait.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, eventfd};

use crate::message::{INITIAL_CREDIT_BYTES, MAX_STDIN_BYTES};

/// Bytes of a file that may wait in memory for the disk.
const WRITE_QUEUE_BYTES: u64 = 4 * 1024 * 1024;

/// What the owner of a mailbox does with data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intake {
    /// A command's stdin: bounded in total, the sender never waits.
    Stdin,
    /// A file's contents: bounded in memory, the sender waits.
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
    waiting_bytes: u64,
    total_bytes: u64,
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

    /// The request has ended: what still comes is dropped, and a waiting sender goes on.
    pub(crate) fn close(&self) {
        let mut mail = self.lock();
        mail.closed = true;
        mail.data.clear();
        self.notify(mail);
    }

    /// Takes one part from the host. More stdin than is allowed ends the command.
    pub(crate) fn push(&self, part: Vec<u8>, last: bool) {
        let mut mail = self.lock();
        if self.intake == Intake::File {
            while mail.waiting_bytes > WRITE_QUEUE_BYTES && !mail.closed && !mail.killed {
                mail = self.changed.wait(mail).unwrap_or_else(PoisonError::into_inner);
            }
        }
        if mail.closed || mail.last {
            return;
        }
        let bytes = part.len() as u64;
        mail.total_bytes = mail.total_bytes.saturating_add(bytes);
        if self.intake == Intake::Stdin && mail.total_bytes > MAX_STDIN_BYTES {
            mail.killed = true;
        } else {
            mail.waiting_bytes += bytes;
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

    /// Waits for the next part of a file.
    pub(crate) fn next_part(&self) -> Part {
        let mut mail = self.lock();
        loop {
            if mail.killed {
                return Part::Killed;
            }
            if let Some(part) = Self::pop(&mut mail) {
                self.notify(mail);
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
        mail.waiting_bytes = mail.waiting_bytes.saturating_sub(part.len() as u64);
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
