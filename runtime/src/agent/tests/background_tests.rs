//! Commands in the background: they outlive their call and their turn, their end is told, and none is forgotten.

use super::asking::Serving;
use super::*;
use retrace_events::payload::tool::ToolBackgroundEnded;

const STARTS: &str = "
[[step]]
when = 'start'
block = [{ type = 'tool_use', name = 'bash', input = { background = true, command = 'echo up; while [ ! -e stop ]; do sleep 0.01; done; echo down; exit 3' } }]
[[step]]
block = [{ type = 'text', text = 'started' }]
[[step]]
when = '(?s)the background command.*and.$'
block = [{ type = 'text', text = 'I see it ended' }]
";

async fn ended(world: &World) -> Vec<ToolBackgroundEnded> {
    let payloads = world.payloads().await.into_iter();
    payloads
        .filter_map(|payload| match payload {
            Payload::Tool(Tool::BackgroundEnded(ended)) => Some(ended),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn it_goes_on_behind_its_turn_and_its_end_is_told_once() {
    let world = World::with(STARTS).await;
    let mut serving = Serving::begin(world.start().await);
    serving.send_prompt("start").await;
    serving.wait_for("turn.ended").await;
    assert_eq!((world.count("tool.background_started").await, ended(&world).await.len()), (1, 0));
    world.put("stop", "");
    serving.wait_for("tool.background_ended").await;
    let ended = ended(&world).await;
    assert_eq!(ended[0].exit.unwrap().code, Some(3));
    let blob = ended[0].output.unwrap();
    let output = world.log.blobs().read(blob.hash, 0..blob.size_bytes).await.unwrap();
    assert_eq!(String::from_utf8(output).unwrap(), "up\ndown\n");
    serving.send_prompt("and?").await;
    serving.wait_for("turn.ended").await;
    serving.leave().await.close().await;
    let last = world.payloads().await.into_iter().rev().find_map(|payload| match payload {
        Payload::Turn(Turn::Answered(answered)) => Some(answered.content),
        _ => None,
    });
    assert!(last.unwrap().contains("I see it ended"));
    world.check().await;
}

#[tokio::test]
async fn who_leaves_ends_it_and_says_so() {
    let world = World::with(STARTS).await;
    let (agent, _) = world.ask("start").await;
    agent.close().await;
    let ended = ended(&world).await;
    assert_eq!(ended.len(), 1);
    assert!(ended[0].why.contains("the session was left"), "{ended:?}");
    world.check().await;
}

#[tokio::test]
async fn after_a_crash_it_is_said_to_be_gone() {
    let world = World::with(STARTS).await;
    let (agent, _) = world.ask("start").await;
    drop(agent);
    world.resume().await.close().await;
    let ended = ended(&world).await;
    assert_eq!(ended.len(), 1);
    assert!(ended[0].exit.is_none() && ended[0].why.contains("restarted"), "{ended:?}");
    world.check().await;
}
