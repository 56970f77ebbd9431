//! The engine beside the product's back: which containers there are, as it says itself.

use std::collections::HashMap;

use bollard::query_parameters::{InspectContainerOptions, ListContainersOptions};
use bollard::{API_DEFAULT_VERSION, Docker};

/// A container.
pub(crate) struct Container {
    pub(crate) pid: i32,
    pub(crate) owner: String,
    /// Everything the engine tells about it, as JSON.
    pub(crate) inspected: String,
}

pub(crate) fn socket() -> String {
    std::env::var("RETRACE_CONTAINER_SOCKET").unwrap_or_else(|_| {
        // Where systemd has it.
        let uid = rustix::process::geteuid();
        let folder = if uid.is_root() { "/run".to_owned() } else { format!("/run/user/{uid}") };
        format!("{folder}/podman/podman.sock")
    })
}

pub(crate) async fn connect() -> Docker {
    Docker::connect_with_unix(&socket(), 60, API_DEFAULT_VERSION).unwrap().negotiate_version().await.unwrap()
}

/// The containers, running or not, whose owner's mark is as wanted.
pub(crate) async fn owned_by(wanted: &dyn Fn(&str) -> bool) -> Vec<String> {
    let filters = HashMap::from([("label".to_owned(), vec!["retrace.owner".to_owned()])]);
    let options = ListContainersOptions { all: true, filters: Some(filters), ..ListContainersOptions::default() };
    let found = connect().await.list_containers(Some(options)).await.unwrap();
    let owner = |labels: &HashMap<String, String>| labels.get("retrace.owner").is_some_and(|owner| wanted(owner));
    found.into_iter().filter(|one| one.labels.as_ref().is_some_and(owner)).filter_map(|one| one.id).collect()
}

/// The container of the sandbox with this marker, while there is one.
pub(crate) async fn container(marker: &str) -> Option<Container> {
    let docker = connect().await;
    let begun = std::time::Instant::now();
    let filters = HashMap::from([("label".to_owned(), vec![format!("retrace.sandbox={marker}")])]);
    let options = ListContainersOptions { all: true, filters: Some(filters), ..ListContainersOptions::default() };
    let found = loop {
        match docker.list_containers(Some(options.clone())).await {
            Ok(found) => break found.into_iter().next()?,
            // Podman's state "stopped", while it is being cleared away, is unknown to clients of Docker's.
            Err(error) => assert!(begun.elapsed() < std::time::Duration::from_secs(30), "{error}"),
        }
    };
    let owner = found.labels.unwrap().get("retrace.owner").unwrap().clone();
    // It may be removed just now.
    let inspected = docker.inspect_container(&found.id.unwrap(), None::<InspectContainerOptions>).await.ok()?;
    let pid = inspected.state.as_ref()?.pid? as i32;
    Some(Container { pid, owner, inspected: serde_json::to_string(&inspected).unwrap() })
}
