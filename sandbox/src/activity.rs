//! Whether anything is done in a sandbox: one that nobody uses for a while is ended, to give back what it holds.
//!
//! A command counts for as long as it runs; a file operation counts at its beginning. The end and a new beginning exclude
//! each other: who begins either keeps the sandbox, or is told that it was idle before anything was done.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::error::{GoneReport, SandboxError};
use crate::limits::LimitHit;

/// What is going on in one sandbox.
#[derive(Debug)]
pub(crate) struct Activity {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    running: usize,
    last: Instant,
    ended: bool,
}

/// Something that goes on; it is over when this is dropped.
#[derive(Debug)]
pub(crate) struct Occupied(Arc<Activity>);

impl Activity {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State { running: 0, last: Instant::now(), ended: false }) })
    }

    /// Something begins that takes its time.
    pub(crate) fn occupy(self: &Arc<Self>) -> Result<Occupied, SandboxError> {
        self.touch()?;
        self.lock().running += 1;
        Ok(Occupied(Arc::clone(self)))
    }

    /// Something short begins.
    pub(crate) fn touch(&self) -> Result<(), SandboxError> {
        let mut state = self.lock();
        if state.ended {
            let detail = "it was ended because nobody used it for a while".to_owned();
            return Err(SandboxError::GuestGone(GoneReport {
                detail,
                limit: Some(LimitHit::Idle),
                ..GoneReport::default()
            }));
        }
        state.last = Instant::now();
        Ok(())
    }

    /// Whether it was found idle.
    pub(crate) fn ended(&self) -> bool {
        self.lock().ended
    }

    /// Waits until nothing was done for `idle`; from then on nothing can begin.
    pub(crate) async fn idle(&self, idle: Duration) {
        loop {
            let until = {
                let mut state = self.lock();
                let until = if state.running > 0 { Instant::now() + idle } else { state.last + idle };
                if until <= Instant::now() {
                    state.ended = true;
                    return;
                }
                until
            };
            tokio::time::sleep_until(until).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Occupied {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.running = state.running.saturating_sub(1);
        state.last = Instant::now();
    }
}

#[cfg(test)]
#[path = "activity_tests.rs"]
mod activity_tests;
