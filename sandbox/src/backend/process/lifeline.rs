//! Watches the outer process of a sandbox, and its control group.

use std::os::unix::process::ExitStatusExt as _;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio::process::Child;

use super::admission::GuestPid;
use crate::backend::{Counters, Lifeline, Meter};
use crate::cgroup::Cgroup;
use crate::proof::Proof;

pub(super) struct ProcessLifeline {
    child: Child,
    cgroup: Arc<Mutex<Cgroup>>,
}

impl ProcessLifeline {
    pub(super) fn new(child: Child, cgroup: Arc<Mutex<Cgroup>>) -> Self {
        Self { child, cgroup }
    }
}

#[async_trait]
impl Lifeline for ProcessLifeline {
    async fn wait(&mut self) -> String {
        match self.child.wait().await {
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) if code > 128 => format!("the guest was killed by signal {}", code - 128),
                (Some(code), _) => format!("the guest exited with code {code}"),
                (None, Some(signal)) => format!("the sandbox was killed by signal {signal}"),
                (None, None) => "the sandbox ended".to_owned(),
            },
            Err(error) => format!("the sandbox cannot be waited for: {error}"),
        }
    }

    fn kill(&mut self) {
        // It may have ended by itself. The guest dies with it: it is bubblewrap's child and dies with its parent.
        let _ = self.child.start_kill();
    }

    async fn clean_up(&mut self) {
        let mut cgroup = {
            let mut shared = self.cgroup.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *shared)
        };
        cgroup.remove().await;
    }
}

pub(super) struct ProcessMeter {
    guest_pid: GuestPid,
    cgroup: Arc<Mutex<Cgroup>>,
}

impl ProcessMeter {
    pub(super) fn new(guest_pid: GuestPid, cgroup: Arc<Mutex<Cgroup>>) -> Self {
        Self { guest_pid, cgroup }
    }
}

impl Meter for ProcessMeter {
    fn read(&self) -> Counters {
        self.cgroup.lock().unwrap_or_else(PoisonError::into_inner).counters()
    }

    fn proofs(&self) -> Vec<Proof> {
        self.cgroup.lock().unwrap_or_else(PoisonError::into_inner).proofs(self.guest_pid.get())
    }
}
