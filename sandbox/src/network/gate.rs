//! The network of one sandbox: a listener inside, and the proxy that serves what comes through it.

use std::sync::Arc;
use std::time::Duration;

use retrace_guest::message::{FailureKind, ListenSpec, MAX_FORWARDED, Request, Response};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::sleep;

use super::allow_list::AllowList;
use super::inside;
use super::proxy::Proxy;
use super::report::{Connections, Reporter};
use super::stream::ForwardedStream;
use crate::call::{Call, unexpected};
use crate::error::SandboxError;
use crate::link::Link;
use crate::sandbox::Sandbox;

/// Before a connection is asked for again that the guest had no place for.
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// Where the proxy is found inside: always the same, so that what commands print about it is too.
const PORT: u16 = 3128;

/// An open way out. Dropping it closes it.
#[derive(Debug)]
pub(crate) struct Gate {
    variables: Vec<(String, String)>,
    connections: Connections,
    serving: AbortHandle,
    done: watch::Receiver<bool>,
}

impl Gate {
    /// Opens it for a sandbox that has been proven to have no other.
    pub(crate) async fn open(sandbox: &Sandbox, list: &AllowList) -> Result<Self, SandboxError> {
        let reporter = Arc::new(Reporter::default());
        let connections = reporter.connections();
        let proxy = Arc::new(Proxy::new(list, reporter)?);
        let certificates = match &proxy.authority {
            Some(authority) => Some(inside::keep_certificate(sandbox, authority.pem()).await?),
            None => None,
        };
        let (serving, done, port) = serve(sandbox.link(), proxy, PORT).await?;
        Ok(Self { variables: inside::variables(port, certificates.as_deref()), connections, serving, done })
    }

    /// The variables that every command gets.
    pub(crate) fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    pub(crate) fn connections(&self) -> Connections {
        self.connections.clone()
    }

    /// Waits until every connection has ended and is told, once the sandbox is gone.
    pub(crate) async fn closed(&self) {
        // An error means that the task is gone, and so is everything else.
        let _ = self.done.clone().wait_for(|done| *done).await;
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Listens inside, and serves all connections until the sandbox is gone.
pub(super) async fn serve(
    link: &Arc<Link>,
    proxy: Arc<Proxy>,
    port: u16,
) -> Result<(AbortHandle, watch::Receiver<bool>, u16), SandboxError> {
    let mut listener = Call::start(link, &Request::Listen(ListenSpec { port })).await?;
    let port = match listener.next().await? {
        (Response::Listening { port }, _) => port,
        (other, _) => return Err(unexpected(&other)),
    };
    let mut slots = JoinSet::new();
    for _ in 0..proxy.list.limits().connections.clamp(1, MAX_FORWARDED) {
        slots.spawn(slot(Arc::clone(link), Arc::clone(&proxy)));
    }
    drop(proxy);
    let (finished, done) = watch::channel(false);
    let serving = tokio::spawn(async move {
        // Ends when the sandbox does; nothing else is ever said.
        while listener.next().await.is_ok() {}
        while slots.join_next().await.is_some() {}
        finished.send_replace(true);
    });
    Ok((serving.abort_handle(), done, port))
}

/// One connection after the other.
async fn slot(link: Arc<Link>, proxy: Arc<Proxy>) {
    loop {
        match ForwardedStream::accept(&link).await {
            Ok((stream, call)) => proxy.serve(stream, call, &link).await,
            // Those that have ended hold their places until their commands have read everything.
            Err(SandboxError::Guest(failure)) if failure.kind == FailureKind::Busy => sleep(BUSY_PAUSE).await,
            Err(error) => {
                tracing::debug!(%error, "no more connections of a sandbox are taken here");
                return;
            }
        }
    }
}
