//! A real nats-server on a free port, with a store of its own that lives as long as the value.
//!
//! The program is looked for in `RETRACE_NATS_SERVER`, then where `make setup` puts it, then in `PATH`. When there is
//! none, tests fail: a suite that leaves out what it cannot run proves nothing.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a server may take to start.
const START: Duration = Duration::from_secs(20);

/// How a server is configured.
#[derive(Debug, Clone, Copy)]
pub struct NatsConfig {
    /// Whether it syncs before it acks.
    pub durable: bool,
    /// Whether our account may ask how the server is configured.
    pub may_ask: bool,
    /// Whether our account may tell and ask who holds a stream.
    pub may_claim: bool,
    /// Whether it wants the user `retrace` and the password `retrace-test-only`.
    pub wants_password: bool,
    /// The limit of its file store, in bytes.
    pub max_file_store: u64,
}

impl Default for NatsConfig {
    fn default() -> Self {
        let max_file_store = 8 * 1024 * 1024 * 1024;
        Self { durable: true, may_ask: true, may_claim: true, wants_password: false, max_file_store }
    }
}

/// A running server; it is killed when this is dropped.
#[derive(Debug)]
pub struct NatsServer {
    dir: TempDir,
    child: Option<Child>,
    port: u16,
}

impl NatsServer {
    /// Starts a server that syncs before it acks.
    ///
    /// # Panics
    /// When there is no program to start, or it does not come up.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(NatsConfig::default())
    }

    /// Starts a server.
    ///
    /// # Panics
    /// As [`Self::start`].
    #[must_use]
    pub fn start_with(config: NatsConfig) -> Self {
        let dir = tempfile::Builder::new().prefix("retrace-nats-").tempdir().expect("a temporary folder");
        fs::write(dir.path().join("server.conf"), render(config, dir.path())).expect("a configuration file");
        let mut server = Self { dir, child: None, port: 0 };
        server.launch();
        server
    }

    /// Its address, `nats://127.0.0.1:<port>`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Its port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The folder of its store.
    #[must_use]
    pub fn store_dir(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    /// Kills it at once (SIGKILL), as a crash would.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // An error means that it has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Starts it again on the same store and port; kills it first when it still runs.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn restart(&mut self) {
        self.kill();
        self.launch();
    }

    fn launch(&mut self) {
        let ports = self.dir.path().join("ports");
        fs::create_dir_all(&ports).expect("a folder for the ports file");
        for old in fs::read_dir(&ports).expect("the ports folder").flatten() {
            fs::remove_file(old.path()).expect("removing an old ports file");
        }
        let log = fs::File::create(self.dir.path().join("server.log")).expect("a log file");
        let port = if self.port == 0 { "-1".to_owned() } else { self.port.to_string() };
        let child = Command::new(program())
            .args(["-a", "127.0.0.1", "-p", &port, "--ports_file_dir"])
            .arg(&ports)
            .arg("-c")
            .arg(self.dir.path().join("server.conf"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("starting nats-server");
        self.child = Some(child);
        self.port = self.await_port(&ports);
    }

    fn await_port(&mut self, ports: &Path) -> u16 {
        let until = Instant::now() + START;
        loop {
            if let Some(port) = read_port(ports)
                && TcpStream::connect(("127.0.0.1", port)).is_ok()
            {
                return port;
            }
            let ended = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
            if ended.is_some() || Instant::now() > until {
                let log = fs::read_to_string(self.dir.path().join("server.log")).unwrap_or_default();
                panic!("nats-server did not come up ({ended:?}):\n{log}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The program: from the environment, from the project's cache, or from `PATH`.
fn program() -> PathBuf {
    let named = std::env::var_os("RETRACE_NATS_SERVER").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let cache = std::env::var_os("RETRACE_CACHE").map_or_else(|| home.join(".cache/retrace"), PathBuf::from);
    let cached = cache.join("bin/nats-server");
    let in_path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&in_path).map(|dir| dir.join("nats-server"));
    let found = named.into_iter().chain([cached]).chain(in_path).find(|program| program.is_file());
    found.expect("there is no nats-server\nhint: run `make setup`, or name one in RETRACE_NATS_SERVER")
}

fn render(config: NatsConfig, dir: &Path) -> String {
    let sync = if config.durable { "sync_interval: always" } else { "" };
    let import = if config.may_ask {
        r#"imports: [ { service: { account: SYS, subject: "$SYS.REQ.SERVER.PING.JSZ" } } ]"#
    } else {
        ""
    };
    let permissions = if config.may_claim {
        ""
    } else {
        r#", permissions: { publish: { deny: "retrace.>" }, subscribe: { deny: "retrace.>" } }"#
    };
    format!(
        r#"server_name: test
jetstream {{ store_dir: "{store}", max_file_store: {limit}, {sync} }}
accounts {{
  SYS: {{ exports: [ {{ service: "$SYS.REQ.SERVER.PING.JSZ", response: stream }} ] }}
  RETRACE: {{
    jetstream: enabled
    users: [ {{ user: retrace, password: retrace-test-only{permissions} }} ]
    {import}
  }}
}}
system_account: SYS
{anyone}
"#,
        anyone = if config.wants_password { "" } else { "no_auth_user: retrace" },
        store = dir.join("store").display(),
        limit = config.max_file_store,
    )
}

/// The port in the file that the server writes when it is ready.
fn read_port(ports: &Path) -> Option<u16> {
    let file = fs::read_dir(ports).ok()?.flatten().next()?;
    let text = fs::read_to_string(file.path()).ok()?;
    let listed: serde_json::Value = serde_json::from_str(&text).ok()?;
    listed["nats"][0].as_str()?.rsplit_once(':')?.1.parse().ok()
}
