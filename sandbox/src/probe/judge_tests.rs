//! Each thing the probe can see has to fail its proof, and only its own.

use retrace_guest::probe::Rlimits;
use retrace_guest::raw_path::RawPath;

use super::*;

fn denied() -> Attempt {
    Attempt::Failed { errno: 1, text: "Operation not permitted".to_owned() }
}

fn inside() -> Inside {
    Inside {
        guest: "/run/retrace/guest".into(),
        workspace: "/ws".into(),
        masked: vec!["/ws/.env".into()],
        env_names: vec!["PATH".to_owned()],
        sockets: vec!["/run/engine.sock".into()],
    }
}

fn exec_limits() -> ExecLimits {
    ExecLimits { data_bytes: Some(1000), file_size_bytes: Some(500), cpu_seconds: Some(60), ..ExecLimits::default() }
}

fn well_isolated() -> Observations {
    Observations {
        uids: (1000, 1000),
        cap_eff: Some(0),
        cap_bnd: Some(0),
        no_new_privs: Some(1),
        seccomp: Some(2),
        boot_id: "another".to_owned(),
        memory_bytes: Some(900),
        root_read_only: true,
        sockets: vec![(RawPath::from("/run/engine.sock"), denied())],
        namespaces: NAMESPACES.map(|name| (name.to_owned(), format!("{name}:[1]"))).to_vec(),
        interfaces: vec!["lo".to_owned()],
        tcp: vec![denied()],
        abstract_socket: Some(denied()),
        canaries: vec![(RawPath::from("/canary"), denied())],
        writes: vec![(RawPath::from("/"), denied())],
        masked: vec![(RawPath::from("/ws/.env"), Some(0))],
        host_process_visible: false,
        unshare: Some(denied()),
        mount: Some(denied()),
        ptrace: Some(denied()),
        kernel_settings: vec![(RawPath::from("/proc/sys/x"), denied())],
        env_names: vec!["PATH".to_owned(), CALL_ID_VARIABLE.to_owned()],
        rlimits: Rlimits { processes: None, data_bytes: Some(1000), file_size_bytes: Some(500), cpu_seconds: Some(60) },
    }
}

fn failing(break_it: impl FnOnce(&mut Observations)) -> Vec<String> {
    failing_at(IsolationLevel::Process, break_it)
}

fn failing_at(level: IsolationLevel, break_it: impl FnOnce(&mut Observations)) -> Vec<String> {
    let mut seen = well_isolated();
    break_it(&mut seen);
    let (inside, exec_limits) = (inside(), exec_limits());
    let known = Known { level, inside: &inside, exec_limits: &exec_limits, memory_bytes: 1000 };
    judge(&seen, &known).into_iter().filter(|proof| !proof.passed).map(|proof| proof.name).collect()
}

#[test]
fn a_well_isolated_sandbox_passes() {
    assert_eq!(failing(|_| {}), Vec::<String>::new());
}

#[test]
fn each_leak_fails_its_own_proof() {
    let host_net = fs::read_link("/proc/self/ns/net").unwrap().to_string_lossy().into_owned();
    type Break = Box<dyn FnOnce(&mut Observations)>;
    let cases: Vec<(&str, Break)> = vec![
        ("own namespaces", Box::new(move |seen| seen.namespaces[2].1 = host_net)),
        ("own namespaces", Box::new(|seen| seen.namespaces.clear())),
        ("no network interface", Box::new(|seen| seen.interfaces.push("eth0".to_owned()))),
        ("host's loopback unreachable", Box::new(|seen| seen.tcp[0] = Attempt::Succeeded)),
        ("host's loopback unreachable", Box::new(|seen| seen.tcp.clear())),
        ("host's abstract sockets unreachable", Box::new(|seen| seen.abstract_socket = Some(Attempt::Succeeded))),
        ("host's abstract sockets unreachable", Box::new(|seen| seen.abstract_socket = None)),
        ("host files invisible", Box::new(|seen| seen.canaries[0].1 = Attempt::Succeeded)),
        ("host files invisible", Box::new(|seen| seen.canaries.clear())),
        ("only the workspace is writable", Box::new(|seen| seen.writes[0].1 = Attempt::Succeeded)),
        ("kernel settings read-only", Box::new(|seen| seen.kernel_settings[0].1 = Attempt::Succeeded)),
        ("read-only root", Box::new(|seen| seen.root_read_only = false)),
        ("engine's socket unreachable", Box::new(|seen| seen.sockets[0].1 = Attempt::Succeeded)),
        ("engine's socket unreachable", Box::new(|seen| seen.sockets.clear())),
        ("not root", Box::new(|seen| seen.uids = (1000, 0))),
        ("no capabilities", Box::new(|seen| seen.cap_eff = Some(1))),
        ("no capabilities", Box::new(|seen| seen.cap_eff = None)),
        ("no bounding capabilities", Box::new(|seen| seen.cap_bnd = Some(1 << 21))),
        ("no new privileges", Box::new(|seen| seen.no_new_privs = Some(0))),
        ("system call filter", Box::new(|seen| seen.seccomp = Some(0))),
        ("host's processes invisible", Box::new(|seen| seen.host_process_visible = true)),
        ("unshare denied", Box::new(|seen| seen.unshare = Some(Attempt::Succeeded))),
        ("mount denied", Box::new(|seen| seen.mount = None)),
        ("ptrace denied", Box::new(|seen| seen.ptrace = Some(Attempt::Succeeded))),
        ("secret files masked", Box::new(|seen| seen.masked[0].1 = Some(1))),
        ("secret files masked", Box::new(|seen| seen.masked.clear())),
        ("environment from the allow-list", Box::new(|seen| seen.env_names.push("AWS_SECRET".to_owned()))),
        ("memory limit in force", Box::new(|seen| seen.rlimits.data_bytes = None)),
        ("file size limit in force", Box::new(|seen| seen.rlimits.file_size_bytes = Some(501))),
        ("cpu limit in force", Box::new(|seen| seen.rlimits.cpu_seconds = None)),
    ];
    for (expected, break_it) in cases {
        assert_eq!(failing(break_it), [expected]);
    }
}

#[test]
fn an_unreadable_masked_file_is_as_good_as_an_empty_one() {
    assert_eq!(failing(|seen| seen.masked[0].1 = None), Vec::<String>::new());
}

#[test]
fn a_limit_that_the_kernel_would_not_apply_to_root_is_no_limit() {
    let limits = ExecLimits { processes: Some(100), ..exec_limits() };
    let mut seen = well_isolated();
    seen.rlimits.processes = Some(100);
    let inside = inside();
    let known = Known { level: IsolationLevel::Process, inside: &inside, exec_limits: &limits, memory_bytes: 1000 };
    let proof = judge(&seen, &known).into_iter().find(|proof| proof.name == "process limit in force").unwrap();
    assert_eq!(proof.passed, !rustix::process::geteuid().is_root());
}

#[test]
fn a_container_may_share_the_user_namespace_and_nothing_else() {
    let host = |name: &str| fs::read_link(format!("/proc/self/ns/{name}")).unwrap().to_string_lossy().into_owned();
    let share = |name: &'static str| {
        move |seen: &mut Observations| {
            let found = seen.namespaces.iter_mut().find(|(found, _)| found == name).unwrap();
            found.1 = host(name);
        }
    };
    assert_eq!(failing_at(IsolationLevel::Container, share("user")), Vec::<String>::new());
    assert_eq!(failing(share("user")), ["own namespaces"]);
    for name in NAMESPACES_OF_A_CONTAINER {
        assert_eq!(failing_at(IsolationLevel::Container, share(name)), ["own namespaces"], "{name}");
    }
    assert_eq!(failing_at(IsolationLevel::Container, |seen| seen.seccomp = Some(0)), ["system call filter"]);
}

#[test]
fn a_microvm_needs_a_kernel_and_memory_of_its_own_and_may_do_without_filters() {
    let at = |break_it: fn(&mut Observations)| failing_at(IsolationLevel::MicroVm, break_it);
    let host = || fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().to_owned();
    assert_eq!(at(|_| {}), Vec::<String>::new());
    assert_eq!(failing_at(IsolationLevel::MicroVm, |seen| seen.boot_id = host()), ["own kernel"]);
    assert_eq!(at(|seen| seen.boot_id.clear()), ["own kernel"]);
    assert_eq!(at(|seen| seen.memory_bytes = Some(1001 + FIRMWARE_BYTES)), ["own memory"]);
    assert_eq!(at(|seen| seen.memory_bytes = None), ["own memory"]);
    assert_eq!(at(|seen| seen.seccomp = Some(0)), Vec::<String>::new());
    assert_eq!(at(|seen| seen.interfaces.push("eth0".to_owned())), ["no network interface"]);
    // Connected with nothing in libkrun's guests; who knows with what elsewhere.
    assert_eq!(at(|seen| seen.interfaces.push("dummy0".to_owned())), Vec::<String>::new());
    assert_eq!(failing(|seen| seen.interfaces.push("dummy0".to_owned())), ["no network interface"]);
}
