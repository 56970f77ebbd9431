//! Broken on purpose: for each way to break a container's isolation, the probe must notice and the start must fail.
//! They need an engine: without `RETRACE_CONTAINER_SOCKET` (`.ci/with-podman` sets it) there is nothing to break.

use std::path::Path;
use std::time::Duration;

use bollard::models::ContainerCreateBody;
use bollard::query_parameters::CreateContainerOptions;
use bollard::{API_DEFAULT_VERSION, Docker};

use super::engine::{Facts, Maker, socket_of};
use super::*;
use crate::limits::Limits;
use crate::policy::Policy;
use crate::sandbox::Sandbox;

/// Ways to break the isolation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sabotage {
    Network,
    Filters,
    ProcessIds,
    ReadOnlyRoot,
    Masks,
    HostFiles,
    EngineSocket,
    Limits,
    Environment,
    User,
    Capabilities,
}

pub(super) fn spoil(sabotage: Option<Sabotage>, body: &mut ContainerCreateBody, socket: &Path) {
    let Some(host) = body.host_config.as_mut() else { return };
    let binds = host.binds.get_or_insert_default();
    let arguments = body.cmd.get_or_insert_default();
    let cut = |arguments: &mut Vec<String>, option: &str| {
        if let Some(at) = arguments.iter().position(|argument| argument == option) {
            arguments.drain(at..at + 2);
        }
    };
    match sabotage {
        None => {}
        Some(Sabotage::Network) => {
            host.network_mode = Some("host".to_owned());
            body.network_disabled = None;
        }
        Some(Sabotage::Filters) => {
            cut(arguments, "--filter");
            host.security_opt.get_or_insert_default().push("seccomp=unconfined".to_owned());
        }
        Some(Sabotage::ProcessIds) => host.pid_mode = Some("host".to_owned()),
        Some(Sabotage::ReadOnlyRoot) => host.readonly_rootfs = Some(false),
        Some(Sabotage::Masks) => binds.retain(|bind| !bind.contains("/.env:")),
        Some(Sabotage::HostFiles) => binds.push("/tmp:/tmp:rw".to_owned()),
        Some(Sabotage::EngineSocket) => {
            // Anyone may connect to a socket that is lent under its own path, if its folders can be passed.
            binds.push(format!("{0}:{0}:rw", socket.display()));
            body.user = Some("0:0".to_owned());
        }
        Some(Sabotage::Limits) => {
            (host.memory, host.memory_swap, host.pids_limit) = (None, None, Some(100_000));
        }
        Some(Sabotage::Environment) => {
            cut(arguments, "--env-only");
            body.env.get_or_insert_default().push("SABOTAGE_API_KEY=leaked".to_owned());
        }
        Some(Sabotage::User) => body.user = Some("0:0".to_owned()),
        Some(Sabotage::Capabilities) => {
            (host.cap_drop, host.cap_add) = (None, Some(vec!["SYS_ADMIN".to_owned()]));
            body.user = Some("0:0".to_owned());
        }
    }
    if sabotage == Some(Sabotage::HostFiles) {
        host.tmpfs.get_or_insert_default().remove("/tmp");
    }
}

fn has_engine() -> bool {
    std::env::var_os("RETRACE_CONTAINER_SOCKET").is_some()
}

/// The proofs that fail when the isolation is broken in this way.
async fn failing(sabotage: Sabotage) -> Vec<String> {
    let workspace = tempfile::tempdir().unwrap();
    std::fs::write(workspace.path().join(".env"), "KEY=secret").unwrap();
    let guest_dir = tempfile::tempdir().unwrap();
    let backend = PodmanBackend { flavour: Flavour::Container, sabotage: Some(sabotage) };
    let policy = Policy::new(workspace.path());
    let started = Sandbox::start_on(&backend, &policy, &Limits::default(), guest_dir.path(), Vec::new()).await;
    match started.map(|_| ()) {
        Err(SandboxError::NotIsolated { backend: "container", proofs }) => {
            proofs.into_iter().filter(|proof| !proof.passed).map(|proof| proof.name).collect()
        }
        other => panic!("{sabotage:?}: {other:?}"),
    }
}

async fn assert_noticed(sabotage: Sabotage, expected: &[&str]) {
    if !has_engine() {
        return;
    }
    let failing = failing(sabotage).await;
    for name in expected {
        assert!(failing.iter().any(|failed| failed == name), "{name}: {failing:?}");
    }
}

#[tokio::test]
async fn a_shared_network_is_noticed() {
    let expected = ["own namespaces", "host's loopback unreachable", "host's abstract sockets unreachable"];
    assert_noticed(Sabotage::Network, &expected).await;
}

#[tokio::test]
async fn missing_filters_are_noticed() {
    assert_noticed(Sabotage::Filters, &["system call filter", "unshare denied", "ptrace denied"]).await;
}

#[tokio::test]
async fn shared_process_ids_are_noticed() {
    assert_noticed(Sabotage::ProcessIds, &["own namespaces", "host's processes invisible"]).await;
}

#[tokio::test]
async fn a_writable_root_is_noticed() {
    assert_noticed(Sabotage::ReadOnlyRoot, &["read-only root"]).await;
}

#[tokio::test]
async fn a_readable_secret_is_noticed() {
    assert_noticed(Sabotage::Masks, &["secret files masked"]).await;
}

#[tokio::test]
async fn visible_host_files_are_noticed() {
    assert_noticed(Sabotage::HostFiles, &["host files invisible"]).await;
}

#[tokio::test]
async fn a_reachable_engine_is_noticed() {
    assert_noticed(Sabotage::EngineSocket, &["engine's socket unreachable"]).await;
}

#[tokio::test]
async fn missing_limits_are_noticed() {
    assert_noticed(Sabotage::Limits, &["memory limit in force", "process limit in force"]).await;
}

#[tokio::test]
async fn a_leaked_variable_is_noticed() {
    assert_noticed(Sabotage::Environment, &["environment from the allow-list"]).await;
}

#[tokio::test]
async fn a_root_user_is_noticed() {
    assert_noticed(Sabotage::User, &["not root", "without rights on the host"]).await;
}

#[tokio::test]
async fn capabilities_are_noticed() {
    let expected = ["no capabilities", "no bounding capabilities", "without rights on the host"];
    assert_noticed(Sabotage::Capabilities, &expected).await;
}

fn facts(maker: Maker, rootless: bool) -> Facts {
    Facts { maker, version: "4.3.1".to_owned(), api: (1, 41), rootless, has_krun: false }
}

#[test]
fn the_user_is_mapped_as_safely_as_the_engine_can() {
    let workspace = Path::new("/work");
    let users = |maker, rootless, owner| {
        let ways = mapping::choose(&facts(maker, rootless), owner, workspace);
        ways.map(|ways| ways.into_iter().map(|way| way.user).collect::<Vec<_>>())
    };
    assert_eq!(users(Maker::Podman, false, (0, 0)).unwrap(), ["1000:1000"]);
    assert_eq!(users(Maker::Podman, false, (1000, 1000)).unwrap(), ["1000:1000"]);
    assert_eq!(users(Maker::Podman, false, (1001, 50)).unwrap(), ["1000:1000", "1001:50"]);
    assert_eq!(users(Maker::Podman, true, (1001, 1001)).unwrap(), ["1000:1000"]);
    assert_eq!(users(Maker::Docker, false, (1001, 50)).unwrap(), ["1001:50"]);
    for (rootless, owner) in [(false, (0, 0)), (true, (1000, 1000)), (true, (0, 0))] {
        assert!(matches!(users(Maker::Docker, rootless, owner), Err(SandboxError::Refused { .. })));
    }
    let ways = mapping::choose(&facts(Maker::Podman, false), (7, 8), workspace).unwrap();
    assert_eq!(ways[0].mount_options.as_deref(), Some("idmap=uids=7-1000-1;gids=8-1000-1"));
    let rootless = mapping::choose(&facts(Maker::Podman, true), (7, 8), workspace).unwrap();
    assert_eq!(rootless[0].user_namespace.as_deref(), Some("keep-id:uid=1000,gid=1000"));
}

#[test]
fn an_engine_is_known_by_what_it_says_of_itself() {
    use bollard::models::{SystemVersion, SystemVersionComponents};
    let part = |name: &str, version: &str| SystemVersionComponents {
        name: name.to_owned(),
        version: version.to_owned(),
        ..SystemVersionComponents::default()
    };
    let says = |api: &str, components: Vec<SystemVersionComponents>| SystemVersion {
        api_version: Some(api.to_owned()),
        version: Some("4.3.1".to_owned()),
        components: Some(components),
        ..SystemVersion::default()
    };
    let podman = |runtime| vec![part("Podman Engine", "4.3.1"), part("OCI Runtime (crun)", runtime)];
    let plain = engine::facts(&says("1.41", podman("crun 1.8 +SECCOMP +YAJL")), false).unwrap();
    assert_eq!(plain, facts(Maker::Podman, false));
    assert!(engine::facts(&says("1.41", podman("crun 1.8 +LIBKRUN +YAJL")), true).unwrap().has_krun);
    let by_name = vec![part("Podman Engine", "5.4.0"), part("OCI Runtime (krun)", "crun 1.20")];
    assert!(engine::facts(&says("1.41", by_name), false).unwrap().has_krun);
    let docker = engine::facts(&says("1.99", vec![part("Engine", "30.0")]), false).unwrap();
    assert_eq!((docker.maker, docker.has_krun), (Maker::Docker, false));
    // Never newer than what we know.
    assert!(docker.api < (1, 99));
    for old in ["1.40", "1.24", "0.99", "", "x.y", "1"] {
        assert!(
            matches!(engine::facts(&says(old, Vec::new()), false), Err(SandboxError::EngineTooOld { .. })),
            "{old}"
        );
    }
    let nothing = engine::facts(&SystemVersion::default(), false);
    assert!(matches!(nothing, Err(SandboxError::EngineTooOld { .. })));
}

#[test]
fn sockets_are_named_by_path_or_url() {
    assert_eq!(socket_of("X", "/run/x.sock").unwrap(), Path::new("/run/x.sock"));
    assert_eq!(socket_of("X", "unix:///run/x.sock").unwrap(), Path::new("/run/x.sock"));
    for elsewhere in ["tcp://10.0.0.1:2375", "ssh://host/run/x.sock", "relative", "unix://relative"] {
        let error = socket_of("DOCKER_HOST", elsewhere).unwrap_err().to_string();
        assert!(error.contains(elsewhere) && error.contains("only unix sockets"), "{error}");
    }
}

#[test]
fn names_of_images_cannot_change_the_question() {
    for good in ["debian", "localhost/retrace-sandbox:1", "ghcr.io/a/b_c@sha256:00ff", image::DEFAULT] {
        assert!(image::is_name(good), "{good}");
    }
    for bad in ["", "a b", "../x", "a/../b", "a?x", "a%2f", "-a", "/a", "a//b", "a\n", "ä", &"a".repeat(600)] {
        assert!(!image::is_name(bad), "{bad:?}");
    }
}

/// Frames that an engine may send, and what becomes of them.
#[tokio::test]
async fn stdout_is_taken_out_of_the_frames_and_nothing_else_is() {
    use bollard::container::LogOutput;
    use bytes::Bytes;
    use tokio::io::AsyncReadExt as _;
    let stdout = |text: &'static str| Ok(LogOutput::StdOut { message: Bytes::from_static(text.as_bytes()) });
    let read = async |frames: Vec<Result<LogOutput, bollard::errors::Error>>| {
        let (errors, mut waiting) = tokio::sync::mpsc::channel(2);
        let frames = Box::pin(futures::stream::iter(frames));
        let mut pipe = attach::Stdout { frames, current: Bytes::new(), errors: Some(errors) };
        let mut text = String::new();
        let outcome = pipe.read_to_string(&mut text).await.map_err(|error| error.to_string());
        let mut stderr = Vec::new();
        while let Some(piece) = waiting.recv().await {
            stderr.extend_from_slice(&piece);
        }
        (text, outcome.is_ok(), String::from_utf8(stderr).unwrap())
    };
    let complaint = || Ok(LogOutput::StdErr { message: Bytes::from_static(b"oh") });
    let echo = || Ok(LogOutput::StdIn { message: Bytes::from_static(b"echo") });
    let frames = vec![stdout("a"), stdout(""), complaint(), stdout("b"), echo(), stdout("c")];
    assert_eq!(read(frames).await, ("abc".to_owned(), true, "oh".to_owned()));
    // More than anyone wants to hear is dropped, and blocks nobody.
    let frames = vec![complaint(), complaint(), complaint(), complaint(), stdout("x")];
    assert_eq!(read(frames).await, ("x".to_owned(), true, "ohoh".to_owned()));
    let raw = Ok(LogOutput::Console { message: Bytes::from_static(b"not in frames") });
    assert!(!read(vec![stdout("x"), raw]).await.1);
    let broken = Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset).into());
    assert!(!read(vec![broken]).await.1);
    assert_eq!(read(Vec::new()).await, (String::new(), true, String::new()));
}

/// An engine that makes a container in this many seconds, and what is made of it.
async fn made_after(seconds: u64) -> Result<String, SandboxError> {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("engine.sock");
    let listener = tokio::net::UnixListener::bind(&socket).unwrap();
    let engine = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.read_u8().await.unwrap();
        // The clock stands still while anything else can go on.
        let _ = tokio::time::timeout(Duration::from_secs(seconds), std::future::pending::<()>()).await;
        let body = r#"{"Id":"abc","Warnings":[]}"#;
        let head = "HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length:";
        stream.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
    });
    let docker = Docker::connect_with_unix(socket.to_str().unwrap(), 120, API_DEFAULT_VERSION).unwrap();
    let made = start::make(&docker, CreateContainerOptions::default(), ContainerCreateBody::default()).await;
    engine.abort();
    made
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_has_to_prepare_an_image_is_waited_for_but_not_for_ever() {
    assert_eq!(made_after(0).await.unwrap(), "abc");
    assert_eq!(made_after(600).await.unwrap(), "abc");
    let error = made_after(3_600).await.unwrap_err();
    assert!(error.to_string().ends_with("cannot create the container: no answer in 900 s"), "{error}");
}

#[test]
fn only_a_microvm_that_cannot_be_made_for_want_of_a_runtime_wants_one() {
    let engine = |detail: &str| SandboxError::Engine { what: "create the container", detail: detail.to_owned() };
    let explained = |flavour, detail| start::without_runtime(flavour, "20.10", engine(detail));
    for unknown in ["Unknown runtime specified krun", "unknown or invalid runtime name: krun"] {
        assert!(matches!(explained(Flavour::Krun, unknown), SandboxError::KrunMissing { .. }), "{unknown}");
        assert!(matches!(explained(Flavour::Container, unknown), SandboxError::Engine { .. }), "{unknown}");
    }
    assert!(matches!(explained(Flavour::Krun, "no space left on device"), SandboxError::Engine { .. }));
}
