//! The requests that are running, by id.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::mailbox::Mailbox;
use crate::message::{Failure, FailureKind, MAX_CONCURRENT_REQUESTS};

/// All running requests.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    calls: Mutex<Calls>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Calls {
    mailboxes: HashMap<u64, Arc<Mailbox>>,
    /// Requests whose answer has not been sent yet.
    unanswered: usize,
}

impl Registry {
    pub(crate) fn add(&self, id: u64, mailbox: &Arc<Mailbox>) -> Result<(), Failure> {
        let mut calls = self.lock();
        if calls.mailboxes.contains_key(&id) {
            return Err(Failure::new(FailureKind::BadRequest, format!("request id {id} is in use")));
        }
        if calls.mailboxes.len() >= MAX_CONCURRENT_REQUESTS {
            let message = format!("more than {MAX_CONCURRENT_REQUESTS} requests at once");
            return Err(Failure::new(FailureKind::Busy, message));
        }
        calls.mailboxes.insert(id, Arc::clone(mailbox));
        calls.unanswered += 1;
        Ok(())
    }

    pub(crate) fn find(&self, id: u64) -> Option<Arc<Mailbox>> {
        self.lock().mailboxes.get(&id).cloned()
    }

    /// The request has ended; its answer is about to be sent. From here on its id counts as free.
    pub(crate) fn remove(&self, id: u64) {
        let removed = self.lock().mailboxes.remove(&id);
        if let Some(mailbox) = removed {
            mailbox.close();
        }
    }

    /// The answer of a removed request has been sent.
    pub(crate) fn answered(&self) {
        let mut calls = self.lock();
        calls.unanswered = calls.unanswered.saturating_sub(1);
        drop(calls);
        self.ended.notify_all();
    }

    pub(crate) fn kill_all(&self) {
        for mailbox in self.lock().mailboxes.values() {
            mailbox.kill();
        }
    }

    pub(crate) fn wait_until_answered(&self, at_most: Duration) {
        let deadline = Instant::now() + at_most;
        let mut calls = self.lock();
        while calls.unanswered > 0 {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return };
            calls = self.ended.wait_timeout(calls, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
