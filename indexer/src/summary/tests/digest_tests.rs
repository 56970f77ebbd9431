//! What is the same again, what stays when not everything fits, and what is counted then.

use super::super::budget::{self, Dropped};
use super::super::{Digest, DigestItem, DigestKind};
use proptest::prelude::*;
use retrace_events::EventId;

fn item(kind: DigestKind, seq: u64, text: &str) -> DigestItem {
    DigestItem::new(kind, seq, EventId(uuid::Uuid::from_u128(u128::from(seq))), text.to_owned(), 0)
}

fn settled(items: Vec<DigestItem>) -> Digest {
    Digest::settled(items, None, Dropped::new(), 1)
}

#[test]
fn the_same_again_becomes_one_with_a_count_and_the_newest_has_the_say() {
    let mut failed = item(DigestKind::Command, 3, "cargo test");
    (failed.end, failed.failed) = (Some("exit 101".to_owned()), 1);
    let mut passed = item(DigestKind::Command, 9, "cargo   test");
    passed.end = Some("exit 0".to_owned());
    let digest = settled(vec![failed, item(DigestKind::Command, 5, "cargo build"), passed]);
    let [build, test] = &digest.items[..] else { panic!("{digest:?}") };
    assert_eq!((build.count, build.seq), (1, 5));
    assert_eq!((test.count, test.failed, test.first_seq, test.seq), (2, 1, 3, 9));
    assert_eq!(test.end.as_deref(), Some("exit 0"));
    assert_eq!(digest.evidence().len(), 2);
}

#[test]
fn numbers_and_case_do_not_make_an_error_new_but_a_path_is_itself() {
    let error = |seq, text| item(DigestKind::Error, seq, text);
    let file = |seq, text| item(DigestKind::Changed, seq, text);
    let digest = settled(vec![
        error(1, "line 12: Unexpected `}`"),
        error(2, "line 305: unexpected `}`"),
        error(3, "line 1: expected `;`"),
        file(4, "src/v1.rs"),
        file(5, "src/v2.rs"),
    ]);
    let count = |kind| digest.of_kind(kind).count();
    assert_eq!((count(DigestKind::Error), count(DigestKind::Changed)), (2, 2));
    assert_eq!(digest.total(DigestKind::Error), 3);
}

#[test]
fn words_outlive_commands_and_commands_outlive_reads() {
    let many = |kind, from: u64, what: &str| {
        (0..40)
            .map(move |n| item(kind, from + n, &format!("{what}{} {}", letters(n), "word ".repeat(10))))
            .collect::<Vec<_>>()
    };
    let items = [
        many(DigestKind::Read, 0, "read "),
        many(DigestKind::Command, 100, "run "),
        many(DigestKind::Words, 200, "please "),
    ]
    .concat();
    let digest = settled(items);
    let kept = |kind| digest.of_kind(kind).count();
    assert!(kept(DigestKind::Words) > 3 * kept(DigestKind::Command), "{digest:?}");
    assert!(kept(DigestKind::Command) > kept(DigestKind::Read), "{digest:?}");
    assert!(kept(DigestKind::Read) > 0, "every kind has a share");
    for kind in [DigestKind::Read, DigestKind::Command, DigestKind::Words] {
        assert_eq!(digest.total(kind), 40);
    }
    // Of equals the newest stay.
    assert!(digest.of_kind(DigestKind::Words).all(|item| item.seq >= 240 - kept(DigestKind::Words) as u64));
}

/// Numbers make no difference; letters do.
fn letters(number: u64) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

#[test]
fn weight_counts_before_age() {
    let mut task = item(DigestKind::Words, 0, &format!("the task {}", "x".repeat(250)));
    task.weight = 3;
    let later = (1..40).map(|n| item(DigestKind::Words, n, &format!("{} {}", letters(n), "y".repeat(250))));
    let digest = settled(std::iter::once(task).chain(later).collect());
    assert!(digest.items.len() < 20);
    assert!(digest.items[0].text.starts_with("the task"), "{digest:?}");
}

#[test]
fn an_item_larger_than_everything_is_dropped_and_counted() {
    let mut dropped = Dropped::new();
    let kept = budget::fit(
        vec![item(DigestKind::Error, 1, &"x".repeat(5_000)), item(DigestKind::Read, 2, "a")],
        1_000,
        &mut dropped,
    );
    assert_eq!(kept.iter().map(|item| item.seq).collect::<Vec<_>>(), [2]);
    assert_eq!(dropped, Dropped::from([(DigestKind::Error, 1)]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn fitting_keeps_to_the_budget_and_counts_the_rest(
        texts in proptest::collection::vec(("[a-z]{0,90}", 0..6_usize, 0..4_u8), 0..60), budget_bytes in 0..4_000_usize,
    ) {
        let items: Vec<DigestItem> = texts.iter().enumerate().map(|(seq, (text, kind, weight))| {
            DigestItem { weight: *weight, ..item(DigestKind::ALL[*kind], seq as u64, text) }
        }).collect();
        let mut dropped = Dropped::new();
        let folded = budget::fold(items.clone());
        let kept = budget::fit(folded.clone(), budget_bytes, &mut dropped);
        prop_assert!(kept.iter().map(DigestItem::size_bytes).sum::<usize>() <= budget_bytes);
        for kind in DigestKind::ALL {
            let before = items.iter().filter(|item| item.kind == kind).count() as u64;
            let after: u64 = kept.iter().filter(|item| item.kind == kind).map(|item| u64::from(item.count)).sum();
            prop_assert_eq!(before, after + dropped.get(&kind).copied().unwrap_or_default());
        }
        // The order in which they come makes no difference.
        let mut reversed = folded;
        reversed.reverse();
        let mut again = Dropped::new();
        prop_assert_eq!(&budget::fit(reversed, budget_bytes, &mut again), &kept);
        prop_assert_eq!(again, dropped);
        // Whoever fits fits again.
        prop_assert_eq!(&budget::fit(kept.clone(), budget_bytes.max(4_000), &mut Dropped::new()), &kept);
    }
}
