//! Sessions that are longer than their context: it begins afresh again and again, and the work goes on, also when the process
//! is killed on the way; what was said at the beginning is found at the end.

use crate::checks::text;
use crate::memory::MemorySamples;
use crate::world::{Backend, Ran, World, payloads};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::HashSet;
use std::time::Instant;
use tokio::process::Command;

/// Looks up a code, twice since a look may be killed, then counts as far as the file `goal` says, with much to read each
/// time; at the end it asks what the code was, and writes it down.
const SCRIPT: &str = r#"
[[step]]
name = "look"
when = "find the vault"
next = ["look again"]
block = [{ type = "thinking", text = "look" }, { type = "tool_use", name = "bash", input = { command = "cat code.txt" } }]

[[step]]
name = "look again"
next = ["count"]
block = [{ type = "tool_use", name = "bash", input = { command = "cat ./code.txt" } }]

[[step]]
name = "count"
next = ["ask", "count"]
[[step.block]]
type = "thinking"
text = "one more"
[[step.block]]
type = "tool_use"
name = "bash"
input = { command = "n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n; echo $RETRACE_CALL_ID >> effects.log; echo \"count $n\"; [ $n -lt $(cat goal) ] || echo that is enough; seq $n 300 $((n + 120000)) | head -c 2000" }

[[step]]
name = "ask"
when = "that is enough"
next = ["write", "wait"]
block = [{ type = "tool_use", name = "recall", input = { query = "vault code", kind = "result" } }]

[[step]]
name = "wait"
next = ["again"]
block = [{ type = "tool_use", name = "bash", input = { command = "sleep 0.2; date +%N" } }]

[[step]]
name = "again"
next = ["write", "wait"]
block = [{ type = "tool_use", name = "recall", input = { query = "the vault code", kind = "result" } }]

[[step]]
name = "write"
when = "the vault code is (\\d-\\d-\\d)"
next = ["end"]
block = [{ type = "tool_use", name = "bash", input = { command = "echo $1 > found.txt" } }]

[[step]]
name = "end"
block = [{ type = "text", text = "The vault is open." }]
"#;

const TASK: &str = "find the vault, and do not hurry";

/// How far it counts in a long session. `RETRACE_ROTATION_STEPS=2000` takes some minutes for each of two tests.
fn long_steps() -> Option<u32> {
    std::env::var("RETRACE_ROTATION_STEPS").ok()?.parse().ok()
}

/// How far it counts: 130 steps need several contexts.
fn steps() -> u32 {
    long_steps().unwrap_or(130)
}

/// From so many steps on a session's memory must have stopped growing in its middle third.
const LONG_STEPS: u32 = 1_500;

/// How much more memory is usual in the last third of a long session than in the middle one, in percent.
const MORE_PERCENT: u64 = 8;

/// How often a session is killed, and about how many kill points a step passes.
const KILLS: u32 = 50;
const POINTS: u32 = 12;

fn world(goal: u32) -> World {
    let world = World::new(Backend::Embedded, SCRIPT);
    world.file("goal", goal.to_string());
    world.file("code.txt", "the vault code is 7-3-9\n");
    world
}

/// Runs the command under a small budget of context.
fn run(world: &World, args: &[&str], kill: Option<u32>, index: bool) -> Ran {
    world.finish(command(world, args, kill, index))
}

fn command(world: &World, args: &[&str], kill: Option<u32>, index: bool) -> Command {
    let mut command = world.command(args);
    command.env("RETRACE_CONTEXT_TOKENS", "30000").env("RETRACE_MAX_STEPS", (steps() + 170).to_string());
    command.env("RETRACE_INDEX", index.to_string());
    if let Some(n) = kill {
        command.env("FAILPOINTS", format!("step={n}*off->return"));
    }
    command
}

/// What must hold however the session went.
fn check(world: &World, goal: u32) -> Vec<serde_json::Value> {
    let session = world.session();
    let verified = world.run(&["replay", "--verify", &session]);
    assert_eq!(verified.code, Some(0), "{}\n{}", verified.stdout, verified.stderr);
    for received in world.server.requests() {
        assert!(received.refusal.is_none(), "a request was refused: {received:?}");
    }
    let effects = world.read("effects.log");
    let effects: Vec<&str> = effects.lines().collect();
    assert_eq!(effects.iter().collect::<HashSet<_>>().len(), effects.len(), "an effect happened twice");
    let counted: u32 = world.read("n").trim().parse().unwrap();
    assert!(counted >= goal, "{counted} of {goal}");
    world.events()
}

fn largest_request(world: &World) -> u64 {
    let tokens = |it: &retrace_runtime::scripted::RequestRecord| {
        it.input_tokens + it.cache_creation_input_tokens + it.cache_read_input_tokens
    };
    world.server.requests().iter().map(tokens).max().unwrap()
}

#[test]
fn a_fact_from_the_first_step_is_found_after_many_rotations() {
    let goal = steps();
    let world = world(goal);
    let (ended, samples) = MemorySamples::of(&world, command(&world, &["run", TASK], None, true));
    assert!(ended.success(), "{ended}");
    let events = check(&world, goal);
    let epochs = payloads(&events, "context.epoch_started");
    let [first, middle, last] = samples.thirds(goal);
    println!("{goal} steps in {} epochs; memory in the thirds: {first}, {middle} and {last} KiB", epochs.len());
    assert!(goal < LONG_STEPS || last * 100 <= middle * (100 + MORE_PERCENT), "{middle} KiB, and {last} at the end");
    assert!(epochs.len() > 3, "{} epochs", epochs.len());
    assert!(largest_request(&world) <= 31_500, "{} tokens", largest_request(&world));
    assert_eq!(world.read("found.txt").trim(), "7-3-9");
    // The user sees it happen, and can see what each request was made of.
    let shown = world.run(&["show", &world.session()]).expect(0).stdout;
    assert_eq!(shown.matches(" begins: the context has about").count(), epochs.len() - 1, "{shown}");
    let explained = world.run(&["context", "explain", &world.session()]).expect(0).stdout;
    assert!(explained.contains("seed") && explained.contains("kept") && explained.contains("prompt"), "{explained}");
    let before = epochs.len().to_string();
    let diff = world.run(&["context", "diff", &world.session(), "--json"]).expect(0).stdout;
    assert!(
        diff.lines().all(|line| line.contains("\"change\":\"new\"")),
        "inside an epoch nothing goes: {before} {diff}"
    );
}

#[test]
fn without_retrieval_the_fact_is_lost() {
    let goal = 130;
    let world = world(goal);
    let ran = run(&world, &["run", TASK], None, false);
    assert_ne!(ran.code, Some(0), "{}", ran.stdout);
    assert_eq!(world.read("found.txt"), "", "it was found without any index");
    let events = world.events();
    assert!(payloads(&events, "context.epoch_started").len() > 3);
    let told = payloads(&events, "tool.finished").into_iter().map(|it| text(&it["content"]));
    assert!(told.filter(|content| content.contains("no index")).count() > 0, "it did not even ask");
}

/// What goes on with a session that was killed. Killed before its first event, it does not exist: the user runs the task again.
fn going_on(world: &World) -> Vec<&'static str> {
    let none = world.run(&["sessions", "--json"]).expect(0).stdout.trim().is_empty();
    let prompted = !none && !payloads(&world.events(), "turn.prompted").is_empty();
    match (none, prompted) {
        (true, _) => vec!["run", TASK],
        (false, false) => vec!["resume", "--last", TASK],
        (false, true) => vec!["resume", "--last"],
    }
}

#[test]
fn killed_again_and_again_it_rotates_all_the_same() {
    if let Some(goal) = long_steps() {
        killed_in_a_long_session(goal);
        return;
    }
    let mut random = StdRng::seed_from_u64(20_261_121);
    let (mut kills, mut rotations) = (0, 0);
    while kills < KILLS {
        let goal = 70;
        let world = world(goal);
        let mut args: Vec<&str> = vec!["run", TASK];
        loop {
            let kill = (kills < KILLS).then(|| random.random_range(0..140));
            let ran = run(&world, &args, kill, true);
            if ran.signal != Some(libc::SIGKILL) {
                ran.expect(0);
                break;
            }
            kills += 1;
            args = going_on(&world);
        }
        rotations += check_killed(&world, goal);
    }
    println!("{kills} kills, {rotations} rotations");
    assert!(rotations >= 4, "{rotations}");
}

/// The kills spread over one session; how far each came, and how long a start takes by then.
fn killed_in_a_long_session(goal: u32) {
    let mut random = StdRng::seed_from_u64(20_261_121);
    let world = world(goal);
    let counted = || world.read("n").trim().parse::<u32>().unwrap_or(0);
    let mut args: Vec<&str> = vec!["run", TASK];
    let mut places = Vec::new();
    let begun = Instant::now();
    for left in (1..=KILLS).rev() {
        let mean = (goal.saturating_sub(counted()) * POINTS / (left + 1)).max(1);
        let ran = run(&world, &args, Some(random.random_range(0..2 * mean)), true);
        assert_eq!(ran.signal, Some(libc::SIGKILL), "{} kills, {} steps: {}", places.len(), counted(), ran.stderr);
        places.push(counted());
        if counted() == 0 || args.len() != 2 || args[0] != "resume" {
            args = going_on(&world);
        }
    }
    let killing = begun.elapsed();
    run(&world, &args, None, true).expect(0);
    let whole = begun.elapsed();
    let rotations = check_killed(&world, goal);
    println!("{} kills at steps {places:?} of {goal}, {rotations} rotations", places.len());
    println!("the last kill after {killing:.0?}, the end after {whole:.0?}");
    assert!(rotations >= 4, "{rotations}");
}

/// What must hold of a session that was killed; its rotations.
fn check_killed(world: &World, goal: u32) -> usize {
    let events = check(world, goal);
    let written = payloads(&events, "tool.called").into_iter().find(|it| text(&it["input"]).contains("found.txt"));
    let written = written.expect("the code was not found");
    assert!(text(&written["input"]).contains("echo 7-3-9"), "{written}");
    // Killed while it was written: nobody knows whether it was, and nobody tries again.
    let unknown = payloads(&events, "tool.outcome_unknown").iter().any(|it| it["call"] == written["call"]);
    assert!(unknown || world.read("found.txt").trim() == "7-3-9");
    assert_eq!(payloads(&events, "turn.ended").len(), 1);
    payloads(&events, "context.epoch_started").len() - 1
}
