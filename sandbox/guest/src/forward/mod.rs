//! Connections out of a sandbox that has no network: the guest takes them on the sandbox's own loopback and hands their
//! bytes to the host, which decides what becomes of them.
//!
//! One thread serves the listener and all connections. Every connection has its own credit in both directions, so one
//! that nobody reads holds up no other, and what waits in memory is bounded. Nothing is decided or looked into here.

mod connection;
mod forwarder;
mod origin;
mod pump;

use std::net::{Ipv4Addr, TcpListener};

use crate::mailbox::Mailbox;
use crate::message::{Failure, FailureKind, ListenSpec, Response};
use crate::server::Guest;

pub(crate) use forwarder::Forwarder;

/// Takes connections until the host ends the request; then all of them are reset.
pub(crate) fn listen(guest: &Guest, id: u64, spec: &ListenSpec, mailbox: &Mailbox) -> Result<Response, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(FailureKind::Io, format!("cannot listen on 127.0.0.1:{}: {error}", spec.port))
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, spec.port)).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let wake = guest.forwarder.open()?;
    let told = guest.outbox.send(id, &Response::Listening { port }, &[]);
    if told.is_ok() {
        pump::Pump::new(guest, mailbox, &listener, port, &wake).run();
    }
    drop(listener);
    for left in guest.forwarder.close() {
        // When the host is gone the reader notices as well.
        let _ = guest.outbox.finish(left, Err(ended()));
    }
    Err(ended())
}

fn ended() -> Failure {
    Failure::new(FailureKind::Cancelled, "no more connections are taken")
}
