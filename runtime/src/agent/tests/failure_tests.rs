//! Failures of the API, of the connection and of the log: tried again, given up, and always written down.

use super::*;
use crate::agent::AgentError;
use retrace_events::LogError;
use retrace_events::log::Fault;
use retrace_events::payload::turn::{TurnFailed, TurnFailure};

/// A script whose first answer suffers `faults`.
fn faulty(faults: &str) -> String {
    format!("[[step]]\nblock = [{{ type = 'text', text = 'a long enough answer to be cut' }}]\nfault = [{faults}]\n")
}

async fn failures(world: &World) -> Vec<TurnFailed> {
    let payloads = world.payloads().await;
    let failed = |payload| match payload {
        Payload::Turn(Turn::Failed(failed)) => Some(failed),
        _ => None,
    };
    payloads.into_iter().filter_map(failed).collect()
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    let cases = [
        ("{ status = 429, retry_after_ms = 1 }", TurnFailure::RateLimited),
        ("{ status = 529, retry_after_ms = 1 }", TurnFailure::Overloaded),
        ("{ status = 500, retry_after_ms = 1 }", TurnFailure::Server),
        ("{ cut_after_events = 3 }", TurnFailure::Unfinished),
        ("{ end_after_events = 3 }", TurnFailure::Unfinished),
        ("{ error_mid_stream = 'overloaded_error' }", TurnFailure::Overloaded),
    ];
    for (fault, expected) in cases {
        let world = World::with(&faulty(fault)).await;
        let (agent, end) = world.ask("go").await;
        assert_eq!(end, completed(), "{fault}");
        let failed = failures(&world).await;
        assert_eq!(failed.len(), 1, "{fault}");
        assert_eq!(failed[0].failure, expected, "{fault}");
        assert!(failed[0].retry_in_ms.is_some(), "{fault}");
        assert_eq!(agent.state().totals.unknown_cost_microusd, failed[0].billed_microusd);
        // An attempt is the same request once more, to the byte.
        let sent = world.requests();
        assert_eq!((sent.len(), sent[0].body_hash), (2, sent[1].body_hash));
        world.check().await;
    }
}

#[tokio::test]
async fn attempts_are_counted_and_come_to_an_end() {
    let world = World::with(&faulty("{ status = 529, retry_after_ms = 1, times = 9, message = 'busy' }")).await;
    let (mut agent, end) = world.ask("go").await;
    let TurnEnd::Ended { outcome: TurnOutcome::RequestFailed, note } = end else { panic!("{end:?}") };
    assert!(note.contains("Overloaded") && note.contains("busy"), "{note}");
    let attempts = world.payloads().await.into_iter().filter_map(|payload| match payload {
        Payload::Turn(Turn::Requested(request)) => Some(request.attempt),
        _ => None,
    });
    assert_eq!(attempts.collect::<Vec<_>>(), [1, 2, 3]);
    let waits: Vec<_> = failures(&world).await.iter().map(|failed| failed.retry_in_ms).collect();
    assert_eq!(waits, [Some(1), Some(1), None]);
    // The next prompt starts counting afresh.
    agent.prompt("again", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(outcome(&agent.run().await.unwrap()), Some(TurnOutcome::RequestFailed));
    assert_eq!(world.requests().len(), 6);
    world.check().await;
}

#[tokio::test]
async fn what_will_not_pass_is_not_tried_again() {
    let cases = [
        (400, TurnFailure::InvalidRequest),
        (401, TurnFailure::Authentication),
        (403, TurnFailure::Permission),
        (404, TurnFailure::NotFound),
        (413, TurnFailure::TooLarge),
    ];
    for (status, expected) in cases {
        let world = World::with(&faulty(&format!("{{ status = {status}, message = 'the reason' }}"))).await;
        let (agent, end) = world.ask("go").await;
        assert_eq!(outcome(&end), Some(TurnOutcome::RequestFailed), "{status}");
        let failed = failures(&world).await;
        assert_eq!((failed.len(), failed[0].failure, failed[0].status), (1, expected, Some(status)));
        assert!(failed[0].message.contains("the reason"), "{}", failed[0].message);
        assert_eq!((failed[0].billed_microusd, agent.state().totals.steps), (0, 0));
        assert_eq!(world.requests().len(), 1);
        world.check().await;
    }
}

#[tokio::test]
async fn a_wait_for_the_next_attempt_is_shown() {
    let world = World::with(&faulty("{ status = 429, retry_after_ms = 2, message = 'slow down' }")).await;
    let parts = world.parts();
    let mut listener = parts.live.listen();
    let mut agent = Agent::start(parts, world.new_session()).await.unwrap();
    agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(agent.run().await.unwrap(), completed());
    let mut waits = Vec::new();
    while let Ok(live) = listener.try_recv() {
        if let Live::Waiting { why, wait_ms } = live {
            waits.push((why.contains("slow down"), wait_ms));
        }
    }
    assert_eq!(waits, [(true, 2)]);
}

#[tokio::test]
async fn a_wait_is_waited_again_after_a_restart() {
    let world = World::with(&faulty("{ status = 429, retry_after_ms = 300 }")).await;
    let mut agent = world.start().await;
    agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(run_until(&mut agent, |live| is_logged(live, "turn.failed")).await, None);
    drop(agent);
    let mut agent = world.resume().await;
    assert_eq!(agent.run().await.unwrap(), completed());
    let events = world.events().await;
    let at = |kind: &str| events.iter().rfind(|event| event.envelope.kind == kind).unwrap().envelope.at;
    assert!(at("turn.requested").since_ms(at("turn.failed")) >= 300);
    world.check().await;
}

#[tokio::test]
async fn a_lost_ack_is_no_second_event() {
    let world = World::with(&faulty("")).await;
    let mut agent = world.start().await;
    world.log.fail_next(Fault::LoseAck);
    agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    world.log.fail_next(Fault::NotStored);
    world.log.fail_next(Fault::LoseAck);
    assert_eq!(agent.run().await.unwrap(), completed());
    assert_eq!((world.count("turn.prompted").await, world.requests().len()), (1, 1));
    world.check().await;
}

#[tokio::test]
async fn nothing_is_sent_that_could_not_be_logged() {
    let world = World::with(&faulty("")).await;
    let mut agent = world.start().await;
    agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(run_until(&mut agent, |live| is_logged(live, "context.epoch_started")).await, None);
    assert_eq!(world.count("turn.requested").await, 0);
    // What cannot be written down is not sent, and the same agent goes on when there is space again.
    world.log.fail_next(Fault::Full);
    let error = agent.run().await.unwrap_err();
    assert!(matches!(error, AgentError::Log(LogError::Full { .. })), "{error}");
    assert!(world.requests().is_empty());
    assert_eq!(agent.run().await.unwrap(), completed());
    world.check().await;
}
