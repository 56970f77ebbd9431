//! Moments as people write them, all seen from Wednesday, 2026-01-07 15:04:05.006 UTC.

use super::NOW;
use crate::query::moment::{Edge, moment_ms};
use proptest::prelude::*;
use retrace_events::Timestamp;

fn shown(text: &str, edge: Edge) -> String {
    let Some(at_ms) = moment_ms(text, NOW, edge) else { return "none".to_owned() };
    jiff::Timestamp::from_millisecond(at_ms).unwrap().to_string()
}

fn check(text: &str, start: &str, end: &str) {
    assert_eq!(shown(text, Edge::Start), start, "start of {text}");
    assert_eq!(shown(text, Edge::End), end, "end of {text}");
}

#[test]
fn days_months_and_years_have_two_ends() {
    check("2026-01-05", "2026-01-05T00:00:00Z", "2026-01-06T00:00:00Z");
    check("2026/1/5", "2026-01-05T00:00:00Z", "2026-01-06T00:00:00Z");
    check("2025-02", "2025-02-01T00:00:00Z", "2025-03-01T00:00:00Z");
    check("2025", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z");
    check("today", "2026-01-07T00:00:00Z", "2026-01-08T00:00:00Z");
    check("yesterday", "2026-01-06T00:00:00Z", "2026-01-07T00:00:00Z");
}

#[test]
fn weekdays_mean_the_last_one() {
    check("monday", "2026-01-05T00:00:00Z", "2026-01-06T00:00:00Z");
    check("Wed", "2026-01-07T00:00:00Z", "2026-01-08T00:00:00Z");
    check("thu", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z");
}

#[test]
fn distances_have_one_end() {
    for (text, moment) in [
        ("now", "2026-01-07T15:04:05.006Z"),
        ("30s", "2026-01-07T15:03:35.006Z"),
        ("45min ago", "2026-01-07T14:19:05.006Z"),
        ("2h", "2026-01-07T13:04:05.006Z"),
        ("3d", "2026-01-04T15:04:05.006Z"),
        ("2 weeks", "2025-12-24T15:04:05.006Z"),
        ("1mo", "2025-12-08T15:04:05.006Z"),
        ("1y", "2025-01-07T15:04:05.006Z"),
    ] {
        check(text, moment, moment);
    }
}

#[test]
fn exact_moments() {
    for (text, moment) in [
        ("2026-01-05T14:30", "2026-01-05T14:30:00Z"),
        ("2026-01-05 14:30:15", "2026-01-05T14:30:15Z"),
        ("2026-01-05T14:30:15.250z", "2026-01-05T14:30:15.25Z"),
        ("2026-01-05T14:30:15+02:00", "2026-01-05T12:30:15Z"),
    ] {
        check(text, moment, moment);
    }
}

#[test]
fn nonsense_is_no_moment() {
    for text in
        ["", "3", "3x", "d", "2026-13-01", "2026-02-30", "2026-01-05-06", "99999", "soon", "mo", "-3d", "26-01-05"]
    {
        check(text, "none", "none");
    }
}

#[test]
fn longer_ago_than_time_is_everything() {
    let ms = moment_ms("99999999999d", NOW, Edge::Start).unwrap();
    assert!(ms < -300_000_000_000_000, "{ms}");
    assert_eq!(moment_ms("99999999999999999999d", NOW, Edge::Start), None);
}

proptest! {
    #[test]
    fn any_text_at_any_time(text in "\\PC{0,24}", now in any::<u64>()) {
        let _ = moment_ms(&text, Timestamp(now), Edge::Start);
        let _ = moment_ms(&text, Timestamp(now), Edge::End);
    }

    /// The end of a stretch is never before its start, and what is longer ago is not later.
    #[test]
    fn ends_are_in_order(year in 1971_i16..2200, month in 1_u8..13, day in 1_u8..29, hours in 0_u32..100_000) {
        let date = format!("{year}-{month:02}-{day:02}");
        let start = moment_ms(&date, NOW, Edge::Start).unwrap();
        prop_assert_eq!(moment_ms(&date, NOW, Edge::End).unwrap(), start + 86_400_000);
        let ago = moment_ms(&format!("{hours}h"), NOW, Edge::Start).unwrap();
        prop_assert_eq!(ago, i64::try_from(NOW.0).unwrap() - i64::from(hours) * 3_600_000);
    }
}
