//! The proxy's side towards servers: HTTP/1.1 over a checked connection, with TLS that is verified where there is TLS.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::allow_list::AllowList;
use super::metered::Metered;
use super::refusal::Refusal;
use super::target::{Host, Target};

/// How servers are verified: by the list's own roots, else the machine's, else those that are built in.
pub(super) fn client_config(list: &AllowList) -> Result<ClientConfig, rustls::Error> {
    let mut roots = RootCertStore::empty();
    match list.roots() {
        Some(given) => {
            roots.add_parsable_certificates(given.iter().cloned());
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            }
        }
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Speaks TLS with a server, which must prove that it is the target.
pub(super) async fn secure(
    connection: Metered,
    target: &Target,
    config: &Arc<ClientConfig>,
    patience: Duration,
) -> Result<TlsStream<Metered>, Refusal> {
    let fail = |detail: String| Refusal::Unreachable(format!("cannot speak TLS with {target}: {detail}"));
    let name = match &target.host {
        Host::Name(name) => ServerName::try_from(name.clone()).map_err(|error| fail(error.to_string()))?,
        Host::Address(address) => ServerName::from(*address),
    };
    match timeout(patience, TlsConnector::from(Arc::clone(config)).connect(name, connection)).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(fail(error.to_string())),
        Err(_) => Err(fail(format!("no answer within {} ms", patience.as_millis()))),
    }
}

/// Gets a connection ready for requests; what drives it becomes one of `drivers`.
pub(super) async fn handshake<S>(
    stream: S,
    head_bytes: usize,
    drivers: &mut JoinSet<()>,
) -> Result<SendRequest<Incoming>, Refusal>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut builder = Builder::new();
    builder.max_buf_size(head_bytes.max(8192)).max_header_size(head_bytes);
    let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(broken)?;
    drivers.spawn(async move {
        // How it ended is told to whoever waits for an answer.
        let _ = connection.await;
    });
    Ok(sender)
}

/// Sends a request and waits for the head of the answer.
pub(super) async fn ask(
    sender: &mut SendRequest<Incoming>,
    request: Request<Incoming>,
) -> Result<Response<Incoming>, Refusal> {
    sender.send_request(request).await.map_err(broken)
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn broken(error: hyper::Error) -> Refusal {
    use std::error::Error as _;
    let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    Refusal::Unreachable(format!("the exchange with the server failed: {error}{source}"))
}
