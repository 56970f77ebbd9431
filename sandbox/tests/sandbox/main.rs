//! Real sandboxes, through the public interface.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]
use retrace_sandbox::*;
#[tokio::test]
async fn hello() {
    let ws = tempfile::tempdir().unwrap();
    let gd = tempfile::tempdir().unwrap();
    let s = Sandbox::start(SandboxChoice::Auto, Policy::new(ws.path()), Limits::default(), gd.path()).await;
    let s = match s { Ok(s) => s, Err(e) => panic!("{e}") };
    for p in s.proofs() { eprintln!("{p:?}"); }
    eprintln!("{:?}", s.timings_ms());
    for _ in 0..5 {
        let t = std::time::Instant::now();
        let o = s.exec(ExecRequest::argv(["true"])).await.unwrap().output().await.unwrap();
        eprintln!("{:?} {:?}", t.elapsed(), o.result);
    }
    let o = s.exec(ExecRequest::shell("id; pwd; env; ls -la / /etc ~ ; cat /proc/self/mounts | wc -l; ps aux; df -h; cargo --version; python3 --version; git --version; node --version")).await.unwrap().output().await.unwrap();
    eprintln!("{} {} {:?}", String::from_utf8_lossy(&o.stdout), String::from_utf8_lossy(&o.stderr), o.result);
    s.shutdown().await;
}
