//! Nothing of a call outlives it, whatever the command does to get away.

use std::time::{Duration, Instant};

use retrace_guest::message::{ExecSpec, Request, Response};

use crate::client::{Client, eventually, lives, shell, text};

/// Ways to leave a process behind; each prints the escaped process's id.
const ESCAPES: [&str; 4] = [
    "setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo $!",
    "(setsid sleep 1000 >/dev/null 2>&1 & echo $!) ; true",
    "env -i setsid nohup sleep 1000 >/dev/null 2>&1 & echo $!",
    "trap '' TERM HUP INT; (trap '' TERM; exec setsid sleep 1000 >/dev/null 2>&1) & echo $!",
];

fn pid(output: &[u8]) -> i32 {
    text(output).trim().parse().unwrap()
}

#[test]
fn background_processes_end_with_the_command() {
    let mut client = Client::new();
    for escape in ESCAPES {
        let ran = client.shell(escape);
        assert_eq!(ran.end.code, Some(0), "{escape}");
        assert!(ran.end.leftovers_killed >= 1, "{escape}: {:?}", ran.end);
        assert!(!lives(pid(&ran.stdout)), "{escape}");
    }
}

#[test]
fn background_processes_that_hold_the_pipes_do_not_hang_the_call() {
    let mut client = Client::new();
    let started = Instant::now();
    let ran = client.shell("setsid sleep 1000 & setsid yes >/dev/null & echo $!; exit 3");
    assert_eq!(ran.end.code, Some(3));
    assert!(!lives(pid(&ran.stdout)));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn what_a_dying_background_process_still_writes_is_delivered() {
    let mut client = Client::new();
    // The reader of the fifo goes on when the command, its only writer, has ended.
    let ran = client.shell("mkfifo fifo; (cat < fifo; echo late) & exec 3> fifo; echo early");
    assert_eq!(text(&ran.stdout), "early\nlate\n");
    assert_eq!(ran.end.leftovers_killed, 0);
}

#[test]
fn a_background_process_that_writes_for_ever_is_ended() {
    let mut client = Client::new();
    let ran = client.shell("yes & exit 0");
    assert_eq!(ran.end.code, Some(0));
    assert!(ran.end.leftovers_killed >= 1);
}

#[test]
fn a_time_out_takes_the_whole_tree() {
    let mut client = Client::new();
    for escape in ESCAPES {
        let script = format!("{escape}; exec sleep 1000");
        let ran = client.run(ExecSpec { timeout_ms: Some(400), ..shell(&script) }).unwrap();
        assert!(ran.end.timed_out, "{escape}");
        assert!(!lives(pid(&ran.stdout)), "{escape}");
    }
}

#[test]
fn a_kill_takes_the_whole_tree() {
    let mut client = Client::new();
    let id = client.start(&Request::Exec(shell("setsid sleep 1000 & echo $!; exec sleep 1000")));
    let (Response::Stdout, output) = client.next(id) else { panic!("no output") };
    client.send(id, &Request::Kill, &[]);
    let ran = client.ran(id).unwrap();
    assert!(ran.end.killed && !ran.end.timed_out);
    assert!(!lives(pid(&output)));
}

#[test]
fn a_command_that_is_asked_to_end_may_tidy_up() {
    let mut client = Client::new();
    let script = "trap 'echo tidied; exit 5' TERM; echo ready; while :; do :; done";
    let id = client.start(&Request::Exec(shell(script)));
    let (Response::Stdout, _) = client.next(id) else { panic!("no output") };
    client.send(id, &Request::Terminate, &[]);
    let ran = client.ran(id).unwrap();
    assert_eq!((String::from_utf8_lossy(&ran.stdout).as_ref(), ran.end.code), ("tidied\n", Some(5)));
    assert!(ran.end.killed && !ran.end.timed_out);
}

#[test]
fn a_request_to_end_reaches_the_whole_tree_and_what_is_stopped() {
    let mut client = Client::new();
    let script = "setsid sleep 1000 & echo $!; kill -STOP $!; exec sleep 1000";
    let id = client.start(&Request::Exec(shell(script)));
    let (Response::Stdout, output) = client.next(id) else { panic!("no output") };
    let started = Instant::now();
    client.send(id, &Request::Terminate, &[]);
    let ran = client.ran(id).unwrap();
    assert_eq!(ran.end.signal, Some(libc::SIGTERM));
    assert!(!lives(pid(&output)));
    assert!(started.elapsed().as_millis() < 1_900, "nothing had to be killed");
}

#[test]
fn a_command_that_will_not_end_is_killed_a_little_later() {
    let mut client = Client::new();
    let script = "trap '' TERM; setsid sleep 1000 & echo $!; while :; do :; done";
    let id = client.start(&Request::Exec(shell(script)));
    let (Response::Stdout, output) = client.next(id) else { panic!("no output") };
    let started = Instant::now();
    client.send(id, &Request::Terminate, &[]);
    // Asking again neither hurries nor delays it.
    client.send(id, &Request::Terminate, &[]);
    let ran = client.ran(id).unwrap();
    assert_eq!((ran.end.signal, ran.end.killed), (Some(libc::SIGKILL), true));
    assert!(started.elapsed().as_millis() >= 2_000, "it had its time");
    assert!(!lives(pid(&output)));
}

#[test]
fn a_fork_bomb_is_ended() {
    let mut client = Client::new();
    // Bounded by itself to a hundred processes, since nothing else bounds root here.
    let bomb = "bomb() { [ $1 -lt 6 ] && { bomb $(($1 + 1)) & bomb $(($1 + 1)) & }; sleep 1000; }; bomb 0";
    let started = Instant::now();
    let ran = client.run(ExecSpec { timeout_ms: Some(1500), ..shell(bomb) }).unwrap();
    assert!(ran.end.timed_out);
    assert!(started.elapsed() < Duration::from_secs(30));
    let marker = format!("RETRACE_CALL_ID={}", 1);
    eventually("none of the bomb is left", || survivors(&marker, client.path()).is_empty());
}

#[test]
fn killing_the_supervisor_does_not_help() {
    let mut client = Client::new();
    // The command's parent is its supervisor.
    let ran = client.shell("setsid sleep 1000 >/dev/null 2>&1 & echo $!; kill -9 $PPID; sleep 1000");
    assert_eq!(ran.end.signal, Some(libc::SIGKILL));
    assert!(!lives(pid(&ran.stdout)));
    // And other calls go on.
    assert_eq!(client.shell("echo fine").end.code, Some(0));
}

#[test]
fn a_supervisor_ignores_what_can_be_ignored() {
    let mut client = Client::new();
    let ran = client.shell("kill -TERM $PPID; kill -INT $PPID; kill -HUP $PPID; echo still here");
    assert_eq!((text(&ran.stdout), ran.end.code), ("still here\n".to_owned(), Some(0)));
}

#[test]
fn strays_of_one_call_are_killed_without_harm_to_another() {
    let mut client = Client::new();
    client.shell("mkfifo pipe");
    let other = client.start(&Request::Exec(shell("read line < pipe; echo survived $line")));
    client.shell("setsid sleep 1000 & kill -9 $PPID");
    client.shell("echo go > pipe");
    let ran = client.ran(other).unwrap();
    assert_eq!(ran.end.code, Some(0), "{ran:?}");
    assert_eq!(text(&ran.stdout), "survived go\n");
}

/// Processes with this entry in their environment that work in this folder.
fn survivors(entry: &str, dir: &std::path::Path) -> Vec<i32> {
    let own = dir.canonicalize().unwrap();
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|process| process.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == own))
        .filter(|pid| {
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ.split(|byte| *byte == 0).any(|found| found == entry.as_bytes())
        })
        .collect()
}
