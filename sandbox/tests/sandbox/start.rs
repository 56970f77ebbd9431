//! Starting: what is allowed, what is proven, and what it says when it cannot.

use retrace_sandbox::{IsolationLevel, Limits, Policy, Sandbox, SandboxChoice, SandboxError};

use crate::support::Place;

#[tokio::test]
async fn every_proof_is_there_and_passes() {
    let place = Place::new();
    place.file(".env", "KEY=secret");
    let sandbox = place.start().await;
    let names: Vec<&str> = sandbox.proofs().iter().map(|proof| proof.name.as_str()).collect();
    for expected in [
        "own namespaces",
        "no network interface",
        "host's loopback unreachable",
        "host's abstract sockets unreachable",
        "host files invisible",
        "only the workspace is writable",
        "kernel settings read-only",
        "not root",
        "no capabilities",
        "no bounding capabilities",
        "no new privileges",
        "system call filter",
        "host's processes invisible",
        "unshare denied",
        "mount denied",
        "ptrace denied",
        "secret files masked",
        "environment from the allow-list",
        "host files untouched",
        "memory limit in force",
        "process limit in force",
        "file size limit in force",
        "cpu limit in force",
    ] {
        assert!(names.contains(&expected), "{expected} is missing from {names:?}");
    }
    assert!(sandbox.proofs().iter().all(|proof| proof.passed), "{:#?}", sandbox.proofs());
    assert_eq!((sandbox.level(), sandbox.backend_name()), (IsolationLevel::Process, "process"));
    assert!(!sandbox.kernel().is_empty());
    sandbox.shutdown().await;
}

#[tokio::test]
async fn auto_says_why_the_stronger_ones_fell_out() {
    let place = Place::new();
    let sandbox =
        Sandbox::start(SandboxChoice::Auto, place.policy(), Limits::default(), place.guest_dir()).await.unwrap();
    assert_eq!(sandbox.backend_name(), "process");
    let considered: Vec<&str> = sandbox.considered().iter().map(|considered| considered.backend).collect();
    assert_eq!(considered, ["krun", "container"]);
    sandbox.shutdown().await;
}

#[tokio::test]
async fn what_is_not_built_yet_is_refused_and_not_replaced() {
    let place = Place::new();
    for choice in [SandboxChoice::Krun, SandboxChoice::Container] {
        let error = Sandbox::start(choice, place.policy(), Limits::default(), place.guest_dir()).await.unwrap_err();
        assert!(matches!(error, SandboxError::NotBuilt { name } if name == choice.as_str()));
        assert!(error.to_string().contains("hint: available are process"), "{error}");
    }
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
}
