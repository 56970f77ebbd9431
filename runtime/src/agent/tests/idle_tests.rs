//! A sandbox that was ended for want of use: nothing is lost, it is written down, and the next call gets another.

use super::*;
use retrace_events::payload::Sandbox;
use retrace_events::payload::sandbox::SandboxStopped;
use retrace_sandbox::Limits;

#[tokio::test]
async fn the_next_call_gets_another_sandbox() {
    let world = World::with(
        "[[step]]\nblock = [{ type = 'tool_use', name = 'bash', input = { command = 'echo one > one' } }]\n\
         [[step]]\nblock = [{ type = 'text', text = 'done' }]\n\
         [[step]]\nblock = [{ type = 'tool_use', name = 'bash', input = { command = 'cat one; echo two > two' } }]\n\
         [[step]]\nblock = [{ type = 'text', text = 'done again' }]\n",
    )
    .await;
    let limits = Limits { idle_ms: Some(200), ..Limits::default() };
    let parts = AgentParts { sandboxes: SandboxSetup { limits, ..SandboxSetup::default() }, ..world.parts() };
    let mut agent = Agent::start(parts, world.new_session()).await.unwrap();
    agent.prompt("one", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(agent.run().await.unwrap(), completed());
    let sandbox = agent.workroom.ready().unwrap().clone();
    let ended = async {
        while sandbox.gone().is_none() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), ended).await.expect("it ends when nobody uses it");
    agent.prompt("two", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(agent.run().await.unwrap(), completed());
    assert_eq!(world.file("two").as_deref(), Some("two\n"));
    let stopped: Vec<SandboxStopped> = world
        .payloads()
        .await
        .into_iter()
        .filter_map(|payload| match payload {
            Payload::Sandbox(Sandbox::Stopped(stopped)) => Some(stopped),
            _ => None,
        })
        .collect();
    assert!(!stopped.is_empty() && stopped.iter().all(|stopped| !stopped.unexpected), "{stopped:?}");
    assert!(stopped[0].why.contains("nobody used it"), "{stopped:?}");
    assert_eq!(world.count("sandbox.started").await, stopped.len() + 1);
    assert_eq!(world.count("tool.outcome_unknown").await, 0);
    world.check().await;
}
