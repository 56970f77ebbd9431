//! Commands: output, stdin, limits, and how they end.

use std::time::{Duration, Instant};

use retrace_guest::message::{ExecLimits, ExecSpec, FailureKind, INITIAL_CREDIT_BYTES, Request, Response};
use retrace_guest::raw_path::RawPath;

use crate::client::{Client, argv, kind, shell, text};

#[test]
fn output_code_and_usage_come_back() {
    let mut client = Client::new();
    let ran = client.shell("echo out; echo err >&2; exit 7");
    assert_eq!((text(&ran.stdout), text(&ran.stderr)), ("out\n".to_owned(), "err\n".to_owned()));
    assert_eq!((ran.end.code, ran.end.signal), (Some(7), None));
    assert_eq!((ran.end.stdout_bytes, ran.end.stderr_bytes), (4, 4));
    assert!(ran.end.usage.max_rss_kb > 0);
    assert!(!ran.end.killed && !ran.end.timed_out && !ran.end.output_limit_hit);
}

#[test]
fn cpu_time_is_counted_for_children_too() {
    let mut client = Client::new();
    let ran = client.shell("sh -c 'ulimit -t 1; while :; do :; done'; true");
    assert!(ran.end.usage.cpu_ms >= 900, "{:?}", ran.end);
}

#[test]
fn a_signal_is_told() {
    let mut client = Client::new();
    let ran = client.shell("kill -SEGV $$");
    assert_eq!((ran.end.code, ran.end.signal), (None, Some(libc::SIGSEGV)));
}

#[test]
fn arguments_are_not_interpreted() {
    let mut client = Client::new();
    let ran = client.run(argv(&["printf", "%s|", "a b", "$HOME", "*", "", "ü"])).unwrap();
    assert_eq!(text(&ran.stdout), "a b|$HOME|*||ü|");
}

#[test]
fn what_cannot_be_started_is_named() {
    let mut client = Client::new();
    let failure = client.run(argv(&["no-such-program-anywhere"])).unwrap_err();
    assert_eq!(failure.kind, FailureKind::SpawnFailed);
    assert!(failure.message.contains("no-such-program-anywhere"), "{failure}");
    assert_eq!(kind(client.run(argv(&[]))), FailureKind::BadRequest);
    assert_eq!(kind(client.run(argv(&["a\0b"]))), FailureKind::BadRequest);
    assert_eq!(kind(client.run(argv(&["echo", &"x".repeat(200_000)]))), FailureKind::TooLarge);
    assert_eq!(client.shell("true").end.code, Some(0));
}

#[test]
fn it_runs_in_its_folder_and_only_beneath_the_workspace() {
    let mut client = Client::new();
    std::fs::create_dir_all(client.path().join("a/b")).unwrap();
    std::os::unix::fs::symlink("/etc", client.path().join("out")).unwrap();
    let in_dir = |dir: &str| ExecSpec { cwd: Some(RawPath::from(dir)), ..shell("pwd -P") };
    let expected = client.path().join("a/b").canonicalize().unwrap();
    assert_eq!(text(&client.run(in_dir("a/b")).unwrap().stdout).trim(), expected.to_str().unwrap());
    assert_eq!(kind(client.run(in_dir("out"))), FailureKind::OutsideWorkspace);
    assert_eq!(kind(client.run(in_dir(".."))), FailureKind::OutsideWorkspace);
    assert_eq!(kind(client.run(in_dir("/etc"))), FailureKind::OutsideWorkspace);
    assert_eq!(kind(client.run(in_dir("missing"))), FailureKind::NotFound);
}

#[test]
fn the_environment_is_the_guests_plus_the_requests() {
    let mut client = Client::with_env(&[("FROM_GUEST", "1"), ("BOTH", "guest")]);
    let env = vec![("FROM_REQUEST".to_owned(), "2".to_owned()), ("BOTH".to_owned(), "request".to_owned())];
    let spec = ExecSpec { env, ..shell("echo $FROM_GUEST $FROM_REQUEST $BOTH ${RETRACE_CALL_ID:-none}") };
    assert_eq!(text(&client.run(spec).unwrap().stdout), "1 2 request 1\n");
}

#[test]
fn stdin_arrives_whole_and_ends() {
    let mut client = Client::new();
    let id = client.start(&Request::Exec(ExecSpec { has_stdin: true, ..shell("sha256sum; wc -c") }));
    let data: Vec<u8> = (0..3_000_000u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
    let parts: Vec<&[u8]> = data.chunks(700_000).collect();
    for (number, part) in parts.iter().enumerate() {
        client.send(id, &Request::Data { last: number + 1 == parts.len() }, part);
    }
    let ran = client.ran(id).unwrap();
    std::fs::write(client.path().join("data"), &data).unwrap();
    let expected = client.shell("sha256sum < data");
    assert_eq!(text(&ran.stdout), format!("{}0\n", text(&expected.stdout)));
}

#[test]
fn without_stdin_there_is_nothing_to_read() {
    let mut client = Client::new();
    assert_eq!(text(&client.shell("wc -c").stdout), "0\n");
}

#[test]
fn a_command_that_does_not_read_its_stdin_ends_all_the_same() {
    let mut client = Client::new();
    let id = client.start(&Request::Exec(ExecSpec { has_stdin: true, ..shell("exec true") }));
    for number in 0..5 {
        client.send(id, &Request::Data { last: number == 4 }, &vec![b'x'; 1_000_000]);
    }
    assert_eq!(client.ran(id).unwrap().end.code, Some(0));
}

#[test]
fn binary_output_is_not_touched() {
    let mut client = Client::new();
    let ran = client.shell("for i in $(seq 0 255); do printf \"\\\\x$(printf %02x $i)\"; done");
    assert_eq!(ran.stdout, (0..=255).collect::<Vec<u8>>());
}

#[test]
fn a_host_that_does_not_read_slows_the_command_down() {
    let mut client = Client::new();
    let id = client.start(&Request::Exec(shell("head -c 30000000 /dev/zero; touch finished")));
    let mut received = 0;
    while received + 70_000 < INITIAL_CREDIT_BYTES {
        let (Response::Stdout, body) = client.next(id) else { panic!("not output") };
        received += body.len() as u64;
    }
    // Answers to others still come, and the command has not got rid of its output.
    assert_eq!(client.call(&Request::Ping), [(Response::Pong, Vec::new())]);
    assert!(!client.path().join("finished").exists());
    client.send(id, &Request::Credit { bytes: received }, &[]);
    let rest: usize = client.ran(id).unwrap().stdout.len();
    assert_eq!(received + rest as u64, 30_000_000);
    assert!(client.path().join("finished").exists());
}

#[test]
fn output_past_the_limit_kills_the_command() {
    let mut client = Client::new();
    let limits = ExecLimits { max_output_bytes: Some(1_000_000), ..ExecLimits::default() };
    let started = Instant::now();
    let ran = client.run(ExecSpec { limits, ..shell("yes & yes >&2") }).unwrap();
    assert!(ran.end.output_limit_hit && !ran.end.timed_out);
    assert_eq!(ran.stdout.len() + ran.stderr.len(), 1_000_000);
    assert_eq!(ran.end.stdout_bytes + ran.end.stderr_bytes, 1_000_000);
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn output_exactly_at_the_limit_is_fine() {
    let mut client = Client::new();
    let limits = ExecLimits { max_output_bytes: Some(5), ..ExecLimits::default() };
    let ran = client.run(ExecSpec { limits, ..shell("printf 12345") }).unwrap();
    assert_eq!((text(&ran.stdout), ran.end.output_limit_hit, ran.end.code), ("12345".to_owned(), false, Some(0)));
}

#[test]
fn a_command_that_never_ends_is_timed_out_with_what_it_wrote() {
    let mut client = Client::new();
    let ran = client.run(ExecSpec { timeout_ms: Some(300), ..shell("echo begun; sleep 1000") }).unwrap();
    assert!(ran.end.timed_out && !ran.end.killed);
    assert_eq!((text(&ran.stdout), ran.end.signal), ("begun\n".to_owned(), Some(libc::SIGKILL)));
    assert!((300..10_000).contains(&ran.end.duration_ms), "{:?}", ran.end);
}

#[test]
fn resource_limits_are_in_force() {
    let mut client = Client::new();
    let limits = ExecLimits {
        file_size_bytes: Some(100_000),
        cpu_seconds: Some(3),
        open_files: Some(77),
        data_bytes: Some(200_000_000),
        processes: Some(4000),
        address_space_bytes: Some(3_000_000_000),
        ..ExecLimits::default()
    };
    let spec = |script: &str| ExecSpec { limits: limits.clone(), ..shell(script) };
    let ran = client.run(spec("ulimit -t; ulimit -n; ulimit -d; ulimit -u; ulimit -v; ulimit -c")).unwrap();
    assert_eq!(text(&ran.stdout), "3\n77\n195312\n4000\n2929687\n0\n");
    let ran = client.run(spec("exec head -c 200000 /dev/zero > big")).unwrap();
    assert_eq!(ran.end.signal, Some(libc::SIGXFSZ));
    assert_eq!(std::fs::metadata(client.path().join("big")).unwrap().len(), 100_000);
    let spin = ExecLimits { cpu_seconds: Some(1), ..ExecLimits::default() };
    let ran = client.run(ExecSpec { limits: spin, ..shell("while :; do :; done") }).unwrap();
    assert_eq!(ran.end.signal, Some(libc::SIGXCPU));
}

#[test]
fn commands_are_the_first_victims_when_memory_runs_out() {
    let mut client = Client::new();
    assert_eq!(text(&client.shell("cat /proc/self/oom_score_adj").stdout), "1000\n");
    let own = std::fs::read_to_string(format!("/proc/{}/oom_score_adj", client.child.id())).unwrap();
    assert_ne!(own, "1000\n");
}

#[test]
fn a_command_cannot_reach_the_channel() {
    let mut client = Client::new();
    // Only its own three, and the one that `ls` opens; the supervisor above it has nothing but its status pipe.
    let ran = client.shell("ls /proc/self/fd | wc -l; ls /proc/$PPID/fd | wc -l");
    assert_eq!(text(&ran.stdout), "4\n1\n");
}
