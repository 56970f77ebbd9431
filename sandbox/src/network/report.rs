//! What is known of a connection when it is over, and the way to whoever wants to know.
//!
//! The queue is bounded. When connections end faster than anyone listens, further ones are only counted, and the count
//! is delivered in their place: nothing is lost without a word.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Reports that may wait.
const WAITING_REPORTS: usize = 1024;

/// How a connection was asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum How {
    /// A plain HTTP request (also when it was not understood).
    #[default]
    Http,
    /// A tunnel whose bytes are not looked into.
    Connect,
    /// A tunnel whose TLS ends at the proxy, because a credential is added.
    Tls,
}

impl How {
    /// The name, as in the event log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Connect => "connect",
            Self::Tls => "tls",
        }
    }
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It was made.
    Allowed,
    /// It was not made, or cut at its beginning, because it may not be.
    Refused {
        /// Why, in one line.
        why: String,
    },
    /// It may be made and could not.
    Failed {
        /// Why, in one line.
        why: String,
    },
}

/// One connection of a sandbox, at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionReport {
    /// The call it came from, where that could be found. A hint: what runs inside can fake it.
    pub call: Option<String>,
    /// The host that was asked for; what was written, shortened, where it is none; empty when it never came to that.
    pub host: String,
    /// The port; 0 when it never came to that.
    pub port: u16,
    /// How it was asked for.
    pub how: How,
    /// What became of it.
    pub verdict: Verdict,
    /// Why an allowed one ended early, if it did.
    pub cut: Option<String>,
    /// The domain whose credential was added.
    pub credential: Option<String>,
    /// Bytes from the sandbox to the outside.
    pub sent_bytes: u64,
    /// Bytes from the outside to the sandbox.
    pub received_bytes: u64,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// Connections that nobody listened to in time, only counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectionCount {
    /// How many were allowed.
    pub allowed: u64,
    /// How many were refused.
    pub refused: u64,
    /// How many could not be made.
    pub failed: u64,
    /// Bytes from the sandbox to the outside.
    pub sent_bytes: u64,
    /// Bytes from the outside to the sandbox.
    pub received_bytes: u64,
}

/// What is told about connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionEvent {
    /// One connection.
    One(ConnectionReport),
    /// Several that came too fast.
    Many(ConnectionCount),
}

#[derive(Debug, Default)]
struct Queue {
    reports: VecDeque<ConnectionReport>,
    surplus: ConnectionCount,
    closed: bool,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Notify,
}

/// Tells about connections as they end. Clones share one queue: each report is delivered once.
#[derive(Debug, Clone)]
pub struct Connections {
    shared: Arc<Shared>,
}

impl Connections {
    /// The next report; `None` when there will be no more.
    pub async fn next(&self) -> Option<ConnectionEvent> {
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            {
                let mut queue = self.shared.lock();
                if let Some(event) = queue.pop() {
                    return Some(event);
                }
                if queue.closed {
                    return None;
                }
            }
            changed.await;
        }
    }

    /// The next report, if there is one already.
    #[must_use]
    pub fn try_next(&self) -> Option<ConnectionEvent> {
        self.shared.lock().pop()
    }
}

/// The other end. Dropping it ends the queue.
#[derive(Debug, Default)]
pub(super) struct Reporter {
    shared: Arc<Shared>,
}

impl Reporter {
    pub(super) fn connections(&self) -> Connections {
        Connections { shared: Arc::clone(&self.shared) }
    }

    pub(super) fn report(&self, report: ConnectionReport) {
        tracing::debug!(?report, "connection of a sandbox");
        self.shared.lock().push(report);
        self.shared.changed.notify_waiters();
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_waiters();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn push(&mut self, report: ConnectionReport) {
        // Once some are only counted, later ones are too until the count is told: the order stays true.
        if self.reports.len() < WAITING_REPORTS && self.surplus == ConnectionCount::default() {
            self.reports.push_back(report);
            return;
        }
        let surplus = &mut self.surplus;
        match report.verdict {
            Verdict::Allowed => surplus.allowed += 1,
            Verdict::Refused { .. } => surplus.refused += 1,
            Verdict::Failed { .. } => surplus.failed += 1,
        }
        surplus.sent_bytes = surplus.sent_bytes.saturating_add(report.sent_bytes);
        surplus.received_bytes = surplus.received_bytes.saturating_add(report.received_bytes);
    }

    fn pop(&mut self) -> Option<ConnectionEvent> {
        if let Some(report) = self.reports.pop_front() {
            return Some(ConnectionEvent::One(report));
        }
        let surplus = std::mem::take(&mut self.surplus);
        (surplus != ConnectionCount::default()).then_some(ConnectionEvent::Many(surplus))
    }
}

#[cfg(test)]
impl Reporter {
    pub(super) const WAITING: usize = WAITING_REPORTS;
}
