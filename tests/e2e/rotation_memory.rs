//! A session that says many times more than its context holds needs no more memory at its end than in its middle.

use crate::memory::MemorySamples;
use crate::world::{Backend, World};

/// Says and prints about 20 KB with each step, as often as the file `goal` says.
const SCRIPT: &str = r#"
[[step]]
name = "count"
when = "count far"
next = ["end", "again"]
block = [{ type = "tool_use", name = "bash", input = { command = "sh ./print" } }]

[[step]]
name = "again"
next = ["end", "again"]
[[step.block]]
type = "text"
text = "SAID"
[[step.block]]
type = "tool_use"
name = "bash"
input = { command = "sh ./print" }

[[step]]
name = "end"
when = "that is enough"
block = [{ type = "text", text = "Far enough." }]
"#;

const PRINT: &str = r#"
n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n
seq $((n * 100000)) 300 $((n * 100000 + 600000)) | head -c 14000
[ $n -lt $(cat goal) ] || echo that is enough
"#;

/// How many steps: enough for a dozen contexts and more.
const STEPS: u32 = 150;

/// How much more is usual in the last third than in the middle one, in percent. Were all kept that is said, it would be more
/// than 10; what is kept of a session for its next epochs is nearly all there in the first third.
const MORE_PERCENT: u64 = 5;

#[test]
fn what_was_said_long_ago_takes_no_memory() {
    let world = World::new(Backend::Embedded, &SCRIPT.replace("SAID", &"I count on and on. ".repeat(300)));
    world.file("goal", STEPS.to_string());
    world.file("print", PRINT);
    let mut command = world.command(&["run", "count far"]);
    command.env("RETRACE_CONTEXT_TOKENS", "30000").env("RETRACE_MAX_STEPS", (STEPS + 10).to_string());
    // An index comes and goes with its own memory; the long session in `rotation.rs` has one.
    command.env("RETRACE_INDEX", "false");
    let (ended, samples) = MemorySamples::of(&world, command);
    assert!(ended.success(), "{ended}");
    let [first, middle, last] = samples.thirds(STEPS);
    println!("memory in the thirds of {STEPS} steps: {first}, {middle} and {last} KiB");
    assert!(last * 100 <= middle * (100 + MORE_PERCENT), "{middle} KiB in the middle, {last} KiB at the end");
}
