//! Moments as people write them: `2026-01-05`, `2026-01-05T14:30`, `yesterday`, `monday`, `3d`, `2h`. All in UTC, like the log.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp as Instant};
use retrace_events::Timestamp;

/// Which end of a stretch of time (a day, a month) is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// Its first moment.
    Start,
    /// The first moment after it.
    End,
}

/// The moment that `text` means at `now`, in milliseconds since 1970.
pub(super) fn moment_ms(text: &str, now: Timestamp, edge: Edge) -> Option<i64> {
    let now = Instant::from_millisecond(i64::try_from(now.0).ok()?).ok()?;
    let text = text.trim().to_ascii_lowercase();
    let moment = ago(&text, now)
        .or_else(|| day(&text, now).and_then(|(first, after)| at(if edge == Edge::Start { first } else { after })))
        .or_else(|| exact(&text))?;
    Some(moment.as_millisecond())
}

/// `3d`, `2 hours`, `45min ago`.
fn ago(text: &str, now: Instant) -> Option<Instant> {
    if text == "now" {
        return Some(now);
    }
    let text = text.strip_suffix("ago").unwrap_or(text).trim_end();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let seconds: i64 = match unit.trim_start() {
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        "m" | "min" | "mins" | "minute" | "minutes" => 60,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600,
        "d" | "day" | "days" => 86_400,
        "w" | "week" | "weeks" => 7 * 86_400,
        "mo" | "month" | "months" => 30 * 86_400,
        "y" | "year" | "years" => 365 * 86_400,
        _ => return None,
    };
    let back = number.parse::<i64>().ok()?.checked_mul(seconds)?;
    // Longer ago than there is time: everything.
    Some(now.checked_sub(SignedDuration::from_secs(back)).unwrap_or(Instant::MIN))
}

/// A day, month or year: its first day, and the first day after it.
fn day(text: &str, now: Instant) -> Option<(Date, Date)> {
    let today = now.to_zoned(TimeZone::UTC).date();
    let date = match text {
        "today" => today,
        "yesterday" => today.yesterday().ok()?,
        _ => match weekday(text) {
            Some(weekday) => today.tomorrow().ok()?.nth_weekday(-1, weekday).ok()?,
            None => return calendar(text),
        },
    };
    Some((date, date.tomorrow().ok()?))
}

fn weekday(text: &str) -> Option<Weekday> {
    let days = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    days.into_iter().find(|(name, _)| text.len() >= 3 && name.starts_with(text)).map(|(_, day)| day)
}

/// `2026-01-05`, `2026/1/5`, `2026-01`, `2026`.
fn calendar(text: &str) -> Option<(Date, Date)> {
    let mut parts = text.split(['-', '/']);
    let year = parts.next().filter(|year| year.len() == 4)?.parse::<i16>().ok()?;
    let mut number = || parts.next().map(|part| part.parse::<i8>().ok());
    let (month, day) = (number(), number());
    if parts.next().is_some() {
        return None;
    }
    let first = Date::new(year, month.unwrap_or(Some(1))?, day.unwrap_or(Some(1))?).ok()?;
    let after = match (month, day) {
        (None, _) => first.last_of_year().tomorrow(),
        (Some(_), None) => first.last_of_month().tomorrow(),
        (Some(_), Some(_)) => first.tomorrow(),
    };
    Some((first, after.ok()?))
}

/// A moment to the minute or finer, with or without a zone.
fn exact(text: &str) -> Option<Instant> {
    let text = text.to_ascii_uppercase();
    text.parse::<Instant>().ok().or_else(|| {
        let moment: DateTime = text.parse().ok()?;
        Some(moment.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })
}

fn at(date: Date) -> Option<Instant> {
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
}
