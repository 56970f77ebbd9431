//! Notices that the host is gone although the pipe from it stays open, as a container engine may keep it.
//!
//! The host pings when it has nothing else to say. Silence is counted in ticks of our own and not by a clock: while this
//! process is stopped, its machine asleep or its container paused, no tick passes, and the host gets its chance to
//! speak after that. A host that is itself stopped for longer than the bound cannot be told from a dead one; where the
//! pipe ends with the host for certain (no engine in between), the bound is therefore switched off.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use super::Guest;

/// So many ticks without a word are too many.
const TICKS: u32 = 10;
/// A tick is no shorter than this.
const SHORTEST_TICK: Duration = Duration::from_millis(5);
/// It only sleeps and counts.
const STACK_BYTES: usize = 128 * 1024;

/// Ticks since the host was last heard.
#[derive(Debug, Default)]
pub(super) struct Silence {
    ticks: AtomicU32,
}

impl Silence {
    pub(super) fn heard(&self) {
        self.ticks.store(0, Ordering::Relaxed);
    }

    /// One more tick; whether it was one too many.
    fn tick(&self) -> bool {
        self.ticks.fetch_add(1, Ordering::Relaxed) >= TICKS
    }
}

/// Starts the watch; it ends the process with everything below it when the host is silent for so long.
pub(super) fn watch(guest: &Arc<Guest>, silence_ms: u64) -> io::Result<()> {
    if silence_ms == 0 {
        return Ok(());
    }
    let tick = (Duration::from_millis(silence_ms) / TICKS).max(SHORTEST_TICK);
    let guest = Arc::clone(guest);
    let watching = move || {
        loop {
            thread::sleep(tick);
            if guest.silence.tick() {
                break;
            }
        }
        guest.end_everything();
        // Nobody may be there to read it.
        let _ = writeln!(io::stderr(), "retrace-guest: nothing heard from the host for {silence_ms} ms");
        std::process::exit(libc::EXIT_FAILURE);
    };
    thread::Builder::new().stack_size(STACK_BYTES).spawn(watching).map(|_| ())
}
