//! Beginning and resuming: what is written first, and what is refused without a trace.

use super::*;
use crate::agent::AgentError;
use retrace_events::Writer;
use retrace_events::payload::Session;
use retrace_events::payload::session::SessionClosed;
use retrace_events::testing::EventMaker;

const HELLO: &str = "
[[step]]
block = [{ type = 'text', text = 'hello' }]
[[step]]
block = [{ type = 'text', text = 'hello again' }]
";

#[tokio::test]
async fn a_session_begins_with_what_it_is_and_what_was_proven() {
    let world = World::with(HELLO).await;
    let agent = world.start().await;
    assert_eq!(world.kinds().await, ["session.started", "sandbox.started"]);
    let payloads = world.payloads().await;
    let Payload::Session(Session::Started(started)) = &payloads[0] else { panic!("{payloads:?}") };
    assert_eq!(started.workspace, world.workspace().display().to_string());
    assert_eq!((&started.settings, started.title.as_str()), (&world.settings, "a test"));
    assert_eq!(agent.state().next_seq(), 2);
    assert_eq!(agent.stream(), &stream());
    agent.close().await;
    world.check().await;
}

#[tokio::test]
async fn what_cannot_begin_leaves_no_trace() {
    let world = World::with(HELLO).await;
    world.put("file", "text");
    for path in [world.workspace().join("file"), world.workspace().join("missing"), PathBuf::from("/")] {
        let new = NewSession { workspace: path.clone(), ..world.new_session() };
        let error = Agent::start(world.parts(), new).await.unwrap_err();
        assert!(matches!(error, AgentError::Workspace { .. }), "{path:?}: {error}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
    let settings = Settings { sandbox: "bogus".to_owned(), ..world.settings.clone() };
    let error = Agent::start(world.parts(), NewSession { settings, ..world.new_session() }).await.unwrap_err();
    assert!(matches!(error, AgentError::Sandbox(_)), "{error}");
    assert_eq!(world.log.head(&stream()).await.unwrap(), None);
    assert!(world.requests().is_empty());
}

#[tokio::test]
async fn a_name_that_is_taken_is_not_taken_over() {
    let world = World::with(HELLO).await;
    let mut agent = world.start().await;
    let error = Agent::start(world.unseeing_parts(), world.new_session()).await.unwrap_err();
    assert!(matches!(error, AgentError::Log(retrace_events::LogError::Fenced { tried: 0, .. })), "{error}");
    agent.prompt("hi", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(agent.run().await.unwrap(), completed());
    world.check().await;
}

#[tokio::test]
async fn only_an_open_session_is_resumed() {
    let world = World::with(HELLO).await;
    let error = Agent::resume(world.parts(), stream(), None).await.unwrap_err();
    assert!(matches!(error, AgentError::NoSuchSession(_)), "{error}");
    drop(world.start().await);
    let head = world.log.head(&stream()).await.unwrap().unwrap();
    let parts = world.parts();
    let mut writer = Writer::resume(Arc::clone(&parts.log), Arc::clone(&parts.mint), stream(), (head.seq, head.hash));
    writer.append(vec![(SessionClosed { why: "enough".to_owned() }.into(), None)]).await.unwrap();
    let error = Agent::resume(world.parts(), stream(), None).await.unwrap_err();
    assert!(matches!(error, AgentError::Closed(_)), "{error}");
    assert_eq!(world.log.head(&stream()).await.unwrap().unwrap().seq, head.seq + 1);
}

#[tokio::test]
async fn a_session_of_a_newer_version_is_left_alone() {
    let world = World::with(HELLO).await;
    drop(world.start().await);
    let head = world.log.head(&stream()).await.unwrap().unwrap();
    let mut event = EventMaker::behind(stream(), 1, (head.seq, head.hash)).opaque("turn.pondered", 10);
    event.at = head.at;
    world.log.append(&[event]).await.unwrap();
    let error = Agent::resume(world.parts(), stream(), None).await.unwrap_err();
    assert!(matches!(error, AgentError::Newer { .. }), "{error}");
    assert!(error.to_string().contains("turn.pondered"), "{error}");
    assert_eq!(world.log.head(&stream()).await.unwrap().unwrap().seq, head.seq + 1);
}

#[tokio::test]
async fn a_damaged_session_is_not_resumed() {
    let world = World::with(HELLO).await;
    drop(world.ask("hi").await);
    world.log.flip_byte(&stream(), 3);
    let error = Agent::resume(world.parts(), stream(), None).await.unwrap_err();
    assert!(matches!(error, AgentError::Log(_)), "{error}");
    assert!(verify_session(&world.log, &stream()).await.is_err());
}

#[tokio::test]
async fn changed_settings_are_written_down_before_they_count() {
    let world = World::with(HELLO).await;
    drop(world.ask("hi").await);
    let before = world.events().await.len();
    let settings = Settings { max_attempts: 1, command_timeout_ms: 5_000, ..world.settings.clone() };
    let changed = Some((settings.clone(), "a flag".to_owned()));
    let mut agent = Agent::resume(world.parts(), stream(), changed).await.unwrap();
    assert_eq!(agent.state().settings.as_ref(), Some(&settings));
    assert_eq!(world.kinds().await[before..], ["session.configured", "sandbox.started"]);
    agent.prompt("and now?", PromptSource::Local, Vec::new()).await.unwrap();
    assert_eq!(agent.run().await.unwrap(), completed());
    drop(agent);
    assert_eq!(world.resume().await.state().settings.as_ref(), Some(&settings));
    world.check().await;
}

#[tokio::test]
async fn a_workspace_that_is_gone_is_named() {
    let world = World::with(HELLO).await;
    drop(world.start().await);
    std::fs::rename(world.workspace(), world.root.path().join("moved")).unwrap();
    let error = Agent::resume(world.parts(), stream(), None).await.unwrap_err();
    assert!(matches!(error, AgentError::Workspace { .. }), "{error}");
}

#[tokio::test]
async fn a_prompt_without_words_is_no_prompt() {
    let world = World::with(HELLO).await;
    let mut agent = world.start().await;
    for text in ["", " ", "\n\t \u{2003}"] {
        let error = agent.prompt(text, PromptSource::Local, Vec::new()).await.unwrap_err();
        assert!(matches!(error, AgentError::EmptyPrompt), "{error}");
    }
    assert_eq!(agent.run().await.unwrap(), TurnEnd::Idle);
    assert_eq!(world.kinds().await, ["session.started", "sandbox.started"]);
    assert!(world.requests().is_empty());
}
