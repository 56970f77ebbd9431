//! Signs of life: the guest hears from us when there is nothing else to say, and we notice when it no longer answers.
//!
//! Both sides count ticks of their own and no time by the clock, so that a machine that slept, or a program that was
//! stopped, is not taken for a dead one. A guest that is frozen, or hangs in the kernel, is given up after a minute.

use std::future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use retrace_guest::DEFAULT_SILENCE_MS;
use retrace_guest::message::{HEARTBEAT_ID, Request};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::frames::Outgoing;

/// How often we look. Within two of them the guest hears something of us.
pub(super) const TICK: Duration = Duration::from_secs(5);
/// After so many ticks without a word from the guest it counts as gone.
pub(super) const MAX_SILENT_TICKS: u32 = 12;

// In a machine that is busy, pings may come late, and the guest shall not lose patience.
const _: () = assert!(TICK.as_millis() as u64 * 6 <= DEFAULT_SILENCE_MS);

/// What happened since the last tick.
#[derive(Debug, Default)]
pub(super) struct Pulse {
    heard: AtomicBool,
    sent: AtomicBool,
}

impl Pulse {
    pub(super) fn heard(&self) {
        self.heard.store(true, Ordering::Relaxed);
    }

    pub(super) fn sent(&self) {
        self.sent.store(true, Ordering::Relaxed);
    }
}

/// Pings while the link is idle. Returns, with the reason, only when the guest no longer answers.
pub(super) async fn watch(pulse: &Pulse, outgoing: mpsc::WeakSender<Outgoing>) -> String {
    let mut ticks = interval_at(Instant::now() + TICK, TICK);
    // Ticks that were missed while this program was stopped are no sign of the guest's silence.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut silent_ticks = 0;
    loop {
        ticks.tick().await;
        let heard = pulse.heard.swap(false, Ordering::Relaxed);
        let sent = pulse.sent.swap(false, Ordering::Relaxed);
        silent_ticks = if heard { 0 } else { silent_ticks + 1 };
        if silent_ticks > MAX_SILENT_TICKS {
            let silent_s = TICK.as_secs() * u64::from(MAX_SILENT_TICKS);
            return format!("the guest has not answered for {silent_s} s and was given up");
        }
        if heard && sent {
            continue;
        }
        // Nobody holds the link any more: it is being closed, and that has a bound of its own.
        let Some(outgoing) = outgoing.upgrade() else { return future::pending().await };
        if let Ok(ping) = Outgoing::new(HEARTBEAT_ID, &Request::Ping, Bytes::new()) {
            // Where there is no room, the guest has more than enough to read.
            let _ = outgoing.try_send(ping);
        }
    }
}
