//! The hunt: names cannot confuse it, and real trees die, however they were made.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use super::*;

fn line(pid: i32, parent: i32) -> ProcessLine {
    ProcessLine { pid, parent, alive: true }
}

#[test]
fn a_process_name_cannot_fake_its_line() {
    let stat = b"77 (evil) R 1 (x) S 42 77 77 0 -1";
    let parsed = parse_stat(77, stat).unwrap();
    assert_eq!((parsed.pid, parsed.parent, parsed.alive), (77, 42, true));
    assert!(!parse_stat(5, b"5 (dead) Z 1 5").unwrap().alive);
    assert!(parse_stat(5, b"5 (cut").is_none());
    assert!(parse_stat(5, b"5 (x) S notanumber").is_none());
}

#[test]
fn descendants_are_found_at_any_depth_and_loops_end() {
    let all = [line(2, 1), line(3, 2), line(4, 3), line(5, 1), line(6, 7), line(7, 6)];
    let mut found = descendants(&all, &[2]);
    found.sort_unstable();
    assert_eq!(found, [3, 4]);
    assert_eq!(descendants(&all, &[6]), [7]);
}

#[test]
fn the_dead_are_walked_through_but_not_killed() {
    let all = [line(2, 1), ProcessLine { pid: 3, parent: 2, alive: false }, line(4, 3)];
    assert_eq!(descendants(&all, &[2]), [4]);
}

#[test]
fn a_tree_with_sessions_of_its_own_dies() {
    let script = "setsid sleep 1000 & setsid sh -c 'sleep 1000 & sleep 1000' & echo ready; sleep 1000";
    let mut child = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let pid = child.id().cast_signed();
    assert!(kill_descendants(pid) >= 2);
    assert!(descendants(&processes(), &[pid]).is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
}
