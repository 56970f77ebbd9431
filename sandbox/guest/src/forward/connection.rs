//! One connection: its socket, and what is on the way in both directions.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use super::forwarder::Mail;
use crate::message::CHUNK_COST_BYTES;

/// The most bytes read at once.
const CHUNK_BYTES: u64 = 64 * 1024;
/// How long a command may read nothing of a finished answer before its connection is reset.
const DELIVERY_TIME: Duration = Duration::from_secs(5 * 60);
/// How long a command may take to close its side once the kernel has all of the answer; what it sends meanwhile is dropped. After
/// that the kernel alone delivers what the command has not read yet.
const FAREWELL_TIME: Duration = Duration::from_secs(2);

/// What came of a look at a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing to tell.
    Nothing,
    /// The command sent this.
    Received(Vec<u8>),
    /// The command sends nothing more.
    ReceivedAll,
    /// It is over.
    Closed {
        /// Not in good order.
        reset: bool,
    },
}

/// A taken connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: u64,
    socket: TcpStream,
    /// What the host takes before it must grant more.
    credit_bytes: u64,
    /// What the command is still to get; of the first part, `written_bytes` have gone.
    parts: VecDeque<Vec<u8>>,
    written_bytes: usize,
    /// What has been delivered and not been granted back to the host.
    delivered_bytes: u64,
    /// The host sends nothing more.
    host_done: bool,
    read_closed: bool,
    write_closed: bool,
    /// The host is not interested any more: when to end it.
    leaving: Option<Instant>,
}

impl Connection {
    pub(super) fn new(id: u64, socket: TcpStream) -> Self {
        Self {
            id,
            socket,
            credit_bytes: 0,
            parts: VecDeque::new(),
            written_bytes: 0,
            delivered_bytes: 0,
            host_done: false,
            read_closed: false,
            write_closed: false,
            leaving: None,
        }
    }

    pub(super) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// When something has to be done even if nothing happens.
    pub(super) fn alarm(&self) -> Option<Instant> {
        self.leaving
    }

    /// What to wait for; nothing when neither direction can move.
    pub(super) fn interest(&self) -> PollFlags {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, !self.read_closed && (self.leaving.is_some() || self.readable_bytes() > 0));
        flags.set(PollFlags::OUT, !self.parts.is_empty());
        flags
    }

    /// Takes what the host has sent. A reset is done here.
    pub(super) fn take(&mut self, mail: Mail, now: Instant) -> Step {
        self.credit_bytes = self.credit_bytes.saturating_add(mail.credit_bytes);
        self.parts.extend(mail.data);
        self.host_done |= mail.last;
        if mail.terminated && self.leaving.is_none() {
            self.host_done = true;
            self.leaving = Some(now + if self.write_closed { FAREWELL_TIME } else { DELIVERY_TIME });
        }
        if mail.killed {
            return self.reset();
        }
        if self.leaving.is_some_and(|deadline| deadline <= now) {
            return if self.write_closed { Step::Closed { reset: false } } else { self.reset() };
        }
        self.finish_writing(now)
    }

    /// Reads or writes as the socket allows.
    pub(super) fn work(&mut self, ready: PollFlags, now: Instant) -> Step {
        if ready.contains(PollFlags::OUT) && !self.parts.is_empty() {
            match self.write(now) {
                Step::Nothing => {}
                step @ (Step::Received(_) | Step::ReceivedAll | Step::Closed { .. }) => return step,
            }
        }
        // An error is told by reading, also where nothing could be read otherwise.
        if ready.intersects(PollFlags::IN | PollFlags::ERR | PollFlags::HUP) && !self.read_closed {
            return self.read();
        }
        Step::Nothing
    }

    /// What can be granted back to the host, once it is worth a frame.
    pub(super) fn take_delivered(&mut self, worth_bytes: u64) -> Option<u64> {
        let is_due = self.delivered_bytes > 0 && (self.delivered_bytes >= worth_bytes || self.parts.is_empty());
        is_due.then(|| std::mem::take(&mut self.delivered_bytes))
    }

    /// True when the host wants to know nothing more about it.
    pub(super) fn is_left(&self) -> bool {
        self.leaving.is_some()
    }

    fn readable_bytes(&self) -> u64 {
        self.credit_bytes.saturating_sub(CHUNK_COST_BYTES).min(CHUNK_BYTES)
    }

    fn read(&mut self) -> Step {
        let wanted = if self.leaving.is_some() { CHUNK_BYTES } else { self.readable_bytes() };
        if wanted == 0 {
            return Step::Nothing;
        }
        let mut chunk = vec![0; usize::try_from(wanted).unwrap_or_default()];
        match self.socket.read(&mut chunk) {
            Ok(0) => {
                self.read_closed = true;
                if self.write_closed { Step::Closed { reset: false } } else { Step::ReceivedAll }
            }
            Ok(_) if self.leaving.is_some() => Step::Nothing,
            Ok(count) => {
                chunk.truncate(count);
                self.credit_bytes = self.credit_bytes.saturating_sub(count as u64 + CHUNK_COST_BYTES);
                Step::Received(chunk)
            }
            Err(error) if is_passing(&error) => Step::Nothing,
            Err(_) => self.reset(),
        }
    }

    fn write(&mut self, now: Instant) -> Step {
        while let Some(part) = self.parts.front() {
            match self.socket.write(part.get(self.written_bytes..).unwrap_or_default()) {
                Ok(count) => {
                    self.written_bytes += count;
                    if self.leaving.is_some() {
                        self.leaving = Some(now + DELIVERY_TIME);
                    }
                }
                Err(error) if is_passing(&error) => return Step::Nothing,
                Err(_) => return self.reset(),
            }
            if self.written_bytes >= part.len() {
                self.delivered_bytes += part.len() as u64 + CHUNK_COST_BYTES;
                self.written_bytes = 0;
                self.parts.pop_front();
            }
        }
        self.finish_writing(now)
    }

    fn finish_writing(&mut self, now: Instant) -> Step {
        if !self.host_done || self.write_closed || !self.parts.is_empty() {
            return Step::Nothing;
        }
        self.write_closed = true;
        // A failure means that the command has gone, which reading tells.
        let _ = self.socket.shutdown(Shutdown::Write);
        if self.leaving.is_some() {
            self.leaving = Some(now + FAREWELL_TIME);
        }
        if self.read_closed { Step::Closed { reset: false } } else { Step::Nothing }
    }

    /// The command is to see that this was no orderly end.
    fn reset(&self) -> Step {
        // Best effort: it ends in any case.
        let _ = rustix::net::sockopt::set_socket_linger(&self.socket, Some(Duration::ZERO));
        Step::Closed { reset: true }
    }
}

fn is_passing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
