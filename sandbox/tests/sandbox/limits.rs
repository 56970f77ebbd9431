//! Limits: each is in force, each is named when it is hit, and the sandbox survives it.

use std::time::{Duration, Instant};

use retrace_sandbox::{Chunk, ExecRequest, LimitHit, Limits};

use crate::support::{Place, limits_the_whole, prints, run, shell, slowly, text};

const MIB: u64 = 1024 * 1024;

#[tokio::test]
async fn a_memory_hog_is_killed_and_named() {
    let place = Place::new();
    let sandbox = place.start_with(Limits { memory_bytes: Some(200 * MIB), ..Limits::default() }).await;
    let output = run(&sandbox, ExecRequest::argv(["python3", "-c", "x = bytearray(10**9); print(len(x))"])).await;
    assert!(!output.result.succeeded(), "{:?}", output.result);
    if limits_the_whole() {
        assert_eq!((output.result.signal, &output.result.limits_hit[..]), (Some(9), &[LimitHit::Memory][..]));
    } else {
        // Without a control group the allocation itself fails.
        assert!(text(&output.stderr).contains("MemoryError"), "{}", text(&output.stderr));
    }
    assert_eq!(prints(&sandbox, "echo fine").await, "fine");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn memory_is_counted_over_all_processes() {
    if !limits_the_whole() {
        return;
    }
    let place = Place::new();
    let sandbox = place.start_with(Limits { memory_bytes: Some(300 * MIB), ..Limits::default() }).await;
    // Each is far below the limit, together they are above it.
    let hog = "python3 -c \"x = bytearray(60 * 2**20); print('ok', flush=True); import sys; sys.stdin.read()\"";
    let script = format!("mkfifo f; for i in 1 2 3 4 5 6 7 8; do {hog} < f & done; exec 3> f; wait");
    let output = run(&sandbox, ExecRequest { timeout_ms: Some(slowly(8_000)), ..ExecRequest::shell(script) }).await;
    assert!(output.result.limits_hit.contains(&LimitHit::Memory), "{:?}", output.result);
    assert_eq!(prints(&sandbox, "echo fine").await, "fine");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn files_in_memory_are_bounded() {
    let place = Place::new();
    let sandbox = place.start_with(Limits { tmp_bytes: 20 * MIB, ..Limits::default() }).await;
    for dir in ["/tmp", "$HOME", "/dev/shm"] {
        let output = shell(&sandbox, &format!("head -c 100000000 /dev/zero > {dir}/big")).await;
        assert!(text(&output.stderr).contains("No space left"), "{dir}: {}", text(&output.stderr));
    }
    sandbox.shutdown().await;
}

#[tokio::test]
async fn full_folders_leave_room_for_commands() {
    let place = Place::new();
    let sandbox = place.start_with(Limits { memory_bytes: Some(128 * MIB), ..Limits::default() }).await;
    for dir in ["/tmp", "/var/tmp", "$HOME", "/dev/shm"] {
        let output = shell(&sandbox, &format!("head -c 200000000 /dev/zero > {dir}/big")).await;
        assert!(text(&output.stderr).contains("No space left"), "{dir}: {}", text(&output.stderr));
        assert!(output.result.limits_hit.is_empty(), "{dir}: {:?}", output.result);
    }
    assert_eq!(prints(&sandbox, "python3 -c 'print(len(bytearray(20_000_000)))'").await, "20000000");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn a_fork_bomb_is_contained() {
    let place = Place::new();
    let sandbox = place.start_with(Limits { pids: 64, ..Limits::default() }).await;
    let bomb = ExecRequest { timeout_ms: Some(slowly(1500)), ..ExecRequest::shell(":(){ :|:& };:; sleep 1000") };
    let started = Instant::now();
    let output = run(&sandbox, bomb).await;
    assert!(output.result.timed_out || !output.result.succeeded());
    if limits_the_whole() {
        assert!(output.result.limits_hit.contains(&LimitHit::Pids), "{:?}", output.result);
    }
    assert!(started.elapsed() < Duration::from_millis(slowly(30_000)), "{:?}", started.elapsed());
    assert_eq!(prints(&sandbox, "echo fine; ls -d /proc/[0-9]* | wc -l").await.lines().next().unwrap(), "fine");
    let processes: u32 = prints(&sandbox, "ls -d /proc/[0-9]* | wc -l").await.parse().unwrap();
    assert!(processes <= 8, "{processes} are left");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn a_gigabyte_of_output_is_cut_off() {
    let place = Place::new();
    let sandbox = place.start().await;
    let mut running = sandbox
        .exec(ExecRequest { max_output_bytes: Some(5 * MIB), ..ExecRequest::shell("head -c 1000000000 /dev/zero") })
        .await
        .unwrap();
    let mut received = 0;
    while let Some(chunk) = running.next().await {
        let (Chunk::Stdout(bytes) | Chunk::Stderr(bytes)) = chunk;
        received += bytes.len() as u64;
    }
    let result = running.wait().await.unwrap();
    assert_eq!((received, result.stdout_bytes), (5 * MIB, 5 * MIB));
    assert_eq!(result.limits_hit, [LimitHit::Output]);
    sandbox.shutdown().await;
}

#[tokio::test]
async fn a_consumer_that_does_not_take_output_fills_no_memory_and_blocks_nobody() {
    let place = Place::new();
    let sandbox = place.start().await;
    let mut stalled = sandbox.exec(ExecRequest::shell("head -c 50000000 /dev/zero; touch finished")).await.unwrap();
    assert!(stalled.next().await.is_some());
    assert_eq!(prints(&sandbox, "echo others go on").await, "others go on");
    assert!(!place.workspace().join("finished").exists());
    assert_eq!(stalled.wait().await.unwrap().stdout_bytes, 50_000_000);
    assert!(place.workspace().join("finished").exists());
    sandbox.shutdown().await;
}

#[tokio::test]
async fn a_command_that_never_ends_is_timed_out_with_all_its_children() {
    let place = Place::new();
    let sandbox = place.start().await;
    let request = ExecRequest {
        timeout_ms: Some(slowly(300)),
        ..ExecRequest::shell("setsid sh -c 'while :; do date +%N > alive; done' & echo begun; sleep 1000")
    };
    let output = run(&sandbox, request).await;
    assert!(output.result.timed_out);
    assert_eq!((text(&output.stdout), &output.result.limits_hit[..]), ("begun\n".to_owned(), &[LimitHit::Time][..]));
    // Nothing but the guest and this very command is left.
    assert_eq!(prints(&sandbox, "pgrep -c date || true; pgrep -f alive -c || true").await, "0\n1");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn a_command_cannot_ask_for_more_time_than_there_is() {
    let place = Place::new();
    let sandbox = place.start_with(Limits { wall_ms: slowly(300), ..Limits::default() }).await;
    let output = run(&sandbox, ExecRequest { timeout_ms: Some(u64::MAX), ..ExecRequest::shell("sleep 1000") }).await;
    assert!(output.result.timed_out);
    sandbox.shutdown().await;
}

#[tokio::test]
async fn an_endless_command_has_no_time_limit_but_the_one_it_asks_for() {
    let place = Place::new();
    let limits = Limits { wall_ms: slowly(300), command_timeout_ms: 200, ..Limits::default() };
    let sandbox = place.start_with(limits).await;
    let endless = ExecRequest { endless: true, ..ExecRequest::shell("until [ -e go ]; do :; done; echo went on") };
    let running = sandbox.exec(endless).await.unwrap();
    // It outlives a command that has all the time there is.
    let output = run(&sandbox, ExecRequest { timeout_ms: Some(u64::MAX), ..ExecRequest::shell("sleep 1000") }).await;
    assert!(output.result.timed_out);
    std::fs::write(place.workspace().join("go"), "").unwrap();
    assert_eq!(text(&running.output().await.unwrap().stdout), "went on\n");
    let bounded = ExecRequest { timeout_ms: Some(slowly(100)), endless: true, ..ExecRequest::shell("sleep 1000") };
    assert!(run(&sandbox, bounded).await.result.timed_out);
    sandbox.shutdown().await;
}

#[tokio::test]
async fn cpu_time_and_file_size_are_named() {
    let place = Place::new();
    let sandbox = place.start_with(Limits { cpu_seconds: slowly(1), file_size_bytes: MIB, ..Limits::default() }).await;
    // Seen through a shell, too.
    let output = shell(&sandbox, "sh -c 'while :; do :; done'; exit $?").await;
    assert_eq!(output.result.limits_hit, [LimitHit::Cpu], "{:?}", output.result);
    let output = shell(&sandbox, "head -c 2000000 /dev/zero > big; exit $?").await;
    assert_eq!(output.result.limits_hit, [LimitHit::FileSize], "{:?}", output.result);
    sandbox.shutdown().await;
}

#[tokio::test]
async fn a_command_that_hits_nothing_names_nothing() {
    let place = Place::new();
    let sandbox = place.start().await;
    let output = shell(&sandbox, "exit 3").await;
    assert_eq!((output.result.code, output.result.limits_hit), (Some(3), Vec::new()));
    sandbox.shutdown().await;
}
