//! Giving up rights: in real processes, as the host starts them.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output};

const GUEST: &str = env!("CARGO_BIN_EXE_retrace-guest");

fn confined(options: &[&str], script: &str) -> Output {
    let mut command = Command::new(GUEST);
    command.arg("confine").args(options).args(["--", "/bin/sh", "-c", script]);
    command.env_clear().envs([("PATH", "/usr/bin:/bin"), ("KEPT", "yes"), ("DROPPED", "secret")]);
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn variables_that_are_not_named_are_gone_from_the_process_too() {
    let output = confined(&["--env-only", "PATH,KEPT"], "echo $KEPT; cat /proc/$$/environ | tr '\\0' '\\n'");
    let said = said(&output);
    assert!(said.starts_with("yes\n") && !said.contains("secret") && !said.contains("DROPPED"), "{said}");
}

#[test]
fn no_new_privileges_are_to_be_had() {
    assert_eq!(said(&confined(&[], "grep -c '^NoNewPrivs:.1' /proc/self/status")), "1");
}

#[test]
fn root_becomes_the_user_without_anything_left() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let script = "id -u; id -g; id -G; grep ^Cap /proc/self/status | cut -f2 | sort -u";
    assert_eq!(said(&confined(&["--user", "1234:2345"], script)), "1234\n2345\n2345\n0000000000000000");
    let files = confined(&["--user", "1234:2345"], "cat /etc/shadow");
    assert!(!files.status.success());
}

#[test]
fn a_filter_that_cannot_be_read_stops_everything() {
    let output = confined(&["--filter", "/nonexistent"], "echo ran");
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot install the system call filter"));
}

#[test]
fn a_filter_is_in_force_in_the_program() {
    // One instruction: allow everything (BPF_RET | BPF_K, SECCOMP_RET_ALLOW).
    let mut filter = vec![0x06, 0, 0, 0];
    filter.extend(0x7fff_0000u32.to_ne_bytes());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), filter).unwrap();
    let path = file.path().to_str().unwrap();
    assert_eq!(said(&confined(&["--filter", path], "grep -c '^Seccomp:.2' /proc/self/status")), "1");
}

#[test]
fn wrong_options_start_nothing() {
    let error =
        Command::new(GUEST).args(["confine", "--user", "0:0", "--", "/bin/sh", "-c", "echo ran"]).output().unwrap();
    assert!(!error.status.success() && error.stdout.is_empty());
    // The same file, by another name.
    let output = Command::new(GUEST).arg0("x").args(["confine", "--", "/nonexistent"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot start the program"));
}
