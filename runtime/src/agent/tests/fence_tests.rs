//! Two agents of one session: the one that came first is shut out, does nothing more, and the other goes on.

use super::*;
use crate::agent::AgentError;
use retrace_events::LogError;

const WRITES: &str = "
[[step]]
block = [{ type = 'tool_use', name = 'bash', input = { command = 'echo ran >> ran.txt' } }]
[[step]]
block = [{ type = 'text', text = 'done' }]
";

fn fenced<T: std::fmt::Debug>(outcome: Result<T, AgentError>) -> bool {
    matches!(outcome, Err(AgentError::Log(LogError::Fenced { .. })))
}

#[tokio::test]
async fn the_first_agent_is_fenced_for_good_and_the_second_goes_on() {
    let world = World::with(WRITES).await;
    let mut first = world.start().await;
    let mut second = Agent::resume(world.unseeing_parts(), stream(), None).await.unwrap();
    for _ in 0..3 {
        assert!(fenced(first.prompt("mine", PromptSource::Local, Vec::new()).await));
    }
    second.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    assert!(fenced(first.prompt("mine", PromptSource::Local, Vec::new()).await));
    assert_eq!(second.run().await.unwrap(), completed());
    assert_eq!(world.file("ran.txt").as_deref(), Some("ran\n"));
    assert_eq!(world.count("turn.prompted").await, 1);
    world.check().await;
}

#[tokio::test]
async fn who_comes_second_is_told_who_holds_the_session_and_gets_it_when_the_first_is_gone() {
    let world = World::with(WRITES).await;
    let first = world.start().await;
    let before = world.kinds().await;
    let error = Agent::resume(world.parts(), stream(), None).await.unwrap_err();
    let AgentError::Held { stream: held, holder } = &error else { panic!("{error:?}") };
    assert_eq!((held, holder.pid, holder.command.as_str()), (&stream(), std::process::id(), "a test"));
    assert!(error.to_string().contains("`a test` (process "), "{error}");
    assert_eq!(world.kinds().await, before, "the second left something in the log");
    drop(first);
    world.resume().await.close().await;
}

#[tokio::test]
async fn a_fenced_agent_sends_nothing_and_runs_nothing() {
    // The second agent comes at each of these places; the first must not get to its next effect.
    for kind in ["turn.prompted", "context.epoch_started", "turn.answered"] {
        let world = World::with(WRITES).await;
        let mut first = world.start().await;
        first.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
        if kind != "turn.prompted" {
            assert_eq!(run_until(&mut first, |live| is_logged(live, kind)).await, None, "{kind}");
        }
        let sent = world.requests().len();
        let mut second = Agent::resume(world.unseeing_parts(), stream(), None).await.unwrap();
        let ran = world.file("ran.txt");
        assert!(fenced(first.run().await), "{kind}");
        assert_eq!((world.requests().len(), world.file("ran.txt")), (sent, ran), "{kind}");
        assert_eq!(second.run().await.unwrap(), completed(), "{kind}");
        assert!(fenced(first.run().await), "{kind}: still");
        world.check().await;
    }
}
