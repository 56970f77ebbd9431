//! A guest that is not ours: whatever it says about connections, the host stays within its bounds and the others are
//! served.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use retrace_guest::PROTOCOL_VERSION;
use retrace_guest::frame::{FrameHead, HEAD_BYTES, write_frame};
use retrace_guest::message::{
    Accepted, CHUNK_COST_BYTES, Envelope, FORWARD_WINDOW_BYTES, Hello, ListenSpec, Request, Response,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use crate::backend::{Counters, Lifeline, Meter};
use crate::error::SandboxError;
use crate::link::{Keeper, Link, connect};
use crate::network::gate;
use crate::network::proxy::Proxy;
use crate::network::report::Reporter;
use crate::network::{AllowList, ConnectionEvent, ConnectionReport, Connections, NetworkLimits, Verdict};
use crate::proof::Proof;

struct Nobody;

#[async_trait]
impl Lifeline for Nobody {
    async fn wait(&mut self) -> String {
        "it ended".to_owned()
    }

    fn kill(&mut self) {}

    async fn clean_up(&mut self) {}
}

impl Meter for Nobody {
    fn read(&self) -> Counters {
        Counters::default()
    }

    fn proofs(&self) -> Vec<Proof> {
        Vec::new()
    }
}

struct Liar {
    stdin: DuplexStream,
    stdout: DuplexStream,
    /// Requests to take a connection that are not answered yet.
    offers: Vec<u64>,
    /// What came for others meanwhile.
    kept: HashMap<u64, Vec<(Request, Vec<u8>)>>,
    connections: Connections,
    link: Arc<Link>,
    _serving: AbortHandle,
}

fn frame(id: u64, message: &Response, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_frame(&mut bytes, &Envelope { id, message }, body).unwrap();
    bytes
}

async fn receive(stdin: &mut DuplexStream) -> (u64, Request, Vec<u8>) {
    let mut head = [0; HEAD_BYTES];
    stdin.read_exact(&mut head).await.unwrap();
    let head = FrameHead::decode(head).unwrap();
    let (mut header, mut body) = (vec![0; head.header_bytes()], vec![0; head.body_bytes()]);
    stdin.read_exact(&mut header).await.unwrap();
    stdin.read_exact(&mut body).await.unwrap();
    let Envelope { id, message } = serde_json::from_slice(&header).unwrap();
    (id, message, body)
}

impl Liar {
    async fn new(entries: &[String], limits: NetworkLimits) -> Self {
        let (stdin, mut guest_stdin) = tokio::io::duplex(1 << 20);
        let (mut guest_stdout, stdout) = tokio::io::duplex(1 << 20);
        let hello =
            Hello { protocol: PROTOCOL_VERSION, guest_version: "0".into(), kernel: "0".into(), uid: 1000, pid: 1 };
        guest_stdout.write_all(&frame(0, &Response::Hello(hello), &[])).await.unwrap();
        let keeper = Keeper { lifeline: Box::new(Nobody), meter: Arc::new(Nobody) };
        let stderr: &[u8] = b"";
        let explain = |_: &str, detail| SandboxError::Handshake { detail };
        let connected = connect(Box::new(stdin), Box::new(stdout), Box::new(stderr), keeper, explain).await.unwrap();
        let reporter = Arc::new(Reporter::default());
        let connections = reporter.connections();
        let offered = limits.connections;
        let list = AllowList::parse(entries).unwrap().with_limits(limits);
        let proxy = Arc::new(Proxy::new(&list, reporter).unwrap());
        let link = Arc::clone(&connected.link);
        let serving = tokio::spawn(async move { gate::serve(&link, proxy, 3128).await });
        let (id, request, _) = receive(&mut guest_stdin).await;
        assert_eq!(request, Request::Listen(ListenSpec { port: 3128 }));
        guest_stdout.write_all(&frame(id, &Response::Listening { port: 3128 }, &[])).await.unwrap();
        let (handle, _, port) = serving.await.unwrap().unwrap();
        assert_eq!(port, 3128);
        let mut offers = Vec::new();
        while offers.len() < offered {
            let (id, Request::Accept, _) = receive(&mut guest_stdin).await else { panic!("no offer") };
            offers.push(id);
        }
        Self {
            stdin: guest_stdin,
            stdout: guest_stdout,
            offers,
            kept: HashMap::new(),
            connections,
            link: connected.link,
            _serving: handle,
        }
    }

    async fn send(&mut self, id: u64, message: Response, body: &[u8]) {
        self.stdout.write_all(&frame(id, &message, body)).await.unwrap();
    }

    async fn accept(&mut self) -> u64 {
        if self.offers.is_empty() {
            let (id, Request::Accept, _) = self.receive().await else { panic!("no offer") };
            self.offers.push(id);
        }
        let id = self.offers.remove(0);
        self.send(id, Response::Accepted(Accepted { origin: None }), &[]).await;
        id
    }

    async fn receive(&mut self) -> (u64, Request, Vec<u8>) {
        receive(&mut self.stdin).await
    }

    /// The next thing the host says about one connection.
    async fn next(&mut self, id: u64) -> (Request, Vec<u8>) {
        if let Some(kept) = self.kept.get_mut(&id).filter(|kept| !kept.is_empty()) {
            return kept.remove(0);
        }
        loop {
            match self.receive().await {
                (found, request, body) if found == id => return (request, body),
                (found, Request::Accept, _) => self.offers.push(found),
                (found, request, body) => self.kept.entry(found).or_default().push((request, body)),
            }
        }
    }

    /// What the host sends on a connection until it closes that direction.
    async fn answer(&mut self, id: u64) -> String {
        let mut answer = Vec::new();
        loop {
            match self.next(id).await {
                (Request::Data { last }, body) => {
                    answer.extend(body);
                    if last {
                        return String::from_utf8(answer).unwrap();
                    }
                }
                (Request::Credit { .. }, _) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    async fn report(&mut self) -> ConnectionReport {
        match self.connections.next().await {
            Some(ConnectionEvent::One(report)) => report,
            other => panic!("{other:?}"),
        }
    }

    /// An ordinary connection is served as ever.
    async fn is_served(&mut self) {
        let id = self.accept().await;
        self.send(id, Response::Received, b"GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n").await;
        let answer = self.answer(id).await;
        assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("not on the allow-list"), "{answer}");
        let report = self.report().await;
        assert_eq!((report.host.as_str(), report.port), ("other.test", 80));
        assert!(matches!(report.verdict, Verdict::Refused { .. }), "{report:?}");
    }
}

fn few() -> NetworkLimits {
    NetworkLimits { connections: 4, ..NetworkLimits::default() }
}

#[tokio::test]
async fn nonsense_ends_the_connection_it_is_about() {
    let mut guest = Liar::new(&[], few()).await;
    for nonsense in [
        Response::Accepted(Accepted::default()),
        Response::Pong,
        Response::Stdout,
        Response::Data,
        Response::Listening { port: 1 },
    ] {
        let id = guest.accept().await;
        let is_final = nonsense.is_final();
        guest.send(id, nonsense, b"GET http://other.test/ HTTP/1.1\r\n").await;
        if !is_final {
            assert_eq!(guest.next(id).await.0, Request::Kill);
        }
        let report = guest.report().await;
        assert!(matches!(report.verdict, Verdict::Refused { .. }), "{report:?}");
    }
    // After its end nothing more can be said about a connection.
    let id = guest.accept().await;
    guest.send(id, Response::ReceivedAll, &[]).await;
    guest.send(id, Response::Received, b"GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n").await;
    guest.report().await;
    guest.is_served().await;
}

#[tokio::test]
async fn a_lie_instead_of_a_connection_costs_only_that_offer() {
    let mut guest = Liar::new(&[], few()).await;
    let offers = std::mem::take(&mut guest.offers);
    let (honest, lies) = offers.split_first().unwrap();
    let said = [Response::Received, Response::Pong, Response::Closed { reset: false }];
    for (id, lie) in lies.iter().zip(said) {
        guest.send(*id, lie, b"x").await;
    }
    guest.offers = vec![*honest];
    guest.is_served().await;
}

#[tokio::test]
async fn credit_cannot_be_made_up() {
    let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = server.local_addr().unwrap().port();
    let serving = tokio::spawn(async move {
        let (mut stream, _) = server.accept().await.unwrap();
        let mut sent = stream.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n").await.unwrap();
        // Until nobody takes it any more.
        while let Ok(count) = stream.write(&[b'x'; 65536]).await {
            sent += count;
        }
        sent
    });
    let mut guest = Liar::new(&[format!("127.0.0.1:{port}")], few()).await;
    let id = guest.accept().await;
    let request = format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    guest.send(id, Response::Received, request.as_bytes()).await;
    let mut total = 0;
    for round in 1..=3 {
        // All that one window holds comes, and then nothing more.
        while total + 2 * CHUNK_COST_BYTES < round * FORWARD_WINDOW_BYTES {
            let (Request::Data { last: false }, body) = guest.next(id).await else { panic!("it ended") };
            total += body.len() as u64 + CHUNK_COST_BYTES;
        }
        guest.is_served().await;
        assert!(guest.kept.get(&id).is_none_or(Vec::is_empty), "more than a window");
        assert!(total <= round * FORWARD_WINDOW_BYTES, "{total}");
        guest.send(id, Response::Credit { bytes: u64::MAX }, &[]).await;
    }
    guest.send(id, Response::Closed { reset: true }, &[]).await;
    let report = guest.report().await;
    assert_eq!(report.verdict, Verdict::Allowed);
    assert!(report.received_bytes < 64 << 20 && report.cut.is_some(), "{report:?}");
    serving.await.unwrap();
}

#[tokio::test]
async fn data_without_credit_ends_the_guest() {
    let mut guest = Liar::new(&[], few()).await;
    let id = guest.accept().await;
    let request = format!("POST http://other.test/ HTTP/1.1\r\nHost: other.test\r\nX: {}", "x".repeat(1000));
    guest.send(id, Response::Received, request.as_bytes()).await;
    // Nothing of this is taken, or much less than all.
    let flood = frame(id, &Response::Received, &[b'y'; 60_000]);
    let flooding = async {
        // The host stops reading in the middle.
        while guest.stdout.write_all(&flood).await.is_ok() {}
    };
    flooding.await;
    guest.link.closed().await;
    let gone = guest.link.gone_now().unwrap();
    assert!(gone.detail.contains("more than it was allowed"), "{gone}");
    // What was open is told, and then nothing more will be.
    guest.report().await;
    assert_eq!(guest.connections.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn heads_and_silence_are_bounded() {
    let limits = NetworkLimits { setup_ms: 300, head_bytes: 8192, ..few() };
    let mut guest = Liar::new(&[], limits).await;
    let long = guest.accept().await;
    let head = format!("GET http://other.test/ HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(20_000));
    guest.send(long, Response::Received, head.as_bytes()).await;
    assert!(guest.answer(long).await.starts_with("HTTP/1.1 431 "));
    guest.report().await;
    let many = guest.accept().await;
    let head = format!("GET http://other.test/ HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(500));
    guest.send(many, Response::Received, head.as_bytes()).await;
    assert!(guest.answer(many).await.starts_with("HTTP/1.1 431 "));
    guest.report().await;
    let silent = guest.accept().await;
    guest.send(silent, Response::Received, b"GET http://oth").await;
    let report = guest.report().await;
    assert!(matches!(report.verdict, Verdict::Refused { .. }), "{report:?}");
    guest.is_served().await;
}

#[tokio::test]
async fn the_guests_end_is_the_end_of_its_connections() {
    let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = server.local_addr().unwrap().port();
    let mut guest = Liar::new(&[format!("127.0.0.1:{port}")], few()).await;
    let id = guest.accept().await;
    guest.send(id, Response::Received, format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n").as_bytes()).await;
    let (mut stream, _) = server.accept().await.unwrap();
    stream.write_all(b"a server that speaks first").await.unwrap();
    let mut heard = Vec::new();
    while !heard.ends_with(b"speaks first") {
        let (Request::Data { last: false }, body) = guest.next(id).await else { panic!("it ended") };
        heard.extend(body);
    }
    assert!(heard.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&heard));
    let Liar { stdin, stdout, connections, .. } = guest;
    drop((stdin, stdout));
    // The server sees it, in whatever way.
    let end = tokio::time::timeout(Duration::from_secs(30), stream.read(&mut [0; 100])).await.unwrap();
    assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
    let Some(ConnectionEvent::One(report)) = connections.next().await else { panic!("no report") };
    assert_eq!(report.verdict, Verdict::Allowed);
    assert_eq!(report.host.parse(), Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)));
    assert!(report.cut.is_some(), "{report:?}");
    assert_eq!(connections.next().await, None);
}
