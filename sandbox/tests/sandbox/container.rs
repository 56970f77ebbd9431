//! What only engines have: images, left-overs after a crash, a guest whose host is gone. On `process` there is nothing to
//! show.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use retrace_sandbox::{EngineOptions, ExecRequest, Limits, Policy, Sandbox, SandboxChoice, SandboxError};

use crate::engine;
use crate::support::{Place, as_root, backend, fails, on_process, prints, run, shell, slowly, text};

/// Waits for what comes without anyone telling.
async fn wait_until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < Duration::from_millis(slowly(30_000)), "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn with_engine(place: &Place, engine: EngineOptions) -> Policy {
    Policy { engine, ..place.policy() }
}

#[tokio::test]
async fn a_missing_image_is_an_error_and_nothing_is_pulled() {
    if on_process() {
        return;
    }
    let place = Place::new();
    let image = |name: &str| EngineOptions { image: Some(name.to_owned()), ..EngineOptions::default() };
    let start = async |name: &str| {
        let started = place.try_start(with_engine(&place, image(name)), Limits::default()).await;
        started.map(|_| ()).unwrap_err()
    };
    let error = start("localhost/retrace-no-such-image:1").await;
    assert!(matches!(&error, SandboxError::ImageMissing { .. }), "{error}");
    assert!(
        error.to_string().contains("hint: fetch it with `podman pull localhost/retrace-no-such-image:1`"),
        "{error}"
    );
    for name in ["", "../x", "a b", "-x", "x?y", "a//b"] {
        let error = start(name).await;
        assert!(matches!(&error, SandboxError::ImageName { .. }), "{name}: {error}");
    }
}

#[tokio::test]
async fn a_socket_that_may_not_be_used_is_told_apart_from_one_that_is_not_there() {
    let place = Place::new();
    let path = place.guest_dir().join("engine.sock");
    let start = async |choice| {
        let engine = EngineOptions { socket: Some(path.clone()), ..EngineOptions::default() };
        let started = Sandbox::start(choice, with_engine(&place, engine), Limits::default(), place.guest_dir()).await;
        started.map(|_| ()).unwrap_err()
    };
    assert!(matches!(start(SandboxChoice::Container).await, SandboxError::EngineMissing { .. }));
    // Something else than an engine listens.
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let answering = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // Whoever asks gets nonsense.
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, b"SSH-2.0-OpenSSH_9.2\r\n").await;
        }
    });
    let error = start(SandboxChoice::Container).await;
    assert!(matches!(&error, SandboxError::Engine { what: "tell its version", .. }), "{error}");
    answering.abort();
    if !rustix::process::geteuid().is_root() {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
        assert!(matches!(start(SandboxChoice::Container).await, SandboxError::EngineDenied { .. }));
    }
}

#[tokio::test]
async fn krun_on_an_engine_that_ignores_it_is_refused() {
    if backend() != SandboxChoice::Container {
        return;
    }
    let place = Place::new();
    let started = Sandbox::start(SandboxChoice::Krun, place.policy(), Limits::default(), place.guest_dir()).await;
    let error = started.map(|_| ()).unwrap_err();
    // An engine that knows the wish fails to find the runtime; one that does not ignores it.
    assert!(matches!(error, SandboxError::RuntimeIgnored { .. } | SandboxError::KrunMissing { .. }), "{error}");
    assert!(error.to_string().contains("podman --runtime krun system service"), "{error}");
    let auto = Sandbox::start(SandboxChoice::Auto, place.policy(), Limits::default(), place.guest_dir()).await.unwrap();
    assert_eq!(auto.backend_name(), "container");
    assert_eq!(auto.considered().len(), 1);
    assert!(auto.considered()[0].reason.contains("no runtime for microVMs"), "{:?}", auto.considered());
    auto.shutdown().await;
}

#[tokio::test]
async fn the_container_is_what_it_should_be_and_goes_with_the_sandbox() {
    if on_process() {
        return;
    }
    let place = Place::new();
    let sandbox = place.start().await;
    let marker = prints(&sandbox, "echo $RETRACE_SANDBOX_ID").await;
    let container = engine::container(&marker).await.unwrap();
    assert!(marker.starts_with(&container.owner), "{marker} {}", container.owner);
    for expected in
        [r#""ReadonlyRootfs":true"#, r#""NetworkMode":"none""#, r#""AutoRemove":true"#, r#""Privileged":false"#]
    {
        assert!(container.inspected.contains(expected), "{expected}: {}", container.inspected);
    }
    assert_eq!(prints(&sandbox, "pwd").await, "/workspace");
    sandbox.shutdown().await;
    assert!(engine::container(&marker).await.is_none());
}

#[tokio::test]
async fn every_byte_comes_through_on_every_stream() {
    let place = Place::new();
    let sandbox = place.start().await;
    // Among them all that a terminal or an engine could take for itself: detach keys, frame headers, signals.
    let script = "import os, sys\ndata = bytes(range(256)) * 4096 + b'\\x10\\x11' * 500\n\
        sys.stdout.buffer.write(data); sys.stderr.buffer.write(data[::-1])";
    let output = run(&sandbox, ExecRequest::argv(["python3", "-c", script])).await;
    let mut data: Vec<u8> = (0..4096).flat_map(|_| 0..=255u8).collect();
    data.extend([0x10, 0x11].repeat(500));
    assert!(output.stdout == data);
    data.reverse();
    assert!(output.stderr == data);
    for stdin in [vec![0x10], vec![0x11], [0x10, 0x11].repeat(100_000), (0..=255u8).collect()] {
        let request = ExecRequest { stdin: Some(stdin.clone().into()), ..ExecRequest::shell("cat") };
        assert!(run(&sandbox, request).await.stdout == stdin);
    }
    sandbox.shutdown().await;
}

#[tokio::test]
async fn a_secret_with_a_name_that_cannot_be_mounted_is_not_left_open() {
    if on_process() {
        return;
    }
    let place = Place::new();
    place.file("a:b/.env", "KEY=secret");
    let error = place.try_start(place.policy(), Limits::default()).await.map(|_| ()).unwrap_err();
    assert!(matches!(&error, SandboxError::Refused { .. }), "{error}");
}

#[tokio::test]
async fn a_workspace_of_another_owner_is_written_as_his() {
    use std::os::unix::fs::MetadataExt as _;
    if on_process() || !as_root() {
        return;
    }
    let place = Place::new();
    std::os::unix::fs::chown(place.workspace(), Some(1234), Some(2345)).unwrap();
    let sandbox = place.start().await;
    assert_eq!(prints(&sandbox, "id -u; touch made; stat -c %u:%g . made").await, "1000\n1000:1000\n1000:1000");
    let made = std::fs::metadata(place.workspace().join("made")).unwrap();
    assert_eq!((made.uid(), made.gid()), (1234, 2345));
    sandbox.shutdown().await;
}

/// Run by the test below in a process of its own, which is then killed.
#[tokio::test]
async fn helper_that_is_killed() {
    if std::env::var("RETRACE_TEST_TO_BE_KILLED").is_err() {
        return;
    }
    let place = Place::new();
    let sandbox = place.start().await;
    let request = ExecRequest { endless: true, ..ExecRequest::shell("echo $RETRACE_SANDBOX_ID; sleep 1000") };
    let mut running = sandbox.exec(request).await.unwrap();
    let Some(retrace_sandbox::Chunk::Stdout(marker)) = running.next().await else { panic!("no marker") };
    std::io::Write::write_all(&mut std::io::stdout(), format!("marker {}\n", text(&marker).trim()).as_bytes()).unwrap();
    running.wait().await.unwrap();
}

fn start_helper() -> (std::process::Child, String) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "container::helper_that_is_killed", "--nocapture"])
        .env("RETRACE_TEST_TO_BE_KILLED", "yes")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (mut said, mut byte) = (String::new(), [0]);
    while !said.contains("marker ") || !said.ends_with('\n') {
        assert_eq!(stdout.read(&mut byte).unwrap(), 1, "{said}");
        said.push(byte[0] as char);
    }
    let marker = said.split("marker ").nth(1).unwrap().trim().to_owned();
    (child, marker)
}

#[tokio::test]
async fn a_guest_whose_host_is_killed_ends_by_itself() {
    if on_process() {
        return;
    }
    let (mut child, marker) = start_helper();
    let pid = engine::container(&marker).await.unwrap().pid;
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("the guest ends", async || !std::path::Path::new(&format!("/proc/{pid}")).exists()).await;
    wait_until("its container goes", async || engine::container(&marker).await.is_none()).await;
}

#[tokio::test]
async fn the_next_start_removes_what_a_killed_program_left() {
    if on_process() {
        return;
    }
    let (mut child, marker) = start_helper();
    let pid = engine::container(&marker).await.unwrap().pid;
    // Its guest cannot end by itself: it is stopped.
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    // From here on any start removes it, those of other tests too.
    let place = Place::new();
    let sandbox = place.start().await;
    assert!(engine::container(&marker).await.is_none());
    // Its own is not taken for a left-over by anyone.
    let another = place.start().await;
    assert_eq!(prints(&sandbox, "echo still here").await, "still here");
    another.shutdown().await;
    sandbox.shutdown().await;
}

#[tokio::test]
async fn host_settings_do_not_leak_through_the_engine() {
    if on_process() {
        return;
    }
    let place = Place::new();
    let sandbox = place.start().await;
    let names = prints(&sandbox, "env | cut -d= -f1 | sort | tr '\\n' ' '").await;
    for unwanted in ["container", "HOSTNAME", "http_proxy", "https_proxy", "HTTP_PROXY", "NO_PROXY"] {
        assert!(!names.split(' ').any(|name| name == unwanted), "{unwanted}: {names}");
    }
    assert!(fails(&sandbox, &format!("ls {}", engine::socket())).await);
    assert!(!shell(&sandbox, "cat /proc/1/environ").await.result.succeeded());
    sandbox.shutdown().await;
}
