//! Containers of programs that died without cleaning up.

use std::collections::HashMap;

use bollard::query_parameters::ListContainersOptions;
use futures::future::join_all;

use super::engine::{Engine, ask};
use super::lifeline::remove;
use crate::cgroup::owner_is_gone;
use crate::error::SandboxError;

/// Names the sandbox that a container belongs to.
pub(super) const SANDBOX_LABEL: &str = "retrace.sandbox";
/// Names the program that started it, as [`crate::cgroup::owner_mark`] has it.
pub(super) const OWNER_LABEL: &str = "retrace.owner";

/// Removes the containers of dead programs.
pub(super) async fn sweep(engine: &Engine) -> Result<(), SandboxError> {
    let filters = HashMap::from([("label".to_owned(), vec![OWNER_LABEL.to_owned()])]);
    let options = ListContainersOptions { all: true, filters: Some(filters), ..ListContainersOptions::default() };
    let containers = ask("list its containers", engine.docker.list_containers(Some(options))).await?;
    let is_stale = |labels: &HashMap<String, String>| labels.get(OWNER_LABEL).is_some_and(|owner| owner_is_gone(owner));
    let stale = containers.into_iter().filter(|container| container.labels.as_ref().is_some_and(is_stale));
    let removals = stale.filter_map(|container| container.id).map(|id| async move { remove(engine, &id).await });
    join_all(removals).await;
    Ok(())
}
