//! Containers of programs that died without cleaning up.

use std::collections::HashMap;

use bollard::models::ContainerSummary;
use bollard::query_parameters::ListContainersOptions;
use futures::future::join_all;
use tokio::time::timeout;

use super::engine::{ANSWER_TIME, Engine, ask};
use super::lifeline::remove;
use crate::cgroup::owner_is_gone;
use crate::error::SandboxError;

/// Names the sandbox that a container belongs to.
pub(super) const SANDBOX_LABEL: &str = "retrace.sandbox";
/// Names the program that started it, as [`crate::cgroup::owner_mark`] has it.
pub(super) const OWNER_LABEL: &str = "retrace.owner";

/// The states that every engine calls the same.
const STATES: [&str; 4] = ["created", "running", "paused", "exited"];

/// All containers that carry our label.
async fn list(engine: &Engine) -> Result<Vec<ContainerSummary>, SandboxError> {
    let mut filters = HashMap::from([("label".to_owned(), vec![OWNER_LABEL.to_owned()])]);
    let options = |filters: &HashMap<String, Vec<String>>| {
        let filters = Some(filters.clone());
        Some(ListContainersOptions { all: true, filters, ..ListContainersOptions::default() })
    };
    let all = timeout(ANSWER_TIME, engine.docker.list_containers(options(&filters))).await;
    if let Ok(Ok(containers)) = all {
        return Ok(containers);
    }
    // Podman calls what has ended and is just being cleared away "stopped", which no client of Docker's knows. It goes by
    // itself, or is there as "exited" the next time.
    filters.insert("status".to_owned(), STATES.map(str::to_owned).to_vec());
    ask("list its containers", engine.docker.list_containers(options(&filters))).await
}

/// Removes the containers of dead programs.
pub(super) async fn sweep(engine: &Engine) -> Result<(), SandboxError> {
    let containers = list(engine).await?;
    let is_stale = |labels: &HashMap<String, String>| labels.get(OWNER_LABEL).is_some_and(|owner| owner_is_gone(owner));
    let stale = containers.into_iter().filter(|container| container.labels.as_ref().is_some_and(is_stale));
    let removals = stale.filter_map(|container| container.id).map(|id| async move { remove(engine, &id).await });
    join_all(removals).await;
    Ok(())
}
