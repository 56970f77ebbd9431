//! Sessions that are deleted are gone, with what only they need; killed anywhere, a deletion is finished by the next one, and
//! nothing else is touched.

use crate::checks::{objects, text};
use crate::scripts::{runs, says, script};
use crate::world::{Backend, Ran, World};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What only the second session was told.
const WORDS: &str = "a second task about marmalade";

/// A world with two sessions, the one to keep first; each has an output of its own that is kept as a blob.
fn world(backend: Backend) -> (World, String, String) {
    // The model says the same to both, and the workspace has changed in between.
    let first =
        "if [ -e kept.txt ]; then seq 2 60000; echo gone > gone.txt; else seq 1 60000; echo kept > kept.txt; fi";
    let world = World::new(backend, &script(&[runs(first), says("done")]));
    world.run(&["run", "first"]).expect(0);
    let kept = world.session();
    world.run(&["run", WORDS]).expect(0);
    let gone = world.session();
    assert_ne!(kept, gone);
    (world, kept, gone)
}

/// All files beneath a folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.insert(path);
        }
    }
    files
}

fn sessions(world: &World) -> Vec<String> {
    let listed = world.run(&["sessions", "--json"]).expect(0);
    objects(&listed).iter().map(|session| text(&session["session"]).to_owned()).collect()
}

/// The session that is kept is whole, and the indexes are what a clean rebuild would be.
#[track_caller]
fn assert_sound(world: &World, kept: &str) {
    world.run(&["log", "verify"]).expect(0);
    world.run(&["replay", "--verify", kept]).expect(0);
    world.run(&["index", "update"]).expect(0);
    let checked = world.run(&["index", "verify"]).expect(0);
    assert!(checked.stdout.contains("0 missing, 0 too many, 0 different"), "{}", checked.stdout);
}

#[test]
fn what_only_a_deleted_session_needs_goes_and_the_rest_stays() {
    let (world, kept, gone) = world(Backend::Embedded);
    world.run(&["index", "update"]).expect(0);
    let state = world.path("state/retrace");
    let before = files(&state.join("blobs"));
    assert_eq!(before.len(), 2, "{before:?}");
    assert!(!world.run(&["search", "marmalade"]).expect(0).stdout.is_empty());
    let said = world.run(&["delete", &gone, "--yes"]).expect(0);
    assert!(said.stdout.contains("1 session deleted, ") && said.stdout.contains(", 1 blob, "), "{said:?}");
    assert_eq!(files(&state.join("blobs")).len(), 1);
    assert_eq!(sessions(&world), [kept.as_str()]);
    assert_sound(&world, &kept);
    assert!(world.run(&["search", "marmalade"]).stdout.is_empty());
    // Its words are not left in any file of the log.
    let is_log = |file: &PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("log.db"));
    for file in files(&state).into_iter().filter(is_log) {
        let bytes = fs::read(&file).unwrap();
        assert!(!bytes.windows(9).any(|window| window == b"marmalade"), "{}", file.display());
    }
    // The blob that is left is the one that is needed.
    world.run(&["export", &kept]).expect(0);
    // Files of the workspace are nobody's but the user's.
    assert_eq!((world.read("kept.txt"), world.read("gone.txt")), ("kept\n".to_owned(), "gone\n".to_owned()));
}

/// Deletes the second session, killed at each point in turn; it comes back from an export each time.
fn killed_anywhere(backend: Backend) {
    let (world, kept, gone) = world(backend);
    let file = world.path("gone.jsonl");
    let export = file.to_str().unwrap();
    world.run(&["export", &gone, "--output", export]).expect(0);
    let lines = world.run(&["export", &kept]).expect(0).stdout;
    let mut kills = 0;
    loop {
        let ran = world.run_until(&format!("step={kills}*off->return"), &["delete", &gone, "--yes"]);
        if ran.signal.is_none() {
            ran.expect(0);
            break;
        }
        assert_eq!(ran.signal, Some(libc::SIGKILL), "{ran:?}");
        kills += 1;
        // Whatever was left: the other session is as it was, and the command finishes it.
        assert_eq!(world.run(&["export", &kept]).expect(0).stdout, lines, "{kills}");
        assert_sound(&world, &kept);
        world.run(&["delete", &gone, "--yes"]).expect(0);
        assert_eq!(sessions(&world), [kept.as_str()], "{kills}");
        assert_sound(&world, &kept);
        world.run(&["import", export]).expect(0);
        assert_sound(&world, &gone);
    }
    assert!(kills >= 8, "{kills} points");
    assert_eq!(world.run(&["export", &kept]).expect(0).stdout, lines);
    assert_sound(&world, &kept);
}

#[test]
fn killed_anywhere_a_deletion_is_finished_by_the_next_one() {
    killed_anywhere(Backend::Embedded);
}

#[test]
fn killed_anywhere_on_jetstream_too() {
    killed_anywhere(Backend::JetStream);
}

/// A process that writes the session at that moment is told, and cannot bring it back.
#[test]
fn a_session_at_work_is_not_deleted() {
    let (world, _, gone) = world(Backend::Embedded);
    let steps = [runs("touch begun; while [ ! -e end ]; do sleep 0.05; done"), says("done")];
    let waiting = World::new(Backend::Embedded, &script(&steps));
    let mut command = waiting.command(&["run", "wait"]);
    let child = waiting.runtime.block_on(async { command.spawn().unwrap() });
    crate::checks::wait_for("the call", || waiting.workspace().join("begun").exists());
    let session = waiting.session();
    let ran: Ran = waiting.run(&["delete", &session, "--yes"]).expect(6);
    assert!(ran.stderr.contains("is held by `retrace run`") && ran.stderr.contains("hint:"), "{}", ran.stderr);
    waiting.file("end", "");
    let ended = waiting.runtime.block_on(async { child.wait_with_output().await.unwrap() });
    assert!(ended.status.success(), "{ended:?}");
    waiting.run(&["delete", &session, "--yes"]).expect(0);
    // And a pipe is nobody who could be asked.
    world.run(&["delete", &gone]).expect(2);
    assert_eq!(sessions(&world).len(), 2);
}
