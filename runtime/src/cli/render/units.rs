//! Numbers as people read them.

use retrace_events::Timestamp;

/// Milliseconds: `340ms`, `1.2s`, `3m 05s`, `2h 10m`.
#[must_use]
pub(crate) fn duration(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0 => format!("{ms}ms"),
        1..60 => format!("{seconds}.{}s", ms % 1_000 / 100),
        60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
    }
}

/// Millionths of a US dollar: `$0.0123`, `$1.20`.
#[must_use]
pub(crate) fn cost(microusd: u64) -> String {
    // Rounded up: a cost is never shown as less than it is.
    let (parts, decimals) = if microusd < 1_000_000 { (10_000, 4) } else { (100, 2) };
    let rounded = microusd.div_ceil(1_000_000 / parts);
    format!("${}.{:0decimals$}", rounded / parts, rounded % parts)
}

/// A count with separators: `12,345`.
#[must_use]
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count and its noun: `1 line`, `12 lines`.
#[must_use]
pub(crate) fn of(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

/// Bytes: `512 B`, `1.5 KB`, `20 MB`.
#[must_use]
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    let (mut whole, mut rest, mut unit) = (bytes, 0, None);
    for name in UNITS {
        if whole < 1_000 {
            break;
        }
        (whole, rest, unit) = (whole / 1_000, whole % 1_000, Some(name));
    }
    match unit {
        None => format!("{whole} B"),
        Some(unit) if whole < 10 => format!("{whole}.{} {unit}", rest / 100),
        Some(unit) => format!("{whole} {unit}"),
    }
}

/// A moment in UTC, to the minute: `2026-11-21 10:05Z`.
#[must_use]
pub(crate) fn moment(at: Timestamp) -> String {
    let ms = i64::try_from(at.0).unwrap_or(i64::MAX);
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(moment) => moment.strftime("%Y-%m-%d %H:%MZ").to_string(),
        Err(_) => at.to_string(),
    }
}
