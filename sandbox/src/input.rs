//! What a running command is told while it runs: input, its end, and the size of its terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use retrace_guest::message::{Failure, FailureKind, MAX_STDIN_BYTES, Request, TerminalSize};

use crate::call::Line;
use crate::error::SandboxError;

/// The way into a running command; clones lead to the same one. It neither keeps the command alive nor notices its
/// end: what is sent to one that has ended goes nowhere.
#[derive(Debug, Clone)]
pub struct Input {
    line: Line,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    sent_bytes: AtomicU64,
    closed: AtomicBool,
}

impl Input {
    /// The input of a command that has been sent so much; `closed` when nothing may follow.
    pub(crate) fn new(line: Line, sent_bytes: u64, closed: bool) -> Self {
        let state = State { sent_bytes: AtomicU64::new(sent_bytes), closed: AtomicBool::new(closed) };
        Self { line, state: Arc::new(state) }
    }

    /// Sends more to its stdin, or types it at its terminal.
    ///
    /// # Errors
    /// When its stdin is closed, it has been sent 16 MiB in all, or the guest is gone.
    pub async fn send(&self, bytes: impl Into<Bytes>) -> Result<(), SandboxError> {
        let bytes = bytes.into();
        if self.state.closed.load(Ordering::Relaxed) {
            return Err(Failure::new(FailureKind::BadRequest, "the command's stdin is closed").into());
        }
        let before_bytes = self.state.sent_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if before_bytes.saturating_add(bytes.len() as u64) > MAX_STDIN_BYTES {
            self.state.sent_bytes.fetch_sub(bytes.len() as u64, Ordering::Relaxed);
            let message = format!("more than {MAX_STDIN_BYTES} bytes of stdin");
            return Err(Failure::new(FailureKind::TooLarge, message).into());
        }
        self.line.send_data(bytes, false).await
    }

    /// Closes its stdin; at a terminal, types the end-of-file character. A second time is harmless.
    ///
    /// # Errors
    /// When the guest is gone.
    pub async fn close(&self) -> Result<(), SandboxError> {
        if self.state.closed.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        self.line.send_data(Bytes::new(), true).await
    }

    /// Says that its terminal has another size now. Without a terminal it means nothing.
    pub fn resize(&self, size: TerminalSize) {
        self.line.send_later(&Request::Resize(size));
    }
}
