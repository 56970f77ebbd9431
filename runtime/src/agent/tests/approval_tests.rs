//! Approvals and questions: who is asked, what becomes of each answer, and that a crash asks again.

use super::asking::{Serving, asked_call};
use super::*;
use retrace_events::payload::Session;
use retrace_events::payload::tool::ToolApprovalScope;

const WRITES: &str = "
[[step]]
name = 'write'
when = 'go( again)?$'
block = [{ type = 'tool_use', name = 'bash', input = { command = 'echo ran >> ran.txt' } }]
[[step]]
next = ['write']
block = [{ type = 'text', text = 'done' }]
";

const ASKS: &str = "
[[step]]
block = [{ type = 'tool_use', name = 'ask_user', input = { question = 'which?', options = ['red', 'blue'] } }]
[[step]]
block = [{ type = 'text', text = 'done' }]
";

/// A session on the host, whose writing calls need somebody's word.
async fn asking(world: &World) -> Agent {
    let parts = AgentParts { permissions: Arc::new(Permissions::builtin(false)), attended: true, ..world.parts() };
    Agent::start(parts, world.new_session()).await.unwrap()
}

async fn resumed(world: &World) -> Agent {
    let parts = AgentParts { permissions: Arc::new(Permissions::builtin(false)), attended: true, ..world.parts() };
    Agent::resume(parts, stream(), None).await.unwrap()
}

#[tokio::test]
async fn an_approved_call_runs_and_a_denied_one_does_not() {
    for (allow, ran) in [(Some(ToolApprovalScope::Once), Some("ran\n")), (None, None)] {
        let world = World::with(WRITES).await;
        let mut serving = Serving::begin(asking(&world).await);
        serving.send_prompt("go").await;
        let asked = serving.wait_for("tool.approval_asked").await;
        assert_eq!(world.file("ran.txt"), None, "it ran before it was allowed");
        serving.decide(&asked_call(&asked), allow, "use sed").await;
        serving.wait_for("turn.ended").await;
        serving.leave().await.close().await;
        assert_eq!(world.file("ran.txt").as_deref(), ran);
        let results = world.results().await;
        assert_eq!(results[0].2.contains("The user says: use sed"), allow.is_none(), "{results:?}");
        world.check().await;
    }
}

#[tokio::test]
async fn for_this_session_is_asked_once() {
    let world = World::with(WRITES).await;
    let mut serving = Serving::begin(asking(&world).await);
    serving.send_prompt("go").await;
    let asked = serving.wait_for("tool.approval_asked").await;
    serving.decide(&asked_call(&asked), Some(ToolApprovalScope::Session), "").await;
    serving.wait_for("turn.ended").await;
    serving.send_prompt("go again").await;
    serving.wait_for("turn.ended").await;
    serving.leave().await.close().await;
    assert_eq!(world.file("ran.txt").as_deref(), Some("ran\nran\n"));
    assert_eq!(world.count("tool.approval_asked").await, 1);
    let rules = world.payloads().await.into_iter().filter_map(|payload| match payload {
        Payload::Session(Session::RuleAdded(added)) => Some(added.rule),
        _ => None,
    });
    assert_eq!(rules.count(), 1);
    // Both decisions are in the log: the user's, and the rule's.
    assert_eq!(world.count("tool.approved").await, 2);
    world.check().await;
}

#[tokio::test]
async fn where_nobody_can_be_asked_ask_means_no_and_the_model_is_told() {
    let world = World::with(WRITES).await;
    let parts = AgentParts { permissions: Arc::new(Permissions::builtin(false)), ..world.parts() };
    let mut agent = Agent::start(parts, world.new_session()).await.unwrap();
    agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(agent.run().await.unwrap(), completed());
    assert_eq!(world.file("ran.txt"), None);
    let results = world.results().await;
    assert!(results[0].1 && results[0].2.contains("nobody can be asked"), "{results:?}");
    assert_eq!((world.count("tool.denied").await, world.count("tool.called").await), (1, 0));
    world.check().await;
}

#[tokio::test]
async fn after_a_crash_in_the_middle_of_an_approval_it_is_still_asked_for() {
    let world = World::with(WRITES).await;
    let mut serving = Serving::begin(asking(&world).await);
    serving.send_prompt("go").await;
    let asked = serving.wait_for("tool.approval_asked").await;
    serving.kill().await;
    let mut serving = Serving::begin(resumed(&world).await);
    serving.decide(&asked_call(&asked), Some(ToolApprovalScope::Once), "").await;
    serving.wait_for("turn.ended").await;
    serving.leave().await.close().await;
    assert_eq!(world.file("ran.txt").as_deref(), Some("ran\n"));
    assert_eq!(world.count("tool.approval_asked").await, 1);
    world.check().await;
}

#[tokio::test]
async fn an_approval_for_a_call_that_was_cancelled_is_refused_and_told() {
    let world = World::with(WRITES).await;
    let mut serving = Serving::begin(asking(&world).await);
    serving.send_prompt("go").await;
    let call = asked_call(serving.wait_for("tool.approval_asked").await.as_ref());
    serving.cancel(None).await;
    serving.wait_for("turn.interrupted").await;
    serving.decide(&call, Some(ToolApprovalScope::Always), "").await;
    let mut notes = Vec::new();
    while notes.len() < 2 {
        let event = serving.wait_for("session.control_handled").await;
        let Some(Payload::Session(Session::ControlHandled(handled))) = event.payload.known() else { panic!() };
        notes.push((handled.accepted, handled.note.clone()));
    }
    serving.leave().await.close().await;
    assert!(!notes[1].0 && notes[1].1.contains("is over, or was never made"), "{notes:?}");
    assert_eq!((world.file("ran.txt"), world.count("tool.approved").await), (None, 0));
    world.check().await;
}

#[tokio::test]
async fn a_question_waits_for_its_answer_across_a_crash() {
    let world = World::with(ASKS).await;
    let mut serving = Serving::begin(asking(&world).await);
    serving.send_prompt("go").await;
    let call = asked_call(serving.wait_for("tool.called").await.as_ref());
    serving.kill().await;
    let mut serving = Serving::begin(resumed(&world).await);
    serving.answer(&call, "2").await;
    serving.wait_for("turn.ended").await;
    serving.leave().await.close().await;
    let results = world.results().await;
    assert!(!results[0].1 && results[0].2.contains("blue"), "{results:?}");
    assert_eq!(world.count("tool.called").await, 1);
    world.check().await;
}

#[tokio::test]
async fn a_question_to_nobody_is_answered_by_saying_so() {
    let world = World::with(ASKS).await;
    let (agent, end) = world.ask("go").await;
    agent.close().await;
    assert_eq!(end, completed());
    let results = world.results().await;
    assert!(results[0].1, "{results:?}");
    world.check().await;
}
