//! What follows a granted `CONNECT`: bytes in both directions, or a server of our own that adds a credential.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use bytes::BytesMut;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::service::service_fn;
use hyper::upgrade::Upgraded;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::server::Acceptor;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::client::TlsStream;

use super::credential::Credential;
use super::dial::dial;
use super::hello::{ACCESS_DENIED, HANDSHAKE, check_hello, check_name};
use super::metered::Metered;
use super::outside;
use super::proxy::{Body, Connection, describe};
use super::refusal::Refusal;
use super::request;
use super::target::Target;

/// Bytes that are on the way in one direction.
const COPY_BYTES: usize = 64 * 1024;

/// A granted tunnel.
pub(super) enum Tunnel {
    /// What goes through is not looked into, but for the name in TLS's greeting.
    Opaque {
        /// Where to.
        target: Target,
        /// The connection there.
        connection: Box<Metered>,
    },
    /// TLS ends here, and another begins.
    Terminated {
        /// Where to.
        target: Target,
        /// What to add.
        credential: Credential,
        /// The connection there.
        connection: Box<TlsStream<Metered>>,
    },
}

/// Runs a tunnel to its end.
pub(super) async fn run(connection: &Arc<Connection>, upgraded: Upgraded, tunnel: Tunnel) {
    let client = TokioIo::new(upgraded);
    match tunnel {
        Tunnel::Opaque { target, connection: outside } => opaque(connection, client, &target, *outside).await,
        Tunnel::Terminated { target, credential, connection: outside } => {
            let upstream = Upstream { target, credential, sender: Mutex::default() };
            terminated(connection, client, upstream, *outside).await;
        }
    }
}

async fn opaque(connection: &Connection, mut client: TokioIo<Upgraded>, target: &Target, mut outside: Metered) {
    let mut seen = BytesMut::with_capacity(COPY_BYTES);
    let copied = async {
        if let Err(refusal) = greet(connection, &mut client, &mut seen, target, &mut outside).await? {
            connection.record.refuse(&refusal);
            client.write_all(&ACCESS_DENIED).await?;
            return client.shutdown().await;
        }
        outside.write_all(&seen).await?;
        let copied = tokio::io::copy_bidirectional_with_sizes(&mut client, &mut outside, COPY_BYTES, COPY_BYTES);
        copied.await.map(|_| ())
    };
    if let Err(error) = copied.await {
        connection.record.cut(error.to_string());
        // Both are to see that this was no orderly end; the command's connection is reset when it is dropped.
        outside.reset();
    }
}

/// Reads what the command says first, and checks it where it is TLS. On the port of HTTPS it has to be.
async fn greet(
    connection: &Connection,
    client: &mut TokioIo<Upgraded>,
    seen: &mut BytesMut,
    target: &Target,
    outside: &mut Metered,
) -> io::Result<Result<(), Refusal>> {
    let list = &connection.proxy.list;
    if target.port != 443 && !is_tls(client, seen, outside).await? {
        return Ok(Ok(()));
    }
    let checked = timeout(connection.proxy.patience(), check_hello(client, seen, target, list)).await;
    Ok(checked
        .unwrap_or_else(|_| Err(Refusal::BadRequest(format!("no whole TLS greeting was sent to {target} in time")))))
}

/// Waits for the command's first bytes, while a server that speaks first is let through.
async fn is_tls(client: &mut TokioIo<Upgraded>, seen: &mut BytesMut, outside: &mut Metered) -> io::Result<bool> {
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        tokio::select! {
            read = client.read_buf(seen) => {
                read?;
                return Ok(seen.first() == Some(&HANDSHAKE));
            }
            read = outside.read(&mut buffer) => match read? {
                // It is found again by what follows, and the command may still have something to say.
                0 => return Ok(false),
                count => client.write_all(buffer.get(..count).unwrap_or_default()).await?,
            }
        }
    }
}

/// The server behind a terminated tunnel.
struct Upstream {
    target: Target,
    credential: Credential,
    sender: Mutex<Option<SendRequest<Incoming>>>,
}

async fn terminated(
    connection: &Arc<Connection>,
    client: TokioIo<Upgraded>,
    upstream: Upstream,
    outside: TlsStream<Metered>,
) {
    let record = &connection.record;
    let proxy = &connection.proxy;
    let accepted = async {
        *upstream.sender.lock().await = Some(connection.drive(outside).await?);
        let fail = |error: std::io::Error| Refusal::BadRequest(format!("TLS with the command failed: {error}"));
        let start = LazyConfigAcceptor::new(Acceptor::default(), client).await.map_err(fail)?;
        let name = start.client_hello().server_name().map(str::to_owned);
        check_name(name.as_deref(), &upstream.target, &proxy.list)?;
        let config = proxy.authority.as_ref().and_then(|authority| authority.server(upstream.credential.host()));
        let config = config.ok_or_else(|| Refusal::BadRequest("there is no certificate for this domain".to_owned()))?;
        start.into_stream(config).await.map_err(fail)
    };
    let client = match timeout(proxy.patience(), accepted).await {
        Ok(Ok(client)) => client,
        Ok(Err(refusal)) => return record.refuse(&refusal),
        Err(_) => return record.refuse(&Refusal::BadRequest("no whole TLS greeting came in time".to_owned())),
    };
    let upstream = Arc::new(upstream);
    let service = service_fn(|request| {
        let (connection, upstream) = (Arc::clone(connection), Arc::clone(&upstream));
        async move { Ok::<_, Infallible>(upstream.answer(&connection, request).await) }
    });
    if let Err(error) = proxy.reader().serve_connection(TokioIo::new(client), service).await {
        record.cut(describe(&error));
    }
}

impl Upstream {
    async fn answer(&self, connection: &Connection, request: Request<Incoming>) -> Response<Body> {
        match self.pass_on(connection, request).await {
            Ok(response) => response,
            // A failure does not undo what was allowed; a refusal is worth more than that.
            Err(refusal @ Refusal::Unreachable(_)) => {
                connection.record.cut(refusal.line());
                refusal.response().map(|body| body.map_err(|never| match never {}).boxed())
            }
            Err(refusal) => connection.refuse(&refusal),
        }
    }

    async fn pass_on(&self, connection: &Connection, request: Request<Incoming>) -> Result<Response<Body>, Refusal> {
        request::check_host(request.headers(), &self.target, 443)?;
        if let Some(authority) = request.uri().authority()
            && Target::parse(authority.as_str(), Some(443)).as_ref() != Ok(&self.target)
        {
            return Err(Refusal::BadRequest(format!("a request for {authority} was sent to {}", self.target)));
        }
        let request = request::outgoing(request, &self.target, 443, Some(&self.credential))?;
        let mut sender = self.sender.lock().await;
        let is_ready = match sender.as_mut() {
            Some(sender) => sender.ready().await.is_ok(),
            None => false,
        };
        if !is_ready {
            // The server closed it between two requests.
            connection.proxy.budget.check()?;
            let fresh = dial(&connection.proxy.list, &self.target, &connection.record).await?;
            let patience = connection.proxy.patience();
            let fresh = outside::secure(fresh, &self.target, &connection.proxy.tls, patience).await?;
            *sender = Some(connection.drive(fresh).await?);
        }
        let Some(sender) = sender.as_mut() else {
            return Err(Refusal::Unreachable("there is no connection to the server".to_owned()));
        };
        let response = request::incoming(outside::ask(sender, request).await?)?;
        Ok(response.map(BodyExt::boxed))
    }
}
