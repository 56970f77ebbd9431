//! Interruption: while a request waits, while a command runs, between two steps; and the session after it.

use super::*;
use retrace_events::payload::turn::{TurnFailure, TurnInterrupted};
use std::time::{Duration, Instant};

const SLEEPS: &str = "
[[step]]
block = [
  { type = 'tool_use', name = 'bash', input = { command = 'echo begun > begun.txt; echo begun; sleep 30' } },
  { type = 'tool_use', name = 'write_file', input = { path = 'never.txt', content = 'x' } },
]
[[step]]
when = '(?s)Interrupted.*what now'
block = [{ type = 'text', text = 'I see' }]
";

/// Runs `agent` and cancels it once `when` says so of something it shows.
async fn run_and_cancel(agent: &mut Agent, mut when: impl FnMut(&Live) -> bool) -> TurnEnd {
    let mut listener = agent.parts.live.listen();
    let cancel = agent.parts.cancel.clone();
    let watch = async {
        while !when(&listener.recv().await.unwrap()) {}
        cancel.cancel();
    };
    let began = Instant::now();
    let (end, ()) = tokio::join!(agent.run(), watch);
    assert!(began.elapsed() < Duration::from_secs(20), "it was not stopped but ran to its end");
    end.unwrap()
}

async fn interruption(world: &World) -> TurnInterrupted {
    let last = world.payloads().await.pop();
    let Some(Payload::Turn(Turn::Interrupted(interrupted))) = last else { panic!("{last:?}") };
    interrupted
}

#[tokio::test]
async fn a_waiting_request_is_given_up() {
    for fault in ["hang = true", "stall_after_events = 3"] {
        let script = format!("[[step]]\nblock = [{{ type = 'text', text = 'x' }}]\nfault = [{{ {fault} }}]\n");
        let world = World::with(&script).await;
        let mut agent = world.start().await;
        agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
        let end = run_and_cancel(&mut agent, |live| is_logged(live, "turn.requested")).await;
        assert_eq!(end, TurnEnd::Interrupted, "{fault}");
        assert_eq!(interruption(&world).await.during, "a request");
        let failed = world.payloads().await.into_iter().any(
            |payload| matches!(payload, Payload::Turn(Turn::Failed(failed)) if failed.failure == TurnFailure::Cancelled),
        );
        assert!(failed, "{fault}");
        world.check().await;
    }
}

#[tokio::test]
async fn a_running_command_is_ended_and_later_calls_are_not_made() {
    let world = World::with(SLEEPS).await;
    let mut agent = world.start().await;
    agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    let end = run_and_cancel(&mut agent, |live| matches!(live, Live::ToolOutput { .. })).await;
    assert_eq!(end, TurnEnd::Interrupted);
    assert_eq!(interruption(&world).await.during, "tool calls");
    assert_eq!((world.file("begun.txt").as_deref(), world.file("never.txt")), (Some("begun\n"), None));
    let results = world.results().await;
    assert_eq!(results.len(), 2);
    assert!(results[0].2.contains("Interrupted") && results[1].2.contains("Not carried out"), "{results:?}");
    world.check().await;
    // The conversation is whole: the server takes the next prompt.
    agent.close().await;
    let mut agent = world.resume().await;
    assert_eq!(agent.run().await.unwrap(), TurnEnd::Idle);
    agent.prompt("what now", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(agent.run().await.unwrap(), completed());
    world.check().await;
}

#[tokio::test]
async fn an_interruption_before_the_first_step_sends_nothing() {
    let world = World::with(SLEEPS).await;
    let mut agent = world.start().await;
    agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    agent.parts.cancel.cancel();
    assert_eq!(agent.run().await.unwrap(), TurnEnd::Interrupted);
    assert_eq!(interruption(&world).await.during, "between two steps");
    assert!(world.requests().is_empty());
    // A token that stays cancelled does not interrupt what is not there.
    assert_eq!(agent.run().await.unwrap(), TurnEnd::Idle);
    assert_eq!(world.count("turn.interrupted").await, 1);
}

#[tokio::test]
async fn a_long_wait_for_the_next_attempt_can_be_interrupted() {
    let world = World::with(
        "[[step]]\nblock = [{ type = 'text', text = 'x' }]\nfault = [{ status = 429, retry_after = 600 }]\n",
    )
    .await;
    let mut agent = world.start().await;
    agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    let end = run_and_cancel(&mut agent, |live| matches!(live, Live::Waiting { .. })).await;
    assert_eq!(end, TurnEnd::Interrupted);
    assert_eq!(world.requests().len(), 1);
    world.check().await;
}
