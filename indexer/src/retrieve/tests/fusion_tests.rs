//! What speaks for a candidate.

use super::{DAY_MS, NOW_MS, document, result, stream};
use crate::document::{Document, DocumentKind};
use crate::retrieve::ScoreParts;
use crate::retrieve::candidate::Candidate;
use crate::retrieve::dates::Dates;
use crate::retrieve::fusion::{Ask, nearness, scores, units};
use crate::retrieve::named_paths::NamedPaths;
use crate::retrieve::weights;
use proptest::prelude::*;

fn found(document: Document, keyword: f32, nearness: f32) -> Candidate {
    Candidate { document, keyword, nearness, ..Candidate::default() }
}

fn said(ordinal: u64, keyword: f32) -> Candidate {
    found(document("one", ordinal, DocumentKind::Answer, "some words"), keyword, 0.0)
}

fn of_kind(kind: DocumentKind, ordinal: u64, keyword: f32) -> Candidate {
    found(document("one", ordinal, kind, "some words"), keyword, 0.0)
}

/// A short question, at the moment of all tests.
fn ask() -> Ask {
    Ask { words: 3, now_ms: NOW_MS, ..Ask::default() }
}

fn windows(candidates: &[Candidate]) -> Vec<f32> {
    scores(candidates, &ask()).iter().map(|parts| parts.window).collect()
}

#[test]
fn the_best_words_are_the_measure() {
    let mut both = said(1, 2.0);
    both.names = 5.0;
    assert_eq!(units(&[said(0, 2.5), both, said(9, 0.0)]), [0.5, 1.0, 0.0]);
    assert_eq!(units(&[said(0, 0.0)]), [0.0]);
    assert_eq!(units(&[said(0, f32::NAN), said(1, f32::INFINITY), said(2, 4.0), said(3, -1.0)]), [0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn what_is_said_speaks_for_its_neighbours_on_both_sides() {
    let candidates: Vec<Candidate> = (0..6).map(|ordinal| said(ordinal, f32::from(u8::from(ordinal == 2)))).collect();
    let [near, far] = weights::WINDOW;
    assert_eq!(windows(&candidates), [far, near, 0.0, near, far, 0.0]);
}

#[test]
fn thoughts_speak_for_what_follows_but_take_nothing() {
    let thought = |ordinal, keyword| of_kind(DocumentKind::Thinking, ordinal, keyword);
    assert_eq!(windows(&[thought(0, 1.0), of_kind(DocumentKind::Call, 1, 0.0)]), [0.0, weights::WINDOW[0]]);
    assert_eq!(windows(&[said(0, 1.0), thought(1, 0.0)]), [0.0, 0.0]);
}

#[test]
fn output_speaks_for_nothing_but_itself() {
    let output = found(result("one", 0, "a.rs", "some words"), 1.0, 0.0);
    assert_eq!(windows(&[output, said(1, 0.0)]), [0.0, 0.0]);
    let (summary, code) = (of_kind(DocumentKind::Summary, 0, 1.0), of_kind(DocumentKind::Code, 2, 0.5));
    assert_eq!(windows(&[summary, said(1, 0.0), code]), [0.0, 0.0, 0.0]);
}

#[test]
fn neighbours_are_of_one_session_and_one_source() {
    let mut other_session = said(1, 0.0);
    other_session.document.stream = stream("two");
    let mut other_source = said(1, 0.0);
    other_source.source = 1;
    assert_eq!(windows(&[said(0, 1.0), other_session, other_source]), [0.0; 3]);
}

#[test]
fn a_long_text_speaks_once_with_its_best_part() {
    let (mut one, mut two) = (said(0, 0.5), said(0, 1.0));
    (one.document.part, two.document.part) = (0, 1);
    assert_eq!(windows(&[two.clone(), one.clone(), said(1, 0.0)])[2], weights::WINDOW[0]);
    assert_eq!(windows(&[one, two, said(1, 0.0)])[2], weights::WINDOW[0]);
}

#[test]
fn places_at_the_end_of_all_numbers_are_borne() {
    let (mut last, mut before) = (said(0, 1.0), said(1, 0.0));
    (last.document.ordinal, before.document.ordinal) = (u64::MAX, u64::MAX - 1);
    assert_eq!(windows(&[last, before]), [0.0, weights::WINDOW[0]]);
}

#[test]
fn a_vector_of_a_long_query_counts_less() {
    let candidates = [found(document("one", 0, DocumentKind::Answer, "x"), 0.0, 1.0)];
    let vector = |words| scores(&candidates, &Ask { words, ..ask() })[0].vector;
    assert_eq!(vector(3), weights::VECTOR);
    assert_eq!(vector(64), weights::VECTOR / 4.0);
    assert_eq!(vector(0), weights::VECTOR);
}

#[test]
fn cosines_become_nearness_from_the_last_of_the_list_upwards() {
    assert_eq!(nearness(&[0.75, 0.5, 0.25]), [1.0, 0.5, 0.0]);
    // Nothing is near: the best of a bad lot counts little.
    assert_eq!(nearness(&[0.125, 0.0]), [0.25, 0.0]);
    assert_eq!(nearness(&[0.75]), [1.0]);
    assert_eq!(nearness(&[]), [0.0; 0]);
    assert_eq!(nearness(&[-0.5, -0.75]), [0.0, 0.0]);
    assert_eq!(nearness(&[0.5, f32::NAN]), [1.0, 0.0]);
}

#[test]
fn names_dates_and_sessions_speak_for_a_document() {
    let about = result("one", 0, "src/retrieve/mod.rs", "x");
    let ask = Ask {
        paths: NamedPaths::in_text("what is in retrieve/mod.rs"),
        dates: Dates::in_text("in 2026"),
        own: Some(stream("one")),
        lineage: vec![stream("parent")],
        ..ask()
    };
    let parent = document("parent", 1, DocumentKind::Answer, "x");
    let stranger = document("stranger", 1, DocumentKind::Answer, "x");
    let parts = scores(&[found(about, 1.0, 0.0), found(parent, 1.0, 0.0), found(stranger, 1.0, 0.0)], &ask);
    assert_eq!(parts.iter().map(|parts| parts.path).collect::<Vec<_>>(), [weights::PATH, 0.0, 0.0]);
    assert_eq!(parts.iter().map(|parts| parts.lineage).collect::<Vec<_>>(), [weights::OWN, weights::ANCESTOR, 0.0]);
    assert_eq!(parts[0].dated, weights::DATED);
}

#[test]
fn what_is_new_counts_more_and_the_future_no_more_than_now() {
    let at = |at_ms| {
        let document = Document { at_ms, ..document("one", 0, DocumentKind::Answer, "x") };
        scores(&[found(document, 1.0, 0.0)], &ask())[0].recency
    };
    assert_eq!(at(NOW_MS), weights::RECENCY);
    assert_eq!(at(NOW_MS - DAY_MS), weights::RECENCY / 2.0);
    assert_eq!(at(NOW_MS + DAY_MS), weights::RECENCY);
    assert!(at(i64::MIN) >= 0.0);
}

#[test]
fn who_says_more_and_does_not_only_ask_is_worth_more() {
    let substance = |kind, text: &str| scores(&[found(document("one", 0, kind, text), 1.0, 0.0)], &ask())[0].substance;
    let long = "the limit is 30 seconds, since slow disks need them";
    assert!(substance(DocumentKind::Answer, long) > substance(DocumentKind::Answer, "30 seconds"));
    let (asked, told) = (substance(DocumentKind::Prompt, "so 30?"), substance(DocumentKind::Prompt, "so 30."));
    assert!((asked - told - weights::ASKS).abs() < 1e-6);
    // A question mark at the end of output is no question.
    assert_eq!(substance(DocumentKind::Result, "30?"), substance(DocumentKind::Result, "30."));
    let (thought, answer) = (substance(DocumentKind::Thinking, "so 30."), substance(DocumentKind::Answer, "so 30."));
    assert!((thought - answer - weights::THOUGHT).abs() < 1e-6);
}

fn candidate() -> impl Strategy<Value = Candidate> {
    let kind = proptest::sample::select(DocumentKind::ALL.to_vec());
    (kind, 0_u64..12, 0_usize..3, any::<f32>(), any::<f32>(), 0.0_f32..=1.0, "[a-z ?]{0,30}", any::<i64>()).prop_map(
        |(kind, ordinal, session, keyword, names, nearness, text, at_ms)| {
            let document = Document { at_ms, ..document(&format!("s{session}"), ordinal, kind, &text) };
            Candidate { source: session % 2, document, keyword, names, nearness, ..Candidate::default() }
        },
    )
}

proptest! {
    #[test]
    fn every_candidate_has_a_finite_score_that_does_not_depend_on_the_order(
        candidates in proptest::collection::vec(candidate(), 0..40), words in 0_usize..100, now_ms in any::<i64>(),
    ) {
        let ask = Ask { words, now_ms, own: Some(stream("s1")), ..Ask::default() };
        let parts = scores(&candidates, &ask);
        prop_assert_eq!(parts.len(), candidates.len());
        prop_assert!(parts.iter().all(|parts| parts.total().is_finite()));
        let reversed: Vec<Candidate> = candidates.iter().rev().cloned().collect();
        let again: Vec<ScoreParts> = scores(&reversed, &ask).into_iter().rev().collect();
        for (one, other) in parts.iter().zip(&again) {
            prop_assert!((one.total() - other.total()).abs() < 1e-4, "{one:?} {other:?}");
        }
    }

    #[test]
    fn better_words_never_harm(keyword in 0.0_f32..10.0, more in 0.0_f32..10.0) {
        let total = |keyword| scores(&[said(0, keyword), said(7, 10.0)], &ask())[0].total();
        prop_assert!(total(keyword + more.min(10.0 - keyword)) >= total(keyword));
    }
}
