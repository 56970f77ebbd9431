//! The probe must see what *is* possible where nothing is isolated, or its silence inside would prove nothing.

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use super::*;

/// Everything that would be a leak is one here. (`unshare`, `mount` and `ptrace` would change this very process.)
#[test]
fn on_the_host_everything_is_reached() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("secret");
    std::fs::write(&file, "12345").unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let name = format!("retrace-probe-test-{}", std::process::id());
    let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let socket = dir.path().join("socket");
    let _engine = UnixListener::bind(&socket).unwrap();
    let plan = ProbePlan {
        tcp: vec![tcp.local_addr().unwrap()],
        abstract_socket: name,
        canaries: vec![RawPath::from(&file), RawPath::from("/nonexistent")],
        write_dirs: vec![RawPath::from(dir.path()), RawPath::from("/proc")],
        marker: "marker".to_owned(),
        masked: vec![RawPath::from(&file), RawPath::from("/nonexistent")],
        sockets: vec![RawPath::from(&socket), RawPath::from("/nonexistent")],
        host_process: None,
    };
    let mut seen = Observations::default();
    status::observe(&mut seen);
    let reached = |attempts: &[(RawPath, Attempt)]| attempts.iter().map(|(_, a)| a.succeeded()).collect::<Vec<_>>();
    attempts::observe_files_and_sockets(&plan, &mut seen);
    assert!(seen.tcp[0].succeeded());
    assert!(seen.abstract_socket.unwrap().succeeded());
    assert_eq!(reached(&seen.canaries), [true, false]);
    assert_eq!(reached(&seen.writes), [true, false]);
    assert_eq!(reached(&seen.sockets), [true, false]);
    assert_eq!(seen.masked.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>(), [Some(5), None]);
    assert!(!dir.path().join("marker").exists());
    assert!(seen.namespaces.iter().any(|(name, identity)| name == "pid" && identity.starts_with("pid:[")));
    assert_eq!(seen.no_new_privs, Some(0));
    assert_eq!((seen.boot_id.len(), seen.root_read_only), (36, false));
    assert!(seen.memory_bytes.unwrap() > 1 << 24);
}

#[test]
fn a_plan_that_is_none_is_refused() {
    assert!(matches!(run(&b"{"[..], Vec::new()), Err(ProbeError::Plan { .. })));
    assert!(matches!(run(&b"[]"[..], Vec::new()), Err(ProbeError::Plan { .. })));
}

#[test]
fn fields_of_the_status_are_read_with_their_radix() {
    let text = "Name:\tx\nCapEff:\t00000000000000ff\nSeccomp:\t2\nSeccomp_filters:\t1\n";
    assert_eq!(status::field(text, "CapEff:", 16), Some(255));
    assert_eq!(status::field(text, "Seccomp:", 10), Some(2));
    assert_eq!(status::field(text, "NoNewPrivs:", 10), None);
}

#[test]
fn a_report_can_be_read_back() {
    let seen = Observations { uids: (1000, 1000), tcp: vec![Attempt::Succeeded], ..Observations::default() };
    let text = serde_json::to_string(&seen).unwrap();
    assert_eq!(serde_json::from_str::<Observations>(&text).unwrap().tcp, [Attempt::Succeeded]);
    assert!(Attempt::Succeeded.succeeded() && !Attempt::Failed { errno: 1, text: String::new() }.succeeded());
}
