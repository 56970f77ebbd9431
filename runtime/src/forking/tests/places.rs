//! Where forks begin, what they take with them and what they leave, and how they are found again.

use super::*;
use crate::replaying::verify_session;
use crate::snapshots::restore;
use retrace_events::control::ControlSender;
use retrace_events::fold::{self, FilesAt};
use retrace_events::payload::control::ControlTagged;
use retrace_events::payload::{Payload, Tool, Turn, Workspace};
use retrace_events::{EventId, LogError};

/// Writes a file, asks for a second one, and ends; whatever is said later is answered with a word.
const WRITES: &str = "
[[step]]
block = [{ type = 'tool_use', name = 'bash', input = { command = 'echo one > one' } }]
[[step]]
block = [{ type = 'tool_use', name = 'write_file', input = { path = 'two', content = 'two' } }]
[[step]]
name = 'end'
next = ['end']
block = [{ type = 'text', text = 'done' }]
";

/// A session that ran to its end, and its stream.
async fn session(world: &World) -> StreamId {
    let mint = KeepingMint::new(world.workspace());
    let mut agent = world.start("original", &mint).await;
    ask(&mut agent, "go").await;
    agent.close().await;
    example_stream("original")
}

async fn resume(world: &World, stream: &StreamId) -> Agent {
    Agent::resume(world.parts(Arc::new(SystemMint)), stream.clone(), None).await.unwrap()
}

/// The numbers of the events of `kind`.
async fn numbers(world: &World, stream: &StreamId, kind: &str) -> Vec<u64> {
    let events = world.events(stream).await;
    events.iter().filter(|event| event.envelope.kind == kind).map(|event| event.envelope.seq).collect()
}

async fn kinds(world: &World, stream: &StreamId) -> Vec<String> {
    world.events(stream).await.into_iter().map(|event| event.envelope.kind).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn snapshots_stand_before_the_first_writing_call_and_before_each_result_that_changed_files() {
    let world = World::with(WRITES).await;
    let stream = session(&world).await;
    let of_files = |kind: &str| kind.starts_with("workspace.") || kind.starts_with("tool.");
    let kinds: Vec<String> = kinds(&world, &stream).await.into_iter().filter(|kind| of_files(kind)).collect();
    let call = ["tool.called", "workspace.snapshotted", "tool.finished"];
    assert_eq!(kinds, [&["workspace.snapshotted"][..], &call, &call].concat());
    let mut previous = None;
    for event in world.events(&stream).await {
        if let Some(Payload::Workspace(Workspace::Snapshotted(taken))) = event.payload.known() {
            assert_eq!(taken.previous, previous);
            previous = Some(taken.tree.clone());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_writes_nothing_still_says_which_files_it_saw() {
    let world = World::with("[[step]]\nblock = [{ type = 'text', text = 'done' }]\n").await;
    let stream = session(&world).await;
    let kinds = kinds(&world, &stream).await;
    assert_eq!(kinds[kinds.len() - 2..], ["workspace.snapshotted", "turn.ended"]);
    let point = ForkPoint::find(&world.log, &stream, Some(0)).await.unwrap();
    assert!(matches!(point.files, FilesAt::At(_)), "{:?}", point.files);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_snapshots_nothing_is_logged_and_the_files_are_unknown() {
    let world = World::with(WRITES).await;
    let mut parts = world.parts(Arc::new(SystemMint));
    parts.snapshots = None;
    let new = NewSession {
        stream: example_stream("original"),
        title: "a test".to_owned(),
        workspace: world.workspace(),
        settings: world.settings.clone(),
    };
    let mut agent = Agent::start(parts, new).await.unwrap();
    ask(&mut agent, "go").await;
    agent.close().await;
    assert_eq!(numbers(&world, &example_stream("original"), "workspace.snapshotted").await, Vec::<u64>::new());
    let point = ForkPoint::find(&world.log, &example_stream("original"), None).await.unwrap();
    assert_eq!(point.files, FilesAt::Unknown);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_that_fails_is_said_once_and_the_session_goes_on() {
    let world = World::with(WRITES).await;
    let mut parts = world.parts(Arc::new(SystemMint));
    // Its store would be a file.
    let mut plan = world.plan();
    plan.dir = world.root.path().join("no-folder");
    std::fs::write(&plan.dir, "x").unwrap();
    parts.snapshots = Some(plan);
    let new = NewSession {
        stream: example_stream("original"),
        title: "a test".to_owned(),
        workspace: world.workspace(),
        settings: world.settings.clone(),
    };
    let mut agent = Agent::start(parts, new).await.unwrap();
    let end = ask(&mut agent, "go").await;
    assert!(matches!(end, TurnEnd::Ended { .. }), "{end:?}");
    let stream = example_stream("original");
    assert_eq!(numbers(&world, &stream, "workspace.snapshot_failed").await.len(), 1);
    let point = ForkPoint::find(&world.log, &stream, None).await.unwrap();
    assert!(matches!(&point.files, FilesAt::Failed(why) if why.contains("no-folder")), "{:?}", point.files);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_changed_by_hand_between_turns_is_a_snapshot_of_no_call() {
    let world = World::with(WRITES).await;
    let mint = KeepingMint::new(world.workspace());
    let mut agent = world.start("original", &mint).await;
    ask(&mut agent, "go").await;
    std::fs::write(world.workspace().join("by-hand"), "x").unwrap();
    ask(&mut agent, "again").await;
    let stream = example_stream("original");
    let prompts = numbers(&world, &stream, "turn.prompted").await;
    let by_hand = world.events(&stream).await.into_iter().find_map(|event| match event.payload.known() {
        Some(Payload::Workspace(Workspace::Snapshotted(taken))) if event.envelope.seq > prompts[1] => {
            Some(taken.clone())
        }
        _ => None,
    });
    assert_eq!(by_hand.map(|taken| (taken.after, taken.changed_files)), Some((None, 1)));
    // At the first turn's end the file was not there yet; with the second prompt it was.
    for (seq, there) in [(prompts[1] - 1, false), (prompts[1], true)] {
        let point = ForkPoint::find(&world.log, &stream, Some(seq)).await.unwrap();
        let FilesAt::At(tree) = point.files else { panic!("{:?}", point.files) };
        let into = world.root.path().join(format!("at-{seq}"));
        restore(&world.plan(), &tree, &into).await.unwrap();
        assert_eq!(into.join("by-hand").exists(), there, "event {seq}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn inside_a_call_the_fork_begins_just_before_it_and_runs_it_itself() {
    let world = World::with(WRITES).await;
    let stream = session(&world).await;
    let called = numbers(&world, &stream, "tool.called").await[1];
    for seq in [called, called + 1] {
        let (point, fork) = world.fork(&stream, seq, &format!("fork-{seq}"), false).await;
        assert_eq!((point.seq, point.moved_from), (called - 1, Some(seq)));
        let mut agent = resume(&world, &fork).await;
        assert!(matches!(agent.run().await.unwrap(), TurnEnd::Ended { .. }));
        agent.close().await;
        let folder = world.root.path().canonicalize().unwrap().join(format!("fork-{seq}"));
        assert_eq!(std::fs::read_to_string(folder.join("one")).unwrap(), "one\n");
        assert_eq!(std::fs::read_to_string(folder.join("two")).unwrap(), "two");
        assert_eq!(numbers(&world, &fork, "tool.called").await.len(), 1);
        assert!(verify_session(&world.log, &fork).await.unwrap().agrees());
    }
    world.check();
}

#[tokio::test(flavor = "multi_thread")]
async fn other_words_end_the_turn_that_was_open_and_settle_its_calls() {
    let world = World::with(WRITES).await;
    let stream = session(&world).await;
    let answered = numbers(&world, &stream, "turn.answered").await[0];
    let (_, fork) = world.fork(&stream, answered, "fork", true).await;
    let events = world.events(&fork).await;
    let Some(Payload::Tool(Tool::Denied(denied))) = events[2].payload.known() else { panic!("{:?}", events[2]) };
    assert!(denied.content.contains("forked"), "{}", denied.content);
    let Some(Payload::Turn(Turn::Interrupted(by))) = events[3].payload.known() else { panic!("{:?}", events[3]) };
    assert_eq!((by.by.as_str(), by.during.as_str()), ("fork", "tool calls"));
    let mut agent = resume(&world, &fork).await;
    ask(&mut agent, "something else").await;
    agent.close().await;
    world.check();
    assert!(verify_session(&world.log, &fork).await.unwrap().agrees());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_is_told_once_where_its_workspace_is_now() {
    let world = World::with(WRITES).await;
    let stream = session(&world).await;
    let (_, fork) = world.fork(&stream, 5, "fork", true).await;
    let mut agent = resume(&world, &fork).await;
    ask(&mut agent, "one").await;
    ask(&mut agent, "two").await;
    agent.close().await;
    let told: Vec<String> = world
        .events(&fork)
        .await
        .iter()
        .filter_map(|event| match event.payload.known() {
            Some(Payload::Turn(Turn::Warned(warned))) => Some(warned.note.clone()),
            _ => None,
        })
        .collect();
    let [told] = &told[..] else { panic!("{told:?}") };
    let folder = world.root.path().canonicalize().unwrap().join("fork").display().to_string();
    assert!(told.contains(&folder) && told.contains(&world.workspace().display().to_string()), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_parent_used_is_not_what_the_fork_used() {
    let world = World::with(WRITES).await;
    let stream = session(&world).await;
    let parent = fold::load(&world.log, &stream).await.unwrap();
    let (_, fork) = world.fork(&stream, parent.next_seq() - 1, "fork", true).await;
    let before = fold::load(&world.log, &fork).await.unwrap();
    assert_eq!(before.totals.steps, parent.totals.steps);
    assert_eq!((before.own_totals().steps, before.own_totals().cost_microusd), (0, 0));
    let mut agent = resume(&world, &fork).await;
    ask(&mut agent, "more").await;
    assert_eq!(agent.state().own_totals().steps, 1);
    assert_eq!(agent.state().totals_since_fork().prompts, 1);
    agent.close().await;
    let own = fold::load_own(&world.log, &fork).await.unwrap();
    assert_eq!(own.totals.steps, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rewind_that_was_broken_off_is_finished_by_whoever_goes_on() {
    let world = World::with(WRITES).await;
    let stream = session(&world).await;
    let first = numbers(&world, &stream, "tool.finished").await[0];
    let point = ForkPoint::find(&world.log, &stream, Some(first)).await.unwrap();
    let head = ForkPoint::find(&world.log, &stream, None).await.unwrap();
    let fork = NewFork {
        stream: example_stream("rewound"),
        reason: SessionForkReason::Rewind,
        title: "back".to_owned(),
        workspace: world.workspace(),
        settings: world.settings.clone(),
        leaves_turn: true,
        replaced: head.files.tree().map(str::to_owned),
    };
    fork.write(Arc::new(world.log.clone()), Arc::new(SystemMint), &point).await.unwrap();
    // The process died here, before the files were brought back.
    assert!(world.workspace().join("two").exists());
    let rewound = example_stream("rewound");
    resume(&world, &rewound).await.close().await;
    assert!(!world.workspace().join("two").exists() && world.workspace().join("one").exists());
    // What is changed from now on is nobody's to take back.
    std::fs::write(world.workspace().join("three"), "3").unwrap();
    resume(&world, &rewound).await.close().await;
    assert!(world.workspace().join("three").exists());
    let state = fold::load(&world.log, &rewound).await.unwrap();
    assert_eq!(state.files, point.files);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_and_sessions_that_are_not_there() {
    let world = World::with(WRITES).await;
    let stream = session(&world).await;
    let last = world.events(&stream).await.len() as u64 - 1;
    let error = ForkPoint::find(&world.log, &stream, Some(last + 1)).await.unwrap_err();
    assert_eq!(error.to_string(), format!("session original has no event {}; its last is {last}", last + 1));
    let nobody = ForkPoint::find(&world.log, &example_stream("nobody"), None).await.unwrap_err();
    assert!(matches!(nobody, ForkError::NoSession(_)));
    let (_, fork) = world.fork(&stream, 3, "fork", true).await;
    let elsewhere = MemoryLog::new();
    let own = world.log.read(&fork, 0, 10).await.unwrap();
    elsewhere.append(&own).await.unwrap();
    let error = fold::load(&elsewhere, &fork).await.unwrap_err();
    assert!(matches!(&error, LogError::NoParent { parent, .. } if parent == "original"), "{error}");
    assert!(fold::load_own(&elsewhere, &fork).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_name_events_and_the_newest_of_a_name_counts() {
    let world = World::with(WRITES).await;
    let stream = session(&world).await;
    let events = world.events(&stream).await;
    let sender = ControlSender::new(Arc::new(world.log.clone()), Arc::new(SystemMint), &stream);
    for (name, seq) in [("good", 3), ("bad", 4), ("good", 5)] {
        let tagged = ControlTagged { event: events[seq].envelope.id, tag: name.to_owned() };
        sender.send(tagged.into()).await.unwrap();
    }
    let tags = tags_of(&world.log, &stream).await.unwrap();
    let named: Vec<(&str, EventId)> = tags.iter().map(|tag| (tag.name.as_str(), tag.event)).collect();
    assert_eq!(named, [("bad", events[4].envelope.id), ("good", events[5].envelope.id)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tree_of_forks_and_where_two_of_them_parted() {
    let world = World::with(WRITES).await;
    let stream = session(&world).await;
    let (_, a) = world.fork(&stream, 4, "a", true).await;
    let (_, b) = world.fork(&stream, 9, "b", true).await;
    let (_, a2) = world.fork(&a, 1, "a2", true).await;
    let tree = ForkTree::read(&world.log).await.unwrap();
    let roots: Vec<&StreamId> = tree.roots().map(|kin| &kin.stream).collect();
    assert_eq!(roots, [&stream]);
    let below: Vec<(usize, &str)> =
        tree.below(&stream).into_iter().map(|(depth, kin)| (depth, kin.stream.id.as_str())).collect();
    assert_eq!(below, [(0, "original"), (1, "a"), (2, "a2"), (1, "b")]);

    let parting = |left: (StreamId, u64), right: (StreamId, u64)| {
        let log = world.log.clone();
        async move { Parting::of(&log, (&left.0, left.1), (&right.0, right.1)).await.unwrap() }
    };
    let at = |stream: &StreamId, seq: u64| Some((stream.clone(), seq));
    assert_eq!(parting((a.clone(), 1), (b.clone(), 0)).await.last, at(&stream, 4));
    assert_eq!(parting((a2.clone(), 0), (a.clone(), 1)).await.last, at(&a, 1));
    assert_eq!(parting((a2.clone(), 0), (stream.clone(), 2)).await.last, at(&stream, 2));
    assert_eq!(parting((stream.clone(), 7), (stream.clone(), 9)).await.last, at(&stream, 7));
    assert_eq!(parting((a2, 0), (b, 0)).await.common_events, 5);
    let stranger = example_stream("stranger");
    let mint: Arc<dyn Mint> = Arc::new(SystemMint);
    let new = NewSession {
        stream: stranger.clone(),
        title: String::new(),
        workspace: world.workspace(),
        settings: world.settings.clone(),
    };
    Agent::start(world.parts(mint), new).await.unwrap().close().await;
    assert_eq!(parting((stream, 3), (stranger, 1)).await, Parting { common_events: 0, last: None });
}
