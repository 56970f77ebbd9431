//! A sandbox with a way out, names of its own, and what it told about its connections.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use retrace_sandbox::{
    AllowList, ConnectionEvent, ConnectionReport, Connections, ExecOutput, Limits, Network, Policy, Resolve, Sandbox,
    Verdict,
};

use crate::support::{Place, shell, slowly, text};

/// Names and their addresses; each question takes the next answer, the last one stays.
#[derive(Default)]
pub(crate) struct Names {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    /// All names below `.test` lead to the host's loopback, unless said otherwise.
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn answer(&self, name: &str, answers: &[&[&str]]) {
        let parse = |texts: &&[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        self.answers.lock().unwrap().insert(name.to_owned(), answers.iter().map(parse).collect());
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.lock().unwrap().push(name.to_owned());
        if let Some(answers) = self.answers.lock().unwrap().get_mut(name) {
            return Ok(if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() });
        }
        if name.ends_with(".test") {
            return Ok(vec!["127.0.0.1".parse().unwrap()]);
        }
        Err(io::Error::other("no such name"))
    }
}

/// A sandbox whose commands may reach some hosts.
pub(crate) struct Yard {
    pub(crate) place: Place,
    pub(crate) sandbox: Sandbox,
    pub(crate) connections: Connections,
}

impl Yard {
    pub(crate) async fn new(list: AllowList) -> Self {
        Self::on(Place::new(), list).await
    }

    pub(crate) async fn on(place: Place, list: AllowList) -> Self {
        let policy = Policy { network: Network::Allow(list), ..place.policy() };
        let sandbox = place.try_start(policy, Limits::default()).await.unwrap_or_else(|error| panic!("{error}"));
        let connections = sandbox.connections().unwrap();
        Self { place, sandbox, connections }
    }

    /// What a script prints on both streams, and whether it succeeded.
    pub(crate) async fn run(&self, script: &str) -> (bool, String) {
        let ExecOutput { stdout, stderr, result } = shell(&self.sandbox, script).await;
        (result.succeeded(), text(&stdout) + &text(&stderr))
    }

    /// What a script prints; it must succeed.
    pub(crate) async fn prints(&self, script: &str) -> String {
        let (succeeded, printed) = self.run(script).await;
        assert!(succeeded, "{script}: {printed}\n{:?}", self.connections.try_next());
        printed
    }

    /// The report on the next connection that ended.
    pub(crate) async fn report(&self) -> ConnectionReport {
        match tokio::time::timeout(Duration::from_millis(slowly(60_000)), self.connections.next()).await {
            Ok(Some(ConnectionEvent::One(report))) => report,
            other => panic!("{other:?}"),
        }
    }

    /// Why the next connection was refused.
    pub(crate) async fn refusal(&self) -> String {
        let report = self.report().await;
        match report.verdict {
            Verdict::Refused { why } => {
                assert_eq!((report.sent_bytes, report.received_bytes), (0, 0), "{why}");
                why
            }
            other => panic!("{} {other:?}", report.host),
        }
    }
}

/// A list of `.test` names with one port, whose addresses are listed too.
pub(crate) fn allow(names: &[&str], port: u16, resolver: &Arc<Names>) -> AllowList {
    let mut entries: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
    entries.push(format!("127.0.0.1:{port}"));
    AllowList::parse(entries).unwrap().with_resolver(Arc::clone(resolver) as Arc<dyn Resolve>)
}

/// Python: a socket `s` that is connected to the proxy.
const CONNECTED: &str = r"
import os, socket, ssl, struct
proxy = os.environ['HTTP_PROXY'].removeprefix('http://').split(':')
s = socket.create_connection((proxy[0], int(proxy[1])))
def rest():
    all = b''
    while True:
        part = s.recv(65536)
        if not part: return all
        all += part
";

/// Python: makes a tunnel of it.
const TUNNELLED: &str = r"
s.sendall(b'CONNECT TARGET HTTP/1.1\r\nHost: TARGET\r\n\r\n')
head = b''
while not head.endswith(b'\r\n\r\n'):
    byte = s.recv(1)
    assert byte, head
    head += byte
assert head.startswith(b'HTTP/1.1 200'), head
";

/// A program that speaks to the proxy by itself: opens a tunnel, then runs `then` with the socket `s`.
pub(crate) fn through_tunnel(target: &str, then: &str) -> String {
    format!("python3 - <<'PYTHON'{CONNECTED}{}{then}\nPYTHON", TUNNELLED.replace("TARGET", target))
}

/// Sends these bytes (in Python's notation) to the proxy and prints all that comes back.
pub(crate) fn raw(bytes: &str) -> String {
    format!("python3 - <<'PYTHON'{CONNECTED}s.sendall(b'{bytes}')\nprint(rest().decode('latin-1'))\nPYTHON")
}
