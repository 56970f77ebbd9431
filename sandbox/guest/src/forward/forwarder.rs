//! What the reader thread and the thread of the connections share: the host's offers to take a connection, and what it
//! sends to those that are open. The reader never waits here.

use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, eventfd};

use crate::message::{CHUNK_COST_BYTES, FORWARD_WINDOW_BYTES, Failure, FailureKind, MAX_FORWARDED};

/// All offers and connections.
#[derive(Debug, Default)]
pub(crate) struct Forwarder {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Becomes readable when something changed; there while the guest listens.
    wake: Option<Arc<OwnedFd>>,
    offers: VecDeque<u64>,
    /// By the id of the offer or connection.
    mail: HashMap<u64, Mail>,
}

/// What the host has sent to one connection, or said about it, since it was looked at last.
#[derive(Debug, Default)]
pub(super) struct Mail {
    pub(super) credit_bytes: u64,
    pub(super) data: VecDeque<Vec<u8>>,
    /// Sent by the host and not yet granted back.
    outstanding_bytes: u64,
    /// The host sends nothing more.
    pub(super) last: bool,
    /// Reset it.
    pub(super) killed: bool,
    /// Close it when all is delivered.
    pub(super) terminated: bool,
}

impl Forwarder {
    /// From here on offers are taken.
    pub(super) fn open(&self) -> Result<Arc<OwnedFd>, Failure> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| Failure::new(FailureKind::Busy, format!("no file descriptor left: {error}")))?;
        let mut state = self.lock();
        if state.wake.is_some() {
            return Err(Failure::new(FailureKind::BadRequest, "connections are taken already"));
        }
        Ok(Arc::clone(state.wake.insert(Arc::new(wake))))
    }

    /// No more offers; those that are left are returned.
    pub(super) fn close(&self) -> Vec<u64> {
        let mut state = self.lock();
        state.wake = None;
        state.offers.clear();
        state.mail.drain().map(|(id, _)| id).collect()
    }

    /// The host takes one more connection.
    pub(crate) fn offer(&self, id: u64) -> Result<(), Failure> {
        let mut state = self.lock();
        if state.wake.is_none() {
            return Err(Failure::new(FailureKind::BadRequest, "no connections are taken"));
        }
        if state.mail.contains_key(&id) {
            return Err(Failure::new(FailureKind::BadRequest, format!("request id {id} is in use")));
        }
        if state.mail.len() >= MAX_FORWARDED {
            return Err(Failure::new(FailureKind::Busy, format!("more than {MAX_FORWARDED} connections at once")));
        }
        state.mail.insert(id, Mail { credit_bytes: FORWARD_WINDOW_BYTES, ..Mail::default() });
        state.offers.push_back(id);
        notify(&state);
        Ok(())
    }

    /// Takes one part from the host. A host that sends more than it may loses the connection.
    pub(crate) fn push(&self, id: u64, part: Vec<u8>, last: bool) {
        self.change(id, |mail| {
            mail.outstanding_bytes = mail.outstanding_bytes.saturating_add(part.len() as u64 + CHUNK_COST_BYTES);
            // The last part may be an empty one that finds no credit left.
            if mail.last || mail.outstanding_bytes > FORWARD_WINDOW_BYTES + CHUNK_COST_BYTES {
                mail.killed = true;
                mail.data.clear();
                return;
            }
            if !part.is_empty() {
                mail.data.push_back(part);
            }
            mail.last = last;
        });
    }

    pub(crate) fn grant(&self, id: u64, bytes: u64) {
        self.change(id, |mail| mail.credit_bytes = mail.credit_bytes.saturating_add(bytes));
    }

    pub(crate) fn kill(&self, id: u64) {
        self.change(id, |mail| mail.killed = true);
    }

    pub(crate) fn terminate(&self, id: u64) {
        self.change(id, |mail| mail.terminated = true);
    }

    /// The oldest offer, for a connection that has come.
    pub(super) fn next_offer(&self) -> Option<u64> {
        self.lock().offers.pop_front()
    }

    pub(super) fn has_offers(&self) -> bool {
        !self.lock().offers.is_empty()
    }

    /// The connection could not be taken after all.
    pub(super) fn put_back(&self, id: u64) {
        self.lock().offers.push_front(id);
    }

    /// Offers that the host has taken back.
    pub(super) fn take_withdrawn(&self) -> Vec<u64> {
        let mut state = self.lock();
        let State { offers, mail, .. } = &mut *state;
        let is_withdrawn = |id: &u64| mail.get(id).is_none_or(|mail| mail.killed || mail.terminated);
        let withdrawn: Vec<u64> = offers.iter().copied().filter(is_withdrawn).collect();
        offers.retain(|id| !withdrawn.contains(id));
        for id in &withdrawn {
            mail.remove(id);
        }
        withdrawn
    }

    /// Takes what is new for a connection, if it still is one.
    pub(super) fn collect(&self, id: u64) -> Option<Mail> {
        let mut state = self.lock();
        let mail = state.mail.get_mut(&id)?;
        Some(Mail {
            credit_bytes: std::mem::take(&mut mail.credit_bytes),
            data: std::mem::take(&mut mail.data),
            ..*mail
        })
    }

    /// So many bytes from the host have left.
    pub(super) fn delivered(&self, id: u64, bytes: u64) {
        if let Some(mail) = self.lock().mail.get_mut(&id) {
            mail.outstanding_bytes = mail.outstanding_bytes.saturating_sub(bytes);
        }
    }

    pub(super) fn knows(&self, id: u64) -> bool {
        self.lock().mail.contains_key(&id)
    }

    /// The connection is gone; what still comes for it is dropped.
    pub(super) fn forget(&self, id: u64) {
        self.lock().mail.remove(&id);
    }

    fn change(&self, id: u64, change: impl FnOnce(&mut Mail)) {
        let mut state = self.lock();
        if let Some(mail) = state.mail.get_mut(&id) {
            change(mail);
            notify(&state);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn notify(state: &State) {
    if let Some(wake) = &state.wake {
        // Can only fail when the counter is full, and then the other side is awake anyway.
        let _ = rustix::io::write(wake, &1u64.to_ne_bytes());
    }
}
