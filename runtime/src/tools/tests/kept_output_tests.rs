//! What is kept of an endless output: its two ends, no secrets, bounded memory.

use super::harness::SECRET;
use crate::tools::kept_output::KeptOutput;
use proptest::prelude::*;
use retrace_events::redact::Redactor;
use std::sync::Arc;

const MIB: usize = 1024 * 1024;

fn redactor() -> Arc<Redactor> {
    Arc::new(Redactor::new(vec![SECRET.to_owned()]))
}

#[test]
fn a_short_output_is_kept_as_it_is() {
    let mut kept = KeptOutput::new(redactor(), MIB);
    assert_eq!((kept.text().as_str(), kept.lines()), ("", 0));
    kept.push("one\ntwo\n");
    kept.push(&format!("{SECRET}\n"));
    assert_eq!((kept.text().as_str(), kept.lines()), ("one\ntwo\n[redacted:known]\n", 3));
    assert_eq!(kept.pushed_bytes(), 8 + SECRET.len() as u64 + 1);
}

#[test]
fn of_a_long_output_both_ends_are_kept_and_the_gap_is_told() {
    let mut kept = KeptOutput::new(redactor(), 2 * MIB);
    let mut most = 0;
    for block in 0..400 {
        let lines: String = (0..1_000).map(|n| format!("line {}\n", block * 1_000 + n)).collect();
        kept.push(&lines);
        most = most.max(kept.held_bytes());
    }
    assert!(most <= 2 * MIB + 64 * 1024, "{most} bytes were held");
    let text = kept.text();
    assert!(text.len() > MIB, "{}", text.len());
    assert!(text.starts_with("line 0\nline 1\n") && text.ends_with("\nline 399998\nline 399999\n"));
    let gaps: Vec<&str> = text.lines().filter(|line| line.starts_with('[')).collect();
    let [gap] = gaps[..] else { panic!("{gaps:?}") };
    // What is told to be missing is exactly what is missing.
    let shown = text.lines().count() as u64 - 1;
    let missing = number(gap.split(' ').next().unwrap());
    assert_eq!((shown + missing, kept.lines()), (400_000, shown));
    let missing_bytes = number(gap.split('(').nth(1).unwrap().split(' ').next().unwrap());
    assert_eq!(missing_bytes + (text.len() - gap.len() - 1) as u64, kept.pushed_bytes());
}

/// `[1,234` as 1234.
fn number(text: &str) -> u64 {
    text.trim_start_matches('[').replace(',', "").parse().unwrap()
}

#[test]
fn lines_without_end_are_bounded_too() {
    let mut kept = KeptOutput::new(redactor(), 2 * MIB);
    for _ in 0..300 {
        kept.push(&"ü".repeat(32 * 1024));
        assert!(kept.held_bytes() <= 2 * MIB + 64 * 1024);
    }
    let text = kept.text();
    assert!(text.len() > MIB && text.starts_with("üüü") && text.ends_with("üüü"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Wherever a flood is cut into pieces, and wherever in it secrets stand: none is left, and nothing but them is
    /// missing.
    #[test]
    fn secrets_across_pieces_are_found(cuts in prop::collection::vec(1_usize..200_000, 10..20), every in 24_usize..600) {
        let key = format!("-----BEGIN PRIVATE KEY-----\n{0}\n{0}\n-----END PRIVATE KEY-----", "QUJD".repeat(16));
        let mut flood = String::new();
        while flood.len() < 1_200_000 {
            flood.push_str(&"filler line\n".repeat(every / 12));
            flood.push_str(&format!("{SECRET} and\n{key}\n"));
        }
        let redactor = redactor();
        let mut kept = KeptOutput::new(Arc::clone(&redactor), 64 * MIB);
        let mut rest = flood.as_str();
        for cut in cuts.iter().cycle() {
            let (piece, more) = rest.split_at((*cut).min(rest.len()));
            kept.push(piece);
            rest = more;
            let text = kept.text();
            prop_assert!(!text.contains(SECRET) && !text.contains(&"QUJD".repeat(16)));
            if rest.is_empty() {
                break;
            }
        }
        prop_assert!(kept.text() == redactor.redact(&flood));
    }
}
