//! Summaries by the API, with the program as users have it: a session that is longer than its context goes on behind them, also
//! when it is killed on the way; a fork goes on from one; and the conversation in a terminal has a command for it.

use crate::checks::text;
use crate::scripts::{says, script};
use crate::talk::Talk;
use crate::world::{Backend, Ran, World, payloads};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::HashSet;

/// Counts as far as the file `goal` says, with much to read each time.
const SCRIPT: &str = r#"
[[step]]
name = "count"
next = ["end", "count"]
[[step.block]]
type = "thinking"
text = "one more"
[[step.block]]
type = "tool_use"
name = "bash"
input = { command = "n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n; echo $RETRACE_CALL_ID >> effects.log; echo \"count $n\"; [ $n -lt $(cat goal) ] || echo that is enough; seq $n 300 $((n + 120000)) | head -c 2000" }

[[step]]
name = "end"
when = "that is enough"
block = [{ type = "text", text = "Counted." }]
"#;

const TASK: &str = "count, and do not hurry";
const GOAL: u32 = 60;
const KILLS: u32 = 16;

fn world() -> World {
    let world = World::new(Backend::Embedded, SCRIPT);
    world.file("goal", GOAL.to_string());
    world
}

fn run(world: &World, args: &[&str], kill: Option<u32>) -> Ran {
    let mut command = world.command(args);
    command.env("RETRACE_CONTEXT_TOKENS", "20000").env("RETRACE_COMPACTION", "api").env("RETRACE_INDEX", "false");
    if let Some(n) = kill {
        command.env("FAILPOINTS", format!("step={n}*off->return"));
    }
    world.finish(command)
}

/// What must hold however the session went; the epochs that began with a summary.
fn check(world: &World) -> usize {
    let verified = world.run(&["replay", "--verify", &world.session()]);
    assert_eq!(verified.code, Some(0), "{}\n{}", verified.stdout, verified.stderr);
    for received in world.server.requests() {
        assert!(received.refusal.is_none(), "a request was refused: {received:?}");
    }
    let effects = world.read("effects.log");
    let effects: Vec<&str> = effects.lines().collect();
    assert_eq!(effects.iter().collect::<HashSet<_>>().len(), effects.len(), "an effect happened twice");
    assert!(world.read("n").trim().parse::<u32>().unwrap() >= GOAL);
    let events = world.events();
    assert_eq!(payloads(&events, "turn.ended").len(), 1);
    // Whatever was asked for was settled, once.
    let asked = payloads(&events, "context.compaction_requested").len();
    let answered = payloads(&events, "context.compaction_answered").len();
    assert_eq!(asked, answered + payloads(&events, "context.compaction_failed").len());
    payloads(&events, "context.epoch_started").iter().filter(|epoch| epoch["compacted"].is_string()).count()
}

#[test]
fn a_long_session_goes_on_behind_the_apis_summaries() {
    let world = world();
    run(&world, &["run", TASK], None).expect(0);
    let compacted = check(&world);
    assert!(compacted >= 2, "{compacted}");
    let shown = world.run(&["show", &world.session()]).expect(0).stdout;
    assert_eq!(shown.matches("it keeps the API's summary, word for word from event").count(), compacted, "{shown}");
    let explained = world.run(&["context", "explain", &world.session()]).expect(0).stdout;
    assert!(explained.contains("compaction") && explained.contains("the API"), "{explained}");
    // What summaries cost is part of what the session cost.
    let events = world.events();
    let cost: u64 = ["turn.answered", "context.compaction_answered"]
        .iter()
        .flat_map(|kind| payloads(&events, kind))
        .map(|answer| answer["cost_microusd"].as_u64().unwrap())
        .sum();
    let own: u64 = payloads(&events, "turn.answered").iter().map(|it| it["cost_microusd"].as_u64().unwrap()).sum();
    assert!(cost > own, "{cost} and {own}");
    let configured = world.run(&["config", "show"]).expect(0).stdout;
    assert!(configured.contains("compaction"), "{configured}");
}

#[test]
fn killed_around_its_summaries_it_goes_on_all_the_same() {
    let mut random = StdRng::seed_from_u64(20_261_122);
    let (mut kills, mut compacted) = (0, 0);
    while kills < KILLS {
        let world = world();
        let mut args: Vec<&str> = vec!["run", TASK];
        loop {
            let kill = (kills < KILLS).then(|| random.random_range(0..160));
            let ran = run(&world, &args, kill);
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
        compacted += check(&world);
    }
    println!("{kills} kills, {compacted} summaries put in place");
    assert!(compacted >= 2, "{compacted}");
}

#[test]
fn a_conversation_is_summed_up_on_the_users_word() {
    let steps = [says("answer one"), says("answer two"), says("answer three")];
    let plain = World::new(Backend::Embedded, &script(&steps));
    let talk = Talk::begin(&plain, &[]);
    talk.terminal.enter("/compact");
    talk.terminal.wait_text("there is nothing to sum up yet");
    talk.ask("one", 1);
    talk.terminal.enter("/compact");
    talk.terminal.wait_text("the context begins afresh before the next request");
    talk.ask("two", 2);
    talk.quit();
    let events = plain.events();
    let epochs = payloads(&events, "context.epoch_started");
    assert_eq!(epochs.len(), 2);
    assert!(text(&epochs[1]["why"]).contains("the user asked for it"), "{}", epochs[1]["why"]);
    let verified = plain.run(&["replay", "--verify", &plain.session()]);
    assert_eq!(verified.code, Some(0), "{}\n{}", verified.stdout, verified.stderr);
}
