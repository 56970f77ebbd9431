//! Finding and killing process trees through `/proc`.
//!
//! Killing while processes fork is a race, so everything is *stopped* first, round by round, until a scan finds
//! nothing new: a stopped process neither forks nor exits, and its children are found by their parent. Stopping frees
//! no process slots, so a fork bomb at its limit cannot grow meanwhile.

use std::collections::{HashMap, HashSet};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

/// How long one hunt goes on without getting anywhere before it gives up; a process in an uninterruptible wait cannot be
/// killed at all.
const HUNT_TIME: Duration = Duration::from_secs(5);
/// How long it may take in all, on a machine that is slow.
const MOST_HUNT_TIME: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy)]
struct ProcessLine {
    pid: i32,
    parent: i32,
    /// Zombies and dead ones need no killing.
    alive: bool,
}

/// Kills everything below `root`, not `root` itself; returns how many processes that were.
pub(super) fn kill_descendants(root: i32) -> u32 {
    hunt(|all| descendants(all, &[root]))
}

/// Asks everything below `root` to end; a process that is being started just now may not hear it.
pub(super) fn terminate_descendants(root: i32, hang_up: bool) {
    for pid in descendants(&processes(), &[root]) {
        signal(pid, Signal::TERM);
        if hang_up {
            // A shell at a terminal pays no heed to the other one.
            signal(pid, Signal::HUP);
        }
        // One that is stopped hears it only when it goes on.
        signal(pid, Signal::CONT);
    }
}

/// Kills our own children that are not in `known`, with everything below them, and reaps them.
pub(super) fn kill_strays(known: &HashSet<i32>) -> u32 {
    let own = std::process::id().cast_signed();
    let find_strays = |all: &[ProcessLine]| -> Vec<i32> {
        all.iter().filter(|line| line.parent == own && !known.contains(&line.pid)).map(|line| line.pid).collect()
    };
    let killed = hunt(|all| {
        let strays = find_strays(all);
        let mut targets = descendants(all, &strays);
        targets.extend(all.iter().filter(|line| line.alive && strays.contains(&line.pid)).map(|line| line.pid));
        targets
    });
    for pid in find_strays(&processes()).into_iter().filter_map(Pid::from_raw) {
        // Reaps only; a stray that cannot die stays what it is.
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
    killed
}

fn hunt(find: impl Fn(&[ProcessLine]) -> Vec<i32>) -> u32 {
    let end = Instant::now() + MOST_HUNT_TIME;
    let mut deadline = Instant::now() + HUNT_TIME;
    let mut stopped = HashSet::new();
    while Instant::now() < deadline {
        let fresh: Vec<i32> = find(&processes()).into_iter().filter(|pid| !stopped.contains(pid)).collect();
        if fresh.is_empty() {
            break;
        }
        for pid in fresh {
            signal(pid, Signal::STOP);
            stopped.insert(pid);
        }
        deadline = end.min(Instant::now() + HUNT_TIME);
    }
    for &pid in &stopped {
        signal(pid, Signal::KILL);
    }
    let mut fewest = usize::MAX;
    while !stopped.is_empty() && Instant::now() < deadline {
        let left = find(&processes());
        if left.is_empty() {
            break;
        }
        if left.len() < fewest {
            fewest = left.len();
            deadline = end.min(Instant::now() + HUNT_TIME);
        }
        for pid in left {
            signal(pid, Signal::KILL);
        }
        thread::sleep(Duration::from_millis(1));
    }
    u32::try_from(stopped.len()).unwrap_or(u32::MAX)
}

/// The living processes below `roots`.
fn descendants(all: &[ProcessLine], roots: &[i32]) -> Vec<i32> {
    let mut children: HashMap<i32, Vec<&ProcessLine>> = HashMap::new();
    for line in all {
        children.entry(line.parent).or_default().push(line);
    }
    let mut found = Vec::new();
    let mut seen: HashSet<i32> = roots.iter().copied().collect();
    let mut open = roots.to_vec();
    while let Some(parent) = open.pop() {
        for line in children.get(&parent).into_iter().flatten() {
            if seen.insert(line.pid) {
                open.push(line.pid);
                if line.alive {
                    found.push(line.pid);
                }
            }
        }
    }
    found
}

fn processes() -> Vec<ProcessLine> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(|pid| parse_stat(pid, &std::fs::read(format!("/proc/{pid}/stat")).ok()?))
        .collect()
}

/// Reads state and parent from a line of `/proc/<pid>/stat`; the name before them may contain anything.
fn parse_stat(pid: i32, stat: &[u8]) -> Option<ProcessLine> {
    let after_name = stat.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(stat.get(after_name + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    Some(ProcessLine { pid, parent, alive: !matches!(state, "Z" | "X" | "x") })
}

fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid).filter(|pid| pid.as_raw_nonzero().get() > 1) {
        // It may have ended by itself.
        let _ = kill_process(pid, signal);
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tree_tests;
