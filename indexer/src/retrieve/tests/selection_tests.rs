//! Which candidates become hits.

use super::{code, document, result};
use crate::document::{Document, DocumentKind};
use crate::retrieve::selection::{Choice, Verdict, select};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

fn choices<'a>(documents: &'a [Document], scores: &[f32]) -> Vec<Choice<'a>> {
    documents.iter().zip(scores).map(|(document, score)| Choice { source: 0, document, score: *score }).collect()
}

fn all(choices: &[Choice<'_>], limit: usize) -> Vec<usize> {
    select(choices, limit, |_| Verdict::Take)
}

#[test]
fn hits_about_one_file_make_room_for_others() {
    let documents = [
        result("one", 0, "a.rs", "first"),
        result("one", 1, "a.rs", "second"),
        result("one", 2, "a.rs", "third"),
        result("one", 3, "b.rs", "other"),
        document("one", 4, DocumentKind::Answer, "words"),
    ];
    assert_eq!(all(&choices(&documents, &[4.0, 3.9, 3.8, 2.0, 1.0]), 5), [0, 3, 1, 4, 2]);
}

#[test]
fn the_same_text_again_stands_back_too() {
    let documents = [0, 1, 2].map(|ordinal| {
        document("one", ordinal, DocumentKind::Result, if ordinal < 2 { "all tests passed" } else { "one failed" })
    });
    assert_eq!(all(&choices(&documents, &[3.0, 2.9, 2.0]), 3), [0, 2, 1]);
}

#[test]
fn an_event_is_one_hit_however_many_parts_it_has() {
    let part = |part| Document { part, key: format!("k.{part}"), ..result("one", 0, "a.rs", &format!("part {part}")) };
    let documents = [part(0), part(1), result("two", 0, "c.rs", "another session's")];
    assert_eq!(all(&choices(&documents, &[1.0, 2.0, 0.5]), 3), [1, 2]);
    // Pieces of a file are things of their own.
    let pieces = [code("a.rs", 1, "fn one() {}"), code("a.rs", 20, "fn two() {}")];
    assert_eq!(all(&choices(&pieces, &[1.0, 2.0]), 3), [1, 0]);
}

#[test]
fn equal_scores_go_by_time_then_by_key() {
    let at =
        |ordinal, at_ms| Document { at_ms, ..document("one", ordinal, DocumentKind::Answer, &format!("{ordinal}")) };
    let documents = [at(3, 5), at(1, 5), at(2, 9)];
    assert_eq!(all(&choices(&documents, &[1.0; 3]), 3), [2, 1, 0]);
}

#[test]
fn what_is_turned_down_leaves_its_place_to_others() {
    let documents =
        [result("one", 0, "a.rs", "large"), result("one", 1, "a.rs", "small"), result("one", 2, "b.rs", "x")];
    let choices = choices(&documents, &[3.0, 2.0, 1.5]);
    // Nothing about a.rs was taken when its second comes up.
    assert_eq!(select(&choices, 3, |place| if place == 0 { Verdict::Skip } else { Verdict::Take }), [1, 2]);
    let mut left = 1;
    let stop = |_| {
        left -= 1;
        if left < 0 { Verdict::Stop } else { Verdict::Take }
    };
    assert_eq!(select(&choices, 3, stop), [0]);
}

fn any_document() -> impl Strategy<Value = (Document, f32)> {
    (0_u64..30, 0_u32..3, 0_usize..5, -5.0_f32..5.0).prop_map(|(ordinal, part, file, score)| {
        let made = result("one", ordinal, &format!("{file}.rs"), &format!("{ordinal}.{part}"));
        (Document { part, key: format!("{ordinal}.{part}"), ..made }, score)
    })
}

proptest! {
    #[test]
    fn selection_is_bounded_without_repeats_and_the_same_in_any_order(
        made in proptest::collection::vec(any_document(), 0..60), limit in 0_usize..20, turn in 0_usize..60,
    ) {
        let mut seen = HashSet::new();
        let (documents, scores): (Vec<Document>, Vec<f32>) =
            made.into_iter().filter(|(document, _)| seen.insert(document.key.clone())).unzip();
        let forth = choices(&documents, &scores);
        let taken = all(&forth, limit);
        let events: HashSet<u64> = taken.iter().map(|place| documents[*place].seq).collect();
        let there: HashSet<u64> = documents.iter().map(|document| document.seq).collect();
        prop_assert_eq!(taken.len(), limit.min(there.len()));
        prop_assert_eq!(events.len(), taken.len());

        let mut turned: Vec<Choice<'_>> = forth.clone();
        turned.rotate_left(turn.min(forth.len()));
        let key = |choices: &[Choice<'_>], places: &[usize]| -> Vec<String> {
            places.iter().map(|place| choices[*place].document.key.clone()).collect()
        };
        prop_assert_eq!(key(&forth, &taken), key(&turned, &all(&turned, limit)));
    }

    #[test]
    fn the_first_hit_is_the_best_and_no_file_is_repeated_before_a_better_other(
        made in proptest::collection::vec(any_document(), 1..40),
    ) {
        let mut seen = HashSet::new();
        let (documents, scores): (Vec<Document>, Vec<f32>) =
            made.into_iter().filter(|(document, _)| seen.insert(document.seq)).unzip();
        let taken = all(&choices(&documents, &scores), 100);
        let best = scores.iter().copied().fold(f32::MIN, f32::max);
        prop_assert_eq!(scores[taken[0]], best);
        // Among hits about one file the order is that of the scores.
        let mut last: HashMap<&str, f32> = HashMap::new();
        for place in taken {
            let before = last.insert(&documents[place].paths[0], scores[place]);
            prop_assert!(before.is_none_or(|before| before >= scores[place]));
        }
    }
}
