//! Times and sizes, as they are printed.

use std::time::{Duration, Instant};

/// Runs `work`; what came of it, and how long it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let done = work();
    (done, begun.elapsed())
}

/// The median and the 95th percentile, in milliseconds.
pub(crate) fn spread(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1_000.0;
    format!("p50 {:.2} ms, p95 {:.2} ms, max {:.2} ms ({} queries)", at(50), at(95), at(100), times.len())
}

/// The median and the 99th percentile, in milliseconds.
pub(crate) fn spread_to_99(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |share: usize| {
        times.get((times.len() * share / 100).min(times.len().saturating_sub(1))).map_or(0.0, Duration::as_secs_f64)
            * 1_000.0
    };
    format!("p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms ({} times)", at(50), at(99), at(100), times.len())
}

/// So many in so long, for a second.
pub(crate) fn rate(count: u64, time: Duration) -> String {
    format!("{count} in {:.1} s, {:.0}/s", time.as_secs_f64(), count as f64 / time.as_secs_f64())
}

/// Bytes, for people.
pub(crate) fn size(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// The memory of this process without the pages of files, in bytes.
pub(crate) fn resident() -> u64 {
    field("RssAnon")
}

/// What this process has in memory now, and the most it had, without the pages of files.
pub(crate) fn memory() -> String {
    format!(
        "{} resident ({} of it anonymous), at most {}",
        size(field("VmRSS")),
        size(field("RssAnon")),
        size(field("VmHWM"))
    )
}

/// A figure of the kernel's on this process, in bytes.
fn field(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
}
