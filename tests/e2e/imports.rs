//! Sessions of another program through the command as a user runs it: taken in, read, verified, gone on with in a sandbox, and
//! completed after a kill.

use crate::checks::{objects, text};
use crate::scripts::{runs, says, script};
use crate::world::{Backend, World};
use std::fs;
use std::path::PathBuf;

const SESSION: &str = include_str!("../../runtime/src/import/tests/transcripts/session.jsonl");
const SESSION_ID: &str = "5e551011-0000-4000-8000-000000000001";

/// Writes the transcript as if its session had worked in the world's workspace.
fn transcript(world: &World, text: &str) -> PathBuf {
    let folder = world.path("home").join(".claude/projects/-parser");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{SESSION_ID}.jsonl"));
    let workspace = world.workspace().canonicalize().unwrap();
    fs::write(&path, text.replace("/home/ada/parser", workspace.to_str().unwrap())).unwrap();
    path
}

/// The whole way on one kind of log.
fn taken_in_and_gone_on_with(backend: Backend) {
    let world = World::new(
        backend,
        &script(&[says("never said: the transcript's answer stands here"), runs("cat note.txt"), says("seen")]),
    );
    world.file("note.txt", "from the workspace");
    transcript(&world, SESSION);
    // From where Claude Code keeps them, without being told.
    let ran = world.run(&["import", "claude-code", "--json"]).expect(0);
    let said = objects(&ran);
    assert_eq!((text(&said[0]["session"]), text(&said[0]["state"])), (SESSION_ID, "new"));
    assert_eq!(said[1]["stored"], 51);
    assert_eq!(objects(&world.run(&["import", "claude-code", "--json"]).expect(0))[1]["stored"], 0);
    world.run(&["log", "verify"]).expect(0);
    let verify = || objects(&world.run(&["replay", "--verify", SESSION_ID, "--json"]).expect(0)).remove(0);
    assert_eq!((verify()["requests"].as_u64(), verify()["imported_requests"].as_u64()), (Some(0), Some(14)));
    let workspace = world.workspace().canonicalize().unwrap();
    let resume = ["resume", SESSION_ID, "look at the note", "--workspace", workspace.to_str().unwrap()];
    assert!(world.run(&resume).expect(0).stdout.contains("seen"));
    let after = verify();
    assert_eq!((after["requests"].as_u64(), after["imported_requests"].as_u64()), (Some(2), Some(14)));
    let shown = world.run(&["show", SESSION_ID]).expect(0).stdout;
    assert!(shown.contains("from the workspace") && shown.contains("why does parse"), "{shown}");
    // It has gone on here: nothing of the transcript is mixed in any more.
    let before = world.run(&["export", SESSION_ID]).expect(0).stdout;
    let more = SESSION.replace("a0000000-", "f0000000-").replace("msg_", "msg_x").replace("T09:", "T11:");
    transcript(&world, &format!("{SESSION}{more}"));
    let ran = world.run(&["import", "claude-code"]).expect(1);
    assert!(ran.stderr.contains("has gone on here from event 51") && ran.stderr.contains("hint:"), "{}", ran.stderr);
    assert_eq!(world.run(&["export", SESSION_ID]).expect(0).stdout, before);
}

#[test]
fn a_session_is_taken_in_and_gone_on_with() {
    taken_in_and_gone_on_with(Backend::Embedded);
}

#[test]
fn a_session_is_taken_into_jetstream_and_gone_on_with() {
    taken_in_and_gone_on_with(Backend::JetStream);
}

#[test]
fn an_import_that_was_killed_is_completed_by_the_next() {
    let world = World::new(Backend::Embedded, &script(&[says("unused")]));
    // Enough for many batches.
    let turn = |n: usize| {
        let text = SESSION.replace("a0000000-", &format!("{n:08x}-")).replace("msg_", &format!("msg_{n}_"));
        text.replace("toolu_", &format!("toolu_{n}_")).replace("T09:", &format!("T{:02}:", 9 + n / 10))
    };
    let path = transcript(&world, &(0..60).map(turn).collect::<String>());
    let path = path.to_str().unwrap();
    let reference = World::new(Backend::Embedded, &script(&[says("unused")]));
    let expected = reference.run(&["import", "claude-code", path, "--json"]).expect(0);
    let expected = objects(&expected).remove(1)["stored"].as_u64().unwrap();
    assert!(expected > 2_000, "{expected}");
    let mut seen = 0;
    for number in 1..=4 {
        let ran = world.run_until(&format!("import batch={number}*off->return"), &["import", "claude-code", path]);
        assert_eq!(ran.signal, Some(9), "it was not killed: {}", ran.stdout);
        world.run(&["log", "verify"]).expect(0);
        let listed = objects(&world.run(&["sessions", "--json"]).expect(0));
        let there = listed
            .first()
            .map_or(0, |_| objects(&world.run(&["log", "info", "--json"]).expect(0))[0]["events"].as_u64().unwrap());
        assert!(there > seen && there < expected, "{there} after {seen} of {expected}");
        seen = there;
    }
    let rest = objects(&world.run(&["import", "claude-code", path, "--json"]).expect(0)).remove(1);
    assert_eq!((rest["present"].as_u64(), rest["stored"].as_u64()), (Some(seen), Some(expected - seen)));
    let export = |world: &World| world.run(&["export", SESSION_ID]).expect(0).stdout;
    // The same events, but for where the two worlds' folders are.
    assert_eq!(export(&world).lines().count(), export(&reference).lines().count());
}

#[test]
fn a_session_longer_than_any_context_is_gone_on_with() {
    let world = World::new(
        Backend::Embedded,
        "[[step]]\nname = \"any\"\nnext = [\"any\"]\nblock = [{ type = \"text\", text = \"seen\" }]\n",
    );
    // Without what Claude Code itself has shortened.
    let whole: String = SESSION
        .lines()
        .filter(|line| !line.to_lowercase().contains("compact"))
        .map(|line| format!("{line}\n"))
        .collect();
    let turn = |n: usize| {
        let text = whole.replace("a0000000-", &format!("{n:08x}-")).replace("msg_", &format!("msg_{n}_"));
        text.replace("toolu_", &format!("toolu_{n}_")).replace("T09:", &format!("T{:02}:", 9 + n / 10))
    };
    let path = transcript(&world, &(0..60).map(turn).collect::<String>());
    world.run(&["import", "claude-code", path.to_str().unwrap()]).expect(0);
    let workspace = world.workspace().canonicalize().unwrap();
    let mut command = world.command(&["resume", SESSION_ID, "go on", "--workspace", workspace.to_str().unwrap()]);
    command.env("RETRACE_CONTEXT_TOKENS", "20000");
    assert!(world.finish(command).expect(0).stdout.contains("seen"));
    let events = objects(&world.run(&["export", SESSION_ID]).expect(0));
    let epoch = events.iter().find(|event| event["kind"] == "context.epoch_started").unwrap();
    assert!(epoch["payload"]["from_seq"].as_u64().unwrap() > 1_000, "the older part is not there word for word");
    assert!(!epoch["payload"]["seed"].as_array().unwrap().is_empty(), "and nothing stands for it");
    let requests = world.server.requests();
    let tokens = |it: &retrace_runtime::scripted::RequestRecord| it.input_tokens + it.cache_creation_input_tokens;
    assert!(requests.iter().all(|request| request.refusal.is_none() && tokens(request) < 20_000), "{requests:?}");
    world.run(&["replay", "--verify", SESSION_ID]).expect(0);
}
