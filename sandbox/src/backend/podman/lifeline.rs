//! Watches a container, ends it and removes it.

use std::time::Duration;

use async_trait::async_trait;
use bollard::query_parameters::{KillContainerOptions, RemoveContainerOptions, WaitContainerOptions};
use futures::StreamExt as _;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::engine::{ANSWER_TIME, Engine};
use super::failure;
use crate::backend::Lifeline;

/// How often removing is tried while the engine is at it already, and how long between two tries.
const REMOVE_ATTEMPTS: u32 = 100;
const REMOVE_PAUSE: Duration = Duration::from_millis(50);

pub(super) struct ContainerLifeline {
    engine: Engine,
    id: String,
    /// How it ended, once it has.
    end: watch::Receiver<Option<String>>,
}

impl ContainerLifeline {
    /// Begins to watch a container that has been started.
    pub(super) fn new(engine: Engine, id: String) -> Self {
        let (told, end) = watch::channel(None);
        let (docker, watched) = (engine.docker.clone(), id.clone());
        tokio::spawn(async move {
            let options = WaitContainerOptions { condition: "not-running".to_owned() };
            let mut answers = docker.wait_container(&watched, Some(options));
            let words = match answers.next().await {
                Some(Ok(answer)) => exit_words(answer.status_code),
                Some(Err(bollard::errors::Error::DockerContainerWaitError { code, .. })) => exit_words(code),
                Some(Err(error)) if failure::is_not_found(&error) => "the container is gone".to_owned(),
                Some(Err(error)) => format!("the container cannot be waited for: {error}"),
                None => "the engine no longer tells about the container".to_owned(),
            };
            told.send_replace(Some(words));
        });
        Self { engine, id, end }
    }
}

fn exit_words(code: i64) -> String {
    match code {
        129..=192 => format!("the guest was killed by signal {}", code - 128),
        code => format!("the guest exited with code {code}"),
    }
}

#[async_trait]
impl Lifeline for ContainerLifeline {
    async fn wait(&mut self) -> String {
        match self.end.wait_for(Option::is_some).await {
            Ok(end) => end.clone().unwrap_or_default(),
            Err(_) => "the container is no longer watched".to_owned(),
        }
    }

    fn kill(&mut self) {
        let (docker, id) = (self.engine.docker.clone(), self.id.clone());
        tokio::spawn(async move {
            let options = KillContainerOptions { signal: "SIGKILL".to_owned() };
            // It may have ended by itself; what lives on is removed by force.
            let _ = timeout(ANSWER_TIME, docker.kill_container(&id, Some(options))).await;
        });
    }

    async fn clean_up(&mut self) {
        remove(&self.engine, &self.id).await;
    }
}

/// Removes a container with everything in it, whatever state it is in; returns when it is gone.
pub(super) async fn remove(engine: &Engine, id: &str) {
    let mut last = String::new();
    for _ in 0..REMOVE_ATTEMPTS {
        let options = RemoveContainerOptions { force: true, v: true, link: false };
        match timeout(ANSWER_TIME, engine.docker.remove_container(id, Some(options))).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) if failure::is_not_found(&error) => return,
            // The engine removes it itself when it has ended, which may be just now.
            Ok(Err(error)) => last = error.to_string(),
            Err(_) => last = "no answer".to_owned(),
        }
        if last.contains("onnect") {
            // The engine is gone, and its containers lose their guests by themselves.
            break;
        }
        sleep(REMOVE_PAUSE).await;
    }
    tracing::warn!(container = id, error = last, "cannot remove a sandbox's container");
}
