//! Amounts, times, counts and lists at their edges, as they are read and as they are shown again.

use super::Machine;
use crate::config::{Key, Raw};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn text(text: impl Into<String>) -> Raw {
    Raw::Text(text.into())
}

#[test]
fn the_largest_amounts() {
    let most = "18446744073709.551615";
    assert_eq!(text(most).money_microusd(), Ok(u64::MAX));
    for over in ["18446744073709.551616", "18446744073710", "18446744073709551616"] {
        assert!(text(over).money_microusd().is_err(), "{over}");
    }
    assert_eq!(Raw::Integer(i64::MAX).money_microusd().ok(), None);
    assert!(Raw::Integer(-1).money_microusd().is_err() && Raw::Integer(0).money_microusd().is_err());
    assert!(Raw::Bool(true).money_microusd().is_err() && Raw::List(vec!["1".to_owned()]).money_microusd().is_err());
}

#[test]
fn odd_ways_to_write_an_amount_are_refused() {
    for odd in ["1 000", "1_000", "+1", "$", "$-1", "1$", "0x10", "１", "1.2.3", "NaN", "inf", "1.٣", "$ 1", "."] {
        assert!(text(odd).money_microusd().is_err(), "{odd}");
    }
    for zero in ["0", "$0", "0.000000", "00"] {
        assert!(text(zero).money_microusd().is_err(), "{zero}: a budget of nothing");
    }
}

#[test]
fn times_at_their_edges() {
    assert_eq!(text("1ms").time_ms(), Ok(1));
    assert_eq!(text("PT1H30M").time_ms(), Ok(5_400_000));
    assert_eq!(text("  5 s ").time_ms(), Ok(5_000));
    for odd in ["1ns", "999us", "0h", "1h -2h", "1y", "1 2", "ms", "∞", "1e3s", "- 5m", "5m ago"] {
        assert!(text(odd).time_ms().is_err(), "{odd}");
    }
    for raw in [Raw::Integer(30), Raw::Decimal("1.5".to_owned()), Raw::Bool(true), Raw::List(Vec::new())] {
        assert!(raw.time_ms().is_err(), "{raw:?}: without a unit nobody knows what it means");
    }
}

#[test]
fn sizes_want_a_unit() {
    for (given, bytes) in
        [("512MiB", 512 << 20), (" 2 GB ", 2_000_000_000), ("1.5gib", 3 << 29), ("1b", 1), ("4k", 4_000)]
    {
        assert_eq!(text(given).size_bytes(), Ok(bytes), "{given}");
    }
    for odd in ["512", "", "MiB", "-1MiB", "0MiB", "1 MiB MiB", "1e3MB", "99999999999999TiB", "∞MiB", "0.1b"] {
        assert!(text(odd).size_bytes().is_err(), "{odd}: {:?}", text(odd).size_bytes());
    }
    for raw in [Raw::Integer(512), Raw::Decimal("1.5".to_owned()), Raw::Bool(true), Raw::List(Vec::new())] {
        assert!(raw.size_bytes().is_err(), "{raw:?}: without a unit nobody knows what it means");
    }
}

#[test]
fn processors_come_in_hundredths() {
    for (given, percent) in [("2", 200), ("0.5", 50), ("0.01", 1), (" 1.25 ", 125)] {
        assert_eq!(text(given).cpus_percent(), Ok(percent), "{given}");
    }
    assert_eq!(Raw::Integer(4).cpus_percent(), Ok(400));
    assert_eq!(Raw::Decimal("1.5".to_owned()).cpus_percent(), Ok(150));
    for odd in ["0", "-1", "0.001", "NaN", "inf", "1,5", "two", "", "1e9"] {
        assert!(text(odd).cpus_percent().is_err(), "{odd}");
    }
    assert!(Raw::Integer(0).cpus_percent().is_err() && Raw::Bool(true).cpus_percent().is_err());
}

#[test]
fn whole_numbers_fit_their_type() {
    assert_eq!(text("255").number::<u8>(), Ok(255));
    assert!(text("256").number::<u8>().is_err());
    assert_eq!(text(" 1_000_000 ").number::<u32>(), Ok(1_000_000));
    assert_eq!(text(u64::MAX.to_string()).number::<u64>(), Ok(u64::MAX));
    for odd in ["0", "-1", "1.0", "1,000", "_", "", "ten", "18446744073709551616", "1 0"] {
        assert!(text(odd).number::<u64>().is_err(), "{odd}");
    }
    assert_eq!(Raw::Integer(7).number::<u8>(), Ok(7));
    assert!(Raw::Integer(i64::MIN).number::<u64>().is_err() && Raw::Decimal("7.0".to_owned()).number::<u8>().is_err());
}

#[test]
fn limits_can_be_none_in_any_case_and_say_so() {
    for none in ["none", "None", " NONE "] {
        assert_eq!(text(none).limit(Raw::number::<u32>), Ok(None), "{none}");
    }
    assert_eq!(text("5").limit(Raw::number::<u32>), Ok(Some(5)));
    for odd in ["nothing", "no", "", "null"] {
        assert!(text(odd).limit(Raw::number::<u32>).unwrap_err().ends_with(", or `none`"), "{odd}");
    }
}

#[test]
fn yes_and_no_in_all_spellings() {
    for (yes, no) in [("true", "false"), ("1", "0"), ("yes", "no"), ("on", "off"), (" TRUE ", "Off")] {
        assert_eq!((text(yes).switch(), text(no).switch()), (Ok(true), Ok(false)));
    }
    for odd in ["", "y", "2", "enabled", "truefalse"] {
        assert!(text(odd).switch().is_err(), "{odd}");
    }
    assert!(Raw::Integer(1).switch().is_err());
}

#[test]
fn lists_in_text_skip_what_is_empty() {
    let base = Path::new("/base");
    assert_eq!(text(" a : :/b: ").paths(base), Ok(vec![PathBuf::from("/base/a"), PathBuf::from("/b")]));
    assert_eq!(text(",a.pem,, b c ,").names(), Ok(vec!["a.pem".to_owned(), "b c".to_owned()]));
    assert_eq!(text("").names(), Ok(Vec::new()));
    for odd in [".", "..", "a/b", "/", "a\0b", &"x".repeat(256)] {
        assert!(text(odd).names().is_err(), "{odd}");
    }
    assert!(Raw::List(vec![String::new()]).names().is_err() && Raw::List(vec![String::new()]).paths(base).is_err());
}

#[test]
fn a_line_is_measured_in_bytes_and_trimmed() {
    assert_eq!(text("  äö  ").line(4), Ok("äö".to_owned()));
    assert!(text("äö").line(3).is_err());
    for odd in ["", "  ", "a\nb", "a\tb", "a\u{7f}", "a\u{1b}[2Jb"] {
        assert!(text(odd).line(100).is_err(), "{odd:?}");
    }
}

#[test]
fn a_misfit_does_not_repeat_what_was_given() {
    let given = "sk-ant-pasted-into-the-wrong-place";
    for name in ["RETRACE_MAX_COST", "RETRACE_MAX_TIME", "RETRACE_MAX_STEPS", "RETRACE_SANDBOX", "RETRACE_THINKING"] {
        let refusal = Machine::new().env(name, given).refusal();
        assert!(refusal.starts_with(&format!("env {name}: `")) && !refusal.contains("pasted"), "{refusal}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// What `config show` prints can be written into a file or a flag again, and means the same.
    #[test]
    fn amounts_and_times_survive_being_shown(microusd in 1_u64.., ms in 1_u64..10_000_000_000_000) {
        let cost = format!("{}.{:06}", microusd / 1_000_000, microusd % 1_000_000);
        let machine = Machine::new().flag(Key::MaxCost, "--c", &cost).flag(Key::MaxTime, "--t", &format!("{ms}ms"));
        let (cost, time) = (machine.row(Key::MaxCost), machine.row(Key::MaxTime));
        let (cost, time) = (cost.split_once(" <- ").unwrap().0, time.split_once(" <- ").unwrap().0);
        prop_assert_eq!(text(cost).money_microusd(), Ok(microusd), "{}", cost);
        prop_assert_eq!(text(time).time_ms(), Ok(ms), "{}", time);
        prop_assert!(cost.split_once('.').is_some_and(|(_, part)| (2..=6).contains(&part.len())), "{}", cost);
    }

    #[test]
    fn more_digits_are_more_money(whole in 0_u64..1_000_000, part in "[0-9]{1,6}") {
        let (one, more) = (format!("{whole}.{part}"), format!("{}.{part}", whole + 1));
        let (one, more) = (text(one).money_microusd().unwrap_or(0), text(more).money_microusd().unwrap());
        prop_assert_eq!(more - one, 1_000_000);
    }

    #[test]
    fn times_add_up(h in 0_u64..1_000, m in 0_u64..60, s in 1_u64..60) {
        let ms = ((h * 60 + m) * 60 + s) * 1_000;
        for written in [format!("{h}h {m}m {s}s"), format!("{h}h{m}m{s}s"), format!("{h} hours, {m} mins, {s} secs")] {
            prop_assert_eq!(text(&*written).time_ms(), Ok(ms), "{}", written);
        }
    }
}
