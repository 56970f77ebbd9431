//! A world for one test: a workspace, a state and a configuration folder of its own, a scripted Claude server, and, where
//! asked for, a real nats-server. The command under test is run as a user runs it, as a process.

use retrace_events::testing::NatsServer;
use retrace_runtime::scripted::{Script, ScriptedServer, ServerOptions};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::runtime::Runtime;

/// No run of the command may take longer.
const LIMIT: Duration = Duration::from_secs(240);

/// The key the scripted server expects.
pub(crate) const KEY: &str = "sk-ant-test-0123456789abcdef";

/// Which log a test runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    /// SQLite.
    Embedded,
    /// A real nats-server.
    JetStream,
}

/// How a run of the command ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// What it wrote to stdout.
    pub(crate) stdout: String,
    /// What it wrote to stderr.
    pub(crate) stderr: String,
    /// Its exit code.
    pub(crate) code: Option<i32>,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
}

impl Ran {
    /// Fails the test unless the command ended with `code`.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}

/// Everything one test needs.
pub(crate) struct World {
    pub(crate) runtime: Runtime,
    pub(crate) server: ScriptedServer,
    pub(crate) nats: Option<NatsServer>,
    dir: TempDir,
}

impl World {
    /// A world with an empty workspace in which `script` plays the model.
    pub(crate) fn new(backend: Backend, script: &str) -> Self {
        let runtime = Runtime::new().unwrap();
        let script = Script::parse(script).unwrap();
        let options = ServerOptions { api_key: KEY.to_owned(), ..ServerOptions::default() };
        let server = runtime.block_on(ScriptedServer::start(script, options)).unwrap();
        let nats = (backend == Backend::JetStream).then(NatsServer::start);
        let world = Self { runtime, server, nats, dir: tempfile::tempdir().unwrap() };
        for folder in ["workspace", "home", "state", "config", "cache"] {
            fs::create_dir(world.path(folder)).unwrap();
        }
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.path("workspace")
    }

    /// Writes a file of the workspace.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.workspace().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Reads a file of the workspace; empty when it is not there.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.workspace().join(name)).unwrap_or_default()
    }

    /// The command, not yet started, with nothing of this process's environment but `PATH` and the toolchain's folders.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrace-under-test"));
        command.args(args).env_clear().stdin(Stdio::null()).kill_on_drop(true).current_dir(self.workspace());
        command.envs(std::env::var_os("PATH").map(|value| ("PATH", value)));
        // The home folder is another one, and the toolchain stays where it is.
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            command.env(name, std::env::var_os(name).map_or_else(|| home.join(folder), PathBuf::from));
        }
        command.env("HOME", self.path("home")).env("XDG_STATE_HOME", self.path("state"));
        command.env("XDG_CONFIG_HOME", self.path("config")).env("XDG_CACHE_HOME", self.path("cache"));
        command.env("ANTHROPIC_API_KEY", KEY).env("ANTHROPIC_BASE_URL", self.server.base_url());
        if let Some(nats) = &self.nats {
            command.env("NATS_URL", nats.url());
        }
        command
    }

    /// Runs the command to its end.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.finish(self.command(args))
    }

    /// Runs the command with kill points set.
    #[track_caller]
    pub(crate) fn run_until(&self, failpoints: &str, args: &[&str]) -> Ran {
        let mut command = self.command(args);
        command.env("FAILPOINTS", failpoints);
        self.finish(command)
    }

    /// Runs a command that [`Self::command`] made, perhaps changed.
    #[track_caller]
    pub(crate) fn finish(&self, mut command: Command) -> Ran {
        let output = self.runtime.block_on(async { tokio::time::timeout(LIMIT, command.output()).await });
        let output = output.expect("the command takes too long").unwrap();
        Ran {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
            signal: output.status.signal(),
        }
    }

    /// The events of the only session, as exported.
    #[track_caller]
    pub(crate) fn events(&self) -> Vec<serde_json::Value> {
        let exported = self.run(&["export", "--all"]).expect(0);
        let lines = exported.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.filter(|line: &serde_json::Value| line.get("kind").is_some()).collect()
    }

    /// The id of the newest session.
    #[track_caller]
    pub(crate) fn session(&self) -> String {
        let listed = self.run(&["sessions", "--json"]).expect(0);
        let first: serde_json::Value = serde_json::from_str(listed.stdout.lines().next().unwrap()).unwrap();
        first["session"].as_str().unwrap().to_owned()
    }
}

/// The payloads of all events of `kind`.
pub(crate) fn payloads<'a>(events: &'a [serde_json::Value], kind: &str) -> Vec<&'a serde_json::Value> {
    events.iter().filter(|event| event["kind"] == kind).map(|event| &event["payload"]).collect()
}
