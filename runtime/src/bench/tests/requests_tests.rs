//! What a sequence of requests costs.

use super::super::cache::{CacheLifetime, CacheMark};
use super::super::requests::{RequestRun, RequestSums, item_segments};
use super::super::{Composed, Piece};
use super::{session, user};
use crate::claude::{ModelRow, ModelTable};

fn row() -> ModelRow {
    let mut row = ModelTable::builtin().unwrap().row("claude-opus-5-5");
    row.min_cacheable_tokens = 0;
    row
}

/// Requests of items 0 to each end, each sent at its time.
fn run(ends: &[(usize, u64)], marks: Option<&[CacheMark]>) -> RequestSums {
    let played = session((0..10).map(|n| user(&format!("item {n}"))).collect());
    let (row, segments) = (row(), item_segments(&played));
    let mut run = RequestRun::new(&row);
    for (end, sent_ms) in ends {
        let pieces: Vec<Piece<'_>> = (0..*end).map(|at| Piece::item(at, 1_000)).collect();
        let composed = Composed { pieces, marks: marks.map(<[_]>::to_vec) };
        run.send(&composed, &segments, *sent_ms);
    }
    run.sums()
}

#[test]
fn tokens_are_read_written_and_paid() {
    // 4 dollars a million fresh, 5 to write, 0.2 to read.
    let sums = run(&[(2, 0), (3, 1)], None);
    let expected = RequestSums {
        requests: 2,
        tokens: 5_000,
        read_tokens: 2_000,
        written_tokens: 3_000,
        warm_tokens: 3_000,
        warm_read_tokens: 2_000,
        cost_microusd: 3_000 * 5 + 2_000 / 5,
    };
    assert_eq!(sums, expected);
    assert_eq!(
        (sums.read_share(), sums.warm_read_share(), sums.mean_tokens()),
        (Some(0.4), Some(2.0 / 3.0), Some(2_500.0))
    );
}

#[test]
fn a_cold_cache_is_not_held_against_an_arm() {
    let sums = run(&[(2, 0), (3, 3_600_000)], None);
    assert_eq!((sums.read_tokens, sums.warm_tokens, sums.warm_read_share()), (0, 0, None));
    let hour = [CacheMark { segment: 1, lifetime: CacheLifetime::OneHour }];
    let sums = run(&[(2, 0), (3, 3_000_000)], Some(&hour));
    assert_eq!((sums.warm_tokens, sums.warm_read_tokens), (3_000, 2_000));
}

#[test]
fn the_same_words_are_the_same_segment_however_they_come() {
    let played = session(vec![user("one"), user("two")]);
    let (row, segments) = (row(), item_segments(&played));
    let mut run = RequestRun::new(&row);
    run.send(&vec![Piece::item(0, 5), Piece::item(1, 5)].into(), &segments, 0);
    run.send(&vec![Piece::text("one", 5), Piece::text("two", 5)].into(), &segments, 1);
    assert_eq!(run.sums().read_tokens, 10);
}

#[test]
fn sums_of_nothing_say_nothing() {
    let sums = RequestSums::default();
    assert_eq!((sums.read_share(), sums.warm_read_share(), sums.mean_tokens()), (None, None, None));
    let mut twice = run(&[(2, 0), (3, 1)], None);
    twice.add(&run(&[(2, 0), (3, 1)], None));
    assert_eq!((twice.requests, twice.tokens, twice.warm_read_tokens), (4, 10_000, 4_000));
}
