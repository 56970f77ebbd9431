//! Tests of the command line: whole commands in this process, on a made-up machine, against the scripted server.
//!
//! They run without a sandbox (asked for in so many words), so that they can run anywhere; what the sandbox does is the
//! end-to-end tests' business.

mod asked;
mod audits;
mod chats;
mod checkup;
mod config;
mod deletes;
mod demo;
mod errors;
mod exits;
mod help;
mod hostile;
mod imports;
mod lists;
mod made;
mod moves;
mod outline;
mod output;
mod replays;
mod runs;
mod screens;
mod searches;
mod session_names;
mod steered;
mod summary;
mod tail;
mod transfer;
mod views;
mod watch;

use super::invocation::Invocation;
use super::output::Output;
use super::place::Place;
use super::{Cli, Exit, command, execute};
use crate::config::{Folders, Surroundings};
use crate::scripted::{Script, ScriptedServer, ServerOptions};
use clap::FromArgMatches;
use retrace_events::log::{LogLocation, open_log};
use retrace_events::{EventLog, StreamId};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A user's machine: folders, environment, a workspace, and a scripted server in the place of the API.
struct Machine {
    _root: tempfile::TempDir,
    folders: Folders,
    workspace: PathBuf,
    env: BTreeMap<String, String>,
    server: Option<ScriptedServer>,
    /// Cancels the next command.
    cancel: Option<CancellationToken>,
    /// What commands are started on; a pipe at its end when nothing is said.
    place: Option<Place>,
}

/// What a command did.
#[derive(Debug)]
struct Ran {
    exit: Exit,
    out: String,
    err: String,
}

impl Machine {
    /// A machine without an API.
    fn alone() -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        let workspace = path.join("work");
        std::fs::create_dir(&workspace).unwrap();
        let folder = |name: &str| path.join(name).join("retrace");
        let folders = Folders { config: folder("config"), state: folder("state"), cache: folder("cache") };
        // Nobody is there to be asked, and without a sandbox every call that writes would have to be.
        let env = [("USE_SANDBOX", "false"), ("RETRACE_APPROVALS", "allow")];
        let env = BTreeMap::from(env.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Self { _root: root, folders, workspace, env, server: None, cancel: None, place: None }
    }

    /// A machine whose API plays `script`.
    async fn with(script: &str) -> Self {
        let mut machine = Self::alone();
        machine.play(script).await;
        machine.env.insert("ANTHROPIC_API_KEY".to_owned(), ServerOptions::DEFAULT_API_KEY.to_owned());
        machine
    }

    /// From now on the API plays `script`.
    async fn play(&mut self, script: &str) {
        let server = ScriptedServer::start(Script::parse(script).unwrap(), ServerOptions::default()).await.unwrap();
        self.env.insert("ANTHROPIC_BASE_URL".to_owned(), server.base_url());
        self.server = Some(server);
    }

    fn set(&mut self, name: &str, value: &str) {
        self.env.insert(name.to_owned(), value.to_owned());
    }

    /// From now on `text` is piped into commands.
    fn pipe(&mut self, text: &str) {
        self.place = Some(Place::of_test(Box::new(std::io::Cursor::new(text.to_owned())), false));
    }

    /// From now on somebody is there who types `text`, line by line.
    fn types(&mut self, text: &str) {
        self.place = Some(Place::of_test(Box::new(std::io::Cursor::new(text.to_owned())), true));
    }

    /// Runs `retrace ARGS`.
    async fn run(&self, args: &[&str]) -> Ran {
        let line = std::iter::once("retrace").chain(args.iter().copied());
        let cli = Cli::from_arg_matches(&command().try_get_matches_from(line).unwrap()).unwrap();
        let output = Output::in_memory(cli.global.json, cli.global.quiet);
        let surroundings = Surroundings {
            env: self.env.clone(),
            cwd: self.workspace.clone(),
            folders: self.folders.clone(),
            flags: Vec::new(),
            rules: Vec::new(),
        };
        let mut invocation = Invocation::of_test(cli.global, surroundings, output.clone());
        if let Some(place) = &self.place {
            invocation.place = place.clone();
        }
        if let Some(cancel) = &self.cancel {
            invocation.cancel = cancel.clone();
        }
        let exit = execute(cli.command, &invocation).await;
        let (out, err) = output.take();
        Ran { exit, out, err }
    }

    /// Runs `retrace ARGS`, which must go well, and gives what it says.
    async fn out(&self, args: &[&str]) -> String {
        let ran = self.run(args).await;
        assert_eq!(ran.exit, Exit::Done, "{ran:?}");
        ran.out
    }

    async fn log(&self) -> Arc<dyn EventLog> {
        open_log(&LogLocation::Embedded(self.folders.state.clone())).await.unwrap()
    }

    /// The sessions in the log, the newest first.
    async fn sessions(&self) -> Vec<StreamId> {
        let log = self.log().await;
        super::session_name::all(log.as_ref(), None).await.unwrap().into_iter().map(|info| info.stream).collect()
    }

    /// The id of the only session.
    async fn session(&self) -> String {
        let sessions = self.sessions().await;
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        sessions[0].id.as_str().to_owned()
    }
}

/// A model that looks into the workspace once and then is done.
const LOOKS: &str = r#"
[[step]]
[[step.block]]
type = "text"
text = "I'll look."
[[step.block]]
type = "tool_use"
name = "bash"
input = { command = "echo found; exit 3" }
[[step]]
when = "exit code: 3"
[[step.block]]
type = "text"
text = "All is well."
[[step]]
[[step.block]]
type = "text"
text = "And again."
"#;
