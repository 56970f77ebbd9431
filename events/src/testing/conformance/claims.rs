//! Who holds a stream.

use super::Backend;
use crate::id::{Class, StreamId, Timestamp, Token};
use crate::log::{Claim, ClaimError, EventLog, Holder, Position};
use crate::testing::{EventMaker, example_stream};
use futures::future::join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Whoever is told more slowly than this, and is not merely unlucky, has waited for something.
const AT_ONCE: Duration = Duration::from_millis(600);

/// A holder that can be told from others.
#[must_use]
pub fn example_holder(number: u32) -> Holder {
    Holder {
        host: format!("host-{number}"),
        pid: 1_000 + number,
        command: format!("retrace chat --number {number}"),
        since: Timestamp(1_767_225_600_000 + u64::from(number)),
    }
}

/// The second is told who holds the stream, at once, through the same handle and through another.
pub async fn a_stream_is_held_once(backend: &dyn Backend) {
    let (log, other, stream) = (backend.open().await, backend.open().await, example_stream("held"));
    let claim = log.claim(&stream, &example_holder(1)).await.unwrap();
    assert_eq!(claim.stream(), &stream);
    for log in [&log, &other, &backend.open().await] {
        let mut quickest = Duration::MAX;
        for _ in 0..3 {
            let started = Instant::now();
            assert_eq!(held_by(log.claim(&stream, &example_holder(2)).await), example_holder(1));
            quickest = quickest.min(started.elapsed());
        }
        assert!(quickest < AT_ONCE, "{quickest:?}");
    }
    // It is a courtesy: the log is written and read as ever, also by those who hold nothing.
    other.append(&EventMaker::new(stream.clone(), 1).prompts(2)).await.unwrap();
    assert_eq!(log.read_all(Position(0), 10).await.unwrap().len(), 2);
    assert_eq!(other.streams(&Default::default()).await.unwrap().len(), 1);
}

/// A claim that is dropped is gone: the next may come from anywhere, at once, and is the one that others hear of.
pub async fn a_dropped_claim_frees_its_stream(backend: &dyn Backend) {
    let (logs, stream) = ([backend.open().await, backend.open().await], example_stream("dropped"));
    let mut took = Vec::new();
    for round in 0..30_u32 {
        let (log, other) = (&logs[round as usize % 2], &logs[(round as usize / 2) % 2]);
        let started = Instant::now();
        let claim = log.claim(&stream, &example_holder(round)).await.unwrap();
        took.push(started.elapsed());
        assert_eq!(held_by(other.claim(&stream, &example_holder(99)).await), example_holder(round));
        drop(claim);
    }
    // Whoever asks one that has gone waits for an answer that does not come: in every round, not in those of a busy moment.
    took.sort_unstable();
    assert!(took[took.len() / 2] < AT_ONCE, "{took:?}");
}

/// A claim does not need the handle it came from.
pub async fn a_claim_outlives_its_handle(backend: &dyn Backend) {
    let (log, other, stream) = (backend.open().await, backend.open().await, example_stream("outlived"));
    let claim = log.claim(&stream, &example_holder(1)).await.unwrap();
    drop(log);
    assert_eq!(held_by(other.claim(&stream, &example_holder(2)).await), example_holder(1));
    drop(claim);
    let _mine = other.claim(&stream, &example_holder(2)).await.unwrap();
}

/// Streams are held one by one: neither a sibling nor one with a similar name has to do with it.
pub async fn claims_of_other_streams_do_not_matter(backend: &dyn Backend) {
    let (log, other) = (backend.open().await, backend.open().await);
    let stream = example_stream("neighbour");
    let elsewhere = StreamId { project: Token::slug("another"), ..stream.clone() };
    let abroad = StreamId { tenant: Token::slug("someone-else"), ..stream.clone() };
    let streams = [
        example_stream("neighbours"),
        example_stream("neighbou"),
        stream.sibling(Class::Control),
        stream,
        elsewhere,
        abroad,
        StreamId { project: Token::slug(&"p".repeat(64)), ..example_stream(&"i".repeat(64)) },
    ];
    let mut claims = Vec::new();
    for (number, stream) in (0..).zip(&streams) {
        let log = if number % 2 == 0 { &log } else { &other };
        claims.push(log.claim(stream, &example_holder(number)).await.unwrap());
    }
    drop(claims.remove(3));
    for (number, stream) in (0..).zip(&streams) {
        let claim = log.claim(stream, &example_holder(50)).await;
        match number {
            3 => assert_eq!(claim.unwrap().stream(), stream),
            _ => assert_eq!(held_by(claim), example_holder(number)),
        }
    }
}

/// Of many that come at the same time one gets the stream, and the others hear of it or of nobody.
pub async fn one_of_many_claimers_wins(backend: &dyn Backend) {
    const CLAIMERS: u32 = 8;
    const ROUNDS: usize = 12;
    let stream = example_stream("contested");
    let logs: Vec<Arc<dyn EventLog>> = join_all((0..CLAIMERS).map(|_| backend.open())).await;
    let mut names = 0;
    for round in 0..ROUNDS {
        let together = Arc::new(tokio::sync::Barrier::new(logs.len()));
        let claiming = (0..CLAIMERS).zip(&logs).map(|(number, log)| {
            let (log, stream, together) = (Arc::clone(log), stream.clone(), Arc::clone(&together));
            tokio::spawn(async move {
                together.wait().await;
                (number, log.claim(&stream, &example_holder(number)).await)
            })
        });
        let mut winners = Vec::new();
        let mut losers = Vec::new();
        for outcome in join_all(claiming).await {
            match outcome.unwrap() {
                (number, Ok(claim)) => winners.push((number, claim)),
                (_, Err(ClaimError::Held(holder))) => losers.push(holder),
                (number, Err(e)) => panic!("round {round}: {number}: {e}"),
            }
        }
        assert_eq!(winners.len(), 1, "round {round}: {winners:?}");
        let winner = example_holder(winners[0].0);
        assert!(losers.iter().all(|holder| *holder == winner || holder.is_unknown()), "{winner:?}: {losers:?}");
        names += losers.iter().filter(|holder| !holder.is_unknown()).count();
    }
    // To be told of nobody is for the unlucky.
    assert!(names * 10 >= ROUNDS * (CLAIMERS as usize - 1) * 9, "{names}");
}

/// Claims that come and go all the time never overlap.
pub async fn a_stream_is_never_held_twice(backend: &dyn Backend) {
    const CLAIMERS: u32 = 6;
    const CLAIMS: u32 = 150;
    let stream = example_stream("busy");
    let logs = join_all((0..CLAIMERS).map(|_| backend.open())).await;
    let inside = Arc::new(AtomicU32::new(0));
    let count = Arc::new(AtomicU32::new(0));
    let tasks = (0..CLAIMERS).zip(logs).map(|(number, log)| {
        let (stream, inside, count) = (stream.clone(), Arc::clone(&inside), Arc::clone(&count));
        tokio::spawn(async move {
            while count.load(Ordering::SeqCst) < CLAIMS {
                match log.claim(&stream, &example_holder(number)).await {
                    Ok(claim) => {
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "claim {count:?} of {number}");
                        tokio::task::yield_now().await;
                        inside.fetch_sub(1, Ordering::SeqCst);
                        count.fetch_add(1, Ordering::SeqCst);
                        drop(claim);
                    }
                    Err(ClaimError::Held(_)) => tokio::task::yield_now().await,
                    Err(e) => panic!("{number}: {e}"),
                }
            }
        })
    });
    for task in join_all(tasks.collect::<Vec<_>>()).await {
        task.unwrap();
    }
}

/// A claim that is given up before it was decided holds nothing.
pub async fn a_claim_that_is_given_up_holds_nothing(backend: &dyn Backend) {
    let (logs, stream) = ([backend.open().await, backend.open().await], example_stream("given-up"));
    let fickle = example_holder(1);
    for round in 0..20_u32 {
        for log in &logs {
            // Dropped after some steps, at the latest when it is decided.
            let mut claiming = Box::pin(log.claim(&stream, &fickle));
            for _ in 0..round {
                if futures::poll!(&mut claiming).is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        // A claim that a thread is still busy with frees itself as soon as that is done.
        let until = Instant::now() + Duration::from_secs(20);
        while let Err(e) = logs[round as usize % 2].claim(&stream, &example_holder(2)).await {
            assert!(matches!(e, ClaimError::Held(_)) && Instant::now() < until, "round {round}: {e}");
        }
    }
}

/// What a holder says of itself is bounded, and shown without what could steer a terminal.
pub async fn a_holder_may_say_anything(backend: &dyn Backend) {
    let (log, other, stream) = (backend.open().await, backend.open().await, example_stream("talker"));
    let talker = Holder {
        host: "h\u{1b}[2J\"\\\0\u{85}ö".repeat(10_000),
        pid: u32::MAX,
        command: "\u{1b}]0;owned\u{7}\r\n\0\u{feff}日本".repeat(20_000),
        since: Timestamp(u64::MAX),
    };
    let _claim = log.claim(&stream, &talker).await.unwrap();
    let told = held_by(other.claim(&stream, &example_holder(1)).await);
    assert_eq!((told.host.chars().count(), told.command.chars().count()), (255, 1_000));
    assert!(talker.host.starts_with(&told.host) && talker.command.starts_with(&told.command));
    assert_eq!((told.pid, told.since), (talker.pid, talker.since));
    let shown = ClaimError::Held(told).to_string();
    assert!(shown.contains("4294967295") && !shown.chars().any(char::is_control), "{shown:?}");
}

/// Who holds the stream that could not be claimed.
pub(super) fn held_by(outcome: Result<Claim, ClaimError>) -> Holder {
    match outcome {
        Err(ClaimError::Held(holder)) => holder,
        other => panic!("not held: {other:?}"),
    }
}
