//! No space left: a limit of the file size stands for it, which works for every user. The log says so, keeps what it
//! acknowledged, has nothing half-written, and the session goes on when there is space again.

use crate::checks::{find, outcome, sound};
use crate::scripts::{runs, says, script};
use crate::world::{Backend, World};
use std::fs;
use tokio::process::Command;

/// Commands whose results fill the log.
fn steps() -> Vec<String> {
    let step = |n: u32| runs(&format!("echo $RETRACE_CALL_ID >> effects.log; seq {n}000 {n}999"));
    (1..=6).map(step).chain([says("done")]).collect()
}

/// Lets no file grow over `limit_bytes`; a write beyond fails, as on a full disk.
fn limited(command: &mut Command, limit_bytes: u64) {
    let limit = libc::rlimit { rlim_cur: limit_bytes, rlim_max: limit_bytes };
    // SAFETY: between fork and exec only these two system calls are made.
    unsafe {
        command.pre_exec(move || {
            // Else the first write too much would end the process instead of failing.
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            if libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        });
    }
}

#[test]
fn a_full_disk_is_said_and_the_session_goes_on_when_there_is_space() {
    let mut stopped_in_the_middle = 0;
    for limit_kib in [40, 80, 120, 160, 220] {
        let world = World::new(Backend::Embedded, &script(&steps()));
        // What does not belong to the log is there before: the guest of the sandbox, the database itself.
        world.run(&["doctor", "--offline"]);
        let mut command = world.command(&["run", "go"]);
        limited(&mut command, limit_kib * 1024);
        let ran = world.finish(command).expect(6);
        assert!(ran.stderr.contains("log.db") && ran.stderr.contains("hint:"), "{limit_kib}: {}", ran.stderr);
        assert!(ran.stderr.contains("make space"), "{limit_kib}: {}", ran.stderr);
        world.run(&["log", "verify"]).expect(0);
        let listed = world.run(&["sessions", "--json"]).expect(0).stdout;
        let args: &[&str] = match listed.trim().is_empty() {
            true => &["run", "go"],
            false if world.events().iter().any(|event| event["kind"] == "turn.prompted") => &["resume", "--last"],
            false => &["resume", "--last", "go"],
        };
        let before = world.events();
        stopped_in_the_middle += u32::from(before.iter().any(|event| event["kind"] == "tool.finished"));
        world.run(args).expect(0);
        let events = sound(&world);
        assert_eq!(events[..before.len()], before[..], "{limit_kib}: what was acknowledged has changed");
        assert_eq!(outcome(&events), "Completed", "{limit_kib}");
        let effects = world.read("effects.log");
        let mut unique: Vec<&str> = effects.lines().collect();
        unique.dedup();
        assert_eq!(unique.len(), effects.lines().count(), "{limit_kib}: an effect happened twice");
    }
    assert!(stopped_in_the_middle > 1, "the limits are too low or too high: {stopped_in_the_middle}");
}

#[test]
fn an_output_that_does_not_fit_leaves_no_part_of_a_blob() {
    let world = World::new(Backend::Embedded, &script(&[runs("seq 1 300000"), says("done")]));
    world.run(&["doctor", "--offline"]);
    let mut command = world.command(&["run", "go"]);
    limited(&mut command, 1024 * 1024);
    world.finish(command).expect(6);
    world.run(&["resume", "--last"]).expect(0);
    sound(&world);
    let blobs = find(&world.path("state"), "blobs");
    let mut folders = vec![blobs];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let name = entry.file_name().into_string().unwrap();
            let hash = retrace_events::Hash::of(&fs::read(entry.path()).unwrap()).to_string();
            assert!(hash.ends_with(&name) || name.ends_with(&hash), "{name} is not whole: {hash}");
        }
    }
}
