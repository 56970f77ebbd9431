//! Measures what a sandbox in a container costs beside Podman's own command line: start, round trip, stream.
//!
//! `.ci/with-podman cargo run -p retrace-sandbox --example timing_container`. The two are measured alternately, so that
//! a busy machine disturbs both alike. Starts end with the first byte that comes out: the guest's hello, or what `echo`
//! prints.

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use retrace_sandbox::{ExecRequest, Limits, Policy, Sandbox, SandboxChoice};

const STARTS: usize = 10;
const COMMANDS: usize = 30;
const STREAM_BYTES: u64 = 200_000_000;

type Outcome<T> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let image =
        std::env::args().nth(1).ok_or("usage: timing_container <image>  (sandbox/image/build --tag names it)")?;
    let (workspace, guest_dir) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let policy = Policy::new(workspace.path());
    let limits = Limits { output_bytes: 2 * STREAM_BYTES, ..Limits::default() };
    let start = || Sandbox::start(SandboxChoice::Container, policy.clone(), limits.clone(), guest_dir.path());
    let (mut bare, mut launch, mut probe, mut end) = (vec![], vec![], vec![], vec![]);
    for _ in 0..STARTS {
        let options = ["run", "--rm", "--network=none", "--read-only", "--cap-drop=ALL", &image, "/bin/echo", "x"];
        bare.push(first_byte_ms(&options)?);
        let sandbox = start().await?;
        let (launch_ms, probe_ms) = sandbox.timings_ms();
        launch.push(launch_ms);
        probe.push(probe_ms);
        let ending = Instant::now();
        sandbox.shutdown().await;
        end.push(ms(ending));
    }
    let sandbox = start().await?;
    let output = sandbox.exec(ExecRequest::shell("echo $RETRACE_SANDBOX_ID")).await?.output().await?;
    let name = format!("retrace-{}-0", String::from_utf8(output.stdout)?.trim());
    let (mut command, mut podman_exec) = (vec![], vec![]);
    for _ in 0..COMMANDS {
        let started = Instant::now();
        sandbox.exec(ExecRequest::argv(["/bin/true"])).await?.wait().await?;
        command.push(ms(started));
        let started = Instant::now();
        podman(&["exec", &name, "/bin/true"])?.wait()?;
        podman_exec.push(ms(started));
    }
    let (mut ours, mut theirs) = (vec![], vec![]);
    let script = format!("head -c {STREAM_BYTES} /dev/zero");
    for _ in 0..3 {
        let started = Instant::now();
        let mut running = sandbox.exec(ExecRequest::shell(&script)).await?;
        while running.next().await.is_some() {}
        ours.push(STREAM_BYTES as f64 / 1000.0 / ms(started));
        let started = Instant::now();
        let mut child = podman(&["exec", &name, "sh", "-c", &script])?;
        std::io::copy(&mut child.stdout.take().ok_or("no pipe")?, &mut std::io::sink())?;
        child.wait()?;
        theirs.push(STREAM_BYTES as f64 / 1000.0 / ms(started));
    }
    sandbox.shutdown().await;
    let mut out = std::io::stdout().lock();
    for (what, values) in [
        ("podman run, ms to the first byte", &mut bare),
        ("sandbox, ms to the first byte", &mut launch),
        ("the probe after it, ms", &mut probe),
        ("shutdown, ms", &mut end),
        ("podman exec, ms", &mut podman_exec),
        ("a command in the sandbox, ms", &mut command),
        ("podman exec, MB/s", &mut theirs),
        ("a command in the sandbox, MB/s", &mut ours),
    ] {
        values.sort_by(f64::total_cmp);
        writeln!(out, "{what:36} {:8.1}", values.get(values.len() / 2).copied().unwrap_or_default())?;
    }
    Ok(())
}

fn podman(arguments: &[&str]) -> Outcome<Child> {
    let mut command = Command::new("podman");
    Ok(command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?)
}

fn first_byte_ms(arguments: &[&str]) -> Outcome<f64> {
    let started = Instant::now();
    let mut child = podman(arguments)?;
    child.stdout.as_mut().ok_or("no pipe")?.read_exact(&mut [0])?;
    let elapsed = ms(started);
    child.wait()?;
    Ok(elapsed)
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
