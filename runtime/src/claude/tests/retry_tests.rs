//! The retry table: which failures are tried again, and after how long.

use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::claude::{Failure, FailureKind, RetryPolicy, Sent};

fn rng() -> StdRng {
    StdRng::seed_from_u64(7)
}

fn failure(kind: FailureKind) -> Failure {
    Failure::new(kind, Sent::Refused, "x")
}

fn still() -> RetryPolicy {
    RetryPolicy { jitter: 0.0, ..RetryPolicy::default() }
}

const MS: fn(u64) -> Duration = Duration::from_millis;

#[test]
fn which_kinds_are_tried_again() {
    use FailureKind::*;
    let again = [RateLimited, Overloaded, Server, Timeout, Connection, Stream, Unfinished];
    let never = [InvalidRequest, Authentication, Permission, NotFound, TooLarge, Cancelled];
    for kind in again {
        assert_eq!(still().next(1, &failure(kind), &mut rng()), Some(MS(500)), "{kind:?}");
    }
    for kind in never {
        assert_eq!(still().next(1, &failure(kind), &mut rng()), None, "{kind:?}");
    }
}

#[test]
fn which_status_is_which_kind() {
    let retried: Vec<u16> = (300..600).filter(|status| FailureKind::from_status(*status).is_transient()).collect();
    let wanted: Vec<u16> = [408, 409, 429].into_iter().chain(500..600).collect();
    assert_eq!(retried, wanted);
    assert_eq!(FailureKind::from_status(529), FailureKind::Overloaded);
    assert_eq!(FailureKind::from_status(401), FailureKind::Authentication);
    assert_eq!(FailureKind::from_status(403), FailureKind::Permission);
    assert_eq!(FailureKind::from_status(413), FailureKind::TooLarge);
    assert_eq!(FailureKind::from_status(422), FailureKind::InvalidRequest);
}

#[test]
fn the_servers_word_outweighs_the_kind() {
    let mut limited = failure(FailureKind::RateLimited);
    limited.should_retry = Some(false);
    assert_eq!(still().next(1, &limited, &mut rng()), None);
    let mut invalid = failure(FailureKind::InvalidRequest);
    invalid.should_retry = Some(true);
    assert_eq!(still().next(1, &invalid, &mut rng()), Some(MS(500)));
    let mut cancelled = failure(FailureKind::Cancelled);
    cancelled.should_retry = Some(true);
    assert_eq!(still().next(1, &cancelled, &mut rng()), None);
}

#[test]
fn waits_double_up_to_the_cap_and_end() {
    let waits: Vec<_> =
        (1..=7).map(|attempt| still().next(attempt, &failure(FailureKind::Server), &mut rng())).collect();
    let due = [Some(MS(500)), Some(MS(1_000)), Some(MS(2_000)), Some(MS(4_000)), Some(MS(8_000)), None, None];
    assert_eq!(waits, due);
    let patient = RetryPolicy { max_attempts: u32::MAX, ..still() };
    assert_eq!(patient.next(4_000_000_000, &failure(FailureKind::Server), &mut rng()), Some(MS(8_000)));
    let once = RetryPolicy { max_attempts: 1, ..still() };
    assert_eq!(once.next(1, &failure(FailureKind::Server), &mut rng()), None);
}

#[test]
fn the_servers_wait_is_obeyed_beyond_the_cap_but_not_without_end() {
    let asked = |ms| Failure { retry_after_ms: Some(ms), ..failure(FailureKind::RateLimited) };
    for ms in [0, 1, 7_000, 61_000, 1_800_000] {
        assert_eq!(
            RetryPolicy::default().next(1, &asked(ms), &mut rng()),
            Some(MS(ms)),
            "no jitter on the server's figure"
        );
    }
    assert_eq!(still().next(1, &asked(3_600_001), &mut rng()), None);
    assert_eq!(still().next(1, &asked(u64::MAX), &mut rng()), None);
    assert_eq!(still().next(6, &asked(1), &mut rng()), None, "attempts are counted all the same");
}

#[test]
fn jitter_takes_off_at_most_its_share() {
    let mut rng = rng();
    let policy = RetryPolicy::default();
    let waits: Vec<Duration> =
        (0..200).filter_map(|_| policy.next(3, &failure(FailureKind::Overloaded), &mut rng)).collect();
    assert!(waits.iter().all(|wait| (MS(1_500)..=MS(2_000)).contains(wait)));
    assert!(waits.iter().max().unwrap() > &MS(1_900) && waits.iter().min().unwrap() < &MS(1_600));
    let wild = RetryPolicy { jitter: 9.0, ..policy };
    assert!(wild.next(1, &failure(FailureKind::Server), &mut rng).unwrap() <= MS(500));
}

#[test]
fn what_may_have_been_billed() {
    let billed: Vec<bool> = [Sent::Nothing, Sent::Refused, Sent::Unanswered, Sent::Accepted, Sent::Partly]
        .map(Sent::may_be_billed)
        .to_vec();
    assert_eq!(billed, [false, false, true, true, true]);
}
