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

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bollard::models::ContainerCreateBody;
use bollard::query_parameters::{CreateContainerOptions, StartContainerOptions};

use super::{Backend, Inside, LaunchPlan, Launched, host_kernel, masks};
use crate::error::SandboxError;
use crate::limits::CONTAINER_MEMORY_BYTES;
use crate::proof::IsolationLevel;
use attach::Attached;
use create::{Parts, WORKSPACE_INSIDE};
use engine::{Engine, ask};
use lifeline::{ContainerLifeline, Unclaimed};
use mapping::Mapping;
use meter::ContainerMeter;

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

/// A started container.
struct Running {
    id: String,
    pipes: Attached,
    lifeline: ContainerLifeline,
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

impl PodmanBackend {
    /// Creates a container, attaches to it and starts it, in the first of these ways that works.
    async fn start(&self, parts: &Parts<'_>, mappings: &[Mapping]) -> Result<Running, SandboxError> {
        let mut first_failure = None;
        for (attempt, mapping) in mappings.iter().enumerate() {
            match self.start_as(&Parts { mapping, ..*parts }, attempt).await {
                Ok(started) => return Ok(started),
                Err(error) => first_failure = first_failure.or(Some(error)),
            }
        }
        let otherwise = || SandboxError::Start { backend: self.name(), detail: "no way to map the user".to_owned() };
        match first_failure.unwrap_or_else(otherwise) {
            // Docker: "Unknown runtime specified krun", later "unknown or invalid runtime name: krun".
            SandboxError::Engine { detail, .. } if self.flavour == Flavour::Krun && detail.contains("runtime") => {
                Err(SandboxError::KrunMissing { version: parts.engine.facts.version.clone(), detail })
            }
            error => Err(error),
        }
    }

    async fn start_as(&self, parts: &Parts<'_>, attempt: usize) -> Result<Running, SandboxError> {
        let docker = &parts.engine.docker;
        let body = self.spoilt(create::body(parts)?, &parts.engine.socket);
        let name = format!("retrace-{}-{attempt}", parts.plan.sandbox_id);
        let options = CreateContainerOptions { name: Some(name), ..CreateContainerOptions::default() };
        let id = ask("create the container", docker.create_container(Some(options), body)).await?.id;
        let unclaimed = Unclaimed::new(parts.engine.clone(), id.clone());
        let started = async {
            let pipes = attach::attach(parts.engine, &id).await?;
            let lifeline = ContainerLifeline::new(parts.engine.clone(), id.clone());
            ask("start the container", docker.start_container(&id, None::<StartContainerOptions>)).await?;
            Ok((pipes, lifeline))
        };
        match started.await {
            Ok((pipes, lifeline)) => Ok(Running { id: unclaimed.claim(), pipes, lifeline }),
            Err(error) => {
                unclaimed.discard().await;
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests;
