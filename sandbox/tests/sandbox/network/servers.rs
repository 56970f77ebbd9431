//! Servers on the host's loopback: HTTP with and without TLS, and a plain echo.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{HeaderMap, LOCATION};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// A request, as a server saw it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) uri: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Vec<&str> {
        self.headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect()
    }
}

/// A running server. Dropping it ends it with all its connections.
pub(crate) struct Server {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    accepted: Arc<Mutex<usize>>,
    task: JoinHandle<()>,
}

/// An authority that the servers' certificates come from.
pub(crate) struct TestAuthority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl TestAuthority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "the tests' authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap() }
    }

    pub(crate) fn pem(&self) -> String {
        self.issuer.pem()
    }

    pub(crate) fn der(&self) -> Vec<u8> {
        self.issuer.der().to_vec()
    }

    fn acceptor(&self, names: &[&str]) -> TlsAcceptor {
        let mut params =
            CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap();
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}

impl Server {
    pub(crate) async fn http() -> Self {
        Self::start((Ipv4Addr::LOCALHOST, 0).into(), None).await
    }

    pub(crate) async fn https(authority: &TestAuthority, names: &[&str]) -> Self {
        Self::start((Ipv4Addr::LOCALHOST, 0).into(), Some(authority.acceptor(names))).await
    }

    /// On this address, if it can be had.
    async fn start(address: SocketAddr, acceptor: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let accepted = Arc::new(Mutex::new(0));
        let (notes, count) = (Arc::clone(&seen), Arc::clone(&accepted));
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                *count.lock().unwrap() += 1;
                let (notes, acceptor) = (Arc::clone(&notes), acceptor.clone());
                connections.spawn(async move {
                    match acceptor {
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                serve(stream, notes).await;
                            }
                        }
                        None => serve(stream, notes).await,
                    }
                });
            }
        });
        Self { port, seen, accepted, task }
    }

    /// Sends back whatever comes, until the other side closes.
    pub(crate) async fn echo() -> Self {
        Self::raw(|mut stream| async move {
            let (mut reading, mut writing) = stream.split();
            let _ = tokio::io::copy(&mut reading, &mut writing).await;
            let _ = writing.shutdown().await;
        })
        .await
    }

    /// Whatever else is done with a connection.
    pub(crate) async fn raw<F>(handle: impl Fn(tokio::net::TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let accepted = Arc::new(Mutex::new(0));
        let count = Arc::clone(&accepted);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                *count.lock().unwrap() += 1;
                connections.spawn(handle(stream));
            }
        });
        Self { port, seen: Arc::default(), accepted, task }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// How many connections came.
    pub(crate) fn accepted(&self) -> usize {
        *self.accepted.lock().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, notes: Arc<Mutex<Vec<Seen>>>) {
    let service = service_fn(move |request| {
        let notes = Arc::clone(&notes);
        async move { Ok::<_, Infallible>(answer(request, &notes).await) }
    });
    // Clients may go away at any time.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// `/echo` answers with the body, `/large` with 50 MB, `/to/<url>` with a redirect, anything else with the host.
async fn answer(request: Request<Incoming>, notes: &Mutex<Vec<Seen>>) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let path = parts.uri.path().to_owned();
    notes.lock().unwrap().push(Seen { uri: parts.uri.to_string(), headers: parts.headers.clone(), body: body.clone() });
    if let Some(url) = path.strip_prefix("/to/") {
        let mut response = Response::new(Full::default());
        *response.status_mut() = StatusCode::FOUND;
        response.headers_mut().insert(LOCATION, url.replace('|', "/").parse().unwrap());
        return response;
    }
    match path.as_str() {
        "/echo" => Response::new(Full::new(body)),
        "/large" => Response::new(Full::new(large())),
        _ => {
            let host = parts.headers.get("host").map(|host| host.to_str().unwrap()).unwrap_or_default();
            Response::new(Full::new(format!("hello from {host}\n").into()))
        }
    }
}

/// 50 MB that compress badly, the same every time.
pub(crate) fn large() -> Bytes {
    static LARGE: std::sync::OnceLock<Bytes> = std::sync::OnceLock::new();
    let make = || {
        let mut state = 88_172_645_463_325_252u64;
        let mut bytes = Vec::with_capacity(50_000_000);
        while bytes.len() < 50_000_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes.extend(state.to_le_bytes());
        }
        bytes.into()
    };
    LARGE.get_or_init(make).clone()
}

/// Reads until the other side closes or breaks.
pub(crate) async fn read_to_end(stream: &mut tokio::net::TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    bytes
}
