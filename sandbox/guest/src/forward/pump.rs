//! The thread behind the listener: takes connections and moves bytes, for all of them, with `poll`.

use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::connection::{Connection, Step};
use super::origin;
use crate::frame::FrameError;
use crate::mailbox::Mailbox;
use crate::message::{Accepted, FORWARD_WINDOW_BYTES, Response};
use crate::server::Guest;

/// Delivered bytes are granted back when they are so many, or nothing else waits.
const GRANT_BYTES: u64 = FORWARD_WINDOW_BYTES / 4;
/// How long to wait when there is no file descriptor left for a connection.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) struct Pump<'a> {
    guest: &'a Guest,
    mailbox: &'a Mailbox,
    listener: &'a TcpListener,
    port: u16,
    wake: &'a OwnedFd,
    connections: Vec<Connection>,
    /// No connection is taken before.
    paused_until: Option<Instant>,
}

impl<'a> Pump<'a> {
    pub(super) fn new(
        guest: &'a Guest,
        mailbox: &'a Mailbox,
        listener: &'a TcpListener,
        port: u16,
        wake: &'a OwnedFd,
    ) -> Self {
        Self { guest, mailbox, listener, port, wake, connections: Vec::new(), paused_until: None }
    }

    /// Until the host ends it, or is gone.
    pub(super) fn run(mut self) {
        while !self.mailbox.killed() {
            if self.round().is_err() {
                break;
            }
        }
        for connection in &self.connections {
            // Closing is enough to end it; the reset only says more.
            let _ = rustix::net::sockopt::set_socket_linger(connection.socket(), Some(Duration::ZERO));
        }
    }

    fn round(&mut self) -> Result<(), FrameError> {
        self.collect()?;
        let (can_accept, ready) = match self.wait() {
            Ok(found) => found,
            Err(source) => return Err(FrameError::Io { source: source.into() }),
        };
        self.mailbox.settle();
        // The only possible error is "nothing to take back".
        let _ = rustix::io::read(self.wake, &mut [0; 8]);
        let now = Instant::now();
        for (at, flags) in ready.into_iter().enumerate().filter(|(_, flags)| !flags.is_empty()) {
            if let Some(connection) = self.connections.get_mut(at) {
                let step = connection.work(flags, now);
                tell(self.guest, connection, step)?;
            }
        }
        self.forget_closed();
        if can_accept { self.accept() } else { Ok(()) }
    }

    /// Takes what the host has sent.
    fn collect(&mut self) -> Result<(), FrameError> {
        for id in self.guest.forwarder.take_withdrawn() {
            self.guest.outbox.finish(id, Err(super::ended()))?;
        }
        let now = Instant::now();
        for connection in &mut self.connections {
            if let Some(mail) = self.guest.forwarder.collect(connection.id) {
                let step = connection.take(mail, now);
                tell(self.guest, connection, step)?;
            }
        }
        self.forget_closed();
        Ok(())
    }

    /// A closed one is known by having no mail any more.
    fn forget_closed(&mut self) {
        let forwarder = &self.guest.forwarder;
        self.connections.retain(|connection| forwarder.knows(connection.id));
    }

    /// Whether a connection can be taken, and what each of those that are open is ready for.
    fn wait(&mut self) -> Result<(bool, Vec<PollFlags>), Errno> {
        let now = Instant::now();
        self.paused_until = self.paused_until.filter(|until| *until > now);
        let accepts = self.paused_until.is_none() && self.guest.forwarder.has_offers();
        let mut watched: Vec<(BorrowedFd<'_>, PollFlags)> =
            vec![(self.mailbox.wake_fd(), PollFlags::IN), (self.wake.as_fd(), PollFlags::IN)];
        if accepts {
            watched.push((self.listener.as_fd(), PollFlags::IN));
        }
        let before = watched.len();
        let interests: Vec<PollFlags> = self.connections.iter().map(Connection::interest).collect();
        // One that waits for nothing is not watched at all: its errors would be told again and again.
        let moving = self.connections.iter().zip(&interests).filter(|(_, flags)| !flags.is_empty());
        watched.extend(moving.map(|(connection, flags)| (connection.socket().as_fd(), *flags)));
        let mut polled: Vec<PollFd<'_>> =
            watched.iter().map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
        let alarm = self.connections.iter().filter_map(Connection::alarm).chain(self.paused_until).min();
        // Rounded up by a little, so that the clock has passed when poll returns.
        let left = alarm.map(|alarm| alarm.saturating_duration_since(now) + Duration::from_micros(100));
        match poll(&mut polled, left.and_then(|left| Timespec::try_from(left).ok()).as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
        let can_accept = accepts && polled.get(before - 1).is_some_and(|listener| !listener.revents().is_empty());
        let mut found = polled.iter().skip(before).map(PollFd::revents);
        let ready = interests.iter().map(|flags| {
            if flags.is_empty() { PollFlags::empty() } else { found.next().unwrap_or(PollFlags::empty()) }
        });
        Ok((can_accept, ready.collect()))
    }

    /// Takes the connections that wait, as far as the host wants them.
    fn accept(&mut self) -> Result<(), FrameError> {
        while let Some(id) = self.guest.forwarder.next_offer() {
            match self.listener.accept() {
                Ok((socket, peer)) => {
                    if prepare(&socket).is_err() {
                        self.guest.forwarder.put_back(id);
                        continue;
                    }
                    let accepted = Accepted { origin: origin::of(peer, self.port) };
                    self.guest.outbox.send(id, &Response::Accepted(accepted), &[])?;
                    self.connections.push(Connection::new(id, socket));
                }
                Err(error) => {
                    self.guest.forwarder.put_back(id);
                    match error.kind() {
                        ErrorKind::WouldBlock => return Ok(()),
                        // It went away while it waited.
                        ErrorKind::ConnectionAborted | ErrorKind::Interrupted => {}
                        _ => {
                            self.paused_until = Some(Instant::now() + PAUSE);
                            return Ok(());
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

fn prepare(socket: &TcpStream) -> std::io::Result<()> {
    socket.set_nonblocking(true)?;
    socket.set_nodelay(true)
}

/// Tells the host what came of a look at a connection.
fn tell(guest: &Guest, connection: &mut Connection, step: Step) -> Result<(), FrameError> {
    let id = connection.id;
    if let Some(bytes) = connection.take_delivered(GRANT_BYTES) {
        guest.forwarder.delivered(id, bytes);
        if !connection.is_left() {
            guest.outbox.send(id, &Response::Credit { bytes }, &[])?;
        }
    }
    match step {
        Step::Nothing => Ok(()),
        Step::Received(bytes) => guest.outbox.send(id, &Response::Received, &bytes),
        Step::ReceivedAll if connection.is_left() => Ok(()),
        Step::ReceivedAll => guest.outbox.send(id, &Response::ReceivedAll, &[]),
        Step::Closed { reset } => {
            guest.forwarder.forget(id);
            guest.outbox.send(id, &Response::Closed { reset }, &[])
        }
    }
}
