//! `retrace audit` on real sessions: what commands changed, what was refused, and what is said when snapshots are gone.

use crate::scripts::{calls, runs, says, script};
use crate::world::{Backend, World, payloads};
use serde_json::Value;

fn rows(world: &World, args: &[&str]) -> Vec<Value> {
    let ran = world.run(&[&["audit", "--json"], args].concat()).expect(0);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn worked() -> World {
    let steps = [
        calls("read_file", r#"{ path = "a.txt" }"#),
        runs("echo new > made; echo more >> a.txt; rm gone; chmod 700 tool"),
        calls("read_file", r#"{ path = "../outside" }"#),
        calls("read_file", r#"{ path = ".env" }"#),
        calls("write_file", r#"{ path = ".env", content = "x" }"#),
        runs("cat .env"),
        runs("sleep 30"),
        runs("rm -rf /nowhere"),
        says("done"),
    ];
    let world = World::new(Backend::Embedded, &script(&steps));
    for (name, text) in [("a.txt", "one\n"), ("gone", "x"), ("tool", "x"), (".env", "KEY=1\n")] {
        world.file(name, text);
    }
    std::fs::create_dir_all(world.path("config").join("retrace")).unwrap();
    std::fs::write(world.path("config").join("retrace/permissions.toml"), "deny = [\"bash(rm -rf *)\"]\n").unwrap();
    let mut command = world.command(&["run", "go"]);
    command.env("RETRACE_COMMAND_TIMEOUT", "1s");
    world.finish(command).expect(0);
    world
}

#[test]
fn each_call_is_on_record_with_what_it_did_and_what_it_was_refused() {
    let world = worked();
    let text = world.run(&["audit"]).expect(0).stdout;
    for part in [
        "sandbox process, level",
        "read_file  a.txt\n",
        "read: a.txt",
        "created made  4 B",
        "modified a.txt  4 B -> 9 B",
        "deleted gone",
        "mode of tool  ",
        "refused: outside workspace: ../outside leads out of the workspace",
        "refused: masked: .env is masked",
        "timed out",
        "limit hit: time",
        "denied by permissions.toml:1 `bash(rm -rf *)`",
    ] {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    assert!(text.ends_with("limit hit\n"), "{text}");
    let totals = rows(&world, &[]).last().unwrap()["totals"].clone();
    for (name, number) in [
        ("calls", 8),
        ("created", 1),
        ("modified", 1),
        ("deleted", 1),
        ("mode_changed", 1),
        ("denied", 1),
        ("refused", 3),
    ] {
        assert_eq!(totals[name], number, "{name}: {totals}");
    }
    assert_eq!(rows(&world, &["--refused"]).len(), 6, "five and the sums");
    assert_eq!(rows(&world, &["--commands"]).len(), 5);
}

#[test]
fn what_was_refused_is_told_to_the_model_and_to_the_user() {
    let world = worked();
    let events = world.events();
    let told: Vec<&str> =
        payloads(&events, "tool.finished").iter().map(|done| done["content"].as_str().unwrap()).collect();
    assert!(told[2].contains("leads out of the workspace"), "{}", told[2]);
    for masked in [told[3], told[4]] {
        assert!(masked.starts_with(".env is masked: files of this name may hold secrets"), "{masked}");
    }
    assert!(told[5].contains("[masked here, and read as empty: .env]"), "{}", told[5]);
    assert!(told[6].contains("limit hit: time") && told[6].contains("timed out"), "{}", told[6]);
    let denied = payloads(&events, "tool.denied");
    assert!(denied[0]["content"].as_str().unwrap().contains("a permission rule forbids it"), "{denied:?}");
    let shown = world.run(&["show"]).expect(0).stdout;
    for part in ["! refused: ../outside leads out", "! refused: .env is masked", "limit hit: time", "not done ("] {
        assert!(shown.contains(part), "no {part} in:\n{shown}");
    }
    assert_eq!(std::fs::read_to_string(world.workspace().join(".env")).unwrap(), "KEY=1\n");
}

#[test]
fn without_its_snapshots_what_changed_is_said_to_be_unknown() {
    let world = worked();
    std::fs::remove_dir_all(world.path("state").join("retrace/snapshots")).unwrap();
    let text = world.run(&["audit", "--files"]).expect(0).stdout;
    assert!(text.contains("what changed is not known: there is no store of snapshots here"), "{text}");
    assert!(!text.contains("created made") && text.contains("may have changed more"), "{text}");
    assert!(!world.path("state").join("retrace/snapshots").exists(), "looking leaves no trace");
}

#[test]
fn what_people_change_between_calls_is_not_the_models_doing() {
    let steps = [runs("true"), says("done"), runs("true"), says("done")];
    let world = World::new(Backend::Embedded, &script(&steps));
    world.file("a.txt", "one\n");
    world.run(&["run", "go"]).expect(0);
    world.file("a.txt", "by hand\n");
    world.run(&["resume", &world.session(), "again"]).expect(0);
    let by_hand: Vec<Value> = rows(&world, &[]).into_iter().filter(|row| row["kind"] == "changed_by_hand").collect();
    assert_eq!(by_hand.len(), 1);
    assert_eq!(by_hand[0]["changes"][0]["path"], "a.txt");
    assert_eq!(rows(&world, &["--files"]).last().unwrap()["totals"]["modified"], 0);
}
