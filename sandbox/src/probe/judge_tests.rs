//! Each thing the probe can see has to fail its proof, and only its own.

use retrace_guest::probe::Rlimits;
use retrace_guest::raw_path::RawPath;

use super::*;

fn denied() -> Attempt {
    Attempt::Failed { errno: 1, text: "Operation not permitted".to_owned() }
}

fn inside() -> Inside {
    Inside { guest: "/run/retrace/guest".into(), masked: vec!["/ws/.env".into()], env_names: vec!["PATH".to_owned()] }
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
    let mut seen = well_isolated();
    break_it(&mut seen);
    judge(&seen, &inside(), &exec_limits()).into_iter().filter(|proof| !proof.passed).map(|proof| proof.name).collect()
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
    let proof =
        judge(&seen, &inside(), &limits).into_iter().find(|proof| proof.name == "process limit in force").unwrap();
    assert_eq!(proof.passed, !rustix::process::geteuid().is_root());
}
