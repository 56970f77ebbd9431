//! The budget of a tree of forks: what all of them have used counts, and strangers do not.

use super::super::family::usage;
use super::*;
use retrace_events::payload::session::{SessionForkReason, SessionForked};
use retrace_events::payload::turn::{TurnAnswered, Usage};
use retrace_events::{EventId, Hash, Writer};

const SAYS: &str = "[[step]]\nname = 'say'\nnext = ['say']\nblock = [{ type = 'text', text = 'done' }]\n";

/// A session that was forked from `parent` and has made `steps` steps of 1,000 tokens.
async fn fork(world: &World, name: &str, parent: &StreamId, steps: usize) -> StreamId {
    let stream = example_stream(name);
    let parts = world.parts();
    let hash = Hash::of(b"the parent's event");
    let mut writer = Writer::create(parts.log, parts.mint, stream.clone(), hash);
    let forked = SessionForked {
        parent: parent.clone(),
        parent_seq: 3,
        parent_hash: hash,
        reason: SessionForkReason::Fork,
        title: name.to_owned(),
        workspace: "/tmp".to_owned(),
        retrace_version: "0".to_owned(),
        settings: world.settings.clone(),
    };
    writer.append(vec![(forked.into(), None)]).await.unwrap();
    for _ in 0..steps {
        let answered = TurnAnswered {
            request: EventId(uuid::Uuid::nil()),
            content: "[]".to_owned(),
            model: "m".to_owned(),
            stop_reason: "end_turn".to_owned(),
            stop_details: None,
            usage: Usage { input_tokens: 1_000, ..Usage::default() },
            cost_microusd: 7,
            request_id: None,
            duration_ms: 0,
        };
        writer.append(vec![(answered.into(), None)]).await.unwrap();
    }
    stream
}

#[tokio::test]
async fn what_all_forks_of_one_session_used_is_counted_from_each_of_them() {
    let world = World::with(SAYS).await;
    world.start().await.close().await;
    let child = fork(&world, "child", &stream(), 2).await;
    let grandchild = fork(&world, "grandchild", &child, 3).await;
    fork(&world, "stranger", &example_stream("somebody-else"), 50).await;
    for (session, sessions) in [(stream(), 2), (child, 2), (grandchild, 2)] {
        let family = usage(&world.log, &session).await.unwrap();
        assert_eq!(family.sessions, sessions, "{session}");
    }
    let alone = usage(&world.log, &example_stream("unheard-of")).await.unwrap();
    assert_eq!(alone, super::super::family::FamilyUsage::default());
}

#[tokio::test]
async fn forks_of_forks_in_a_ring_do_not_hang() {
    let world = World::with(SAYS).await;
    let (a, b) = (example_stream("a"), example_stream("b"));
    fork(&world, "a", &b, 1).await;
    fork(&world, "b", &a, 1).await;
    assert!(usage(&world.log, &a).await.unwrap().sessions <= 1);
}

#[tokio::test]
async fn a_turn_stops_when_the_tree_has_used_its_budget_and_goes_on_when_it_is_raised() {
    let mut world = World::with(SAYS).await;
    world.settings.tree_budget.max_steps = Some(4);
    let mut agent = world.start().await;
    let child = fork(&world, "child", &stream(), 2).await;
    agent.prompt("one", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(agent.run().await.unwrap(), completed());
    fork(&world, "grandchild", &child, 2).await;
    agent.prompt("two", PromptSource::Local, Vec::new()).await.unwrap();
    let TurnEnd::Ended { outcome, note } = agent.run().await.unwrap() else { panic!("it went on") };
    assert_eq!(outcome, TurnOutcome::BudgetReached);
    assert_eq!(note, "5 of 4 steps are used by the session and the forks it belongs to");
    agent.close().await;
    let mut settings = world.settings.clone();
    settings.tree_budget.max_steps = Some(40);
    let raised = Some((settings, "--max-tree-steps".to_owned()));
    let mut agent = Agent::resume(world.parts(), stream(), raised).await.unwrap();
    agent.prompt("three", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(agent.run().await.unwrap(), completed());
    world.check().await;
}
