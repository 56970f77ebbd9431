//! Amounts, times, lists.

use crate::config::Raw;
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn text(text: &str) -> Raw {
    Raw::Text(text.to_owned())
}

#[test]
fn money() {
    let cases = [("2.50", 2_500_000), ("$2", 2_000_000), ("0.000001", 1), (" 10 ", 10_000_000), ("3.1", 3_100_000)];
    for (given, microusd) in cases {
        assert_eq!(text(given).money_microusd(), Ok(microusd), "{given}");
    }
    for given in ["", "0", "0.0", "-1", "1,5", "1.2345678", "1e3", ".5", "5.", "abc", "99999999999999999999", "1.+5"] {
        assert!(text(given).money_microusd().is_err(), "{given}");
    }
    assert_eq!(Raw::Decimal("0.25".to_owned()).money_microusd(), Ok(250_000));
    assert_eq!(Raw::Integer(3).money_microusd(), Ok(3_000_000));
}

#[test]
fn times() {
    for (given, ms) in
        [("30m", 1_800_000), ("1h 30m", 5_400_000), ("90s", 90_000), ("1500ms", 1_500), ("2 hours", 7_200_000)]
    {
        assert_eq!(text(given).time_ms(), Ok(ms), "{given}");
    }
    for given in ["", "30", "0s", "-5m", "soon", "1 month", "99999999999999h"] {
        assert!(text(given).time_ms().is_err(), "{given}");
    }
}

#[test]
fn paths_start_at_their_source() {
    let base = Path::new("/base");
    assert_eq!(text("a/b").path(base), Ok(PathBuf::from("/base/a/b")));
    assert_eq!(text("/abs").path(base), Ok(PathBuf::from("/abs")));
    assert_eq!(text("~/x").path(base), Ok(etcetera::home_dir().unwrap().join("x")));
    assert_eq!(text("~user").path(base), Ok(PathBuf::from("/base/~user")));
    assert!(text("").path(base).is_err());
    assert!(text("a\0b").path(base).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn money_survives_being_written(microusd in 1_u64..10_000_000_000_000) {
        let written = format!("{}.{:06}", microusd / 1_000_000, microusd % 1_000_000);
        prop_assert_eq!(text(&written).money_microusd(), Ok(microusd));
    }

    #[test]
    fn no_text_panics(given in ".*") {
        let raw = text(&given);
        let _ = (raw.money_microusd(), raw.time_ms(), raw.number::<u8>(), raw.switch(), raw.paths(Path::new("/")));
        if let Ok(names) = raw.names() {
            prop_assert!(names.iter().all(|name| !name.contains('/') && !name.is_empty()));
        }
        if let Ok(line) = raw.line(50) {
            prop_assert!(line.len() <= 50 && !line.chars().any(char::is_control) && !line.is_empty());
        }
    }
}
