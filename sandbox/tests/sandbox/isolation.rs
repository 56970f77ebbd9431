//! What a command can and cannot reach.

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use retrace_sandbox::{ExecRequest, Limits, Policy};

use crate::support::{Place, as_root, fails, on_docker, on_process, prints, run, shell, text};

#[tokio::test]
async fn there_is_no_network() {
    let place = Place::new();
    let sandbox = place.start().await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let name = format!("retrace-isolation-{}", std::process::id());
    let _unix = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    assert!(fails(&sandbox, &connect).await);
    assert!(std::process::Command::new("bash").args(["-c", &connect]).status().unwrap().success(), "the test is void");
    assert!(fails(&sandbox, "exec 3<>/dev/tcp/192.0.2.1/80").await);
    let python =
        format!("python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('\\0{name}')\" 2>&1 | tail -1");
    assert!(prints(&sandbox, &python).await.contains("refused"));
    assert_eq!(prints(&sandbox, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '").await, "lo");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn loopback_works_among_the_commands_themselves() {
    let place = Place::new();
    let sandbox = place.start().await;
    let script = "import socket, threading\n\
        server = socket.create_server(('127.0.0.1', 0))\n\
        threading.Thread(target=lambda: server.accept()[0].sendall(b'hi')).start()\n\
        print(socket.create_connection(server.getsockname()).recv(2).decode())";
    let output = run(&sandbox, ExecRequest::argv(["python3", "-c", script])).await;
    assert_eq!(text(&output.stdout), "hi\n", "{}", text(&output.stderr));
    sandbox.shutdown().await;
}

#[tokio::test]
async fn only_the_workspace_and_scratch_are_writable() {
    let place = Place::new();
    let sandbox = place.start().await;
    for dir in [
        "/",
        "/usr",
        "/usr/local/bin",
        "/etc",
        "/opt",
        "/home",
        "/dev",
        "/proc/sys/kernel",
        "/var",
        "/run/retrace",
        "/root",
    ] {
        assert!(fails(&sandbox, &format!("touch {dir}/retrace-test")).await, "{dir}");
    }
    for dir in ["/tmp", "/var/tmp", "$HOME", "/dev/shm", "."] {
        assert!(!fails(&sandbox, &format!("touch {dir}/retrace-test")).await, "{dir}");
    }
    assert!(place.workspace().join("retrace-test").exists());
    assert!(!std::env::temp_dir().join("retrace-test").exists());
    sandbox.shutdown().await;
}

#[tokio::test]
async fn the_kernel_cannot_be_reached_through_proc() {
    let place = Place::new();
    let sandbox = place.start().await;
    // With bubblewrap alone, the host's root could write here without any capability.
    assert!(fails(&sandbox, "echo '|/tmp/evil' > /proc/sys/kernel/core_pattern").await);
    // A container's engine covers some of it with devices and empty folders, which are no settings.
    let open = "find /proc -maxdepth 4 -type f -perm /222 -not -path '/proc/[0-9]*' -not -path '/proc/self/*' \
        -not -path '/proc/thread-self/*' -writable 2>/dev/null | while read -r f; do [ ! -f $f ] || echo $f; done; true";
    assert_eq!(prints(&sandbox, open).await, "");
    assert_eq!(prints(&sandbox, "cat /proc/kpageflags /proc/timer_list 2>/dev/null | wc -c").await, "0");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn the_hosts_files_are_not_there() {
    let place = Place::new();
    let secret = tempfile::NamedTempFile::new().unwrap();
    let home = std::env::home_dir().unwrap();
    let sandbox = place.start().await;
    if on_process() {
        for path in ["/etc/shadow", "/var/log", "/sys", "/boot"] {
            assert!(fails(&sandbox, &format!("ls -d {path}")).await, "{path}");
        }
        assert!(!prints(&sandbox, "cat /etc/passwd").await.contains("/bin/bash"));
    }
    // Elsewhere they are the image's.
    assert!(fails(&sandbox, "cat /etc/shadow").await);
    assert_eq!(prints(&sandbox, "ls /sys 2>/dev/null; true").await, "");
    let host = std::fs::read_to_string("/etc/passwd").unwrap();
    assert_ne!(prints(&sandbox, "cat /etc/passwd").await, host.trim());
    assert_eq!(prints(&sandbox, "cat /etc/hosts").await, "127.0.0.1 localhost retrace\n::1 localhost");
    assert_eq!(prints(&sandbox, "cat /etc/resolv.conf 2>/dev/null; true").await, "");
    for path in [
        secret.path(),
        &home.join(".ssh"),
        &home.join(".bashrc"),
        &home.join(".config"),
        &home.join(".cargo/credentials.toml"),
        place.guest_dir(),
    ] {
        assert!(fails(&sandbox, &format!("ls -d {}", path.display())).await, "{}", path.display());
    }
    sandbox.shutdown().await;
}

#[tokio::test]
async fn a_link_in_the_workspace_does_not_bring_the_host_in() {
    let place = Place::new();
    std::os::unix::fs::symlink("/etc/shadow", place.workspace().join("link")).unwrap();
    let sandbox = place.start().await;
    assert!(fails(&sandbox, "cat link").await);
    sandbox.shutdown().await;
}

#[tokio::test]
async fn secrets_in_the_workspace_are_masked_at_any_depth_nearby() {
    let place = Place::new();
    for name in [".env", "services/api/.env", ".env.local"] {
        place.file(name, "KEY=secret\n");
    }
    place.file(".env.example", "KEY=\n");
    std::os::unix::fs::symlink(".env", place.workspace().join("settings")).unwrap();
    let sandbox = place.start().await;
    assert_eq!(prints(&sandbox, "cat .env services/api/.env .env.local settings").await, "");
    assert_eq!(prints(&sandbox, "cat .env.example").await, "KEY=");
    assert_eq!(sandbox.read(".env", 0, 100).await.unwrap().bytes, b"");
    assert!(fails(&sandbox, "rm .env || echo new > .env").await);
    assert!(fails(&sandbox, "mv .env elsewhere").await);
    assert!(sandbox.write(".env", "new", None).await.is_err());
    assert_eq!(std::fs::read_to_string(place.workspace().join(".env")).unwrap(), "KEY=secret\n");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn the_environment_is_built_from_nothing() {
    let place = Place::new();
    // Set for the whole process, as a user's shell would.
    // SAFETY: no other test of this binary reads or writes this variable.
    unsafe { std::env::set_var("ANTHROPIC_API_KEY", "sk-ant-test") };
    // SAFETY: as above.
    unsafe { std::env::set_var("RETRACE_TEST_PASSED_ON", "yes") };
    let policy = Policy { env_passthrough: vec!["RETRACE_TEST_PASSED_ON".to_owned()], ..place.policy() };
    let sandbox = place.try_start(policy, Limits::default()).await.unwrap();
    let env = prints(&sandbox, "env; cat /proc/*/environ | tr '\\0' '\\n'").await;
    assert!(!env.contains("sk-ant-test") && !env.contains("ANTHROPIC"), "{env}");
    assert!(env.contains("RETRACE_TEST_PASSED_ON=yes"));
    assert_eq!(
        prints(&sandbox, "echo $HOME $USER $TERM $LANG $RETRACE_SANDBOX; hostname; pwd").await,
        format!(
            "/home/agent agent dumb C.UTF-8 {}\nretrace\n{}",
            sandbox.backend_name(),
            sandbox.workspace_inside().display()
        )
    );
    sandbox.shutdown().await;
}

#[tokio::test]
async fn privileged_system_calls_are_denied() {
    let place = Place::new();
    let sandbox = place.start().await;
    let script = r#"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(name, number, *args):
    result = libc.syscall(number, *args)
    print(name, os.strerror(ctypes.get_errno()) if result < 0 else "worked")
call("mount", 165, b"x", b"/tmp", b"tmpfs", 0, 0)
call("unshare-user", 272, 0x10000000)
call("unshare-files", 272, 0x400)
call("clone-newns", 56, 0x00020000 | 17, 0, 0, 0, 0)
call("clone-user-high", 56, 0x10000000 | 0x7700000000 | 17, 0, 0, 0, 0)
call("clone3", 435, 0, 0)
call("ptrace", 101, 16, 1, 0, 0)
call("bpf", 321, 0, 0, 0)
call("perf", 298, 0, 0, -1, -1, 0)
call("keyctl", 250, 0, 0)
call("userfaultfd", 323, 0)
call("io_uring", 425, 1, 0)
call("setns", 308, 0, 0)
call("open_by_handle_at", 304, 0, 0, 0)
call("process_vm_readv", 310, 1, 0, 0, 0, 0, 0)
call("vsock", 41, 40, 1, 0)
call("packet", 41, 17, 3, 0)
call("netlink-audit", 41, 16, 3, 9)
call("netlink-route", 41, 16, 3, 0)
call("tiocsti", 16, 0, 0x5412, b"x")
call("tiocsti-high", 16, 0, 0x7700005412, b"x")
call("x32-getpid", 0x40000000 | 39)
call("getpid", 39)
"#;
    // A microVM's own kernel need not know filters; it is its own that is reached then.
    let has_filter = sandbox.proofs().iter().any(|proof| proof.name == "system call filter");
    if !cfg!(target_arch = "x86_64") || !has_filter {
        return;
    }
    let output = run(&sandbox, ExecRequest::argv(["python3", "-c", script])).await;
    let denied = "Operation not permitted";
    let absent = "Function not implemented";
    let expected = [
        ("mount", denied),
        ("unshare-user", denied),
        // Docker's own filter denies it whatever it is for.
        ("unshare-files", if on_docker() { denied } else { "worked" }),
        ("clone-newns", denied),
        ("clone-user-high", denied),
        ("clone3", absent),
        ("ptrace", denied),
        ("bpf", denied),
        ("perf", denied),
        ("keyctl", denied),
        ("userfaultfd", denied),
        ("io_uring", absent),
        ("setns", denied),
        ("open_by_handle_at", denied),
        ("process_vm_readv", denied),
        ("vsock", denied),
        ("packet", denied),
        ("netlink-audit", denied),
        ("netlink-route", "worked"),
        ("tiocsti", denied),
        ("tiocsti-high", denied),
        ("x32-getpid", absent),
        ("getpid", "worked"),
    ];
    let expected: String = expected.iter().map(|(name, result)| format!("{name} {result}\n")).collect();
    assert_eq!(text(&output.stdout), expected, "{}", text(&output.stderr));
    sandbox.shutdown().await;
}

#[tokio::test]
async fn thirty_two_bit_system_calls_are_no_way_around() {
    let place = Place::new();
    let sandbox = place.start().await;
    if !cfg!(target_arch = "x86_64") || fails(&sandbox, "command -v gcc").await {
        return;
    }
    // getpid by the old interrupt: kills the program, since the filter knows no list for that interface.
    place.file(
        "old.c",
        "int main(void) { int r; __asm__ volatile(\"int $0x80\" : \"=a\"(r) : \"a\"(20)); return r < 0; }",
    );
    let output = shell(&sandbox, "gcc old.c -o old && ./old").await;
    assert!(!output.result.succeeded(), "{:?}", output.result);
    sandbox.shutdown().await;
}

#[tokio::test]
async fn a_command_cannot_touch_the_guest() {
    let place = Place::new();
    let sandbox = place.start().await;
    // Process 1 is the guest. Signals from inside do not reach it, and what belongs to it cannot be opened.
    shell(&sandbox, "kill -9 1; kill -TERM 1; kill -STOP 1; kill -SEGV 1").await;
    for read in
        ["head -c1 /proc/1/mem", "cat /proc/1/environ", "readlink /proc/1/fd/0", "ls /proc/1/root/", "cat /proc/1/maps"]
    {
        assert!(fails(&sandbox, read).await, "{read}");
    }
    assert!(
        fails(&sandbox, "for n in $(seq 0 40); do echo junk > /proc/1/fd/$n && exit 0; done 2>/dev/null; exit 1").await
    );
    assert!(fails(&sandbox, "echo x > /run/retrace/guest").await);
    assert_eq!(prints(&sandbox, "echo still here").await, "still here");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn killing_everything_in_sight_ends_only_the_command() {
    let place = Place::new();
    let sandbox = place.start().await;
    let output = shell(&sandbox, "kill -9 -1; sleep 1000").await;
    assert_eq!(output.result.signal, Some(9), "{:?}", output.result);
    assert_eq!(prints(&sandbox, "echo fine").await, "fine");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn files_belong_to_the_user_on_both_sides() {
    use std::os::unix::fs::MetadataExt as _;
    let place = Place::new();
    place.file("from-host", "");
    let sandbox = place.start().await;
    // Docker can show the files of one user as another's to nobody: there the user is their owner.
    let user = if on_docker() { rustix::process::getuid().as_raw() } else { 1000 };
    assert_eq!(
        prints(&sandbox, "touch from-inside; stat -c %u from-host from-inside; id -u").await,
        format!("{user}\n{user}\n{user}")
    );
    let owner = |name: &str| std::fs::metadata(place.workspace().join(name)).unwrap().uid();
    assert_eq!(owner("from-inside"), owner("from-host"));
    assert_eq!(as_root(), owner("from-inside") == 0);
    sandbox.shutdown().await;
}

#[tokio::test]
async fn paths_can_be_exposed_read_only() {
    let place = Place::new();
    let shown = tempfile::tempdir().unwrap();
    std::fs::write(shown.path().join("data"), "shown").unwrap();
    let policy = Policy { expose: vec![shown.path().to_path_buf()], ..place.policy() };
    let sandbox = place.try_start(policy, Limits::default()).await.unwrap();
    let data = shown.path().join("data").display().to_string();
    assert_eq!(prints(&sandbox, &format!("cat {data}")).await, "shown");
    assert!(fails(&sandbox, &format!("echo x > {data}")).await);
    sandbox.shutdown().await;
}
