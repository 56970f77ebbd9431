//! Crashes: an agent dropped in the middle of a step, and another that goes on.

use super::*;
use retrace_events::payload::turn::TurnFailure;

const CALLS: &str = "
[[step]]
block = [
  { type = 'tool_use', name = 'read_file', input = { path = 'a.txt' } },
  { type = 'tool_use', name = 'bash', input = { command = 'echo once >> once.txt; echo begun; sleep 20' } },
  { type = 'tool_use', name = 'write_file', input = { path = 'c.txt', content = 'written' } },
]
[[step]]
when = 'not known whether'
block = [{ type = 'text', text = 'I look first' }]
";

#[tokio::test]
async fn a_command_whose_end_nobody_saw_is_not_run_again() {
    let world = World::with(CALLS).await;
    world.put("a.txt", "alpha");
    let mut agent = world.start().await;
    agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(run_until(&mut agent, |live| matches!(live, Live::ToolOutput { .. })).await, None);
    agent.close().await;
    let mut agent = world.resume().await;
    assert_eq!(agent.run().await.unwrap(), completed());
    assert_eq!(world.file("once.txt").as_deref(), Some("once\n"));
    assert_eq!(world.file("c.txt").as_deref(), Some("written"));
    assert_eq!((world.count("tool.outcome_unknown").await, world.count("tool.finished").await), (1, 2));
    world.check().await;
}

#[tokio::test]
async fn what_only_looks_is_looked_at_again() {
    let world = World::with(
        "
[[step]]
block = [
  { type = 'tool_use', name = 'read_file', input = { path = 'a.txt' } },
  { type = 'tool_use', name = 'list_dir', input = {} },
]
[[step]]
when = 'alpha'
block = [{ type = 'text', text = 'done' }]
",
    )
    .await;
    world.put("a.txt", "alpha");
    let mut agent = world.start().await;
    agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(run_until(&mut agent, |live| is_logged(live, "tool.called")).await, None);
    drop(agent);
    let mut agent = world.resume().await;
    assert_eq!(agent.run().await.unwrap(), completed());
    // Begun once in the log, whoever carried it out.
    assert_eq!((world.count("tool.called").await, world.count("tool.finished").await), (2, 2));
    assert_eq!(world.count("tool.outcome_unknown").await, 0);
    world.check().await;
}

#[tokio::test]
async fn a_lost_answer_is_counted_at_its_most_and_asked_for_again() {
    let world = World::with("[[step]]\nblock = [{ type = 'text', text = 'x' }]\nfault = [{ hang = true }]\n").await;
    let mut agent = world.start().await;
    agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(run_until(&mut agent, |live| is_logged(live, "turn.requested")).await, None);
    drop(agent);
    let mut agent = world.resume().await;
    // The hanging answer may or may not have been reached by the first request.
    let cancel = agent.parts.cancel.clone();
    let end = tokio::time::timeout(std::time::Duration::from_secs(5), agent.run()).await;
    if end.is_err() {
        cancel.cancel();
        assert_eq!(agent.run().await.unwrap(), TurnEnd::Interrupted);
    }
    let payloads = world.payloads().await;
    let bound = payloads.iter().find_map(|payload| match payload {
        Payload::Turn(Turn::Requested(request)) => Some(request.cost_bound_microusd),
        _ => None,
    });
    let lost = payloads.iter().find_map(|payload| match payload {
        Payload::Turn(Turn::Failed(failed)) if failed.failure == TurnFailure::Lost => Some(failed.billed_microusd),
        _ => None,
    });
    assert!(bound.is_some_and(|bound| bound > 0));
    assert_eq!(lost, bound);
    assert!(agent.state().totals.unknown_cost_microusd >= bound.unwrap());
    world.check().await;
}

#[tokio::test]
async fn a_crash_at_any_event_changes_nothing_but_the_settled_calls() {
    let script = CALLS.replace("; echo begun; sleep 20", "");
    let script = script.replace("when = 'not known whether'\n", "");
    // 14 events follow the prompt of an undisturbed session.
    for crash_after in 1..=14 {
        let world = World::with(&script).await;
        world.put("a.txt", "alpha");
        let mut agent = world.start().await;
        agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
        let mut seen = 0;
        let end = run_until(&mut agent, |live| {
            seen += usize::from(matches!(live, Live::Logged(_)));
            seen == crash_after
        })
        .await;
        drop(agent);
        if end.is_none() {
            let mut agent = world.resume().await;
            let end = agent.run().await.unwrap();
            assert!(end == completed() || end == TurnEnd::Idle, "{crash_after}: {end:?}");
        }
        let once = world.file("once.txt");
        assert!(once.as_deref() == Some("once\n") || once.is_none(), "{crash_after}: run twice: {once:?}");
        assert!(once.is_some() || world.count("tool.outcome_unknown").await == 1, "{crash_after}: lost silently");
        assert_eq!(world.count("turn.ended").await, 1, "{crash_after}");
        world.check().await;
    }
}
