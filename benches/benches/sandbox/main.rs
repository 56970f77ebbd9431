//! What a sandbox costs beside what it is made of: `process` beside bare bubblewrap, `container` and `krun` beside Podman's command line.
//!
//! `.ci/with-podman cargo bench -p retrace-sandbox --bench sandbox -- process container` (without names: `process`). `krun` needs a
//! machine with its runtime: `tests/krun/suite --bench` runs this in an emulated one. The image is the one that the engine has of retrace's, or `SANDBOX_IMAGE`.
//!
//! Ours and the peer's are measured alternately, so that a busy machine disturbs both alike; every number is a median. Starts end with
//! the first byte that comes out: the guest's hello, or what `echo` prints. The peer of a command in a running sandbox is `podman exec`;
//! where there is none (bubblewrap, krun), it is what one does without: a sandbox for each command.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

mod memory;
mod peer;

use std::path::Path;
use std::time::Instant;

use peer::Peer;
use retrace_sandbox::{ExecRequest, Limits, Policy, Sandbox, SandboxChoice};

const STREAM_BYTES: u64 = 200_000_000;
const STREAMS: usize = 3;

/// How often starts and commands are measured: a microVM in an emulated machine takes a thousand times as long.
fn rounds(backend: SandboxChoice) -> (usize, usize, u64) {
    match backend {
        SandboxChoice::Container => (15, 60, STREAM_BYTES),
        SandboxChoice::Krun => (5, 15, STREAM_BYTES / 20),
        _ => (60, 300, STREAM_BYTES),
    }
}

#[tokio::main]
async fn main() {
    let names: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let backends = if names.is_empty() { vec!["process".to_owned()] } else { names };
    println!("| backend | what | ours | peer | ratio | peer is |\n|---|---|---|---|---|---|");
    for backend in backends {
        measure(backend.parse().unwrap()).await;
    }
}

async fn measure(backend: SandboxChoice) {
    let (workspace, guest_dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let peer = Peer::of(backend);
    let (starts, commands, stream_bytes) = rounds(backend);
    let mounted = same_mounts(backend, workspace.path(), guest_dir.path()).await;
    let (mut start, mut bare, mut probe, mut end, mut mounts) = (vec![], vec![], vec![], vec![], vec![]);
    for _ in 0..starts {
        bare.push(peer.first_byte_ms());
        mounts.extend(mounted.as_ref().map(Peer::first_byte_ms));
        let sandbox = started(backend, workspace.path(), guest_dir.path()).await;
        let (launch_ms, probe_ms) = sandbox.timings_ms();
        start.push(launch_ms);
        probe.push(probe_ms);
        let ending = Instant::now();
        sandbox.shutdown().await;
        end.push(ms(ending));
    }
    row(backend, "start to the first byte, ms", &mut start, Some((&mut bare, peer.run_name())));
    if let Some(peer) = mounted {
        row(backend, "the same", &mut start, Some((&mut mounts, peer.run_name())));
    }
    row(backend, "the probe after it, ms", &mut probe, None);
    row(backend, "shutdown, ms", &mut end, None);

    let sandbox = started(backend, workspace.path(), guest_dir.path()).await;
    let marker = sandbox.exec(ExecRequest::shell("echo $RETRACE_SANDBOX_ID")).await.unwrap().output().await.unwrap();
    let container = format!("retrace-{}-0", String::from_utf8(marker.stdout).unwrap().trim());
    let (mut command, mut theirs, mut ping) = (vec![], vec![], vec![]);
    for _ in 0..commands {
        let begun = Instant::now();
        sandbox.exec(ExecRequest::argv(["/bin/true"])).await.unwrap().wait().await.unwrap();
        command.push(ms(begun));
        let begun = Instant::now();
        peer.exec(&container, &["/bin/true"]).wait().unwrap();
        theirs.push(ms(begun));
        let begun = Instant::now();
        sandbox.ping().await.unwrap();
        ping.push(ms(begun));
    }
    row(backend, "a command in it, ms", &mut command, Some((&mut theirs, peer.exec_name())));
    row(backend, "a ping, ms", &mut ping, None);

    let script = format!("head -c {stream_bytes} /dev/zero");
    let (mut ours, mut theirs) = (vec![], vec![]);
    for _ in 0..STREAMS {
        let begun = Instant::now();
        let mut running = sandbox.exec(ExecRequest::shell(&script)).await.unwrap();
        while running.next().await.is_some() {}
        ours.push(stream_bytes as f64 / 1_000.0 / ms(begun));
        let begun = Instant::now();
        let mut child = peer.exec(&container, &["sh", "-c", &script]);
        std::io::copy(child.stdout.as_mut().unwrap(), &mut std::io::sink()).unwrap();
        child.wait().unwrap();
        theirs.push(stream_bytes as f64 / 1_000.0 / ms(begun));
    }
    row(backend, "a stream of it, MB/s", &mut ours, Some((&mut theirs, peer.exec_name())));

    let idle = peer.idle();
    let (mut ours, mut theirs) = (vec![peer.memory_mb(Some(&container))], vec![idle.memory_mb()]);
    row(backend, "memory when idle, MB", &mut ours, Some((&mut theirs, peer.idle_name())));
    sandbox.shutdown().await;
}

/// Bubblewrap doing what it does for us, and nothing besides.
async fn same_mounts(backend: SandboxChoice, workspace: &Path, guest_dir: &Path) -> Option<Peer> {
    if backend != SandboxChoice::Process {
        return None;
    }
    let sandbox = started(backend, workspace, guest_dir).await;
    let peer = Peer::of_running();
    sandbox.shutdown().await;
    Some(peer)
}

async fn started(backend: SandboxChoice, workspace: &Path, guest_dir: &Path) -> Sandbox {
    let limits = Limits { output_bytes: 2 * STREAM_BYTES, ..Limits::default() };
    Sandbox::start(backend, Policy::new(workspace), limits, guest_dir).await.unwrap()
}

fn row(backend: SandboxChoice, what: &str, ours: &mut [f64], peer: Option<(&mut [f64], &str)>) {
    let ours = median(ours);
    let beside = peer.map_or_else(
        || " | | ".to_owned(),
        |(theirs, name)| format!("{:.1} | {:.2} | {name}", median(theirs), ours / median(theirs)),
    );
    println!("| {backend} | {what} | {ours:.1} | {beside} |");
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}
