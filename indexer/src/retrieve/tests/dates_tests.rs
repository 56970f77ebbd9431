//! Dates in queries.

use super::DAY_MS;
use crate::retrieve::dates::Dates;
use expect_test::expect;
use proptest::prelude::*;

/// Noon of 8 May 2026, UTC.
const EIGHTH_OF_MAY: i64 = 1_778_241_600_000;

#[test]
fn months_years_and_days_are_understood_where_they_are_meant() {
    let read = |text: &str| {
        let shown = format!("{:?}", Dates::in_text(text));
        format!("{text}\n    {}\n", shown.trim_start_matches("Dates "))
    };
    let texts = [
        "what did we decide in May 2026?",
        "the failing run of 2026-05-08",
        "2026-05-08T12:30:00Z cannot connect",
        "on 8 May, before the release",
        "the plan from June 3rd, 2025",
        "Who fixed it (May 8)?",
        "since September",
        "12 Dec and 3 Jan",
        // No dates: a verb, a person's manner, a number, a port, a version.
        "may I march on?",
        "error 2024 at line 12",
        "port 2026",
        "release 2026-13",
    ];
    expect![[r#"
        what did we decide in May 2026?
            { years: [2026], months: [5], days: [] }
        the failing run of 2026-05-08
            { years: [2026], months: [5], days: [8] }
        2026-05-08T12:30:00Z cannot connect
            { years: [2026], months: [5], days: [8] }
        on 8 May, before the release
            { years: [], months: [5], days: [8] }
        the plan from June 3rd, 2025
            { years: [2025], months: [6], days: [3] }
        Who fixed it (May 8)?
            { years: [], months: [5], days: [8] }
        since September
            { years: [], months: [9], days: [] }
        12 Dec and 3 Jan
            { years: [], months: [12, 1], days: [12, 3] }
        may I march on?
            { years: [], months: [], days: [] }
        error 2024 at line 12
            { years: [], months: [], days: [] }
        port 2026
            { years: [], months: [], days: [] }
        release 2026-13
            { years: [], months: [], days: [] }
    "#]]
    .assert_eq(&texts.map(read).concat());
}

#[test]
fn a_moment_fits_by_the_share_that_agrees() {
    let fit = |text: &str, at_ms: i64| Dates::in_text(text).fit(at_ms);
    assert_eq!(fit("in May 2026", EIGHTH_OF_MAY), 1.0);
    assert_eq!(fit("on 8 May 2026", EIGHTH_OF_MAY), 1.0);
    assert_eq!(fit("in May 2025", EIGHTH_OF_MAY), 0.5);
    assert_eq!(fit("in June 2025", EIGHTH_OF_MAY), 0.0);
    assert_eq!(fit("in May or June", EIGHTH_OF_MAY), 1.0);
    assert_eq!(fit("on 9 May 2026", EIGHTH_OF_MAY + DAY_MS), 1.0);
    assert_eq!(fit("without any", EIGHTH_OF_MAY), 0.0);
    assert_eq!(fit("in May 2026", i64::MAX), 0.0);
}

proptest! {
    #[test]
    fn any_text_and_any_moment_give_a_share(text in ".{0,200}", at_ms in any::<i64>()) {
        let fit = Dates::in_text(&text).fit(at_ms);
        prop_assert!((0.0..=1.0).contains(&fit));
    }

    #[test]
    fn a_day_that_is_named_fits_itself(day in 0_i64..20_000) {
        let at_ms = day * DAY_MS;
        let date = jiff::Timestamp::from_millisecond(at_ms).unwrap().to_zoned(jiff::tz::TimeZone::UTC).date();
        prop_assert_eq!(Dates::in_text(&format!("the run of {date}")).fit(at_ms), 1.0);
        prop_assert_eq!(Dates::in_text(&date.strftime("on %-d %B %Y").to_string()).fit(at_ms), 1.0);
    }
}
