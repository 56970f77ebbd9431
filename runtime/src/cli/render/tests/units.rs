//! Numbers for people.

use crate::cli::render::units::{cost, count, duration, moment, of, size};
use retrace_events::Timestamp;

#[test]
fn durations() {
    let cases = [
        (0, "0ms"),
        (999, "999ms"),
        (1_000, "1.0s"),
        (59_999, "59.9s"),
        (60_000, "1m 00s"),
        (3_599_000, "59m 59s"),
        (7_260_000, "2h 01m"),
    ];
    for (ms, shown) in cases {
        assert_eq!(duration(ms), shown);
    }
}

#[test]
fn costs_are_rounded_up() {
    let cases = [
        (0, "$0.0000"),
        (1, "$0.0001"),
        (12_345, "$0.0124"),
        (999_999, "$1.0000"),
        (1_000_000, "$1.00"),
        (1_990_001, "$2.00"),
        (12_340_000, "$12.34"),
    ];
    for (microusd, shown) in cases {
        assert_eq!(cost(microusd), shown);
    }
}

#[test]
fn counts_and_sizes() {
    for (number, shown) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
        assert_eq!(count(number), shown);
    }
    assert_eq!(
        (of(1, "line"), of(2, "line"), of(0, "line")),
        ("1 line".to_owned(), "2 lines".to_owned(), "0 lines".to_owned())
    );
    for (bytes, shown) in [
        (0, "0 B"),
        (999, "999 B"),
        (1_500, "1.5 KB"),
        (20_000, "20 KB"),
        (1_234_567, "1.2 MB"),
        (u64::MAX, "18446744 TB"),
    ] {
        assert_eq!(size(bytes), shown);
    }
}

#[test]
fn moments() {
    assert_eq!(moment(Timestamp(1_767_225_600_000)), "2026-01-01 00:00Z");
    assert_eq!(moment(Timestamp(u64::MAX)), Timestamp(u64::MAX).to_string());
}
