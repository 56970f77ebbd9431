//! Checkpoints beside a running session: they are made as it goes, and whoever resumes from them sees what the log says.

use super::*;
use retrace_events::{SessionState, codec, fold};
use std::path::Path;

/// A state and a past are kept after so many events.
const STATE_EVENTS: u64 = 16;
const PAST_EVENTS: u64 = 40;

fn parts(world: &World) -> AgentParts {
    let checkpoints = Checkpoints::every(&world.root.path().join("state"), "memory", STATE_EVENTS, PAST_EVENTS);
    AgentParts { checkpoints, context_tokens: Some(24_000), ..world.parts() }
}

fn bytes(state: &SessionState) -> Vec<u8> {
    codec::encode_derived(state).unwrap()
}

/// The names of all checkpoints.
fn kept(folder: &Path) -> Vec<String> {
    let folders = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let sessions = folders(&folder.join("state/checkpoints")).flat_map(|log| folders(&log).collect::<Vec<_>>());
    let files = sessions.flat_map(|session| folders(&session).collect::<Vec<_>>());
    files.map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

#[tokio::test]
async fn a_session_that_is_left_anywhere_is_resumed_as_the_log_has_it() {
    let world = World::with(&counts(90)).await;
    let mut agent = Agent::start(parts(&world), world.new_session()).await.unwrap();
    agent.prompt("count to ninety", PromptSource::Local, Vec::new()).await.unwrap();
    let mut left = 0;
    loop {
        let steps = 5 + left % 6;
        let mut asked = 0;
        let ended = run_until(&mut agent, |live| {
            asked += u32::from(is_logged(live, "turn.requested"));
            asked == steps
        })
        .await;
        // Every other time as if it had been killed.
        if left % 2 == 0 {
            agent.close().await
        } else {
            drop(agent)
        }
        if ended.is_some() {
            assert_eq!(ended, Some(completed()));
            break;
        }
        left += 1;
        agent = Agent::resume(parts(&world), stream(), None).await.unwrap();
        let folded = fold::load(&world.log, &stream()).await.unwrap();
        assert_eq!(bytes(agent.state()), bytes(&folded));
    }
    assert!(left >= 8, "{left}");
    assert!(world.epochs().await.len() >= 4);
    assert_eq!(world.file("n").unwrap().trim(), "90");
    world.check().await;
    let kept = kept(world.root.path());
    for kind in ["state-", "past-"] {
        assert!(kept.iter().any(|name| name.starts_with(kind)), "{kind} {kept:?}");
    }
}

#[tokio::test]
async fn a_damaged_checkpoint_is_no_reason_not_to_go_on() {
    let world = World::with(&counts(20)).await;
    let mut agent = Agent::start(parts(&world), world.new_session()).await.unwrap();
    agent.prompt("count to twenty", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(agent.run().await.unwrap(), completed());
    agent.close().await;
    assert!(!kept(world.root.path()).is_empty());
    let mut open = vec![world.root.path().join("state/checkpoints")];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            std::fs::write(path, "nothing of use").unwrap();
        }
    }
    let agent = Agent::resume(parts(&world), stream(), None).await.unwrap();
    let folded = fold::load(&world.log, &stream()).await.unwrap();
    assert_eq!(bytes(agent.state()), bytes(&folded));
    agent.close().await;
}
