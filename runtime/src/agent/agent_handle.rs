//! The agent's handle: opens or resumes a session, takes prompts, and drives a turn to its end.

use super::error::AgentError;
use super::live::{Live, LiveSender};
use super::next::{Next, next};
use super::sandboxing::{self, SandboxWish};
use super::step::step;
use crate::claude::{ClaudeClient, ModelTable, RetryPolicy};
use crate::context::first_epoch;
use crate::tools::{self, Tool};
use retrace_events::payload::session::{SessionConfigured, SessionStarted};
use retrace_events::payload::settings::Settings;
use retrace_events::payload::turn::{PromptSource, TurnEnded, TurnOutcome, TurnPrompted};
use retrace_events::redact::Redactor;
use retrace_events::{Event, EventId, EventLog, Hash, Mint, Payload, SessionState, StreamId, Writer, fold};
use retrace_sandbox::Sandbox;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How often a sandbox that died is started again in one turn.
const MAX_SANDBOX_RESTARTS: u32 = 3;

/// How much of the first prompt becomes a session's title, in characters.
const TITLE_CHARS: usize = 80;

/// What an agent works with.
#[derive(Clone)]
pub struct AgentParts {
    /// Where everything is written first.
    pub log: Arc<dyn EventLog>,
    /// Where time and ids come from.
    pub mint: Arc<dyn Mint>,
    /// Who answers.
    pub client: ClaudeClient,
    /// What the models can do and cost.
    pub models: ModelTable,
    /// Takes secrets out of prompts and tool output.
    pub redactor: Arc<Redactor>,
    /// Where what can be shown goes.
    pub live: LiveSender,
    /// Stops the turn.
    pub cancel: CancellationToken,
    /// Where the sandbox's guest is unpacked; outside every workspace.
    pub guest_dir: PathBuf,
    /// Host paths that the sandbox may read besides the usual ones.
    pub expose: Vec<PathBuf>,
    /// Names in the workspace that the sandbox must not read, such as `.env`.
    pub mask: Vec<String>,
}

/// A session that does not exist yet.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Its name.
    pub stream: StreamId,
    /// What it is about, for lists; [`title_of`] makes one of a prompt.
    pub title: String,
    /// Where it works.
    pub workspace: PathBuf,
    /// How it behaves.
    pub settings: Settings,
}

/// How [`Agent::run`] came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The turn ended by itself.
    Ended {
        /// How.
        outcome: TurnOutcome,
        /// In words.
        note: String,
    },
    /// The user stopped it.
    Interrupted,
    /// There was no turn to run.
    Idle,
}

/// A session and the means to go on with it. One agent a session: a second one, in whatever process, is fenced off by
/// the log at its first append.
pub struct Agent {
    pub(super) parts: AgentParts,
    pub(super) writer: Writer,
    pub(super) state: SessionState,
    pub(super) settings: Settings,
    pub(super) workspace: PathBuf,
    pub(super) sandbox: Sandbox,
    pub(super) tools: Vec<Arc<dyn Tool>>,
    pub(super) retry: RetryPolicy,
    restarts: u32,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("stream", self.writer.stream()).finish_non_exhaustive()
    }
}

impl Agent {
    /// Begins a session: proves the sandbox, then writes the session's first events.
    ///
    /// # Errors
    /// When the workspace, the sandbox or the log cannot be used; nothing is written then.
    pub async fn start(parts: AgentParts, new: NewSession) -> Result<Self, AgentError> {
        let NewSession { stream, title, workspace, settings } = new;
        let workspace = usable_workspace(&workspace)?;
        let sandbox = sandboxing::start(&wish(&parts, &workspace, &settings)).await?;
        let writer = Writer::create(Arc::clone(&parts.log), Arc::clone(&parts.mint), stream, Hash::GENESIS);
        let mut agent = Self::assemble(parts, writer, SessionState::default(), settings, workspace, sandbox);
        let started = SessionStarted {
            title,
            workspace: agent.workspace.display().to_string(),
            retrace_version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: agent.settings.clone(),
        };
        let proven = sandboxing::started(&agent.sandbox);
        agent.append(vec![(started.into(), None), (proven.into(), None)]).await?;
        Ok(agent)
    }

    /// Goes on with a session after its process ended, in whatever way. `changed` are settings that differ from the logged
    /// ones, and on whose word.
    ///
    /// # Errors
    /// When there is no such session, when it cannot be continued, or as [`Self::start`].
    pub async fn resume(
        parts: AgentParts,
        stream: StreamId,
        changed: Option<(Settings, String)>,
    ) -> Result<Self, AgentError> {
        let state = fold::load(parts.log.as_ref(), &stream).await?;
        let (Some((seq, hash, _)), Some(logged)) = (state.head, state.settings.clone()) else {
            return Err(AgentError::NoSuchSession(stream));
        };
        if let Some(what) = state.newer.clone() {
            return Err(AgentError::Newer { stream, what });
        }
        if state.closed {
            return Err(AgentError::Closed(stream));
        }
        let settings = changed.as_ref().map_or(logged, |(settings, _)| settings.clone());
        let workspace = usable_workspace(Path::new(&state.workspace))?;
        let sandbox = sandboxing::start(&wish(&parts, &workspace, &settings)).await?;
        let writer = Writer::resume(Arc::clone(&parts.log), Arc::clone(&parts.mint), stream, (seq, hash));
        let mut agent = Self::assemble(parts, writer, state, settings, workspace, sandbox);
        let mut batch = Vec::new();
        if let Some((settings, why)) = changed {
            batch.push((SessionConfigured { settings, why }.into(), None));
        }
        batch.push((sandboxing::started(&agent.sandbox).into(), None));
        agent.append(batch).await?;
        Ok(agent)
    }

    fn assemble(
        parts: AgentParts,
        writer: Writer,
        state: SessionState,
        settings: Settings,
        workspace: PathBuf,
        sandbox: Sandbox,
    ) -> Self {
        let retry = RetryPolicy { max_attempts: settings.max_attempts, ..RetryPolicy::default() };
        Self { parts, writer, state, settings, workspace, sandbox, tools: tools::all(), retry, restarts: 0 }
    }

    /// The session as it is.
    #[must_use]
    pub const fn state(&self) -> &SessionState {
        &self.state
    }

    /// The session's stream.
    #[must_use]
    pub const fn stream(&self) -> &StreamId {
        self.writer.stream()
    }

    /// Writes a prompt into the log, redacted. It opens a turn, which [`Self::run`] carries out.
    ///
    /// # Errors
    /// When it has no words or cannot be written.
    pub async fn prompt(&mut self, text: &str, source: PromptSource) -> Result<(), AgentError> {
        if text.trim().is_empty() {
            return Err(AgentError::EmptyPrompt);
        }
        let text = self.parts.redactor.redact(text).into_owned();
        self.append(vec![(TurnPrompted { text, source, attachments: Vec::new() }.into(), None)]).await?;
        self.restarts = 0;
        Ok(())
    }

    /// Drives the open turn to its end, wherever it stands.
    ///
    /// # Errors
    /// When the log or the sandbox fails; the session can be resumed then.
    pub async fn run(&mut self) -> Result<TurnEnd, AgentError> {
        let was_open = self.state.turn.is_some();
        loop {
            if self.parts.cancel.is_cancelled() && self.state.turn.is_some() {
                self.interrupt("signal").await?;
                return Ok(TurnEnd::Interrupted);
            }
            match next(&self.state, self.parts.mint.now()) {
                // A turn may also be ended by the batch that holds the reason.
                Next::Idle => {
                    let end = self.state.last_end.clone().filter(|_| was_open);
                    return Ok(end.map_or(TurnEnd::Idle, |(outcome, note)| TurnEnd::Ended { outcome, note }));
                }
                Next::BeginEpoch => self.begin_epoch().await?,
                Next::Request { not_before, attempt } => self.request(not_before, attempt).await?,
                Next::SettleRequest { request, cost_bound_microusd } => {
                    self.settle_request(request, cost_bound_microusd).await?;
                }
                Next::Run(calls) => {
                    if !self.run_calls(calls).await? {
                        self.restart_sandbox().await?;
                    }
                }
                Next::SettleCall(call) => self.settle_call(call).await?,
                Next::End { outcome, note } => {
                    self.append(vec![(TurnEnded { outcome, note: note.clone() }.into(), None)]).await?;
                    return Ok(TurnEnd::Ended { outcome, note });
                }
            }
        }
    }

    /// Stops the sandbox.
    pub async fn close(self) {
        self.sandbox.shutdown().await;
    }

    async fn begin_epoch(&mut self) -> Result<(), AgentError> {
        let row = self.parts.models.row(&self.settings.model);
        let tools = tools::tools_json(&self.tools);
        let epoch = first_epoch(&self.settings, &row, tools, &self.workspace, self.sandbox.backend_name())?;
        self.append(vec![(epoch.into(), None)]).await?;
        Ok(())
    }

    async fn restart_sandbox(&mut self) -> Result<(), AgentError> {
        self.restarts += 1;
        let why = "the sandbox ended unexpectedly".to_owned();
        self.append(vec![(retrace_events::payload::sandbox::SandboxStopped { why, unexpected: true }.into(), None)])
            .await?;
        if self.restarts > MAX_SANDBOX_RESTARTS {
            let note = format!("the sandbox ended {} times in one turn", self.restarts);
            self.settle_open_calls("the sandbox is gone").await?;
            self.append(vec![(TurnEnded { outcome: TurnOutcome::RuntimeFailed, note }.into(), None)]).await?;
            return Ok(());
        }
        self.parts.live.send(Live::Notice("the sandbox ended unexpectedly; starting another".to_owned()));
        self.sandbox = sandboxing::start(&wish(&self.parts, &self.workspace, &self.settings)).await?;
        let proven = sandboxing::started(&self.sandbox);
        self.append(vec![(proven.into(), None)]).await?;
        Ok(())
    }

    /// Appends one atomic batch, takes it into the state and shows it. The only way into the log.
    pub(super) async fn append(&mut self, batch: Vec<(Payload, Option<EventId>)>) -> Result<Vec<Event>, AgentError> {
        let kind = batch.first().map_or("nothing", |(payload, _)| payload.kind());
        step(&format!("before append {kind}"));
        let events = self.writer.append(batch).await?;
        step(&format!("after append {kind}"));
        for event in &events {
            self.state.apply(event);
            self.parts.live.send(Live::Logged(Arc::new(event.clone())));
        }
        Ok(events)
    }
}

/// The beginning of a prompt, on one line.
#[must_use]
pub fn title_of(prompt: &str) -> String {
    let line = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= TITLE_CHARS {
        return line;
    }
    line.chars().take(TITLE_CHARS - 1).chain(['…']).collect()
}

fn wish<'a>(parts: &'a AgentParts, workspace: &'a Path, settings: &'a Settings) -> SandboxWish<'a> {
    SandboxWish { workspace, settings, guest_dir: &parts.guest_dir, expose: &parts.expose, mask: &parts.mask }
}

/// The workspace's canonical path.
fn usable_workspace(path: &Path) -> Result<PathBuf, AgentError> {
    let refuse = |why: String| AgentError::Workspace { path: path.to_path_buf(), why };
    let canonical = path.canonicalize().map_err(|error| refuse(error.to_string()))?;
    if !canonical.is_dir() {
        return Err(refuse("it is not a folder".to_owned()));
    }
    if canonical.parent().is_none() {
        return Err(refuse("it is the root of the file system".to_owned()));
    }
    Ok(canonical)
}
