//! Creating and starting a container, in the first way that works.

use std::pin::pin;
use std::time::Duration;

use bollard::Docker;
use bollard::models::ContainerCreateBody;
use bollard::query_parameters::{CreateContainerOptions, StartContainerOptions};
use tokio::time::timeout;

use super::attach::{self, Attached};
use super::create::{self, Parts};
use super::engine::{CREATE_TIME, ask, ask_within};
use super::lifeline::{ContainerLifeline, Unclaimed};
use super::mapping::Mapping;
use super::{Flavour, PodmanBackend};
use crate::backend::Backend as _;
use crate::error::SandboxError;

/// How long the engine makes a container before that is worth a word.
const NOTICE_TIME: Duration = Duration::from_secs(5);

/// A started container.
pub(super) struct Running {
    pub(super) id: String,
    pub(super) pipes: Attached,
    pub(super) lifeline: ContainerLifeline,
}

impl PodmanBackend {
    /// Creates a container, attaches to it and starts it, in the first of these ways that works.
    pub(super) async fn start(&self, parts: &Parts<'_>, mappings: &[Mapping]) -> Result<Running, SandboxError> {
        let mut first_failure = None;
        for (attempt, mapping) in mappings.iter().enumerate() {
            match self.start_as(&Parts { mapping, ..*parts }, attempt).await {
                Ok(started) => return Ok(started),
                Err(error) => first_failure = first_failure.or(Some(error)),
            }
        }
        let otherwise = || SandboxError::Start { backend: self.name(), detail: "no way to map the user".to_owned() };
        Err(first_failure.unwrap_or_else(otherwise))
    }

    async fn start_as(&self, parts: &Parts<'_>, attempt: usize) -> Result<Running, SandboxError> {
        let docker = &parts.engine.docker;
        let body = self.spoilt(create::body(parts)?, &parts.engine.socket);
        let name = format!("retrace-{}-{attempt}", parts.plan.sandbox_id);
        let options = CreateContainerOptions { name: Some(name), ..CreateContainerOptions::default() };
        let without = |error| without_runtime(self.flavour, &parts.engine.facts.version, error);
        let id = make(docker, options, body).await.map_err(without)?;
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

/// Has a container made, and says so when that takes long. Its id.
pub(super) async fn make(
    docker: &Docker,
    options: CreateContainerOptions,
    body: ContainerCreateBody,
) -> Result<String, SandboxError> {
    let patient = docker.clone().with_timeout(CREATE_TIME * 2);
    let mut made = pin!(ask_within(CREATE_TIME, "create the container", patient.create_container(Some(options), body)));
    let made = match timeout(NOTICE_TIME, &mut made).await {
        Ok(made) => made,
        Err(_) => {
            tracing::warn!("the container engine takes its time (the first container of an image has to be prepared)");
            made.await
        }
    };
    Ok(made?.id)
}

/// What it means when a container could not be made: no runtime is run for that yet, so words about one say that the engine
/// knows none of that name (Docker: "Unknown runtime specified krun", later "unknown or invalid runtime name: krun").
pub(super) fn without_runtime(flavour: Flavour, version: &str, error: SandboxError) -> SandboxError {
    match error {
        SandboxError::Engine { detail, .. } if flavour == Flavour::Krun && detail.contains("runtime") => {
            SandboxError::KrunMissing { version: version.to_owned(), detail }
        }
        error => error,
    }
}
