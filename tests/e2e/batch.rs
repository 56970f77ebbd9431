//! `batch` as a user sees it: one call that reads, edits and tests; each call in it is on record, and shown, by itself.

use crate::scripts::{calls, says, script};
use crate::world::{Backend, World, payloads};

const THREE: &str = r#"{ calls = [
{ tool = "read_file", input = { path = "a.txt" } }, { tool = "search_files", input = { pattern = "o.e" } },
{ tool = "edit_file", input = { path = "a.txt", old_string = "one", new_string = "two" } },
{ tool = "bash", input = { command = "cat a.txt; exit 3" } }] }"#;

fn world() -> World {
    let input = THREE.replace('\n', " ");
    let world = World::new(Backend::Embedded, &script(&[calls("batch", &input), says("done")]));
    world.file("a.txt", "one\n");
    world
}

#[test]
fn a_batch_is_carried_out_shown_replayed_and_audited_call_by_call() {
    let world = world();
    let ran = world.run(&["run", "go"]).expect(0);
    assert_eq!(world.read("a.txt"), "two\n");
    for part in ["● batch  4 calls: read_file a.txt; ", "● read_file  a.txt", "● edit_file  a.txt", "exit 3"] {
        assert!(ran.stderr.contains(part), "no {part} in:\n{}", ran.stderr);
    }
    let events = world.events();
    let results = payloads(&events, "tool.finished");
    assert_eq!(results.len(), 5);
    let whole = results[4]["content"].as_str().unwrap();
    for part in [
        "[1 of 4: read_file a.txt]\n     1\tone",
        "a.txt:1:one",
        "[3 of 4: edit_file a.txt]\nedited a.txt",
        "; failed]\nexit code: 3\ntwo",
    ] {
        assert!(whole.contains(part), "no {part:?} in:\n{whole}");
    }
    // What changed a file has its snapshot directly before its result.
    let at = events
        .iter()
        .position(|event| event["kind"] == "workspace.snapshotted" && !event["payload"]["after"].is_null());
    let at = at.expect("a snapshot behind the edit");
    assert_eq!(events[at]["payload"]["after"], results[2]["call"]);
    assert_eq!(events[at + 1]["payload"]["call"], results[2]["call"]);

    let session = world.session();
    world.run(&["replay", &session, "--verify"]).expect(0);
    let again = world.run(&["replay", &session, "--execute", "--json"]).expect(0);
    let summary: serde_json::Value = serde_json::from_str(again.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&summary["summary"]["calls"], &summary["summary"]["same"]), (&4.into(), &4.into()), "{}", again.stdout);
    let audit = world.run(&["audit", &session]).expect(0).stdout;
    assert!(audit.contains("edit_file  a.txt  in a batch") && audit.contains("modified a.txt"), "{audit}");
    assert!(audit.contains("4 calls · 1 command (1 failed) · 1 file read · 1 file written"), "{audit}");
}

#[test]
fn killed_inside_a_batch_the_session_goes_on_where_it_was() {
    // Each place of the loop once: nothing is done twice, and the model hears of every part.
    for (reached, n) in (14..40).enumerate() {
        let world = world();
        let ran = world.run_until(&format!("step={n}*off->return"), &["run", "go"]);
        if ran.signal.is_none() {
            assert!(reached > 5, "the batch was never cut: {n}");
            break;
        }
        // Before its first event there is no session.
        if world.run(&["sessions", "--json"]).expect(0).stdout.is_empty() {
            continue;
        }
        world.run(&["resume", &world.session()]).expect(0);
        let events = world.events();
        for kind in ["tool.finished", "tool.outcome_unknown"] {
            for result in payloads(&events, kind) {
                let same = |other: &&serde_json::Value| other["call"] == result["call"];
                assert_eq!(payloads(&events, kind).into_iter().filter(same).count(), 1, "step {n}: {result}");
            }
        }
        world.run(&["replay", &world.session(), "--verify"]).expect(0);
    }
}
