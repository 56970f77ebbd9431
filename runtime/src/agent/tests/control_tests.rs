//! What others say to a session: each thing once, in order, with its effect in the same batch.

use super::asking::Serving;
use super::*;
use retrace_events::payload::Session;
use retrace_events::payload::control::{ControlCancelRequested, ControlPromptSent};
use retrace_events::payload::session::SessionControlHandled;
use retrace_events::payload::turn::Attachment;

const ECHOES: &str =
    "[[step]]\nname = 'echo'\nnext = ['echo']\nwhen = 'say (\\w+)$'\nblock = [{ type = 'text', text = '$1' }]\n";

const WAITS: &str = "
[[step]]
name = 'wait'
when = 'wait'
next = ['say', 'waited']
block = [{ type = 'tool_use', name = 'bash', input = { command = 'echo begun; while [ ! -e go ]; do sleep 0.01; done' } }]
[[step]]
name = 'say'
next = ['say', 'waited']
when = 'say (\\w+)$'
block = [{ type = 'text', text = '$1' }]
[[step]]
name = 'waited'
next = ['say', 'waited']
block = [{ type = 'text', text = 'waited' }]
";

async fn handled(world: &World) -> Vec<SessionControlHandled> {
    let payloads = world.payloads().await.into_iter();
    payloads
        .filter_map(|payload| match payload {
            Payload::Session(Session::ControlHandled(handled)) => Some(handled),
            _ => None,
        })
        .collect()
}

async fn prompts(world: &World) -> Vec<String> {
    let payloads = world.payloads().await.into_iter();
    payloads
        .filter_map(|payload| match payload {
            Payload::Turn(Turn::Prompted(prompted)) => Some(prompted.text),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn prompts_from_outside_are_run_one_after_the_other() {
    let world = World::with(ECHOES).await;
    let mut serving = Serving::begin(world.start().await);
    for word in ["one", "two", "three"] {
        serving.send_prompt(&format!("say {word}")).await;
    }
    for _ in 0..3 {
        serving.wait_for("turn.ended").await;
    }
    serving.leave().await.close().await;
    assert_eq!(prompts(&world).await, ["say one", "say two", "say three"]);
    let handled = handled(&world).await;
    assert_eq!(handled.iter().map(|handled| handled.seq).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(handled.iter().all(|handled| handled.accepted));
    // Each prompt names the queued event as its cause, and that one the control event.
    let events = world.events().await;
    let queued: Vec<_> = events.iter().filter(|event| event.envelope.kind == "turn.queued").collect();
    let prompted: Vec<_> = events.iter().filter(|event| event.envelope.kind == "turn.prompted").collect();
    for (place, handled) in handled.iter().enumerate() {
        assert_eq!(queued[place].envelope.cause, Some(handled.event));
        assert_eq!(prompted[place].envelope.cause, Some(queued[place].envelope.id));
    }
    world.check().await;
}

#[tokio::test]
async fn a_prompt_waits_while_a_command_runs() {
    let world = World::with(WAITS).await;
    let mut serving = Serving::begin(world.start().await);
    serving.send_prompt("wait").await;
    serving.wait_for("tool.called").await;
    serving.send_prompt("say later").await;
    serving.wait_for("turn.queued").await;
    assert_eq!(world.count("turn.ended").await, 0, "the turn did not wait for its command");
    world.put("go", "");
    serving.wait_for("turn.ended").await;
    serving.wait_for("turn.ended").await;
    serving.leave().await.close().await;
    assert_eq!(prompts(&world).await, ["wait", "say later"]);
    world.check().await;
}

#[tokio::test]
async fn what_was_said_while_nobody_listened_is_taken_by_the_next_that_runs() {
    let world = World::with(ECHOES).await;
    world.start().await.close().await;
    let parts = world.parts();
    let sender = retrace_events::control::ControlSender::new(parts.log, parts.mint, &stream());
    for word in ["one", "two"] {
        let prompt = ControlPromptSent { text: format!("say {word}"), attachments: Vec::new() };
        sender.send(prompt.into()).await.unwrap();
    }
    let mut agent = world.resume().await;
    assert_eq!(agent.run().await.unwrap(), completed());
    assert_eq!(agent.run().await.unwrap(), TurnEnd::Idle);
    agent.close().await;
    assert_eq!(prompts(&world).await, ["say one", "say two"]);
    world.check().await;
}

#[tokio::test]
async fn a_cancel_ends_the_turn_and_the_queue_goes_on() {
    let world = World::with(WAITS).await;
    let mut serving = Serving::begin(world.start().await);
    serving.send_prompt("wait").await;
    serving.wait_for("tool.called").await;
    serving.send_prompt("say next").await;
    serving.cancel(None).await;
    let interrupted = serving.wait_for("turn.interrupted").await;
    serving.wait_for("turn.ended").await;
    // There is nothing to cancel now.
    serving.cancel(None).await;
    serving.wait_for("session.control_handled").await;
    serving.leave().await.close().await;
    let handled = handled(&world).await;
    let told: Vec<_> = handled.iter().map(|handled| (handled.accepted, handled.note.as_str())).collect();
    assert_eq!(told, [(true, "queued"), (true, "queued"), (true, "interrupted"), (false, "nothing is going on")]);
    assert_eq!(interrupted.envelope.cause, Some(handled[2].event));
    assert_eq!(world.count("tool.outcome_unknown").await, 1);
    world.check().await;
}

#[tokio::test]
async fn one_call_can_be_cancelled_and_the_turn_goes_on() {
    let world = World::with(WAITS).await;
    let mut serving = Serving::begin(world.start().await);
    serving.send_prompt("wait").await;
    let called = serving.wait_for("tool.called").await;
    serving.cancel(Some(&super::asking::asked_call(&called))).await;
    serving.wait_for("turn.ended").await;
    serving.leave().await.close().await;
    assert_eq!(world.count("turn.interrupted").await, 0);
    let results = world.results().await;
    assert!(results[0].2.contains("the user cancelled it"), "{results:?}");
    world.check().await;
}

#[tokio::test]
async fn killed_between_any_two_events_nothing_said_is_lost_or_doubled() {
    for place in 0..24 {
        let world = World::with(ECHOES).await;
        let mut serving = Serving::begin(world.start().await);
        for word in ["one", "two", "three"] {
            serving.send_prompt(&format!("say {word}")).await;
        }
        for _ in 0..place {
            if world.count("turn.ended").await == 3 {
                break;
            }
            serving.live.recv().await.unwrap();
        }
        serving.kill().await;
        let mut agent = world.resume().await;
        agent.run().await.unwrap();
        agent.close().await;
        assert_eq!(prompts(&world).await, ["say one", "say two", "say three"], "killed at {place}");
        let seqs: Vec<u64> = handled(&world).await.iter().map(|handled| handled.seq).collect();
        assert_eq!(seqs, [0, 1, 2], "killed at {place}");
        world.check().await;
    }
}

#[tokio::test]
async fn behind_much_idle_talk_a_prompt_is_still_heard() {
    let world = World::with(ECHOES).await;
    world.start().await.close().await;
    let parts = world.parts();
    let sender = retrace_events::control::ControlSender::new(parts.log, parts.mint, &stream());
    for _ in 0..100 {
        let cancel = ControlCancelRequested { call: None, by: "a test".to_owned() };
        sender.send(cancel.into()).await.unwrap();
    }
    let prompt = ControlPromptSent { text: "say one".to_owned(), attachments: Vec::new() };
    sender.send(prompt.into()).await.unwrap();
    let mut agent = world.resume().await;
    assert_eq!(agent.run().await.unwrap(), completed());
    agent.close().await;
    assert_eq!((prompts(&world).await, handled(&world).await.len()), (vec!["say one".to_owned()], 101));
    world.check().await;
}

#[tokio::test]
async fn a_log_that_does_not_answer_for_a_moment_ends_no_conversation() {
    let world = World::with(ECHOES).await;
    let log = PausingLog::of(&world.log);
    let silence = log.silence();
    let parts = AgentParts { log: Arc::new(log), ..world.parts() };
    let agent = Agent::start(parts, world.new_session()).await.unwrap();
    let mut serving = Serving::begin(agent);
    serving.send_prompt("say one").await;
    serving.wait_for("turn.ended").await;
    // The follower breaks off, and the first time it is asked for again nobody answers.
    silence.begin(1);
    loop {
        if matches!(serving.live.recv().await.unwrap(), Live::Notice(notice) if notice.contains("trying again")) {
            break;
        }
    }
    let parts = world.parts();
    let sender = retrace_events::control::ControlSender::new(parts.log, parts.mint, &stream());
    let prompt = ControlPromptSent { text: "say two".to_owned(), attachments: Vec::new() };
    sender.send(prompt.into()).await.unwrap();
    serving.wait_for("turn.ended").await;
    serving.leave().await.close().await;
    assert_eq!(prompts(&world).await, ["say one", "say two"]);
    world.check().await;
}

#[tokio::test]
async fn a_cancel_right_behind_a_prompt_stops_that_prompt() {
    let world = World::with(WAITS).await;
    world.start().await.close().await;
    let parts = world.parts();
    let sender = retrace_events::control::ControlSender::new(parts.log, parts.mint, &stream());
    let prompt = ControlPromptSent { text: "wait".to_owned(), attachments: Vec::new() };
    sender.send(prompt.into()).await.unwrap();
    sender.send(ControlCancelRequested { call: None, by: "a test".to_owned() }.into()).await.unwrap();
    let mut agent = world.resume().await;
    assert_eq!(agent.run().await.unwrap(), TurnEnd::Interrupted);
    agent.close().await;
    let handled = handled(&world).await;
    assert!(handled.iter().all(|handled| handled.accepted), "{handled:?}");
    assert_eq!(world.count("tool.called").await, 0);
    world.check().await;
}

#[tokio::test]
async fn an_attachment_that_is_no_image_is_refused_and_the_session_goes_on() {
    let world = World::with(ECHOES).await;
    let mut serving = Serving::begin(world.start().await);
    let blob = world.log.blobs().put(b"only words").await.unwrap();
    let attachment = Attachment { name: "x.png".to_owned(), media_type: "image/png".to_owned(), blob };
    let prompt = ControlPromptSent { text: "say lost".to_owned(), attachments: vec![attachment] };
    serving.sender.send(prompt.into()).await.unwrap();
    serving.wait_for("session.control_handled").await;
    serving.send_prompt("say one").await;
    serving.wait_for("turn.ended").await;
    serving.leave().await.close().await;
    let handled = handled(&world).await;
    assert!(!handled[0].accepted && handled[0].note.contains("x.png is no PNG"), "{handled:?}");
    assert_eq!(prompts(&world).await, ["say one"]);
    world.check().await;
}

#[tokio::test]
async fn a_queue_has_an_end() {
    let world = World::with(WAITS).await;
    let mut serving = Serving::begin(world.start().await);
    serving.send_prompt("wait").await;
    serving.wait_for("tool.called").await;
    for _ in 0..1_001 {
        serving.send_prompt("say more").await;
    }
    while handled(&world).await.len() < 1_002 {
        serving.live.recv().await.unwrap();
    }
    let handled = handled(&world).await;
    assert!(handled[..1_001].iter().all(|handled| handled.accepted));
    assert_eq!(handled[1_001].note, "1000 prompts are waiting already");
    assert!(!handled[1_001].accepted);
    serving.kill().await;
    world.check().await;
}
