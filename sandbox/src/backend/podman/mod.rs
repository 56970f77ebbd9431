//! The backends `container` and `krun`: the guest in a container of Podman's or Docker's, through the API that both have.
//!
//! A container of its own namespaces, without network, capabilities and new privileges, with a read-only root and the
//! workspace at `/workspace`; the engine's system call filter and ours, limits by control groups. With `krun` the same
//! container is a microVM: the runtime starts a virtual machine in it, whose kernel is not the host's. Whether that
//! is so is not believed but seen (an engine may ignore the wish). Who the commands are is told in [`mapping`].
//!
//! The guest is the container's only command and is spoken to over the attached stdin and stdout, since microVMs know no
//! "exec". When this program is gone, stdin ends, the guest ends, and the engine removes the container; what is left all
//! the same is removed at the next start, by its labels.

mod attach;
mod create;
mod engine;
mod environment;
mod failure;
mod image;
mod lifeline;
mod mapping;
mod meter;
mod stale;
mod start;

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bollard::models::ContainerCreateBody;

use super::{Backend, Inside, LaunchPlan, Launched, host_kernel, masks};
use crate::error::SandboxError;
use crate::limits::CONTAINER_MEMORY_BYTES;
use crate::proof::IsolationLevel;
use create::{Parts, WORKSPACE_INSIDE};
use engine::Engine;
use mapping::Mapping;
use meter::ContainerMeter;
use start::Running;

/// What kind of container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// On the host's kernel.
    Container,
    /// With a kernel of its own.
    Krun,
}

impl Flavour {
    const fn name(self) -> &'static str {
        match self {
            Self::Container => "container",
            Self::Krun => "krun",
        }
    }
}

/// Starts guests in containers.
#[derive(Debug)]
pub(crate) struct PodmanBackend {
    pub(crate) flavour: Flavour,
    /// Only for showing that the probe notices: what is broken on purpose.
    #[cfg(test)]
    pub(crate) sabotage: Option<tests::Sabotage>,
}

impl PodmanBackend {
    pub(crate) const fn new(flavour: Flavour) -> Self {
        Self {
            flavour,
            #[cfg(test)]
            sabotage: None,
        }
    }

    /// Whether it is worth trying: an engine answers, has the image, and says that it can do it. Starts nothing.
    pub(crate) async fn is_likely(&self, options: &crate::policy::EngineOptions) -> Result<(), SandboxError> {
        let engine = Engine::find(options.socket.as_deref()).await?;
        if self.flavour == Flavour::Krun && !engine.facts.has_krun {
            let detail = "it names none".to_owned();
            return Err(SandboxError::KrunMissing { version: engine.facts.version, detail });
        }
        image::look_up(&engine, options.image.as_deref()).await.map(|_| ())
    }

    #[cfg_attr(not(test), expect(unused_mut, unused_variables, clippy::unused_self, reason = "tests spoil it"))]
    fn spoilt(&self, mut body: ContainerCreateBody, socket: &std::path::Path) -> ContainerCreateBody {
        #[cfg(test)]
        tests::spoil(self.sabotage, &mut body, socket);
        body
    }
}

#[async_trait]
impl Backend for PodmanBackend {
    fn name(&self) -> &'static str {
        self.flavour.name()
    }

    fn level(&self) -> IsolationLevel {
        match self.flavour {
            Flavour::Container => IsolationLevel::Container,
            Flavour::Krun => IsolationLevel::MicroVm,
        }
    }

    fn default_memory_bytes(&self) -> u64 {
        CONTAINER_MEMORY_BYTES
    }

    fn explain(&self, stderr: &str, otherwise: String) -> SandboxError {
        let kernel = host_kernel();
        // A guest that is to bound its whole machine cannot do so on one that is not its own.
        if self.flavour == Flavour::Krun && stderr.contains(&format!("machine with the kernel {kernel}:")) {
            return SandboxError::RuntimeIgnored { kernel };
        }
        let stderr = stderr.trim();
        let detail = if stderr.is_empty() { otherwise } else { format!("{otherwise}: {stderr}") };
        SandboxError::Handshake { detail }
    }

    async fn launch(&self, plan: &LaunchPlan<'_>) -> Result<Launched, SandboxError> {
        let options = &plan.policy.engine;
        let engine = Engine::find(options.socket.as_deref()).await?;
        let (image, swept) = tokio::join!(image::look_up(&engine, options.image.as_deref()), stale::sweep(&engine));
        let image = image?;
        if let Err(error) = swept {
            tracing::warn!(%error, "cannot look for left-over containers");
        }
        let workspace = &plan.policy.workspace;
        let metadata = workspace
            .metadata()
            .map_err(|source| SandboxError::Workspace { path: workspace.clone(), source: source.into() })?;
        let mappings = mapping::choose(&engine.facts, (metadata.uid(), metadata.gid()), workspace)?;
        let masked = masks::find(workspace, &plan.policy.masked_names);
        let env = create::env_of(plan, &image, self.flavour);
        let parts = Parts {
            plan,
            engine: &engine,
            image: &image,
            mapping: &Mapping::default(),
            flavour: self.flavour,
            masked: &masked,
            env: &env,
        };
        let Running { id, pipes, lifeline } = self.start(&parts, &mappings).await?;
        let meter = Arc::new(ContainerMeter::default());
        let inside = Inside {
            guest: PathBuf::from(super::process::GUEST_INSIDE),
            workspace: PathBuf::from(WORKSPACE_INSIDE),
            masked: masked.iter().map(|path| create::inside(workspace, path)).collect(),
            env_names: env.into_iter().map(|(name, _)| name).collect(),
            sockets: vec![engine.socket.clone()],
        };
        let (looking, limits, flavour) = (Arc::clone(&meter), plan.limits.clone(), self.flavour);
        Ok(Launched {
            stdin: pipes.stdin,
            stdout: pipes.stdout,
            stderr: pipes.stderr,
            lifeline: Box::new(lifeline),
            meter,
            inside,
            ready: Box::pin(async move { looking.look(&engine, &id, &limits, flavour).await }),
        })
    }
}

#[cfg(test)]
mod tests;
