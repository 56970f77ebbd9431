//! Starting and stopping the server.
//!
//! It binds to 127.0.0.1 only and speaks plain HTTP; its key is an expectation to test clients with, not protection.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::record::RequestRecord;
use super::routes::router;
use super::script::Script;
use super::state::State;
use crate::claude::{ModelTable, ModelTableError};

/// How long a stopping server waits for answers that are still being sent.
const PATIENCE: Duration = Duration::from_secs(2);

/// How to serve a script.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// The key that clients must send.
    pub api_key: String,
    /// The models that exist; `None`: the built-in table.
    pub models: Option<ModelTable>,
}

impl ServerOptions {
    /// The key that clients must send unless another is given.
    pub const DEFAULT_API_KEY: &'static str = "scripted-key";
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self { port: 0, api_key: Self::DEFAULT_API_KEY.to_owned(), models: None }
    }
}

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The port cannot be taken.
    #[error("the scripted server cannot listen on 127.0.0.1:{port}: {source}")]
    Bind {
        /// The port that was asked for.
        port: u16,
        /// The system's reason.
        source: io::Error,
    },
    /// The model table is wrong.
    #[error(transparent)]
    Models(#[from] ModelTableError),
}

/// A running scripted server. Dropping it stops it at once; [`shutdown`](Self::shutdown) lets answers finish first.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
    connections: Arc<AtomicUsize>,
}

impl ScriptedServer {
    /// Starts serving `script` inside this process; needs a tokio runtime.
    ///
    /// # Errors
    /// When the port is taken, or the model table is wrong.
    pub async fn start(script: Script, options: ServerOptions) -> Result<Self, ServerError> {
        let models = options.models.map_or_else(ModelTable::builtin, Ok)?;
        let bind = |source| ServerError::Bind { port: options.port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let state = Arc::new(State::new(script, options.api_key, models));
        let app = router(Arc::clone(&state));
        let stop = state.closing.clone();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        let listener = listener.tap_io(move |stream| {
            counter.fetch_add(1, Ordering::Relaxed);
            // Small writes must leave at once, or split frames would be joined again.
            drop(stream.set_nodelay(true));
        });
        let task = tokio::spawn(async move {
            let serving = axum::serve(listener, app).with_graceful_shutdown(stop.cancelled_owned());
            if let Err(error) = serving.await {
                tracing::error!(%error, "the scripted server stopped");
            }
        });
        Ok(Self { address, state, task, connections })
    }

    /// The address to give to a client, such as `http://127.0.0.1:4321`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What the server has received so far, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<RequestRecord> {
        self.state.records()
    }

    /// How many connections have been accepted so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Stops: takes no new requests, ends hanging ones, and gives running answers a moment to finish.
    pub async fn shutdown(mut self) {
        self.state.closing.cancel();
        if tokio::time::timeout(PATIENCE, &mut self.task).await.is_err() {
            tracing::warn!("the scripted server was stopped with open connections");
        }
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.state.closing.cancel();
        self.state.abort.cancel();
        self.task.abort();
    }
}

/// Serves `script` until Ctrl-C. `ready` is told the base URL once the server listens.
///
/// # Errors
/// When the server cannot start, or signals cannot be waited for.
pub async fn serve_until_ctrl_c(
    script: Script,
    options: ServerOptions,
    ready: impl FnOnce(&str),
) -> Result<(), ServeError> {
    let server = ScriptedServer::start(script, options).await?;
    ready(&server.base_url());
    tokio::signal::ctrl_c().await.map_err(ServeError::Signal)?;
    server.shutdown().await;
    Ok(())
}

/// Why serving ended badly.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The server could not start.
    #[error(transparent)]
    Start(#[from] ServerError),
    /// Ctrl-C cannot be waited for.
    #[error("cannot wait for Ctrl-C: {0}")]
    Signal(#[source] io::Error),
}
