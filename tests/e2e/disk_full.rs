//! No space left: a limit of the file size, which works for every user, and for the superuser a real file system. The
//! log says so, keeps what it acknowledged, has nothing half-written, and the session goes on when there is space again.

use crate::checks::{find, outcome, sound};
use crate::scripts::{runs, says, script};
use crate::world::{Backend, Ran, World, payloads};
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

/// Commands whose results fill the log.
fn steps() -> Vec<String> {
    let step = |n: u32| runs(&format!("echo $RETRACE_CALL_ID >> effects.log; seq {n}000 {n}999"));
    (1..=6).map(step).chain([says("done")]).collect()
}

/// Lets no file grow over `limit_bytes`; a write beyond fails, as on a full disk.
fn limited(command: &mut tokio::process::Command, limit_bytes: u64) {
    let limit = libc::rlimit { rlim_cur: limit_bytes, rlim_max: limit_bytes };
    // SAFETY: between fork and exec only these two system calls are made.
    unsafe {
        command.pre_exec(move || {
            // Else the first write too much would end the process instead of failing.
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            if libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) == 0 {
                Ok(())
            } else {
                Err(std::io::Error::last_os_error())
            }
        });
    }
}

/// A world in which everything but the log is there already, the guest of the sandbox for one.
fn prepared(steps: &[String]) -> World {
    let world = World::new(Backend::Embedded, &script(steps));
    world.run(&["doctor", "--offline"]);
    world
}

/// The run ended for want of space: it is said, and what was acknowledged is whole. Gives those events.
#[track_caller]
fn stopped_for_space(world: &World, ran: Ran) -> Vec<Value> {
    let ran = ran.expect(6);
    assert!(ran.stderr.contains("no space left") && ran.stderr.contains("hint: make space"), "{}", ran.stderr);
    world.run(&["log", "verify"]).expect(0);
    world.events()
}

/// With space again the session goes on from `before` and comes to its end, and no effect happens twice.
#[track_caller]
fn goes_on(world: &World, before: &[Value]) {
    let args: &[&str] = match before {
        [] => &["run", "go"],
        _ if payloads(before, "turn.prompted").is_empty() => &["resume", "--last", "go"],
        _ => &["resume", "--last"],
    };
    world.run(args).expect(0);
    let events = sound(world);
    assert_eq!(events[..before.len()], before[..], "what was acknowledged has changed");
    assert_eq!(outcome(&events), "Completed");
    let effects = world.read("effects.log");
    let unique: HashSet<&str> = effects.lines().collect();
    assert_eq!(unique.len(), effects.lines().count(), "an effect happened twice");
}

#[test]
fn a_file_that_may_not_grow_stops_the_session_which_goes_on_later() {
    let mut stopped_in_the_middle = 0;
    for limit_kib in [100, 200, 260, 320] {
        let world = prepared(&steps());
        let mut command = world.command(&["run", "go"]);
        limited(&mut command, limit_kib * 1024);
        let before = stopped_for_space(&world, world.finish(command));
        stopped_in_the_middle += u32::from(!payloads(&before, "tool.finished").is_empty());
        goes_on(&world, &before);
    }
    assert!(stopped_in_the_middle > 1, "the limits are too low: {stopped_in_the_middle}");
}

/// A small file system in memory, gone when this is dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts one; only the superuser may, so there is none for others, whom the limit of the file size stands in for.
    fn mount(place: PathBuf, size_kib: u32) -> Option<Self> {
        let ran = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size_kib}k"), "tmpfs"])
            .arg(&place)
            .output();
        ran.is_ok_and(|output| output.status.success()).then_some(Self(place))
    }

    /// Fills it up to about `left_bytes`, and gives the file that does it.
    fn fill(&self, left_bytes: usize) -> PathBuf {
        let filler = self.0.join("filler");
        let mut file = fs::File::create(&filler).unwrap();
        let mut size = 0_u64;
        while file.write_all(&[0; 4096]).is_ok() {
            size += 4096;
        }
        file.set_len(size.saturating_sub(left_bytes as u64)).unwrap();
        filler
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // When it is busy it goes with its last user.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_file_system_stops_the_session_which_goes_on_when_there_is_space() {
    let mut stopped_in_the_middle = 0;
    // How much a start takes is not the same each time; with more and more left the sessions get further.
    let mut sizes = std::iter::once(0).chain((260..).step_by(20));
    while stopped_in_the_middle < 2 {
        let left_kib = sizes.next().unwrap();
        let world = World::new(Backend::Embedded, &script(&steps()));
        let Some(disk) = SmallDisk::mount(world.path("state"), 8 * 1024) else {
            println!("no file system can be mounted here; the limit of the file size is tested in its place");
            return;
        };
        world.run(&["doctor", "--offline"]);
        let filler = disk.fill(left_kib * 1024);
        let ran = world.run(&["run", "go"]);
        fs::remove_file(filler).unwrap();
        // With enough for all of it the session would not have stopped, which fails here.
        let before = stopped_for_space(&world, ran);
        stopped_in_the_middle += u32::from(!payloads(&before, "tool.finished").is_empty());
        goes_on(&world, &before);
    }
}

#[test]
fn an_output_that_does_not_fit_leaves_no_part_of_a_blob() {
    let world = prepared(&[runs("seq 1 300000"), says("done")]);
    let mut command = world.command(&["run", "go"]);
    limited(&mut command, 1024 * 1024);
    let before = stopped_for_space(&world, world.finish(command));
    goes_on(&world, &before);
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
