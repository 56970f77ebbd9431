//! `replay --execute`: the demo comes to the same in a fresh sandbox, and what does not is found and named. The session's own
//! workspace is not needed for it, and nothing is left behind.

use crate::scripts::{runs, says, script};
use crate::world::{Backend, Ran, World, payloads};
use serde_json::Value;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// A session in which these commands ran.
fn recorded(backend: Backend, commands: &[&str]) -> World {
    let steps: Vec<String> = commands.iter().map(|command| runs(command)).chain([says("done")]).collect();
    let world = World::new(backend, &script(&steps));
    world.file("a.txt", "one\n");
    world.run(&["run", "go"]).expect(0);
    world
}

#[track_caller]
fn summary(ran: &Ran) -> Value {
    let last = ran.stdout.lines().last().unwrap_or_else(|| panic!("nothing printed: {}", ran.stderr));
    serde_json::from_str::<Value>(last).unwrap()["summary"].clone()
}

#[track_caller]
fn assert_nothing_left(world: &World) {
    let folder = world.path("cache").join("retrace/replay");
    let left: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_demo_is_reproduced_fully() {
    let world = World::new(Backend::Embedded, &says("not used"));
    // Tests run side by side: which of them are the last ones is chance, so only the verdict is looked at.
    let demo = retrace_runtime::demo::SCRIPT.to_owned();
    std::fs::write(world.path("demo.toml"), demo).unwrap();
    let path = world.path("demo.toml").display().to_string();
    world.run(&["demo", "--script", &path, "--task", retrace_runtime::demo::TASK]).expect(0);
    let session = world.session();
    let ran = world.run(&["replay", &session, "--execute", "--json"]).expect(0);
    let summary = summary(&ran);
    assert_eq!((&summary["diverging"], &summary["reproduced_permille"]), (&0.into(), &1_000.into()), "{}", ran.stdout);
    assert_eq!(summary["not_compared"], serde_json::json!({}), "every call was compared");
    assert_eq!(summary["calls"], payloads(&world.events(), "tool.finished").len());
    assert!(summary["normalisers"]["times"].as_u64() >= Some(1), "cargo says how long it took: {summary}");
    assert_eq!(summary["trees"], summary["trees_same"]);
    assert_nothing_left(&world);
}

fn a_planted_divergence_is_found(backend: Backend) {
    let world = recorded(
        backend,
        &[
            "cat a.txt; date; echo pid: $$",
            "head -c 16 /dev/urandom | od -An -tx1 | tee token.txt",
            "wc -c < token.txt; cat token.txt > copy.txt",
        ],
    );
    let session = world.session();
    let before = world.events().len();
    let ran = world.run(&["replay", &session, "--execute"]).expect(1);
    assert_eq!(ran.stdout.matches("divergence:").count(), 1, "{}", ran.stdout);
    for part in
        ["first divergence: ", "urandom", "--- then", "+++ now", "files: token.txt (differs)", "1 call diverges"]
    {
        assert!(ran.stdout.contains(part), "{part} is missing in:\n{}", ran.stdout);
    }
    let ran = world.run(&["replay", &session, "--execute", "--json"]).expect(1);
    let summary = summary(&ran);
    assert_eq!((&summary["calls"], &summary["diverging"]), (&3.into(), &1.into()), "{}", ran.stdout);
    let diverging: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|row: &Value| row["diverges"] == true)
        .collect();
    assert_eq!(diverging.len(), 1);
    let named = diverging[0]["event"].as_str().unwrap();
    let events = world.events();
    let finished = events.iter().filter(|event| event["kind"] == "tool.finished").nth(1).unwrap();
    assert_eq!(named, format!("{session}@{}", finished["seq"]), "the event is named as everywhere");
    assert_eq!(events.len(), before, "the log was written");
    world.run(&["replay", &session, "--verify"]).expect(0);
    assert_nothing_left(&world);
}

#[test]
fn a_planted_divergence_is_found_on_the_embedded_log() {
    a_planted_divergence_is_found(Backend::Embedded);
}

#[test]
fn a_planted_divergence_is_found_on_jetstream() {
    a_planted_divergence_is_found(Backend::JetStream);
}

#[test]
fn the_sessions_own_workspace_is_not_needed_and_not_reached() {
    let world =
        recorded(Backend::Embedded, &["echo two >> a.txt; cat a.txt", "pwd; echo three >> $PWD/a.txt; sort a.txt"]);
    let session = world.session();
    // As if a person had gone on with it since.
    world.file("a.txt", "quite another thing\n");
    let ran = world.run(&["replay", &session, "--execute", "--json"]).expect(0);
    assert_eq!(summary(&ran)["reproduced_permille"], 1_000, "{}", ran.stdout);
    assert_eq!(world.read("a.txt"), "quite another thing\n");
    let elsewhere = world.path("elsewhere");
    std::fs::rename(world.workspace(), &elsewhere).unwrap();
    std::fs::create_dir(world.workspace()).unwrap();
    world.run(&["replay", &session, "--execute"]).expect(0);
    assert_eq!(std::fs::read_dir(world.workspace()).unwrap().count(), 0);
}

#[test]
fn a_file_read_again_is_compared_with_what_the_pointer_means() {
    use crate::scripts::calls;
    let read = || calls("read_file", "{ path = \"long.txt\" }");
    let world = World::new(Backend::Embedded, &script(&[runs("true"), read(), read(), says("done")]));
    world.file("long.txt", "a line of some length\n".repeat(60));
    world.run(&["run", "go"]).expect(0);
    let events = world.events();
    let pointers = payloads(&events, "tool.finished")
        .iter()
        .filter(|finished| finished["content"].as_str().unwrap().starts_with("[Unchanged:"))
        .count();
    assert_eq!(pointers, 1, "the agent points at what stands already");
    let ran = world.run(&["replay", &world.session(), "--execute", "--json"]).expect(0);
    assert_eq!(summary(&ran)["same"], 3, "{}", ran.stdout);
}

#[test]
fn ctrl_c_ends_it_and_leaves_nothing() {
    // No snapshot holds what looks like a secret: the command waits for it for ever when it is carried out again.
    let steps = script(&[runs("echo first"), runs("test -e id_rsa || sleep 1000"), says("done")]);
    let world = World::new(Backend::Embedded, &steps);
    world.file("id_rsa", "gate");
    world.run(&["run", "go"]).expect(0);
    let session = world.session();
    let code = world.runtime.block_on(async {
        let mut command = world.command(&["replay", &session, "--execute", "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
        assert_eq!(first["verdict"], "same");
        // SAFETY: a signal to a child of this process that was not waited for yet.
        assert_eq!(unsafe { libc::kill(i32::try_from(child.id().unwrap()).unwrap(), libc::SIGINT) }, 0);
        while lines.next_line().await.unwrap().is_some() {}
        child.wait().await.unwrap().code()
    });
    assert_eq!(code, Some(130));
    assert_nothing_left(&world);
}

#[test]
fn forks_are_carried_out_from_their_ancestors_first_files_on() {
    let steps = script(&[
        runs("echo two >> a.txt; pwd"),
        says("done"),
        runs("echo three >> a.txt; pwd; cat a.txt"),
        says("done"),
        runs("echo four >> a.txt; cat $PWD/a.txt"),
        says("done"),
    ]);
    let world = World::new(Backend::Embedded, &steps);
    world.file("a.txt", "one\n");
    world.run(&["run", "go"]).expect(0);
    let mut line = vec![world.session()];
    for place in ["fork", "fork-of-the-fork"] {
        let folder = world.path(place).display().to_string();
        world.run(&["fork", line.last().unwrap(), "--dir", &folder, "--prompt", "go on"]).expect(0);
        line.push(world.session());
        // What a person does in between is theirs, and is there when the next one begins.
        std::fs::write(world.path(place).join("hand.txt"), place).unwrap();
    }
    for (calls, session) in (1_u64..).zip(&line) {
        let ran = world.run(&["replay", session, "--execute", "--json"]).expect(0);
        let summary = summary(&ran);
        assert_eq!(
            (&summary["calls"], &summary["reproduced_permille"]),
            (&calls.into(), &1_000.into()),
            "{}",
            ran.stdout
        );
        let verified = world.run(&["replay", session, "--verify", "--json"]).expect(0);
        let verified: Value = serde_json::from_str(verified.stdout.trim()).unwrap();
        assert_eq!((&verified["requests"], &verified["agree"]), (&2.into(), &2.into()), "its own: {verified}");
        assert_eq!(verified["inherited_events"].as_u64() > Some(0), calls > 1, "{verified}");
        let what_if = world.run(&["replay", session, "--what-if", "context_tokens=20000", "--json"]).expect(0);
        let rows: Vec<Value> = what_if.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows.len() as u64, 2 * calls + 1, "all requests of its history: {}", what_if.stdout);
        for row in rows.iter().filter(|row| row.get("summary").is_none()) {
            assert_eq!(row["sent"]["input_tokens"], row["logged_settings"]["input_tokens"], "{row}");
        }
    }
    let shown = world.run(&["replay", &line[2], "--show", "--speed", "0"]).expect(0);
    assert!(shown.stdout.contains("four") && !shown.stdout.contains("echo two"), "its own events: {}", shown.stdout);
    assert_nothing_left(&world);
}

#[test]
fn a_rewound_session_is_carried_out_with_the_files_it_went_back_to() {
    let steps = script(&[
        runs("echo two >> a.txt"),
        says("done"),
        runs("rm a.txt; ls"),
        says("done"),
        runs("echo three >> a.txt; cat a.txt"),
        says("done"),
    ]);
    let world = World::new(Backend::Embedded, &steps);
    world.file("a.txt", "one\n");
    world.run(&["run", "go"]).expect(0);
    let session = world.session();
    let back = world.events().len() - 1;
    world.run(&["resume", &session, "go on"]).expect(0);
    world.run(&["rewind", &format!("{session}@{back}")]).expect(0);
    let rewound = world.session();
    assert_ne!(rewound, session);
    world.run(&["resume", &rewound, "another way"]).expect(0);
    let ran = world.run(&["replay", &rewound, "--execute", "--json"]).expect(0);
    assert_eq!(summary(&ran)["reproduced_permille"], 1_000, "{}", ran.stdout);
    assert_eq!(summary(&ran)["calls"], 2, "what was left behind is not its history: {}", ran.stdout);
    world.run(&["replay", &session, "--execute"]).expect(0);
    assert_nothing_left(&world);
}

#[test]
fn on_another_host_the_snapshots_come_from_beside_the_log() {
    let world = recorded(Backend::JetStream, &["echo two >> a.txt; cat a.txt", "sort -r a.txt > b.txt"]);
    let session = world.session();
    let elsewhere = |args: &[&str]| {
        let mut command = world.command(args);
        command.env("XDG_STATE_HOME", world.path("other-state"));
        world.finish(command)
    };
    let ran = elsewhere(&["replay", &session, "--execute", "--json"]).expect(0);
    let summary = summary(&ran);
    assert_eq!(
        (&summary["same"], &summary["trees"], &summary["trees_same"]),
        (&2.into(), &2.into(), &2.into()),
        "{}",
        ran.stdout
    );
    assert_nothing_left(&world);
}

#[test]
fn without_its_snapshots_a_session_says_so() {
    let world = recorded(Backend::Embedded, &["echo two >> a.txt"]);
    std::fs::remove_dir_all(world.path("state").join("retrace/snapshots")).unwrap();
    let ran = world.run(&["replay", &world.session(), "--execute"]).expect(9);
    assert!(ran.stderr.contains("is not in the store here") && ran.stderr.contains("hint: "), "{}", ran.stderr);
    assert_nothing_left(&world);
}
