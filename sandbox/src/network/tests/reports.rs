//! Reports: in order, bounded, and none lost without a word.

use crate::network::report::Reporter;
use crate::network::{ConnectionCount, ConnectionEvent, ConnectionReport, How, Verdict};

fn report(port: u16, verdict: Verdict) -> ConnectionReport {
    ConnectionReport {
        call: None,
        host: "example.org".to_owned(),
        port,
        how: How::Connect,
        verdict,
        cut: None,
        credential: None,
        sent_bytes: 2,
        received_bytes: 3,
        duration_ms: 1,
    }
}

fn refused() -> Verdict {
    Verdict::Refused { why: "no".to_owned() }
}

#[tokio::test]
async fn they_come_in_order_and_end() {
    let reporter = Reporter::default();
    let connections = reporter.connections();
    assert_eq!(connections.try_next(), None);
    for port in 1..=3 {
        reporter.report(report(port, Verdict::Allowed));
    }
    for port in 1..=3 {
        assert_eq!(connections.next().await, Some(ConnectionEvent::One(report(port, Verdict::Allowed))));
    }
    let waiting = tokio::spawn({
        let connections = connections.clone();
        async move { (connections.next().await, connections.next().await) }
    });
    reporter.report(report(9, refused()));
    drop(reporter);
    assert_eq!(waiting.await.unwrap(), (Some(ConnectionEvent::One(report(9, refused()))), None));
}

#[tokio::test]
async fn a_flood_is_counted() {
    let reporter = Reporter::default();
    let connections = reporter.connections();
    for _ in 0..Reporter::WAITING {
        reporter.report(report(1, Verdict::Allowed));
    }
    for _ in 0..1000 {
        reporter.report(report(2, refused()));
    }
    reporter.report(report(2, Verdict::Allowed));
    reporter.report(report(2, Verdict::Failed { why: "x".to_owned() }));
    for _ in 0..Reporter::WAITING {
        assert_eq!(connections.next().await, Some(ConnectionEvent::One(report(1, Verdict::Allowed))));
    }
    let count = ConnectionCount { allowed: 1, refused: 1000, failed: 1, sent_bytes: 2004, received_bytes: 3006 };
    assert_eq!(connections.next().await, Some(ConnectionEvent::Many(count)));
    // Then it goes on as before.
    reporter.report(report(3, Verdict::Allowed));
    assert_eq!(connections.next().await, Some(ConnectionEvent::One(report(3, Verdict::Allowed))));
    assert_eq!(connections.try_next(), None);
}
