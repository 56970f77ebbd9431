//! Measures what a sandbox costs: start against bare bubblewrap, the probe, and the round trip of a command.
//!
//! `cargo run -p retrace-sandbox --example timing`. The two starts are measured alternately, so that a busy machine
//! disturbs both alike. Both times end with the first byte that comes out: the guest's hello, or what `echo` prints.

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::Instant;

use retrace_sandbox::{ExecRequest, Limits, Policy, Sandbox, SandboxChoice};

const ROUNDS: usize = 60;
const COMMANDS: usize = 300;
const BARE: [&str; 20] = [
    "--unshare-all",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--size",
    "67108864",
    "--tmpfs",
    "/tmp",
    "--uid",
    "1000",
    "--gid",
    "1000",
    "--cap-drop",
    "ALL",
    "--die-with-parent",
    "/bin/echo",
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (workspace, guest_dir) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let policy = Policy::new(workspace.path());
    let start = || Sandbox::start(SandboxChoice::Process, policy.clone(), Limits::default(), guest_dir.path());
    let (mut bare, mut launch, mut probe, mut command, mut ping) = (vec![], vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        bare.push(bare_start_ms()?);
        let sandbox = start().await?;
        let (launch_ms, probe_ms) = sandbox.timings_ms();
        launch.push(launch_ms);
        probe.push(probe_ms);
        sandbox.shutdown().await;
    }
    let sandbox = start().await?;
    for _ in 0..COMMANDS {
        let started = Instant::now();
        sandbox.exec(ExecRequest::argv(["/bin/true"])).await?.wait().await?;
        command.push(started.elapsed().as_secs_f64() * 1000.0);
        let started = Instant::now();
        sandbox.ping().await?;
        ping.push(started.elapsed().as_secs_f64() * 1000.0);
    }
    sandbox.shutdown().await;

    let mut out = std::io::stdout().lock();
    let (bare_ms, launch_ms) = (median(&mut bare), median(&mut launch));
    writeln!(out, "bare bwrap, to the first byte   {bare_ms:6.2} ms")?;
    writeln!(out, "sandbox, to the guest's hello   {launch_ms:6.2} ms   {:.2} x", launch_ms / bare_ms)?;
    writeln!(out, "probe                           {:6.2} ms", median(&mut probe))?;
    writeln!(out, "round trip of /bin/true         {:6.2} ms", median(&mut command))?;
    writeln!(out, "round trip of a ping            {:6.2} ms", median(&mut ping))?;
    Ok(())
}

fn bare_start_ms() -> Result<f64, Box<dyn Error>> {
    let started = Instant::now();
    let mut child = Command::new("bwrap").args(BARE).stdout(Stdio::piped()).spawn()?;
    let mut byte = [0; 1];
    child.stdout.take().ok_or("no stdout")?.read_exact(&mut byte)?;
    let elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
    child.wait()?;
    Ok(elapsed_ms)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
