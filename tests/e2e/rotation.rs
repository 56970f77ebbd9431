//! Sessions that are longer than their context: it begins afresh again and again, and the work goes on, also when the process
//! is killed on the way; what was said at the beginning is found at the end.

use crate::checks::text;
use crate::world::{Backend, Ran, World, payloads};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::HashSet;

/// Looks up a code, then counts as far as the file `goal` says, with much to read each time; at the end it asks what the
/// code was, and writes it down.
const SCRIPT: &str = r#"
[[step]]
name = "look"
when = "find the vault"
next = ["count"]
block = [{ type = "thinking", text = "look" }, { type = "tool_use", name = "bash", input = { command = "cat code.txt" } }]

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

/// How far it counts: 130 steps need several contexts. `RETRACE_ROTATION_STEPS=2000` takes some minutes.
fn steps() -> u32 {
    std::env::var("RETRACE_ROTATION_STEPS").ok().and_then(|steps| steps.parse().ok()).unwrap_or(130)
}

fn world(goal: u32) -> World {
    let world = World::new(Backend::Embedded, SCRIPT);
    world.file("goal", goal.to_string());
    world.file("code.txt", "the vault code is 7-3-9\n");
    world
}

/// Runs the command under a small budget of context.
fn run(world: &World, args: &[&str], kill: Option<u32>, index: bool) -> Ran {
    let mut command = world.command(args);
    command.env("RETRACE_CONTEXT_TOKENS", "30000").env("RETRACE_MAX_STEPS", (steps() + 170).to_string());
    command.env("RETRACE_INDEX", index.to_string());
    if let Some(n) = kill {
        command.env("FAILPOINTS", format!("step={n}*off->return"));
    }
    world.finish(command)
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
    run(&world, &["run", TASK], None, true).expect(0);
    let events = check(&world, goal);
    let epochs = payloads(&events, "context.epoch_started");
    println!("{goal} steps in {} epochs", epochs.len());
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

#[test]
fn killed_again_and_again_it_rotates_all_the_same() {
    let mut random = StdRng::seed_from_u64(20_261_121);
    let (mut kills, mut rotations) = (0, 0);
    while kills < 50 {
        let goal = 70;
        let world = world(goal);
        let mut args: Vec<&str> = vec!["run", TASK];
        loop {
            let kill = (kills < 50).then(|| random.random_range(0..140));
            let ran = run(&world, &args, kill, true);
            if ran.signal != Some(libc::SIGKILL) {
                ran.expect(0);
                break;
            }
            kills += 1;
            let none = world.run(&["sessions", "--json"]).expect(0).stdout.trim().is_empty();
            let prompted = !none && !payloads(&world.events(), "turn.prompted").is_empty();
            args = match (none, prompted) {
                (true, _) => vec!["run", TASK],
                (false, false) => vec!["resume", "--last", TASK],
                (false, true) => vec!["resume", "--last"],
            };
        }
        let events = check(&world, goal);
        assert_eq!(world.read("found.txt").trim(), "7-3-9");
        assert_eq!(payloads(&events, "turn.ended").len(), 1);
        rotations += payloads(&events, "context.epoch_started").len() - 1;
    }
    println!("{kills} kills, {rotations} rotations");
    assert!(rotations >= 4, "{rotations}");
}
