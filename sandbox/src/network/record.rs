//! What is noted about a connection while it lives; becomes its report when it is over, however it ends.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::limits::NetworkLimits;
use super::refusal::{Refusal, printable};
use super::report::{ConnectionReport, How, Reporter, Verdict};
use super::target::Target;

/// What all connections of a sandbox may use together.
#[derive(Debug)]
pub(super) struct Budget {
    used_bytes: AtomicU64,
    limit_bytes: u64,
}

impl Budget {
    pub(super) fn new(limit_bytes: u64) -> Self {
        Self { used_bytes: AtomicU64::new(0), limit_bytes }
    }

    pub(super) fn check(&self) -> Result<(), Refusal> {
        let limit_bytes = self.limit_bytes;
        if self.used_bytes.load(Ordering::Relaxed) < limit_bytes {
            Ok(())
        } else {
            Err(Refusal::UsedUp { limit_bytes })
        }
    }
}

/// One connection.
#[derive(Debug)]
pub(super) struct Record {
    started: Instant,
    call: Option<String>,
    notes: Mutex<Notes>,
    sent_bytes: AtomicU64,
    received_bytes: AtomicU64,
    /// When something moved last, in milliseconds since the start.
    moved_ms: AtomicU64,
    reported: AtomicBool,
    connection_limit_bytes: u64,
    idle_ms: u64,
    budget: Arc<Budget>,
    reporter: Arc<Reporter>,
}

#[derive(Debug, Default)]
struct Notes {
    host: String,
    port: u16,
    how: How,
    verdict: Option<Verdict>,
    cut: Option<String>,
    credential: Option<String>,
}

impl Record {
    pub(super) fn new(
        call: Option<String>,
        limits: &NetworkLimits,
        budget: &Arc<Budget>,
        reporter: &Arc<Reporter>,
    ) -> Self {
        Self {
            started: Instant::now(),
            call,
            notes: Mutex::default(),
            sent_bytes: AtomicU64::new(0),
            received_bytes: AtomicU64::new(0),
            moved_ms: AtomicU64::new(0),
            reported: AtomicBool::new(false),
            connection_limit_bytes: limits.connection_bytes,
            idle_ms: limits.idle_ms,
            budget: Arc::clone(budget),
            reporter: Arc::clone(reporter),
        }
    }

    pub(super) fn set_how(&self, how: How) {
        self.notes().how = how;
    }

    /// What was asked for, before anyone could make sense of it.
    pub(super) fn set_asked(&self, text: &str) {
        self.notes().host = printable(text, 253);
    }

    pub(super) fn set_target(&self, target: &Target) {
        let mut notes = self.notes();
        notes.host = target.host.to_string();
        notes.port = target.port;
    }

    pub(super) fn set_credential(&self, domain: &str) {
        self.notes().credential = Some(domain.to_owned());
    }

    pub(super) fn allow(&self) {
        self.notes().verdict.get_or_insert(Verdict::Allowed);
        self.moved();
    }

    /// Not made; or, for one that was made, why it was cut before anything of it was let through.
    pub(super) fn refuse(&self, refusal: &Refusal) {
        self.notes().verdict = Some(refusal.verdict());
    }

    /// Of an allowed one: why it ends now. The first reason counts.
    pub(super) fn cut(&self, why: impl Into<String>) {
        self.notes().cut.get_or_insert(why.into());
    }

    /// Whether anything was decided about it.
    pub(super) fn is_decided(&self) -> bool {
        self.notes().verdict.is_some()
    }

    pub(super) fn sent(&self, bytes: usize) {
        self.count(&self.sent_bytes, bytes);
    }

    pub(super) fn received(&self, bytes: usize) {
        self.count(&self.received_bytes, bytes);
    }

    fn count(&self, counter: &AtomicU64, bytes: usize) {
        counter.fetch_add(bytes as u64, Ordering::Relaxed);
        self.budget.used_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.moved();
    }

    /// Whether it may go on; notes why not.
    pub(super) fn may_go_on(&self) -> bool {
        let total = self.sent_bytes.load(Ordering::Relaxed) + self.received_bytes.load(Ordering::Relaxed);
        if total > self.connection_limit_bytes {
            self.cut(format!("it passed its limit of {} bytes", self.connection_limit_bytes));
            return false;
        }
        match self.budget.check() {
            Ok(()) => true,
            Err(refusal) => {
                self.cut(refusal.line());
                false
            }
        }
    }

    fn moved(&self) {
        self.moved_ms.store(self.age_ms(), Ordering::Relaxed);
    }

    fn age_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns when nothing has moved for too long.
    pub(super) async fn idle(&self) {
        loop {
            let silent_ms = self.age_ms().saturating_sub(self.moved_ms.load(Ordering::Relaxed));
            match self.idle_ms.checked_sub(silent_ms) {
                None | Some(0) => break,
                Some(left_ms) => tokio::time::sleep(Duration::from_millis(left_ms)).await,
            }
        }
        self.cut(format!("nothing moved for {} ms", self.idle_ms));
    }

    /// Tells about it, once.
    pub(super) fn finish(&self) {
        if self.reported.swap(true, Ordering::Relaxed) {
            return;
        }
        let notes = std::mem::take(&mut *self.notes());
        let verdict = notes.verdict.unwrap_or_else(|| Verdict::Failed {
            why: notes.cut.clone().unwrap_or_else(|| "it ended before anything was decided".to_owned()),
        });
        let cut = notes.cut.filter(|_| verdict == Verdict::Allowed);
        self.reporter.report(ConnectionReport {
            call: self.call.clone(),
            host: notes.host,
            port: notes.port,
            how: notes.how,
            verdict,
            cut,
            credential: notes.credential,
            sent_bytes: self.sent_bytes.load(Ordering::Relaxed),
            received_bytes: self.received_bytes.load(Ordering::Relaxed),
            duration_ms: self.age_ms(),
        });
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        self.finish();
    }
}
