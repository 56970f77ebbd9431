//! What can go wrong with a sandbox, each with the line that a user needs.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use retrace_guest::message::Failure;

use crate::limits::LimitHit;
use crate::proof::Proof;

/// Why a sandbox could not be started, or a request in it could not be carried out.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// No container engine answers.
    #[error(
        "no container engine answers: tried {tried}\nhint: krun and container sandboxes need one: start it (`systemctl --user start \
         podman.socket`, or `podman system service -t 0 &`), or name its socket in RETRACE_CONTAINER_SOCKET"
    )]
    EngineMissing {
        /// Where it was looked for, and what happened there.
        tried: String,
    },
    /// This user may not use the engine.
    #[error(
        "no permission to use the container engine at {}\nhint: start one of your own (`systemctl --user start \
         podman.socket`), or ask for the right to use this one (`sudo usermod -aG docker $USER`)",
        socket.display()
    )]
    EngineDenied {
        /// Its socket.
        socket: PathBuf,
    },
    /// The engine does not know what is needed.
    #[error("this container engine is too old: {found}\nhint: Podman 4.0, Docker 20.10 or anything newer is needed")]
    EngineTooOld {
        /// What it says about itself.
        found: String,
    },
    /// The engine failed to do something.
    #[error("the container engine cannot {what}: {detail}")]
    Engine {
        /// What it was to do.
        what: &'static str,
        /// What it says.
        detail: String,
    },
    /// The image is not there. It is never pulled by itself.
    #[error("the image {name} is not there\nhint: {how}")]
    ImageMissing {
        /// Its name.
        name: String,
        /// How to get it.
        how: String,
    },
    /// That is no name of an image.
    #[error("{name:?} is not the name of an image")]
    ImageName {
        /// What was given.
        name: String,
    },
    /// The engine's runtime starts no microVMs.
    #[error(
        "this container engine ({version}) has no runtime for microVMs: {detail}\nhint: install crun with libkrun and start \
         Podman's service with it: podman --runtime krun system service"
    )]
    KrunMissing {
        /// Its version.
        version: String,
        /// What it says, or does not say.
        detail: String,
    },
    /// A microVM was asked for, and a container came.
    #[error(
        "the engine ignored the runtime krun: the guest runs on the host's own kernel, {kernel}\nhint: Podman before 5 \
         takes no runtime over its API; start the service with it: podman --runtime krun system service"
    )]
    RuntimeIgnored {
        /// The kernel's release.
        kernel: String,
    },
    /// The workspace cannot be used.
    #[error("cannot use the workspace {}: {source}", path.display())]
    Workspace {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: Arc<io::Error>,
    },
    /// A path that is to be exposed cannot be found.
    #[error("cannot expose {}: {source}", path.display())]
    Exposed {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: Arc<io::Error>,
    },
    /// The policy would expose what must not be.
    #[error("{} {reason}\nhint: choose a project folder", path.display())]
    Refused {
        /// The path.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The policy passes on a variable that looks like a secret.
    #[error("the variable {name} looks like a secret and is never passed into a sandbox")]
    SecretVariable {
        /// Its name.
        name: String,
    },
    /// The policy masks something that is not a file name.
    #[error("cannot mask {name:?}: a masked name is a plain file name")]
    MaskedName {
        /// What was given.
        name: String,
    },
    /// The guest binary cannot be unpacked.
    #[error("cannot unpack the guest agent to {}: {source}", path.display())]
    GuestFile {
        /// Where to.
        path: PathBuf,
        /// What the system says.
        source: Arc<io::Error>,
    },
    /// bubblewrap is missing.
    #[error("bubblewrap (bwrap) is not installed\nhint: install the package bubblewrap, or use --sandbox none")]
    BubblewrapMissing,
    /// bubblewrap is too old.
    #[error("this bubblewrap is too old: {detail}\nhint: version 0.8 or newer is needed")]
    BubblewrapTooOld {
        /// What it says.
        detail: String,
    },
    /// The system does not let this user create namespaces.
    #[error(
        "user namespaces are forbidden here: {detail}\nhint: allow them (sysctl kernel.unprivileged_userns_clone=1, \
         kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces), or use --sandbox none"
    )]
    NamespacesForbidden {
        /// What bubblewrap says.
        detail: String,
    },
    /// The system call filter cannot be built.
    #[error("cannot build the system call filter: {detail}")]
    Seccomp {
        /// What is wrong.
        detail: String,
    },
    /// The backend could not be started.
    #[error("cannot start the {backend} sandbox: {detail}")]
    Start {
        /// The backend.
        backend: &'static str,
        /// What is wrong.
        detail: String,
    },
    /// The guest speaks another protocol, or none.
    #[error("the guest agent's handshake failed: {detail}")]
    Handshake {
        /// What is wrong.
        detail: String,
    },
    /// Without isolation nobody has to go through the proxy.
    #[error(
        "the sandbox none cannot keep commands to a list of allowed hosts\nhint: choose another sandbox, or leave the \
         list away"
    )]
    NetworkOpen,
    /// The way to the allowed hosts cannot be opened.
    #[error("cannot open the way to the allowed hosts: {detail}")]
    Network {
        /// What is wrong.
        detail: String,
    },
    /// The probe saw that something is not isolated. Nothing was run.
    #[error("the {backend} sandbox is not isolated: {}\nhint: `retrace doctor` shows all proofs", failed(proofs))]
    NotIsolated {
        /// The backend.
        backend: &'static str,
        /// All proofs, those that failed too.
        proofs: Vec<Proof>,
    },
    /// The probe itself could not be carried out.
    #[error("the isolation of the {backend} sandbox cannot be proven: {detail}")]
    Probe {
        /// The backend.
        backend: &'static str,
        /// What is wrong.
        detail: String,
    },
    /// The guest refused or failed a request; the sandbox itself is well.
    #[error("{0}")]
    Guest(#[from] Failure),
    /// The guest is gone; a new sandbox can be started.
    #[error("the sandbox is gone: {0}")]
    GuestGone(GoneReport),
}

/// What is known about the end of a guest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GoneReport {
    /// What happened, in one line.
    pub detail: String,
    /// The limit that ended it, if one did.
    pub limit: Option<LimitHit>,
    /// The end of what the guest or its backend wrote to stderr.
    pub stderr_tail: String,
}

impl std::fmt::Display for GoneReport {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.detail)?;
        if let Some(limit) = self.limit {
            write!(formatter, " (limit hit: {limit})")?;
        }
        if !self.stderr_tail.is_empty() {
            write!(formatter, ": {}", self.stderr_tail)?;
        }
        Ok(())
    }
}

fn failed(proofs: &[Proof]) -> String {
    let lines: Vec<String> =
        proofs.iter().filter(|proof| !proof.passed).map(|proof| format!("{} ({})", proof.name, proof.detail)).collect();
    lines.join("; ")
}
