//! Whole turns: the order of events, parallel calls, several turns, and what front ends see of it.

use super::*;

const LOOK_AND_WRITE: &str = "
[[step]]
[[step.block]]
type = 'text'
text = 'I look and write.'
[[step.block]]
type = 'tool_use'
name = 'read_file'
input = { path = 'a.txt' }
[[step.block]]
type = 'tool_use'
name = 'read_file'
input = { path = 'b.txt' }
[[step.block]]
type = 'tool_use'
name = 'write_file'
input = { path = 'c.txt', content = 'written' }
[[step]]
when = '(?s)alpha.*beta'
block = [{ type = 'text', text = 'done' }]
[[step]]
when = 'more'
block = [{ type = 'text', text = 'more of it' }]
";

#[tokio::test]
async fn every_step_is_an_event_in_its_place() {
    let world = World::with(LOOK_AND_WRITE).await;
    world.put("a.txt", "alpha");
    world.put("b.txt", "beta");
    let (agent, end) = world.ask("go").await;
    assert_eq!(end, completed());
    assert_eq!(world.file("c.txt").as_deref(), Some("written"));
    let kinds = world.kinds().await;
    let expected = [
        "session.started",
        "sandbox.started",
        "turn.prompted",
        "context.epoch_started",
        "turn.requested",
        "turn.answered",
        "tool.called",
        "tool.called",
        "tool.finished",
        "tool.finished",
        "tool.called",
        "tool.finished",
        "turn.requested",
        "turn.answered",
        "turn.ended",
    ];
    assert_eq!(kinds, expected);
    assert!(world.results().await.iter().all(|(_, is_error, _)| !is_error));
    assert_eq!((agent.state().totals.steps, agent.state().totals.calls), (2, 3));
    world.check().await;
}

#[tokio::test]
async fn an_answer_names_its_request_and_a_call_its_answer() {
    let world = World::with(LOOK_AND_WRITE).await;
    world.put("a.txt", "alpha");
    world.put("b.txt", "beta");
    drop(world.ask("go").await);
    let events = world.events().await;
    let (mut request, mut answer) = (None, None);
    for event in &events {
        match event.envelope.kind.as_str() {
            "turn.requested" => request = Some(event.envelope.id),
            "turn.answered" => {
                assert_eq!(event.envelope.cause, request);
                answer = Some(event.envelope.id);
            }
            "tool.called" => assert_eq!(event.envelope.cause, answer),
            _ => {}
        }
    }
    assert!(request.is_some() && answer.is_some());
}

#[tokio::test]
async fn what_is_shown_is_what_is_logged_in_the_same_order() {
    let world = World::with(LOOK_AND_WRITE).await;
    world.put("a.txt", "alpha");
    world.put("b.txt", "beta");
    let parts = world.parts();
    let mut listener = parts.live.listen();
    let mut agent = Agent::start(parts, world.new_session()).await.unwrap();
    agent.prompt("go", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(agent.run().await.unwrap(), completed());
    let (mut shown, mut text, mut started) = (Vec::new(), String::new(), 0);
    while let Ok(live) = listener.try_recv() {
        match live {
            Live::Logged(event) => shown.push((*event).clone()),
            Live::Text(piece) => text.push_str(&piece),
            Live::ToolStarted { .. } => started += 1,
            Live::Thinking(_) | Live::ToolOutput { .. } | Live::Waiting { .. } | Live::Notice(_) => {}
        }
    }
    assert_eq!(shown, world.events().await);
    assert_eq!((text.as_str(), started), ("I look and write.done", 3));
}

#[tokio::test]
async fn turns_follow_each_other_and_other_processes_go_on() {
    let world = World::with(LOOK_AND_WRITE).await;
    world.put("a.txt", "alpha");
    world.put("b.txt", "beta");
    let (mut agent, _) = world.ask("go").await;
    // A turn that is over stays over.
    assert_eq!(agent.run().await.unwrap(), TurnEnd::Idle);
    agent.close().await;
    let mut agent = world.resume().await;
    assert_eq!(agent.run().await.unwrap(), TurnEnd::Idle);
    agent.prompt("more", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(agent.run().await.unwrap(), completed());
    assert_eq!(world.requests().len(), 3);
    assert_eq!(world.count("context.epoch_started").await, 1);
    assert_eq!(agent.state().totals.prompts, 2);
    world.check().await;
}

#[tokio::test]
async fn the_state_of_the_agent_is_the_fold_of_its_log() {
    let world = World::with(LOOK_AND_WRITE).await;
    world.put("a.txt", "alpha");
    world.put("b.txt", "beta");
    let (agent, _) = world.ask("go").await;
    let folded = retrace_events::fold::load(&world.log, &stream()).await.unwrap();
    assert_eq!(format!("{folded:?}"), format!("{:?}", agent.state()));
}

#[tokio::test]
async fn a_failed_command_and_an_unknown_tool_are_told_to_the_model() {
    let world = World::with(
        "
[[step]]
block = [
  { type = 'tool_use', name = 'bash', input = { command = 'echo out; exit 3' } },
  { type = 'tool_use', name = 'teleport', input = { to = 'mars' } },
  { type = 'tool_use', name = 'read_file', input = { path = 'missing' } },
  { type = 'tool_use', name = 'read_file', input = { file = 'wrong field' } },
]
[[step]]
when = '(?s)exit code: 3.*there is no tool `teleport`.*missing.*invalid input for read_file'
block = [{ type = 'text', text = 'I see' }]
",
    )
    .await;
    let (_agent, end) = world.ask("go").await;
    assert_eq!(end, completed());
    let failed: Vec<bool> = world.results().await.iter().map(|(_, is_error, _)| *is_error).collect();
    assert_eq!(failed.len(), 4);
    assert!(failed[1..].iter().all(|is_error| *is_error), "{failed:?}");
    world.check().await;
}

#[tokio::test]
async fn any_way_of_delivery_gives_the_same_turn() {
    let mut logs = Vec::new();
    for delivery in ["split = 1", "split = 7", "odd = true", "delta_chars = 1"] {
        let world = World::with(&format!("[delivery]\n{delivery}\n{LOOK_AND_WRITE}")).await;
        world.put("a.txt", "alpha");
        world.put("b.txt", "beta");
        let (agent, end) = world.ask("go").await;
        assert_eq!(end, completed(), "{delivery}");
        let answers = world.payloads().await.into_iter().filter_map(|payload| match payload {
            Payload::Turn(Turn::Answered(answer)) => Some(answer.content.replace(char::is_whitespace, "")),
            _ => None,
        });
        logs.push(answers.map(|answer| answer.len()).collect::<Vec<_>>());
        drop(agent);
        world.check().await;
    }
    assert!(logs.windows(2).all(|pair| pair[0] == pair[1]), "{logs:?}");
}
