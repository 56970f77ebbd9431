//! `retrace demo`: the whole machine at work without a key. A scripted server on this machine plays the model's part;
//! everything else (log, sandbox, tools, the crate, its tests) is real.

use super::drive::{self, FirstPrompt, Which};
use super::exit::{CliError, Exit};
use super::flags::SettingFlags;
use super::invocation::Invocation;
use super::render::{clean, units};
use super::setup::Setup;
use super::{replay, session_name};
use crate::agent::{NewSession, title_of};
use crate::claude::{Auth, Secret};
use crate::demo::{self, CrateSource, DemoError, Playground};
use crate::replaying::{ReplayReport, verify_session};
use crate::scripted::{
    RequestRecord, Script, ScriptedServer, ServeError, ServerError, ServerOptions, serve_until_ctrl_c,
};
use clap::Args;
use retrace_events::mint::SystemMint;
use retrace_events::{EventId, EventLog, Hash, Mint, StreamId};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// The largest script that is read, in bytes.
const MAX_SCRIPT_BYTES: u64 = 4 * 1024 * 1024;

/// See an agent work on a real crate, without a key: a script plays the model
#[derive(Debug, Args)]
pub(super) struct DemoCommand {
    /// The crate to work on [default: the newest regex-syntax among cargo's sources]
    #[arg(long, value_name = "DIR")]
    crate_dir: Option<PathBuf>,
    /// Where to put the copy that is worked on [default: a fresh folder in the cache]
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Another script
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// The task to go with another script
    #[arg(long, value_name = "TEXT", requires = "script")]
    task: Option<String>,
    /// Only serve the script on this port of 127.0.0.1 (0 takes a free one), until Ctrl-C
    #[arg(long, value_name = "PORT", conflicts_with_all = ["crate_dir", "keep", "task"])]
    serve: Option<u16>,
    #[command(flatten)]
    settings: SettingFlags,
}

impl DemoCommand {
    /// Runs the command.
    pub(super) async fn run(mut self, invocation: &Invocation) -> Result<Exit, CliError> {
        let script = self.script()?;
        if let Some(port) = self.serve {
            return serve(script, port, invocation).await;
        }
        let source = match &self.crate_dir {
            Some(dir) => CrateSource::at(dir)?,
            None => CrateSource::find(|name| invocation.env(name))?,
        };
        let server = ScriptedServer::start(script, ServerOptions::default()).await?;
        self.settings.base_url = Some(server.base_url());
        let id = SystemMint.event_id();
        let playground = self.playground(source, invocation, id)?;
        let mut invocation = invocation.clone();
        invocation.global.workspace = Some(playground.path.display().to_string());
        let setup = Setup::new(&invocation, &self.settings)?;
        introduce(&setup, &playground);
        let (exit, stream, log) = self.play(&setup, id, &invocation).await?;
        let report = verify_session(log.as_ref(), &stream).await?;
        let requests = server.requests();
        server.shutdown().await;
        conclude(&setup, &playground, &stream, &report, &requests)?;
        let ends_well =
            self.script.is_some() || requests.last().and_then(|last| last.step.as_deref()) == Some(demo::LAST_STEP);
        let sound = report.agrees() && same_bodies(&report, &requests);
        Ok(if exit == Exit::Done && !(ends_well && sound) { Exit::Failed } else { exit })
    }

    async fn play(
        &self,
        setup: &Setup,
        id: EventId,
        invocation: &Invocation,
    ) -> Result<(Exit, StreamId, Arc<dyn EventLog>), CliError> {
        let log = setup.open_log().await?;
        let stream = session_name::new_session(&setup.config.workspace, id);
        let key = Auth::ApiKey(Secret::new(ServerOptions::DEFAULT_API_KEY));
        let settings = setup.config.settings(&setup.models);
        let parts = setup.parts(Arc::clone(&log), &settings, key, invocation.catch_signals()?)?;
        let task = self.task.as_deref().unwrap_or(demo::TASK);
        let new = NewSession {
            stream: stream.clone(),
            title: title_of(&format!("demo: {}", setup.redactor.redact(task))),
            workspace: setup.config.workspace.clone(),
            settings,
        };
        let exit =
            drive::drive(setup, parts, Which::New(Box::new(new)), Some(FirstPrompt::of(task)), &invocation.place)
                .await?;
        Ok((exit, stream, log))
    }

    fn script(&self) -> Result<Script, CliError> {
        let Some(path) = &self.script else {
            return Script::parse(demo::SCRIPT).map_err(|error| CliError::new(Exit::Failed, error.to_string()));
        };
        let refuse = |why: String| CliError::new(Exit::Usage, format!("{}: {why}", path.display()));
        let size = std::fs::metadata(path).map_err(|error| refuse(error.to_string()))?.len();
        if size > MAX_SCRIPT_BYTES {
            return Err(refuse(format!("it is larger than {MAX_SCRIPT_BYTES} bytes")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
        Script::parse(&text).map_err(|error| refuse(error.to_string()))
    }

    fn playground(&self, source: CrateSource, invocation: &Invocation, id: EventId) -> Result<Playground, CliError> {
        if let Some(dir) = &self.keep {
            return Ok(Playground::make(source, dir)?);
        }
        let folder = Setup::for_reading(invocation)?.config.folders.cache.join("demo");
        Playground::prune(&folder);
        let path = folder.join(id.to_string()).join(&source.name);
        Ok(Playground::make(source, &path)?)
    }
}

async fn serve(script: Script, port: u16, invocation: &Invocation) -> Result<Exit, CliError> {
    let output = &invocation.output;
    let options = ServerOptions { port, ..ServerOptions::default() };
    let ready = |url: &str| {
        let line = if output.json { json!({ "base_url": url }).to_string() } else { url.to_owned() };
        // Whoever started this reads the address here; when nobody does, serving goes on all the same.
        let _ = output.data(&format!("{line}\n"));
        let key = ServerOptions::DEFAULT_API_KEY;
        output.note(&format!("serving the script; ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY={key}; Ctrl-C ends it\n"));
    };
    serve_until_ctrl_c(script, options, ready).await?;
    Ok(Exit::Done)
}

fn introduce(setup: &Setup, playground: &Playground) {
    let source = playground.source();
    setup.output.note(&format!(
        "demo: a script plays the model; log, sandbox, tools and tests are real, and costs are simulated\n\
         crate: {}, {} of Rust, copied to {}\n",
        clean::line(&source.name),
        units::of(source.lines as u64, "line"),
        clean::line(&playground.path.display().to_string())
    ));
}

/// The bodies of the messages that the server received, by its own hashes.
fn received(requests: &[RequestRecord]) -> Vec<Hash> {
    requests.iter().filter(|request| request.path == "/v1/messages").map(|request| request.body_hash).collect()
}

/// Whether the log's hashes of request bodies are those of the server that received them.
fn same_bodies(report: &ReplayReport, requests: &[RequestRecord]) -> bool {
    report.requests.iter().map(|check| check.logged).eq(received(requests))
}

fn conclude(
    setup: &Setup,
    playground: &Playground,
    stream: &StreamId,
    report: &ReplayReport,
    requests: &[RequestRecord],
) -> Result<(), CliError> {
    let output = &setup.output;
    let same = same_bodies(report, requests);
    if output.json {
        return output.json_line(&json!({ "demo": {
            "session": stream.id.as_str(),
            "crate": playground.source().name,
            "lines": playground.source().lines,
            "workspace": playground.path.to_string_lossy(),
            "events": report.events,
            "requests": report.requests.len(),
            "replay_agrees": report.agrees(),
            "server_agrees": same,
            "last_step": requests.last().and_then(|last| last.step.clone()),
            "diff": playground.diff(),
        } }));
    }
    let style = output.data_style();
    output.data(&format!("\n{}\n{}\n", style.bold("what changed"), clean::text(&playground.diff())))?;
    output.data(&format!("{}\n", style.bold("retrace replay --verify")))?;
    replay::verdict(setup, stream, report)?;
    let received = units::of(received(requests).len() as u64, "request");
    let line = if same {
        style.green(&format!("the server's own hashes of the {received} it received agree"))
    } else {
        style.red(&format!("the server's own hashes of the {received} it received do not agree"))
    };
    output.data(&format!("{line}\n"))
}

impl From<DemoError> for CliError {
    fn from(error: DemoError) -> Self {
        match error {
            DemoError::Copy { .. } => Self::new(Exit::Failed, error.to_string()),
            DemoError::NoCrate { .. }
            | DemoError::NotACrate { .. }
            | DemoError::NotEmpty { .. }
            | DemoError::TooLarge { .. } => Self::new(Exit::Usage, error.to_string()),
        }
    }
}

impl From<ServerError> for CliError {
    fn from(error: ServerError) -> Self {
        Self::new(Exit::Usage, error.to_string())
    }
}

impl From<ServeError> for CliError {
    fn from(error: ServeError) -> Self {
        Self::new(Exit::Failed, error.to_string())
    }
}
