//! The host's end of the guest protocol: many calls over one pair of pipes.
//!
//! The reader never waits for a caller (what a caller may have outstanding is bounded by credit), so a slow consumer
//! of one command cannot hold up the others. What comes from the guest is not trusted: sizes are bounded for each call,
//! and a guest that breaks the protocol is killed.

mod frames;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod heartbeat;
mod tasks;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use retrace_guest::message::{Hello, Request, Response};
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, watch};

use crate::backend::{Counters, Lifeline, Meter};
use crate::error::{GoneReport, SandboxError};
use frames::Outgoing;
use heartbeat::Pulse;

pub(crate) use tasks::connect;

/// Frames that may wait for the pipe.
const OUTGOING_FRAMES: usize = 64;

/// An answer with its body.
pub(crate) type Event = (Response, Bytes);

/// The connection to one guest. Dropping it closes the guest's stdin, upon which the guest exits.
#[derive(Debug)]
pub(crate) struct Link {
    outgoing: mpsc::Sender<Outgoing>,
    shared: Arc<Shared>,
    next_id: AtomicU64,
    runtime: Handle,
}

/// What the tasks of a link share with its users.
#[derive(Debug)]
struct Shared {
    calls: Mutex<Calls>,
    /// The host wants the guest's end now.
    kill: Notify,
    /// Nothing will be written any more.
    hung_up: Notify,
    pulse: Pulse,
    /// Kills for want of memory that a command's result has told already: they are not what the guest ended of.
    told_memory_kills: AtomicU64,
    /// True when the guest is gone and nothing of it is left on the host.
    cleaned_up: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Calls {
    pending: HashMap<u64, Pending>,
    gone: Option<GoneReport>,
    /// The end is wanted.
    closing: bool,
}

#[derive(Debug)]
struct Pending {
    events: mpsc::UnboundedSender<Event>,
    /// What the guest may still send for this call.
    budget_bytes: u64,
}

impl Link {
    /// Sends a request; its answers come through what is returned.
    pub(crate) fn register(
        self: &Arc<Self>,
        budget_bytes: u64,
    ) -> Result<(u64, mpsc::UnboundedReceiver<Event>), SandboxError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (events, receiver) = mpsc::unbounded_channel();
        let mut calls = self.shared.lock();
        if let Some(report) = &calls.gone {
            return Err(SandboxError::GuestGone(report.clone()));
        }
        calls.pending.insert(id, Pending { events, budget_bytes });
        Ok((id, receiver))
    }

    /// Sends one frame, waiting while the pipe is full.
    pub(crate) async fn send(&self, id: u64, request: &Request, body: Bytes) -> Result<(), SandboxError> {
        let frame = Outgoing::new(id, request, body)?;
        match self.outgoing.send(frame).await {
            Ok(()) => Ok(()),
            Err(_) => Err(self.gone().await),
        }
    }

    /// Sends one small frame without waiting; for when nobody can wait.
    pub(crate) fn send_later(self: &Arc<Self>, id: u64, request: &Request) {
        let Ok(frame) = Outgoing::new(id, request, Bytes::new()) else { return };
        if let Err(mpsc::error::TrySendError::Full(frame)) = self.outgoing.try_send(frame) {
            let link = Arc::clone(self);
            self.runtime.spawn(async move {
                // The guest is gone when this fails, and with it what was to be told.
                let _ = link.outgoing.send(frame).await;
            });
        }
    }

    /// Grants a call more data.
    pub(crate) fn add_budget(&self, id: u64, bytes: u64) {
        if let Some(pending) = self.shared.lock().pending.get_mut(&id) {
            pending.budget_bytes = pending.budget_bytes.saturating_add(bytes);
        }
    }

    /// Nobody wants the answers to this call any more.
    pub(crate) fn forget(&self, id: u64) {
        self.shared.lock().pending.remove(&id);
    }

    /// Waits until the guest's end is known, and says how it was.
    pub(crate) async fn gone(&self) -> SandboxError {
        let mut cleaned_up = self.shared.cleaned_up.subscribe();
        loop {
            if let Some(report) = self.gone_now() {
                return SandboxError::GuestGone(report);
            }
            if cleaned_up.wait_for(|done| *done).await.is_err() {
                return SandboxError::GuestGone(GoneReport::default());
            }
        }
    }

    /// How the guest ended, if it did.
    pub(crate) fn gone_now(&self) -> Option<GoneReport> {
        self.shared.lock().gone.clone()
    }

    /// Says that a command's result tells of everything up to these numbers.
    pub(crate) fn tell(&self, counters: Counters) {
        self.shared.told_memory_kills.fetch_max(counters.memory_kills, Ordering::Relaxed);
    }

    /// Says that the guest's end is wanted from here on.
    pub(crate) fn close(&self) {
        self.shared.lock().closing = true;
    }

    /// Whether the guest is gone or its end is wanted.
    pub(crate) fn is_ending(&self) -> bool {
        let calls = self.shared.lock();
        calls.closing || calls.gone.is_some()
    }

    /// Kills the guest.
    pub(crate) fn kill(&self) {
        self.close();
        self.shared.kill.notify_one();
    }

    /// As [`Link::closed`], without keeping the link.
    pub(crate) fn until_closed(link: &Arc<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let mut cleaned_up = link.shared.cleaned_up.subscribe();
        Box::pin(async move {
            // An error means that the task is gone, and so is everything else.
            let _ = cleaned_up.wait_for(|done| *done).await;
        })
    }

    /// Waits until the guest is gone and nothing is left of it.
    pub(crate) async fn closed(&self) {
        let mut cleaned_up = self.shared.cleaned_up.subscribe();
        // An error means that the task is gone, and so is everything else.
        let _ = cleaned_up.wait_for(|done| *done).await;
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A guest that has said hello.
pub(crate) struct Connected {
    pub(crate) link: Arc<Link>,
    pub(crate) hello: Hello,
}

/// What the link needs of a launched guest besides its pipes.
pub(crate) struct Keeper {
    pub(crate) lifeline: Box<dyn Lifeline>,
    pub(crate) meter: Arc<dyn Meter>,
}

#[cfg(test)]
mod tests;
