//! The main job: the agent works on the sources of a real public crate, changes them, and runs the crate's own tests in the
//! sandbox; everything is in the log and can be shown and verified afterwards. On both backends.

use crate::scripts::says;
use crate::world::{Backend, World, payloads};

fn the_demo_works(backend: Backend) {
    let world = World::new(backend, &says("not used"));
    let ran = world.run(&["demo"]).expect(0);
    let events = world.events();
    let exits: Vec<i64> =
        payloads(&events, "tool.finished").iter().filter_map(|payload| payload["exit"]["code"].as_i64()).collect();
    assert_eq!(exits, [101, 0, 0], "the new test fails, then passes, then all do");
    assert_eq!(payloads(&events, "turn.ended")[0]["outcome"], "Completed");
    assert_eq!(payloads(&events, "sandbox.started")[0]["level"], "process");
    assert!(ran.stderr.contains("own hashes") || ran.stdout.contains("own hashes"), "{}\n{}", ran.stdout, ran.stderr);

    let session = world.session();
    let shown = world.run(&["show", &session]).expect(0);
    for part in ["caret", "list_dir", "search_files", "read_file", "edit_file", "cargo test", "exit 101", "exit 0"] {
        assert!(shown.stdout.contains(part), "`show` does not print {part}:\n{}", shown.stdout);
    }
    let outline = world.run(&["show", "--outline", &session]).expect(0).stdout;
    for part in ["(completed)", "(exit 101)", "(exit 0)", "src/error.rs (1 reads, 3 changes)"] {
        assert!(outline.contains(part), "the outline has no {part}:\n{outline}");
    }
    world.run(&["replay", "--verify", &session]).expect(0);
}

#[test]
fn the_demo_works_on_the_embedded_log() {
    the_demo_works(Backend::Embedded);
}

#[test]
fn the_demo_works_on_jetstream() {
    the_demo_works(Backend::JetStream);
}
