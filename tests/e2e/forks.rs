//! Forking, rewinding and comparing as a user does it: with the command, real servers, and a real sandbox.

use crate::scripts::{runs, says};
use crate::world::{Backend, World};
use serde_json::Value;

/// Writes `one`, then `two`, and ends; what is said later is answered by writing `other`.
const WORK: &str = r#"
[[step]]
name = "one"
next = ["other", "two"]
block = [{ type = "tool_use", name = "bash", input = { command = "echo one > one; mkdir -p empty; ln -s one link; chmod 750 one" } }]
[[step]]
name = "two"
when = "exit code: 0"
next = ["other", "done"]
block = [{ type = "tool_use", name = "write_file", input = { path = "two", content = "two" } }]
[[step]]
name = "done"
when = "two"
next = ["other"]
block = [{ type = "text", text = "done" }]
[[step]]
name = "other"
when = "another way|more work|go on then"
next = ["tested"]
block = [{ type = "tool_use", name = "bash", input = { command = "echo other > other; echo 'test result: ok. 3 passed; 1 failed; 0 ignored'" } }]
[[step]]
name = "tested"
next = ["other"]
block = [{ type = "text", text = "another way" }]
"#;

/// The number of the n-th event of `kind`.
fn number(world: &World, session: &str, kind: &str, nth: usize) -> u64 {
    let exported = world.run(&["export", session]).expect(0);
    let events = exported.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let own = events.filter(|event| event["stream"].as_str().is_some_and(|stream| stream.ends_with(session)));
    own.filter(|event| event["kind"] == kind).nth(nth).unwrap()["seq"].as_u64().unwrap()
}

/// Rows of a command that prints one JSON object a line.
fn rows(world: &World, args: &[&str]) -> Vec<Value> {
    let ran = world.run(&[args, &["--json"]].concat()).expect(0);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn a_fork_is_made_worked_in_and_compared(backend: Backend) {
    let world = World::new(backend, WORK);
    world.file("kept.txt", "kept");
    world.run(&["run", "go"]).expect(0);
    let session = world.session();
    let before = world.run(&["export", &session]).expect(0).stdout;
    let first = number(&world, &session, "tool.finished", 0);

    // Only made: the files as they were then, in a folder of their own.
    let dir = world.path("made");
    let made = world.run(&["fork", &format!("{session}@{first}"), "--dir", dir.to_str().unwrap()]).expect(0);
    assert_eq!(names(&dir), ["empty", "kept.txt", "link", "one"]);
    let id = made.stdout.trim().to_owned();
    assert!(made.stderr.contains("from event") && made.stderr.contains("3 files"), "{}", made.stderr);

    // Gone on with at once, other than the original did.
    let ran = world.run(&["fork", &format!("{session}@{first}"), "--prompt", "another way"]).expect(0);
    assert!(ran.stdout.contains("another way"), "{}", ran.stdout);
    let listed = rows(&world, &["sessions"]);
    let fork = listed.iter().find(|row| row["title"] == "another way").unwrap();
    let folder = std::path::PathBuf::from(fork["workspace"].as_str().unwrap());
    assert_eq!(folder.parent(), world.workspace().parent(), "it is beside the original's");
    assert_eq!(names(&folder), ["empty", "kept.txt", "link", "one", "other"]);
    assert_eq!(names(&world.workspace()), ["empty", "kept.txt", "link", "one", "two"]);
    assert_eq!(fork["parent"], session.as_str());
    assert_eq!(fork["steps"], 2, "what the original did does not count");

    // The tree, the difference, the table.
    let tree = world.run(&["sessions", "--tree"]).expect(0).stdout;
    assert_eq!(tree.matches("└─ fork at event").count(), 2, "{tree}");
    let fork = fork["session"].as_str().unwrap();
    let diff = world.run(&["diff", &session, fork, "--patch"]).expect(0).stdout;
    for part in [
        "2 paths differ",
        "D two",
        "A other",
        "+other",
        "-two",
        &format!("parted at event {first} of session {session}"),
    ] {
        assert!(diff.contains(part), "no {part}:\n{diff}");
    }
    let compared = rows(&world, &["compare", &session, fork]);
    assert_eq!(compared[0]["files_changed"], 3, "{}", compared[0]);
    assert_eq!(compared[1]["files_changed"], 1, "{}", compared[1]);
    assert_eq!(compared[1]["tests"], serde_json::json!({ "passed": 3, "failed": 1 }));

    // A fork of the fork; everything verifies, and the original is what it was.
    let grandchild = world.path("grandchild");
    world.run(&["fork", fork, "--dir", grandchild.to_str().unwrap()]).expect(0);
    assert_eq!(names(&grandchild), ["empty", "kept.txt", "link", "one", "other"]);
    for row in rows(&world, &["sessions"]) {
        world.run(&["replay", row["session"].as_str().unwrap(), "--verify"]).expect(0);
    }
    world.run(&["log", "verify"]).expect(0);
    assert_eq!(world.run(&["export", &session]).expect(0).stdout, before);
    // It can be found and gone on with like any other.
    world.run(&["resume", &id, "more work"]).expect(0);
    assert!(dir.join("other").exists());
}

#[test]
fn a_fork_is_made_worked_in_and_compared_on_the_embedded_log() {
    a_fork_is_made_worked_in_and_compared(Backend::Embedded);
}

#[test]
fn a_fork_is_made_worked_in_and_compared_on_jetstream() {
    a_fork_is_made_worked_in_and_compared(Backend::JetStream);
}

#[test]
fn several_forks_run_side_by_side() {
    let world = World::new(Backend::Embedded, WORK);
    world.run(&["run", "go"]).expect(0);
    let session = world.session();
    let ran = world.run(&["fork", &session, "--n", "3", "--prompt", "another way"]).expect(0);
    assert_eq!(ran.stdout.matches("3/4 passed").count(), 3, "{}\n{}", ran.stdout, ran.stderr);
    let forks: Vec<Value> =
        rows(&world, &["sessions"]).into_iter().filter(|row| row["parent"] == session.as_str()).collect();
    let folders: std::collections::BTreeSet<&str> =
        forks.iter().map(|fork| fork["workspace"].as_str().unwrap()).collect();
    assert_eq!((forks.len(), folders.len()), (3, 3));
    for folder in folders {
        assert!(std::path::Path::new(folder).join("other").exists(), "{folder}");
    }
    assert_eq!(rows(&world, &["compare", &session]).len(), 4);
    assert!(!world.workspace().join("other").exists());
}

#[test]
fn a_rewind_takes_the_folder_back_and_loses_nothing() {
    let world = World::new(Backend::Embedded, WORK);
    world.run(&["run", "go"]).expect(0);
    let session = world.session();
    let first = number(&world, &session, "tool.finished", 0);
    world.run(&["tag", &format!("{session}@{first}"), "after-one"]).expect(0);
    assert!(world.run(&["tag", &session]).expect(0).stdout.contains("after-one"));

    // What was changed by hand is shown, and not overwritten.
    world.file("one", "by hand\n");
    world.file("mine", "mine");
    let refused = world.run(&["rewind", &format!("{session}@after-one")]).expect(9);
    assert!(refused.stderr.contains("mine, one") && refused.stderr.contains("--force"), "{}", refused.stderr);
    assert_eq!(names(&world.workspace()), ["empty", "link", "mine", "one", "two"]);

    world.run(&["rewind", &format!("{session}@after-one"), "--force"]).expect(0);
    assert_eq!(names(&world.workspace()), ["empty", "link", "one"]);
    assert_eq!(world.read("one"), "one\n");
    // The new branch is the newest session of the folder; the old one is still there, and so are its files.
    let listed = rows(&world, &["sessions"]);
    let rewound =
        listed.iter().find(|row| row["parent"] == session.as_str()).unwrap()["session"].as_str().unwrap().to_owned();
    let old = world.path("old");
    world.run(&["fork", &session, "--dir", old.to_str().unwrap()]).expect(0);
    assert_eq!(names(&old), ["empty", "link", "one", "two"]);
    // What was changed by hand is in the new branch's second snapshot.
    let by_hand = world.path("by-hand");
    let number = number(&world, &rewound, "workspace.snapshotted", 1);
    world.run(&["fork", &format!("{rewound}@{number}"), "--dir", by_hand.to_str().unwrap()]).expect(0);
    assert_eq!(std::fs::read_to_string(by_hand.join("one")).unwrap(), "by hand\n");
    world.run(&["resume", &rewound, "go on then"]).expect(0);
    assert!(world.workspace().join("other").exists());
    world.run(&["replay", &rewound, "--verify"]).expect(0);
}

#[test]
fn what_cannot_be_forked_is_said_in_one_line() {
    let world = World::new(Backend::Embedded, WORK);
    world.run(&["run", "go"]).expect(0);
    let session = world.session();
    let last = number(&world, &session, "turn.ended", 0);
    world.file("full/x", "x");
    let full = world.workspace().join("full");
    let cases: [(&[&str], i32, &str); 7] = [
        (&["fork", &format!("{session}@{}", last + 1)], 8, "has no event"),
        (&["fork", &format!("{session}@no-such-tag")], 8, "has no event `no-such-tag`"),
        (&["fork", "nobody@1"], 8, "there is no session"),
        (&["fork", &session, "--dir", full.to_str().unwrap()], 9, "is not an empty folder"),
        (&["fork", &session, "--dir", "/no/such/place"], 2, "cannot make a folder in /no/such"),
        (&["fork", &session, "--n", "2", "--dir", "x"], 2, "one folder is not enough"),
        (&["tag", &session, "17"], 2, "cannot be a tag"),
    ];
    for (args, code, words) in cases {
        let ran = world.run(args).expect(code);
        assert!(ran.stderr.contains(words) && ran.stderr.contains("hint: "), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 2, "{args:?}: {}", ran.stderr);
    }
    assert_eq!(rows(&world, &["sessions"]).len(), 1, "nothing was made");

    // The store is gone.
    std::fs::remove_dir_all(world.path("state/retrace/snapshots")).unwrap();
    let ran = world.run(&["fork", &session]).expect(9);
    assert!(ran.stderr.contains("is not in the store") && ran.stderr.contains("hint: "), "{}", ran.stderr);
    // Taking a folder as it is needs no snapshot.
    world.run(&["fork", &session, "--dir", full.to_str().unwrap(), "--as-is"]).expect(0);
    assert_eq!(names(&full), ["x"]);
}

#[test]
fn a_session_without_snapshots_says_so() {
    let world = World::new(Backend::Embedded, &says("done"));
    let mut command = world.command(&["run", "go"]);
    command.env("RETRACE_SNAPSHOTS", "off");
    world.finish(command).expect(0);
    let session = world.session();
    let ran = world.run(&["fork", &session]).expect(9);
    assert!(ran.stderr.contains("has no snapshot of its files") && ran.stderr.contains("--as-is"), "{}", ran.stderr);
}

#[test]
fn a_session_that_runs_can_be_forked_meanwhile() {
    let script = format!(
        "{}{}",
        runs("echo one > one"),
        runs("touch waiting; while [ ! -e go-on ]; do sleep 0.05; done; echo two > two")
    );
    let world = World::new(Backend::Embedded, &format!("{script}{}", says("done")));
    let mut running = world.runtime.block_on(async { world.command(&["run", "go"]).spawn().unwrap() });
    while !world.workspace().join("waiting").exists() {
        assert!(running.try_wait().unwrap().is_none(), "it ended");
        std::thread::yield_now();
    }
    let session = world.session();
    let dir = world.path("fork");
    let forked = world.run(&["fork", &session, "--dir", dir.to_str().unwrap()]).expect(0);
    assert!(forked.stderr.contains("is inside a tool call"), "{}", forked.stderr);
    assert_eq!(names(&dir), ["one"], "what the open call has done is not the fork's");
    // Taking the folder back under a running session is something else.
    let refused = world.run(&["rewind", &session]).expect(6);
    assert!(refused.stderr.contains("is held by"), "{}", refused.stderr);
    world.file("go-on", "");
    let status = world.runtime.block_on(async { running.wait().await.unwrap() });
    assert!(status.success());
    assert_eq!(world.read("two"), "two\n");
    for row in rows(&world, &["sessions"]) {
        world.run(&["replay", row["session"].as_str().unwrap(), "--verify"]).expect(0);
    }
}

#[test]
fn a_disk_that_fills_up_while_a_fork_is_made_leaves_nothing_half_written() {
    let world = World::new(Backend::Embedded, WORK);
    world.file("large", vec![7_u8; 3 << 20]);
    world.run(&["run", "go"]).expect(0);
    let small = world.path("small");
    std::fs::create_dir(&small).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
        .arg(&small)
        .status()
        .is_ok_and(|status| status.success());
    if !mounted {
        println!("skipped: this user cannot mount a small disk");
        return;
    }
    let session = world.session();
    let into = small.join("fork");
    let ran = world.run(&["fork", &session, "--dir", into.to_str().unwrap()]);
    let left = names(&small);
    let unmounted = std::process::Command::new("umount").arg(&small).status().unwrap();
    assert!(unmounted.success());
    let ran = ran.expect(1);
    assert!(ran.stderr.contains("No space left"), "{}", ran.stderr);
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(rows(&world, &["sessions"]).len(), 1, "a fork without its files was made");
}
