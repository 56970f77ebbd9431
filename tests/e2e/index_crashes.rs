//! Killed at any point of indexing, the index is afterwards what a clean rebuild would be, document for document.

use crate::world::{Backend, World};
use std::fs;

/// A session of some steps.
const SCRIPT: &str = r#"
[[step]]
name = "look"
next = ["again"]
[[step.block]]
type = "text"
text = "I look around."
[[step.block]]
type = "tool_use"
name = "bash"
input = { command = "ls -la; cat notes.txt" }

[[step]]
name = "again"
next = ["over"]
[[step.block]]
type = "tool_use"
name = "bash"
input = { command = "seq 1 200" }

[[step]]
name = "over"
next = ["look"]
[[step.block]]
type = "text"
text = "That is all there is."
"#;

/// How many times it is killed.
const KILLS: u64 = 50;

/// The points, the same in every run, all over `places`.
fn points(places: u64) -> impl Iterator<Item = u64> {
    let mut seed = 0x5eed_u64;
    (0..KILLS).map(move |_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % places
    })
}

#[test]
fn killed_at_fifty_points_of_indexing_it_is_whole_afterwards() {
    let world = World::new(Backend::Embedded, SCRIPT);
    world.file("notes.txt", "the kettle stands on the stove\n".repeat(40));
    let mut command = world.command(&["run", "look around"]);
    // Nothing is indexed beside the session: all of it is to do when the killing begins.
    command.env("RETRACE_INDEX", "false");
    world.finish(command).expect(0);
    let events = world.events().len() as u64;
    let folder = world.path("state/retrace/index");
    let mut killed = 0;
    // Each event is a place, and so are the two sides of the commit.
    for point in points(events + 2) {
        let _ = fs::remove_dir_all(&folder);
        let ran = world.run_until(&format!("index={point}*off->return"), &["index", "update"]);
        killed += u64::from(ran.signal == Some(libc::SIGKILL));
        world.run(&["index", "update"]).expect(0);
        let checked = world.run(&["index", "verify", "--json"]).expect(0);
        assert!(
            checked.stdout.contains("\"missing\":0") && checked.stdout.contains("\"extra\":0"),
            "{point}: {checked:?}"
        );
        assert!(!checked.stdout.contains("\"documents\":0"), "{point}: {checked:?}");
    }
    assert_eq!(killed, KILLS, "each point was reached");
}
