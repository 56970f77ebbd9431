//! Watches a container, ends it and removes it.

use std::time::Duration;

use async_trait::async_trait;
use bollard::errors::Error;
use bollard::models::ContainerStateStatusEnum;
use bollard::query_parameters::{
    InspectContainerOptions, KillContainerOptions, RemoveContainerOptions, WaitContainerOptions,
};
use futures::StreamExt as _;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::engine::{ANSWER_TIME, Engine};
use super::failure;
use crate::backend::Lifeline;

/// How often removing is tried while the engine is at it already, and how long between two tries.
const REMOVE_ATTEMPTS: u32 = 100;
const REMOVE_PAUSE: Duration = Duration::from_millis(50);

/// Between two looks at a container that should have ended.
const LOOK_PAUSE: Duration = Duration::from_millis(250);

/// How long the engine's own words about an end may come after the end itself: it looks every 250 ms, and is slow on a
/// busy machine.
const WORDS_TIME: Duration = Duration::from_secs(5);

pub(super) struct ContainerLifeline {
    engine: Engine,
    id: String,
    /// How it ended, once it has.
    end: watch::Receiver<Option<String>>,
}

impl ContainerLifeline {
    /// Begins to watch a container; before it is started, since only its *next* end is told with its true exit code (of
    /// one that has been removed meanwhile, Podman tells 0).
    pub(super) fn new(engine: Engine, id: String) -> Self {
        let (told, end) = watch::channel(None);
        let (docker, watched) = (engine.docker.clone(), id.clone());
        tokio::spawn(async move {
            let options = WaitContainerOptions { condition: "next-exit".to_owned() };
            let mut answers = docker.wait_container(&watched, Some(options));
            let words = match answers.next().await {
                Some(Ok(answer)) if answer.error.is_none() => exit_words(answer.status_code),
                Some(Err(Error::DockerContainerWaitError { code, error })) if error.is_empty() => exit_words(code),
                // A look at it tells more, when its end is waited for.
                Some(Ok(_) | Err(_)) | None => return,
            };
            told.send_replace(Some(words));
        });
        Self { engine, id, end }
    }

    /// How it ended, in the engine's own words; nothing when it has none.
    async fn told(&self) -> Option<String> {
        self.end.clone().wait_for(Option::is_some).await.ok().and_then(|words| words.clone())
    }

    /// Looks until it has ended; says so when its own words are missing.
    async fn look(engine: &Engine, id: &str) -> String {
        loop {
            sleep(LOOK_PAUSE).await;
            let inspected = timeout(ANSWER_TIME, engine.docker.inspect_container(id, None::<InspectContainerOptions>));
            let state = match inspected.await {
                Ok(Ok(container)) => container.state.unwrap_or_default(),
                // Gone; or in Podman's state "stopped", which no client of Docker's knows.
                Ok(Err(error)) if failure::is_not_found(&error) || matches!(error, Error::JsonDataError { .. }) => {
                    return "the guest ended".to_owned();
                }
                Ok(Err(error)) => return format!("the engine no longer tells about the container: {error}"),
                Err(_) => return "the engine no longer answers".to_owned(),
            };
            if state.running == Some(true) || state.status == Some(ContainerStateStatusEnum::CREATED) {
                continue;
            }
            return state.exit_code.filter(|code| *code != 0).map_or("the guest ended".to_owned(), exit_words);
        }
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
        let seen = tokio::select! {
            biased;
            Some(words) = self.told() => return words,
            seen = Self::look(&self.engine, &self.id) => seen,
        };
        timeout(WORDS_TIME, self.told()).await.ok().flatten().unwrap_or(seen)
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

/// A container that is not yet anyone's: removed when nobody takes it.
pub(super) struct Unclaimed {
    engine: Engine,
    id: Option<String>,
}

impl Unclaimed {
    pub(super) fn new(engine: Engine, id: String) -> Self {
        Self { engine, id: Some(id) }
    }

    /// Takes it.
    pub(super) fn claim(mut self) -> String {
        self.id.take().unwrap_or_default()
    }

    /// Removes it at once.
    pub(super) async fn discard(self) {
        let engine = self.engine.clone();
        remove(&engine, &self.claim()).await;
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        // A start that was given up half-way; at the end of the program there is no runtime any more, and the next one's
        // first start removes it.
        if let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) {
            let engine = self.engine.clone();
            runtime.spawn(async move { remove(&engine, &id).await });
        }
    }
}
