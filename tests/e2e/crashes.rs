//! The process is killed (-9) at every step of the loop in turn, and at random ones again and again in the same session;
//! it is resumed each time. At the end the log must be whole, every request well-formed and the very one the log
//! renders to, and no call with an effect carried out twice.

use crate::world::{Backend, World, payloads};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::{HashMap, HashSet};

/// Four steps: two calls that only look, side by side; three with effects; an edit with a command; the end. Each command
/// writes the id of its call into a file, so that effects can be counted by the effects themselves.
const SCRIPT: &str = r#"
[[step]]
[[step.block]]
type = "thinking"
text = "I should look first."
[[step.block]]
type = "text"
text = "Looking around."
[[step.block]]
type = "tool_use"
name = "list_dir"
input = { path = "." }
[[step.block]]
type = "tool_use"
name = "search_files"
input = { pattern = "hello" }

[[step]]
[[step.block]]
type = "thinking"
text = "Now I act."
[[step.block]]
type = "tool_use"
name = "bash"
input = { command = "echo $RETRACE_CALL_ID >> effects.log" }
[[step.block]]
type = "tool_use"
name = "read_file"
input = { path = "hello.txt" }
[[step.block]]
type = "tool_use"
name = "bash"
input = { command = "echo $RETRACE_CALL_ID >> effects.log; echo done" }
[[step.block]]
type = "tool_use"
name = "write_file"
input = { path = "notes.txt", content = "one\n" }

[[step]]
[[step.block]]
type = "thinking"
text = "Nearly done."
[[step.block]]
type = "tool_use"
name = "edit_file"
input = { path = "hello.txt", old_string = "hello", new_string = "goodbye" }
[[step.block]]
type = "tool_use"
name = "bash"
input = { command = "echo $RETRACE_CALL_ID >> effects.log; cat hello.txt" }

[[step]]
[[step.block]]
type = "text"
text = "All done."
"#;

const TASK: &str = "say goodbye instead of hello";

fn world(backend: Backend) -> World {
    let world = World::new(backend, SCRIPT);
    world.file("hello.txt", "hello world\n");
    world
}

/// Kills at the n-th step of a run, for every n there is.
fn killed_at_every_step(backend: Backend) {
    let mut kills = 0;
    for n in 0.. {
        let world = world(backend);
        let ran = world.run_until(&format!("step={n}*off->return"), &["run", TASK]);
        let killed = ran.signal == Some(libc::SIGKILL);
        if killed {
            kills += 1;
            go_on(&world, None);
        } else {
            ran.expect(0);
        }
        check(&world, &format!("killed at step {n}"));
        if !killed {
            break;
        }
    }
    println!("{backend:?}: killed at each of {kills} steps");
    assert!(kills > 40, "only {kills} steps: the kill points are not compiled in");
}

/// Kills at random steps until there were `kills` of them, several in a session.
fn killed_at_random(backend: Backend, kills: u32) {
    let mut random = StdRng::seed_from_u64(20_261_121);
    let (mut done, mut sessions) = (0, 0);
    while done < kills {
        let world = world(backend);
        let n = random.random_range(0..30);
        let ran = world.run_until(&format!("step={n}*off->return"), &["run", TASK]);
        if ran.signal == Some(libc::SIGKILL) {
            done += 1 + go_on(&world, Some(&mut random));
        } else {
            ran.expect(0);
        }
        sessions += 1;
        check(&world, &format!("session {sessions} of random kills"));
    }
    println!("{backend:?}: {done} random kills in {sessions} sessions");
}

/// Resumes until the session comes to its end, killing it on the way when a source of chance is given. Returns the kills.
fn go_on(world: &World, mut random: Option<&mut StdRng>) -> u32 {
    let mut kills = 0;
    loop {
        let n = random.as_deref_mut().map_or(1_000_000, |random| random.random_range(0..40));
        // Killed before its first event, a session does not exist: the user runs the task again.
        let none = world.run(&["sessions", "--json"]).expect(0).stdout.trim().is_empty();
        let no_prompt = !none && payloads(&world.events(), "turn.prompted").is_empty();
        let args: &[&str] = match (none, no_prompt) {
            (true, _) => &["run", TASK],
            (false, true) => &["resume", "--last", TASK],
            (false, false) => &["resume", "--last"],
        };
        let ran = world.run_until(&format!("step={n}*off->return"), args);
        if ran.signal == Some(libc::SIGKILL) {
            kills += 1;
            assert!(kills < 500, "the session never ends");
        } else {
            ran.expect(0);
            return kills;
        }
    }
}

fn check(world: &World, when: &str) {
    let session = world.session();
    let verified = world.run(&["replay", "--verify", &session]);
    assert_eq!(verified.code, Some(0), "{when}: {}\n{}", verified.stdout, verified.stderr);
    let events = world.events();
    let ends = payloads(&events, "turn.ended");
    assert_eq!(ends.len(), 1, "{when}: the turn ends once");
    assert_eq!(ends[0]["outcome"], "Completed", "{when}");
    check_calls(&events, when);
    check_effects(world, &events, when);
    check_requests(world, &events, when);
}

/// Every call has exactly one result, which comes after it.
fn check_calls(events: &[serde_json::Value], when: &str) {
    let mut results: HashMap<String, u32> = HashMap::new();
    for kind in ["tool.finished", "tool.denied", "tool.outcome_unknown"] {
        for payload in payloads(events, kind) {
            *results.entry(payload["call"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    let called: HashSet<String> =
        payloads(events, "tool.called").iter().map(|payload| payload["call"].as_str().unwrap().to_owned()).collect();
    assert_eq!(called.len(), payloads(events, "tool.called").len(), "{when}: a call was begun twice");
    assert_eq!(called.len(), 8, "{when}: calls are missing");
    assert!(called.iter().all(|call| results.get(call) == Some(&1)), "{when}: {results:?}");
}

/// No effect happened twice, and none is missing whose call finished.
fn check_effects(world: &World, events: &[serde_json::Value], when: &str) {
    let log = world.read("effects.log");
    let effects: Vec<&str> = log.lines().collect();
    let unique: HashSet<&str> = effects.iter().copied().collect();
    assert_eq!(unique.len(), effects.len(), "{when}: an effect happened twice: {effects:?}");
    for payload in payloads(events, "tool.finished") {
        let call = payload["call"].as_str().unwrap();
        if !payload["exit"].is_null() {
            assert!(unique.contains(call), "{when}: {call} finished without its effect");
        }
    }
}

/// The server refused nothing, and got exactly the bodies the log says it was sent.
fn check_requests(world: &World, events: &[serde_json::Value], when: &str) {
    let logged: HashSet<String> =
        payloads(events, "turn.requested").iter().map(|p| p["body_hash"].as_str().unwrap().to_owned()).collect();
    for received in world.server.requests() {
        assert!(received.refusal.is_none(), "{when}: a request was refused: {received:?}");
        assert!(logged.contains(&received.body_hash.to_string()), "{when}: a body that is not in the log");
    }
    let answered = payloads(events, "turn.answered").len();
    assert!(world.server.requests().len() >= answered, "{when}");
}

#[test]
fn killed_at_every_step_on_the_embedded_log() {
    killed_at_every_step(Backend::Embedded);
}

#[test]
fn killed_at_every_step_on_jetstream() {
    killed_at_every_step(Backend::JetStream);
}

#[test]
fn killed_at_200_random_steps_on_the_embedded_log() {
    killed_at_random(Backend::Embedded, 200);
}

#[test]
fn killed_at_200_random_steps_on_jetstream() {
    killed_at_random(Backend::JetStream, 200);
}
