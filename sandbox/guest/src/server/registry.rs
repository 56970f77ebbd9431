//! The requests that are running, by id.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::mailbox::Mailbox;
use crate::message::{Failure, FailureKind, MAX_CONCURRENT_REQUESTS};

/// All running requests.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    calls: Mutex<HashMap<u64, Arc<Mailbox>>>,
    emptied: Condvar,
}

impl Registry {
    pub(crate) fn add(&self, id: u64, mailbox: &Arc<Mailbox>) -> Result<(), Failure> {
        let mut calls = self.lock();
        if calls.contains_key(&id) {
            return Err(Failure::new(FailureKind::BadRequest, format!("request id {id} is in use")));
        }
        if calls.len() >= MAX_CONCURRENT_REQUESTS {
            let message = format!("more than {MAX_CONCURRENT_REQUESTS} requests at once");
            return Err(Failure::new(FailureKind::Busy, message));
        }
        calls.insert(id, Arc::clone(mailbox));
        Ok(())
    }

    pub(crate) fn find(&self, id: u64) -> Option<Arc<Mailbox>> {
        self.lock().get(&id).cloned()
    }

    pub(crate) fn remove(&self, id: u64) {
        let removed = self.lock().remove(&id);
        if let Some(mailbox) = removed {
            mailbox.close();
        }
        self.emptied.notify_all();
    }

    pub(crate) fn kill_all(&self) {
        for mailbox in self.lock().values() {
            mailbox.kill();
        }
    }

    pub(crate) fn wait_until_empty(&self, at_most: Duration) {
        let deadline = Instant::now() + at_most;
        let mut calls = self.lock();
        while !calls.is_empty() {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return };
            calls = self.emptied.wait_timeout(calls, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Mailbox>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
