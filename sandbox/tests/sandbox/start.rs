//! Starting: what is allowed, what is proven, and what it says when it cannot.

use retrace_sandbox::{
    EngineOptions, ExecRequest, IsolationLevel, Limits, Policy, Sandbox, SandboxChoice, SandboxError, survey,
};

use crate::support::{Place, backend, limits_the_whole, on_process, run, text};

#[tokio::test]
async fn every_proof_is_there_and_passes() {
    let place = Place::new();
    place.file(".env", "KEY=secret");
    let sandbox = place.start().await;
    let names: Vec<&str> = sandbox.proofs().iter().map(|proof| proof.name.as_str()).collect();
    // A microVM has a kernel of its own, and need not close what that offers.
    let of_the_level: &[&str] = match sandbox.level() {
        IsolationLevel::None => panic!("nothing was asked for"),
        IsolationLevel::Process => &["own namespaces"],
        IsolationLevel::Container => &["own namespaces", "engine's socket unreachable", "without rights on the host"],
        IsolationLevel::MicroVm => &["own kernel", "own memory", "engine's socket unreachable"],
    };
    let of_a_shared_kernel: &[&str] = match sandbox.level() {
        IsolationLevel::MicroVm => &[],
        _ => &["system call filter", "unshare denied", "mount denied", "ptrace denied"],
    };
    for expected in of_the_level.iter().chain(of_a_shared_kernel).copied().chain([
        "no network interface",
        "host's loopback unreachable",
        "host's abstract sockets unreachable",
        "host files invisible",
        "read-only root",
        "only the workspace is writable",
        "kernel settings read-only",
        "not root",
        "no capabilities",
        "no bounding capabilities",
        "no new privileges",
        "host's processes invisible",
        "secret files masked",
        "environment from the allow-list",
        "host files untouched",
        "memory limit in force",
        "process limit in force",
        "file size limit in force",
        "cpu limit in force",
    ]) {
        assert!(names.contains(&expected), "{expected} is missing from {names:?}");
    }
    assert!(sandbox.proofs().iter().all(|proof| proof.passed), "{:#?}", sandbox.proofs());
    let level = match backend() {
        SandboxChoice::Krun => IsolationLevel::MicroVm,
        SandboxChoice::Container => IsolationLevel::Container,
        _ => IsolationLevel::Process,
    };
    assert_eq!((sandbox.level(), sandbox.backend_name()), (level, backend().as_str()));
    assert!(!sandbox.kernel().is_empty());
    sandbox.shutdown().await;
}

#[tokio::test]
async fn auto_says_why_the_stronger_ones_fell_out() {
    let place = Place::new();
    let sandbox = Sandbox::start(SandboxChoice::Auto, without_engine(&place), Limits::default(), place.guest_dir())
        .await
        .unwrap();
    assert_eq!(sandbox.backend_name(), "process");
    let considered: Vec<&str> = sandbox.considered().iter().map(|considered| considered.backend).collect();
    assert_eq!(considered, ["krun", "container"]);
    for considered in sandbox.considered() {
        assert!(considered.reason.contains("no container engine answers"), "{considered:?}");
        assert!(considered.reason.contains("nobody-here.sock (No such file or directory)"), "{considered:?}");
    }
    sandbox.shutdown().await;
}

fn without_engine(place: &Place) -> Policy {
    let socket = Some(place.guest_dir().join("nobody-here.sock"));
    Policy { engine: EngineOptions { socket, ..EngineOptions::default() }, ..place.policy() }
}

#[tokio::test]
async fn what_cannot_be_is_refused_and_not_replaced() {
    let place = Place::new();
    for choice in [SandboxChoice::Krun, SandboxChoice::Container] {
        let started = Sandbox::start(choice, without_engine(&place), Limits::default(), place.guest_dir()).await;
        let error = started.unwrap_err();
        assert!(matches!(error, SandboxError::EngineMissing { .. }), "{error}");
        assert!(error.to_string().contains("hint: krun and container sandboxes need one: start it"), "{error}");
    }
}

#[tokio::test]
async fn a_survey_tries_every_backend() {
    let place = Place::new();
    let surveyed = survey(&without_engine(&place), &Limits::default(), place.guest_dir()).await;
    let names: Vec<&str> = surveyed.iter().map(|one| one.backend).collect();
    assert_eq!(names, ["krun", "container", "process"]);
    for one in &surveyed[..2] {
        assert!(matches!(one.outcome, Err(SandboxError::EngineMissing { .. })), "{one:?}");
    }
    if on_process() {
        let usable = surveyed[2].outcome.as_ref().unwrap();
        assert_eq!(usable.level, IsolationLevel::Process);
        assert!(usable.proofs.len() > 20 && usable.launch_ms > 0.0);
    }
}

#[tokio::test]
async fn a_number_of_processors_is_a_limit_too() {
    let place = Place::new();
    let limits = Limits { cpus: Some(0.5), ..Limits::default() };
    let started = place.try_start(place.policy(), limits).await;
    if !limits_the_whole() {
        assert!(matches!(started, Err(SandboxError::NotIsolated { .. })), "{started:?}");
        return;
    }
    let sandbox = started.unwrap();
    assert!(sandbox.limits().describe().contains(&("cpus", "0.5".to_owned())));
    let proof = sandbox.proofs().iter().find(|proof| proof.name == "processor share in force").unwrap();
    assert_eq!((proof.passed, proof.detail.as_str()), (true, "0.5 processors for all together"));
    if backend() == SandboxChoice::Krun {
        // Clocks in there may be told otherwise: what the host sees of the machine's process counts.
        let pid = crate::lifecycle::outer_pid(&sandbox).await;
        let (used_before, begun) = (cpu_ms(pid), std::time::Instant::now());
        let busy = ExecRequest { timeout_ms: Some(4_000), ..ExecRequest::shell("while :; do :; done") };
        assert!(run(&sandbox, busy).await.result.timed_out);
        let share = (cpu_ms(pid) - used_before) as f64 / begun.elapsed().as_secs_f64() / 1_000.0;
        assert!((0.1..0.65).contains(&share), "{share}");
        return sandbox.shutdown().await;
    }
    // Half a second of work takes about a second, and in no case less. (Python's own start has used some already.)
    let script = "import time\nbegun, used = time.monotonic(), time.process_time()\n\
        while time.process_time() - used < 0.6: pass\n\
        print(int((time.monotonic() - begun) * 1000))";
    let request = ExecRequest::argv(["python3", "-c", script]);
    let took: u64 = text(&run(&sandbox, request).await.stdout).trim().parse().unwrap();
    assert!(took >= 900, "{took} ms");
    sandbox.shutdown().await;
}

/// Processor time of a process with all its threads.
fn cpu_ms(pid: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, after_name) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    // In hundredths of a second, as everywhere on Linux.
    fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap() * 10).sum()
}

#[tokio::test]
async fn workspaces_that_would_expose_too_much_are_refused() {
    let place = Place::new();
    let home = std::env::home_dir().unwrap();
    for workspace in ["/", "/usr", "/etc", "/home", "/tmp", "/proc/self", "/dev/shm"]
        .map(std::path::PathBuf::from)
        .iter()
        .chain([&home])
    {
        let error = place.try_start(Policy::new(workspace), Limits::default()).await.unwrap_err();
        assert!(matches!(error, SandboxError::Refused { .. }), "{}: {error}", workspace.display());
    }
    let error = place.try_start(Policy::new("/nonexistent"), Limits::default()).await.unwrap_err();
    assert!(matches!(error, SandboxError::Workspace { .. }));
    let file = place.file("file", "");
    let error = place.try_start(Policy::new(file), Limits::default()).await.unwrap_err();
    assert!(error.to_string().contains("is not a folder"), "{error}");
}

#[tokio::test]
async fn the_guest_must_lie_where_commands_cannot_write() {
    let place = Place::new();
    let inside = place.workspace().join("state");
    let error = Sandbox::start(SandboxChoice::Process, place.policy(), Limits::default(), &inside).await.unwrap_err();
    assert!(matches!(error, SandboxError::Refused { .. }), "{error}");
}

#[tokio::test]
async fn policies_that_leak_secrets_are_refused() {
    let place = Place::new();
    let with_env = |name: &str| Policy { env_passthrough: vec![name.to_owned()], ..place.policy() };
    for name in ["ANTHROPIC_API_KEY", "anthropic_base_url", "GITHUB_TOKEN", "MY_SECRET", "DB_PASSWORD"] {
        let error = place.try_start(with_env(name), Limits::default()).await.unwrap_err();
        assert!(matches!(&error, SandboxError::SecretVariable { name: found } if found == name), "{error}");
    }
    let expose = |path: &std::path::Path| Policy { expose: vec![path.to_path_buf()], ..place.policy() };
    for path in [std::env::home_dir().unwrap().as_path(), "/".as_ref(), "/etc/ssl".as_ref(), place.guest_dir()] {
        let error = place.try_start(expose(path), Limits::default()).await.unwrap_err();
        assert!(matches!(error, SandboxError::Refused { .. }), "{}: {error}", path.display());
    }
    let masked = Policy { masked_names: vec!["../x".to_owned()], ..place.policy() };
    assert!(matches!(place.try_start(masked, Limits::default()).await.unwrap_err(), SandboxError::MaskedName { .. }));
}

#[test]
fn choices_are_read_from_their_names() {
    for choice in ["auto", "krun", "container", "process", "none"] {
        assert_eq!(choice.parse::<SandboxChoice>().unwrap().as_str(), choice);
    }
    for wrong in ["", "Auto", "docker", "no"] {
        assert!(wrong.parse::<SandboxChoice>().unwrap_err().to_string().contains("hint:"));
    }
}

#[test]
fn levels_are_ordered() {
    use IsolationLevel::{Container, MicroVm, None, Process};
    assert!(None < Process && Process < Container && Container < MicroVm);
}

#[test]
fn limits_are_described_for_people() {
    let described = Limits::default().describe();
    assert!(described.contains(&("memory", "4 GiB".to_owned())), "{described:?}");
    assert!(described.contains(&("output", "64 MiB".to_owned())));
    assert_eq!(described.len(), 10);
    let described = Limits { memory_bytes: Some(512 << 20), cpus: Some(1.5), ..Limits::default() }.describe();
    assert!(described.contains(&("memory", "512 MiB".to_owned())) && described.contains(&("cpus", "1.5".to_owned())));
}
