//! What a backend is measured against: the tool it is made of, used from the command line.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use retrace_sandbox::SandboxChoice;

use crate::memory;
use crate::ms;

const BWRAP: &str = "--unshare-all --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --uid 1000 --gid 1000 --cap-drop ALL --die-with-parent";
const PODMAN_RUN: &str = "run --rm --network=none --read-only --cap-drop=ALL";
/// Where `tests/krun/build` puts the runtime.
const KRUN: &str = "/opt/krun/krun";

pub(crate) enum Peer {
    Bwrap,
    /// With the mounts that a sandbox of ours has.
    BwrapWith(Vec<String>),
    Podman {
        image: String,
        krun: bool,
    },
}

/// A sandbox of the peer's that does nothing.
pub(crate) struct Idle<'a> {
    peer: &'a Peer,
    child: Child,
    name: String,
}

impl Peer {
    pub(crate) fn of(backend: SandboxChoice) -> Self {
        match backend {
            SandboxChoice::Container | SandboxChoice::Krun => {
                Self::Podman { image: image(), krun: backend == SandboxChoice::Krun }
            }
            _ => Self::Bwrap,
        }
    }

    /// What bubblewrap was told for the one sandbox that runs here, but for what needs files that are open there.
    pub(crate) fn of_running() -> Self {
        let pid = memory::children()[0];
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
        let mut words = line.split('\0').skip(1).take_while(|word| *word != "--").map(str::to_owned);
        let mut kept = Vec::new();
        while let Some(word) = words.next() {
            let left_out = match word.as_str() {
                "--seccomp" | "--info-fd" | "--perms" => 1,
                "--file" => 2,
                _ => 0,
            };
            if left_out == 0 {
                kept.push(word);
            } else {
                words.nth(left_out - 1);
            }
        }
        Self::BwrapWith(kept)
    }

    pub(crate) fn run_name(&self) -> &'static str {
        match self {
            Self::Bwrap => "`bwrap … echo`",
            Self::BwrapWith(_) => "`bwrap` with the same mounts, `echo`",
            Self::Podman { krun: false, .. } => "`podman run … echo`",
            Self::Podman { krun: true, .. } => "`podman --runtime krun run … echo`",
        }
    }

    pub(crate) fn exec_name(&self) -> &'static str {
        match self {
            Self::Bwrap | Self::BwrapWith(_) => "`bwrap` for it alone",
            Self::Podman { krun: false, .. } => "`podman exec`",
            Self::Podman { krun: true, .. } => "`podman --runtime krun run` for it alone",
        }
    }

    pub(crate) fn idle_name(&self) -> &'static str {
        match self {
            Self::Bwrap | Self::BwrapWith(_) => "`bwrap … sleep`",
            Self::Podman { krun: false, .. } => "`podman run … sleep`",
            Self::Podman { krun: true, .. } => "`podman --runtime krun run … sleep`",
        }
    }

    pub(crate) fn first_byte_ms(&self) -> f64 {
        let begun = Instant::now();
        let mut child = self.run(&[], &["/bin/echo", "x"]);
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let elapsed = ms(begun);
        child.wait().unwrap();
        elapsed
    }

    /// A command in the running container, where the peer can do that.
    pub(crate) fn exec(&self, container: &str, command: &[&str]) -> Child {
        match self {
            Self::Podman { krun: false, .. } => spawn(Command::new("podman").args(["exec", container]).args(command)),
            _ => self.run(&[], command),
        }
    }

    pub(crate) fn idle(&self) -> Idle<'_> {
        let name = format!("retrace-bench-{}", std::process::id());
        let options = ["--name", &name];
        let mut child = self.run(&options, &["sh", "-c", "echo up; exec sleep 1000"]);
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        Idle { peer: self, child, name }
    }

    /// Of all that runs for a container; of all our own processes for bubblewrap.
    pub(crate) fn memory_mb(&self, container: Option<&str>) -> f64 {
        let Some(name) = container.filter(|_| matches!(self, Self::Podman { .. })) else {
            return memory::of_trees(&memory::children());
        };
        let format = "{{.State.Pid}} {{.State.ConmonPid}}";
        let output = Command::new("podman").args(["inspect", "--format", format, name]).output().unwrap();
        let pids = String::from_utf8(output.stdout).unwrap();
        memory::of_trees(&pids.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<_>>())
    }

    fn run(&self, options: &[&str], command: &[&str]) -> Child {
        match self {
            Self::Bwrap => spawn(Command::new("bwrap").args(BWRAP.split(' ')).args(command)),
            Self::BwrapWith(arguments) => spawn(Command::new("bwrap").args(arguments).arg("--").args(command)),
            Self::Podman { image, krun } => {
                let mut podman = Command::new("podman");
                if *krun {
                    podman.args(["--runtime", KRUN]);
                }
                spawn(podman.args(PODMAN_RUN.split(' ')).args(options).arg(image).args(command))
            }
        }
    }
}

impl Idle<'_> {
    pub(crate) fn memory_mb(&self) -> f64 {
        match self.peer {
            Peer::Bwrap | Peer::BwrapWith(_) => memory::of_trees(&[self.child.id()]),
            Peer::Podman { .. } => self.peer.memory_mb(Some(&self.name)),
        }
    }
}

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        if matches!(self.peer, Peer::Podman { .. }) {
            let _ = Command::new("podman").args(["rm", "-f", &self.name]).output();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

fn image() -> String {
    std::env::var("SANDBOX_IMAGE").unwrap_or_else(|_| {
        let output = Command::new("podman").args(["images", "--format", "{{.Repository}}:{{.Tag}}"]).output().unwrap();
        let listed = String::from_utf8(output.stdout).unwrap();
        listed.lines().find(|image| image.contains("retrace")).unwrap().to_owned()
    })
}
