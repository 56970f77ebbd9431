//! Hands each request to a thread of its own, and what belongs to a running one to its mailbox.

use std::sync::Arc;
use std::thread;

use super::Guest;
use crate::frame::FrameError;
use crate::mailbox::{Intake, Mailbox};
use crate::message::{Failure, FailureKind, Request, Response};
use crate::{exec, files, forward};

/// Enough for the deepest of them (directory walks and regular expressions keep their state on the heap).
const STACK_BYTES: usize = 512 * 1024;

type Work = Box<dyn FnOnce(&Guest, u64, &Mailbox) -> Result<Response, Failure> + Send>;

/// Handles one frame without waiting for the request to end.
pub(super) fn dispatch(guest: &Arc<Guest>, id: u64, request: Request, body: Vec<u8>) -> Result<(), FrameError> {
    match request {
        Request::Data { last } => {
            match guest.registry.find(id) {
                Some(mailbox) => mailbox.push(body, last),
                None => guest.forwarder.push(id, body, last),
            }
            Ok(())
        }
        Request::Credit { bytes } => {
            match guest.registry.find(id) {
                Some(mailbox) => mailbox.grant(bytes),
                None => guest.forwarder.grant(id, bytes),
            }
            Ok(())
        }
        Request::Resize(size) => {
            if let Some(mailbox) = guest.registry.find(id) {
                mailbox.resize(size);
            }
            Ok(())
        }
        Request::Kill => {
            match guest.registry.find(id) {
                Some(mailbox) => mailbox.kill(),
                None => guest.forwarder.kill(id),
            }
            Ok(())
        }
        Request::Terminate => {
            match guest.registry.find(id) {
                Some(mailbox) => mailbox.terminate(),
                None => guest.forwarder.terminate(id),
            }
            Ok(())
        }
        // The reader takes shutdown for itself; here it can only be a ping's equal.
        Request::Ping | Request::Shutdown => guest.outbox.send(id, &Response::Pong, &[]),
        Request::Exec(spec) => start(guest, id, Intake::Stdin, Box::new(move |g, id, m| exec::run(g, id, &spec, m))),
        Request::Read(spec) => start(guest, id, Intake::File, Box::new(move |g, id, m| files::read(g, id, &spec, m))),
        Request::Write(spec) => start(guest, id, Intake::File, Box::new(move |g, id, m| files::write(g, id, &spec, m))),
        Request::Stat(spec) => start(guest, id, Intake::File, Box::new(move |g, _, _| files::stat(&g.root, &spec))),
        Request::List(spec) => start(guest, id, Intake::File, Box::new(move |g, id, m| files::list(g, id, &spec, m))),
        Request::Search(spec) => {
            start(guest, id, Intake::File, Box::new(move |g, id, m| files::search(g, id, &spec, m)))
        }
        Request::Listen(spec) => {
            start(guest, id, Intake::File, Box::new(move |g, id, m| forward::listen(g, id, &spec, m)))
        }
        // It has no thread of its own: the listener's serves all connections.
        Request::Accept => match guest.forwarder.offer(id) {
            Ok(()) => Ok(()),
            Err(failure) => guest.outbox.finish(id, Err(failure)),
        },
    }
}

/// At the limit of processes there may be no thread to be had; that fails the request, not the guest.
fn start(guest: &Arc<Guest>, id: u64, intake: Intake, work: Work) -> Result<(), FrameError> {
    let busy = |what: &str, error: &std::io::Error| Failure::new(FailureKind::Busy, format!("no {what} left: {error}"));
    let mailbox = match Mailbox::new(intake) {
        Ok(mailbox) => Arc::new(mailbox),
        Err(error) => return guest.outbox.finish(id, Err(busy("file descriptor", &error))),
    };
    if let Err(failure) = guest.registry.add(id, &mailbox) {
        return guest.outbox.finish(id, Err(failure));
    }
    let shared = Arc::clone(guest);
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let result = work(&shared, id, &mailbox);
        // The host counts a request as ended when it has the answer, so it must not find the id in use after that.
        shared.registry.remove(id);
        // When the host is gone the reader notices as well.
        let _ = shared.outbox.finish(id, result);
        shared.registry.answered();
    });
    match thread {
        Ok(_) => Ok(()),
        Err(error) => {
            guest.registry.remove(id);
            guest.registry.answered();
            guest.outbox.finish(id, Err(busy("thread", &error)))
        }
    }
}
