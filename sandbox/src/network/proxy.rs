//! The proxy: one connection of a command from its first byte to its last.
//!
//! It takes HTTP/1.1 requests in absolute form and `CONNECT`; hyper reads them. Each connection carries one plain
//! request or one tunnel, so that one connection is one decision and one report.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ClientConfig;
use tokio::io::AsyncWriteExt as _;
use tokio::task::JoinSet;

use super::allow_list::{AllowList, Standing};
use super::authority::Authority;
use super::credential::Credential;
use super::dial::dial;
use super::outside;
use super::record::{Budget, Record};
use super::refusal::Refusal;
use super::report::{How, Reporter};
use super::request;
use super::stream::ForwardedStream;
use super::target::Target;
use super::tunnel::{self, Tunnel};
use crate::error::SandboxError;
use crate::link::Link;

/// What an answer's body is made of.
pub(super) type Body = BoxBody<Bytes, hyper::Error>;

/// What all connections of a sandbox share.
pub(super) struct Proxy {
    pub(super) list: AllowList,
    /// How servers are verified.
    pub(super) tls: Arc<ClientConfig>,
    /// There when there are credentials.
    pub(super) authority: Option<Authority>,
    pub(super) budget: Arc<Budget>,
    reporter: Arc<Reporter>,
}

/// One connection.
pub(super) struct Connection {
    pub(super) proxy: Arc<Proxy>,
    pub(super) record: Arc<Record>,
    /// What is left of the connection after a request that asked for more than an answer.
    upgrade: Mutex<Option<OnUpgrade>>,
    /// Set when a tunnel was granted.
    tunnel: Mutex<Option<Tunnel>>,
    /// What drives the connection to a server.
    drivers: Mutex<JoinSet<()>>,
}

impl Proxy {
    pub(super) fn new(list: &AllowList, reporter: Arc<Reporter>) -> Result<Self, SandboxError> {
        let fail = |detail: String| SandboxError::Network { detail };
        let mut domains: Vec<&str> = list.credentials().iter().map(Credential::host).collect();
        domains.sort_unstable();
        domains.dedup();
        let authority = (!domains.is_empty()).then(|| Authority::new(&domains)).transpose();
        let authority = authority.map_err(|error| fail(error.to_string()))?;
        let tls = outside::client_config(list).map_err(|error| fail(error.to_string()))?;
        let budget = Arc::new(Budget::new(list.limits().session_bytes));
        Ok(Self { list: list.clone(), tls: Arc::new(tls), authority, budget, reporter })
    }

    /// Serves one connection to its end, or to that of the sandbox.
    pub(super) async fn serve(self: &Arc<Self>, stream: ForwardedStream, call: Option<String>, link: &Link) {
        let record = Arc::new(Record::new(call, self.list.limits(), &self.budget, &self.reporter));
        let connection = Arc::new(Connection {
            proxy: Arc::clone(self),
            record: Arc::clone(&record),
            upgrade: Mutex::default(),
            tunnel: Mutex::default(),
            drivers: Mutex::default(),
        });
        tokio::select! {
            () = Connection::serve(&connection, stream) => {}
            () = record.idle() => {}
            () = link.closed() => {}
        }
        // Even where its end came to us through the command's, which is killed first.
        if link.is_ending() {
            record.cut("the sandbox ended");
        }
        let mut drivers = std::mem::take(&mut *lock(&connection.drivers));
        drivers.shutdown().await;
        record.finish();
    }

    pub(super) fn patience(&self) -> Duration {
        Duration::from_millis(self.list.limits().setup_ms)
    }

    /// How requests are read, from commands directly or inside TLS.
    pub(super) fn reader(&self) -> http1::Builder {
        let head_bytes = self.list.limits().head_bytes;
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(self.patience());
        builder.max_buf_size(head_bytes.max(8192)).max_header_size(head_bytes);
        builder
    }
}

impl Connection {
    async fn serve(self: &Arc<Self>, stream: ForwardedStream) {
        let service = service_fn(|request| {
            let connection = Arc::clone(self);
            async move { Ok::<_, Infallible>(connection.answer(request).await) }
        });
        let mut reader = self.proxy.reader();
        reader.keep_alive(false);
        let served = reader.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
        let upgrade = lock(&self.upgrade).take();
        let tunnel = lock(&self.tunnel).take();
        match (served, upgrade, tunnel) {
            (Ok(()), Some(upgrade), tunnel) => match (upgrade.await, tunnel) {
                (Ok(upgraded), Some(tunnel)) => tunnel::run(self, upgraded, tunnel).await,
                (Ok(upgraded), None) => {
                    // It was refused. The command has the answer or is gone.
                    let _ = TokioIo::new(upgraded).shutdown().await;
                }
                (Err(error), Some(_)) => self.record.cut(format!("the command went away: {error}")),
                // An ordinary request was answered.
                (Err(_), None) => {}
            },
            (Ok(()), None, _) => self.record.refuse(&Refusal::BadRequest("no request came".to_owned())),
            (Err(error), ..) if self.record.is_decided() => self.record.cut(describe(&error)),
            (Err(error), ..) => {
                self.record.refuse(&Refusal::BadRequest(format!("no request could be read: {}", describe(&error))));
            }
        }
    }

    async fn answer(&self, mut request: Request<Incoming>) -> Response<Body> {
        *lock(&self.upgrade) = Some(hyper::upgrade::on(&mut request));
        let answer =
            if request.method() == Method::CONNECT { self.connect(request).await } else { self.pass_on(request).await };
        answer.unwrap_or_else(|refusal| self.refuse(&refusal))
    }

    /// Notes it, and tells the command.
    pub(super) fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        self.record.refuse(refusal);
        refusal.response().map(|body| body.map_err(|never| match never {}).boxed())
    }

    /// A tunnel, from which on bytes are only passed on, or TLS ends here.
    async fn connect(&self, request: Request<Incoming>) -> Result<Response<Body>, Refusal> {
        self.record.set_how(How::Connect);
        let asked = request.uri().to_string();
        let target = self.target(&asked, None)?;
        request::check_host(request.headers(), &target, target.port)?;
        self.check(&target)?;
        if target.port == 80 {
            let what = "a tunnel to port 80 would hide which server it is for; send plain requests to the proxy";
            return Err(Refusal::BadRequest(what.to_owned()));
        }
        let list = &self.proxy.list;
        let connection = dial(list, &target, &self.record).await?;
        let tunnel = match list.credential_for(&target, true) {
            None => Tunnel::Opaque { target, connection: Box::new(connection) },
            Some(credential) => {
                self.record.set_how(How::Tls);
                self.record.set_credential(credential.domain());
                let secured = outside::secure(connection, &target, &self.proxy.tls, self.proxy.patience()).await?;
                Tunnel::Terminated { target, credential: credential.clone(), connection: Box::new(secured) }
            }
        };
        self.record.allow();
        *lock(&self.tunnel) = Some(tunnel);
        Ok(Response::new(Empty::new().map_err(|never| match never {}).boxed()))
    }

    /// A plain request, passed on to its server.
    async fn pass_on(&self, request: Request<Incoming>) -> Result<Response<Body>, Refusal> {
        let uri = request.uri();
        let Some(authority) = uri.authority().map(ToString::to_string) else {
            self.record.set_asked(&uri.to_string());
            let what = "this is a proxy, and the request names no server (it must begin like GET http://example.org/)";
            return Err(Refusal::BadRequest(what.to_owned()));
        };
        let scheme = uri.scheme_str().unwrap_or_default().to_owned();
        let target = self.target(&authority, Some(80))?;
        if scheme != "http" {
            return Err(Refusal::BadRequest(format!("{scheme} does not go through here; use CONNECT")));
        }
        request::check_host(request.headers(), &target, 80)?;
        self.check(&target)?;
        let list = &self.proxy.list;
        let credential = list.credential_for(&target, false);
        let request = request::outgoing(request, &target, 80, credential)?;
        let connection = dial(list, &target, &self.record).await?;
        if let Some(credential) = credential {
            self.record.set_credential(credential.domain());
        }
        self.record.allow();
        let mut sender = self.drive(connection).await?;
        let response = request::incoming(outside::ask(&mut sender, request).await?)?;
        Ok(response.map(BodyExt::boxed))
    }

    /// Makes a connection to a server ready for requests.
    pub(super) async fn drive<S>(&self, stream: S) -> Result<hyper::client::conn::http1::SendRequest<Incoming>, Refusal>
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
    {
        let mut drivers = JoinSet::new();
        let sender = outside::handshake(stream, self.proxy.list.limits().head_bytes, &mut drivers).await?;
        // If there was one before, its connection has ended.
        *lock(&self.drivers) = drivers;
        Ok(sender)
    }

    fn target(&self, asked: &str, default_port: Option<u16>) -> Result<Target, Refusal> {
        self.record.set_asked(asked);
        let target = Target::parse(asked, default_port).map_err(|error| Refusal::BadTarget {
            what: format!("{:?} cannot be connected to", super::refusal::printable(asked, 100)),
            reason: error.to_string(),
        })?;
        self.record.set_target(&target);
        Ok(target)
    }

    /// Whether the target is allowed, and something is left to use.
    fn check(&self, target: &Target) -> Result<(), Refusal> {
        match self.proxy.list.standing(target) {
            Standing::Allowed => self.proxy.budget.check(),
            Standing::OtherPort => Err(Refusal::OtherPort(target.clone())),
            Standing::NotListed => Err(Refusal::NotListed(target.clone())),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// With the reason behind it, which hyper's own words leave out.
pub(super) fn describe(error: &hyper::Error) -> String {
    use std::error::Error as _;
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}
