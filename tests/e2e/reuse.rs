//! Results that are repeated: only of commands that the user's settings name, only on the very same files, and always said.

use crate::scripts::{calls, runs, says, script};
use crate::world::{Backend, Ran, World, payloads};
use serde_json::Value;

/// What the tests call pure; it leaves a trace of each run where no snapshot looks.
const TEST: &str = "cat a.txt; date +%s%N";

fn world(backend: Backend, steps: &[String]) -> World {
    let world = World::new(backend, &script(steps));
    world.file("a.txt", "one\n");
    world.file(".gitignore", "left/\n");
    world
}

/// A run with `cat`, `date` and `true` called pure.
fn run(world: &World, args: &[&str]) -> Ran {
    let mut command = world.command(args);
    command.env("RETRACE_PURE", "cat *, date *, true, sh -c *");
    world.finish(command)
}

/// The commands that were really run, and the results that were repeated.
fn counts(world: &World) -> (usize, usize) {
    let events = world.events();
    let finished = payloads(&events, "tool.finished").len();
    let reused = payloads(&events, "tool.result_reused").len();
    (finished - reused, reused)
}

fn contents(world: &World) -> Vec<String> {
    let events = world.events();
    payloads(&events, "tool.finished").iter().map(|done| done["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_same_command_on_the_same_files_is_not_run_again_and_that_is_said() {
    let world = world(Backend::Embedded, &[runs(TEST), runs(TEST), runs("true"), runs(TEST), says("done")]);
    let ran = run(&world, &["run", "go"]).expect(0);
    assert_eq!(counts(&world), (2, 2));
    let events = world.events();
    let first = events.iter().find(|event| event["kind"] == "tool.finished").unwrap();
    let reused = payloads(&events, "tool.result_reused");
    assert!(reused.iter().all(|reused| reused["from"] == first["id"]), "always the one that was really run");
    let note = format!("[same command, same files as in event {}: result repeated, not run again]", first["seq"]);
    let said = contents(&world);
    let (head, rest) = said[0].split_once('\n').unwrap();
    assert_eq!(said[1], format!("{head}\n{note}\n{rest}"), "the model is told");
    assert_eq!(ran.stderr.matches(&note).count(), 2, "and so is the user:\n{}", ran.stderr);
    // It stands before the result, in the same batch, and nothing else does.
    let at = events.iter().position(|event| event["kind"] == "tool.result_reused").unwrap();
    assert_eq!((&events[at - 1]["kind"], &events[at + 1]["kind"]), (&"tool.called".into(), &"tool.finished".into()));
    world.run(&["replay", &world.session(), "--verify"]).expect(0);
    let audit = world.run(&["audit", "--commands"]).expect(0).stdout;
    assert!(audit.contains("4 calls · 2 commands · 2 results repeated"), "{audit}");
}

#[test]
fn without_the_users_word_everything_is_run() {
    let world = world(Backend::Embedded, &[runs(TEST), runs(TEST), says("done")]);
    world.file(".retrace.toml", "pure = [\"cat *\", \"date *\"]\n");
    let ran = world.run(&["run", "go"]).expect(0);
    assert_eq!(counts(&world), (2, 0), "a repository may not say so");
    assert!(ran.stderr.contains("`pure` ignored: a project may not set it"), "{}", ran.stderr);
}

#[test]
fn what_differs_is_run() {
    let fresh = calls("bash", &format!("{{ command = \"{TEST}\", fresh = true }}"));
    let cases: [(&str, Vec<String>); 8] = [
        (
            "an edit between",
            vec![runs(TEST), calls("write_file", r#"{ path = "a.txt", content = "two" }"#), runs(TEST)],
        ),
        ("another folder", vec![runs(TEST), calls("bash", &format!("{{ command = \"{TEST} #\", cwd = \".\" }}"))]),
        (
            "another time limit",
            vec![runs(TEST), calls("bash", &format!("{{ command = \"{TEST}\", timeout_ms = 9000 }}"))],
        ),
        ("the wish to run it", vec![runs(TEST), fresh]),
        ("a command that may do anything between", vec![runs(TEST), runs("mkdir -p left; touch left/x"), runs(TEST)]),
        (
            "a file that no snapshot holds",
            vec![runs(TEST), calls("write_file", r#"{ path = "left/x", content = "x" }"#), runs(TEST)],
        ),
        ("a command that is not pure as a whole", vec![runs("cat a.txt; touch b"), runs("cat a.txt; touch b")]),
        ("a command that changed a file", vec![runs("sh -c 'date > b'"), runs("sh -c 'date > b'")]),
    ];
    for (why, mut steps) in cases {
        let count = steps.len();
        steps.push(says("done"));
        let world = world(Backend::Embedded, &steps);
        run(&world, &["run", "go"]).expect(0);
        assert_eq!(counts(&world), (count, 0), "{why}: {:?}", contents(&world));
    }
    let ends = world(Backend::Embedded, &[runs("sh -c 'kill -9 $$'"), runs("sh -c 'kill -9 $$'"), says("done")]);
    run(&ends, &["run", "go"]).expect(0);
    assert_eq!(counts(&ends), (2, 0), "what was killed says nothing about the next time");
}

#[test]
fn a_command_that_fails_by_itself_is_repeated_too() {
    let world = world(Backend::Embedded, &[runs("cat gone"), runs("cat gone"), says("done")]);
    run(&world, &["run", "go"]).expect(0);
    assert_eq!(counts(&world), (1, 1));
    let events = world.events();
    assert!(
        payloads(&events, "tool.finished").iter().all(|done| done["is_error"] == true && done["exit"]["code"] == 1)
    );
}

#[test]
fn files_that_somebody_else_changes_are_seen_at_once() {
    // Within one turn, where nothing but the look before the command can notice it.
    let world =
        world(Backend::Embedded, &[runs(TEST), says("done"), runs(TEST), says("done"), runs(TEST), says("done")]);
    run(&world, &["run", "go"]).expect(0);
    let session = world.session();
    world.file("a.txt", "another\n");
    run(&world, &["resume", &session, "again"]).expect(0);
    assert_eq!(counts(&world), (2, 0));
    assert!(contents(&world)[1].contains("another"));
    world.file("a.txt", "one\n");
    run(&world, &["resume", &session, "again"]).expect(0);
    assert_eq!(counts(&world), (2, 1), "the files as they were: what came of it then holds again");
    assert!(contents(&world)[2].contains("\none\n"), "{:?}", contents(&world));
}

#[test]
fn without_snapshots_everything_is_run() {
    let world = world(Backend::Embedded, &[runs(TEST), runs(TEST), says("done")]);
    let mut command = world.command(&["run", "go"]);
    command.env("RETRACE_PURE", "cat *, date *").env("RETRACE_SNAPSHOTS", "off");
    world.finish(command).expect(0);
    assert_eq!(counts(&world), (2, 0));
}

fn a_fork_has_what_was_found_before_it(backend: Backend) {
    let world = world(backend, &[runs(TEST), says("done"), runs(TEST), says("done")]);
    run(&world, &["run", "go"]).expect(0);
    let session = world.session();
    let folder = world.path("fork").display().to_string();
    run(&world, &["fork", &session, "--dir", &folder, "--prompt", "again"]).expect(0);
    let fork = world.session();
    assert_ne!(fork, session);
    assert_eq!(counts(&world), (1, 1));
    let note = format!(" of session {session}: result repeated, not run again]");
    assert!(contents(&world).iter().any(|said| said.contains(&note)), "{:?}", contents(&world));
    let rows = world.run(&["audit", &fork, "--commands", "--json"]).expect(0).stdout;
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 2, "its own part: {rows:?}");
    assert!(rows[0]["repeats"].is_string());
    let all = world.run(&["audit", &fork, "--commands", "--json", "--all"]).expect(0).stdout;
    assert_eq!(all.lines().count(), 3, "{all}");
}

#[test]
fn a_fork_has_what_was_found_before_it_on_the_embedded_log() {
    a_fork_has_what_was_found_before_it(Backend::Embedded);
}

#[test]
fn a_fork_has_what_was_found_before_it_on_jetstream() {
    a_fork_has_what_was_found_before_it(Backend::JetStream);
}

#[test]
fn a_session_that_is_resumed_knows_what_it_found() {
    let world = world(Backend::Embedded, &[runs(TEST), says("done"), runs(TEST), says("done")]);
    run(&world, &["run", "go"]).expect(0);
    run(&world, &["resume", &world.session(), "again"]).expect(0);
    assert_eq!(counts(&world), (1, 1));
    // Carried out anew, `date` says another time: whoever calls it pure is found out.
    let again = world.run(&["replay", &world.session(), "--execute", "--json"]);
    assert!(again.stdout.contains("\"calls\":2"), "{}\n{}", again.stdout, again.stderr);
}
