//! The agent's handle: opens or resumes a session and takes prompts. How a turn is driven is in [`super::turns`].

use super::compacting::Compacting;
use super::error::AgentError;
use super::family::FamilyUsage;
use super::fullness::Rendered;
use super::hearing::Ears;
use super::image_room;
use super::live::Live;
use super::parts::{AgentParts, NewSession};
use super::sandboxing::{self, SandboxWish};
use super::step::step;
use super::workroom::{Entered, Workroom, enter, usable_workspace};
use crate::checkpoints::KeptPast;
use crate::claude::RetryPolicy;
use crate::forking::logged;
use crate::snapshots::{SnapshotKeeper, SnapshotPublisher};
use crate::tools::{Background, BackgroundEnd, ToolImage};
use retrace_events::control::Inbox;
use retrace_events::log::Claim;
use retrace_events::payload::Workspace;
use retrace_events::payload::context::ContextImageAttached;
use retrace_events::payload::session::{SessionConfigured, SessionStarted};
use retrace_events::payload::settings::Settings;
use retrace_events::payload::tool::ToolBackgroundEnded;
use retrace_events::payload::turn::{PromptSource, TurnOutcome, TurnPrompted};
use retrace_events::{Event, EventId, Hash, Payload, SessionState, StreamId, Writer};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// A session and the means to go on with it. One agent a session: a second one is told who holds it, and whoever writes
/// all the same is fenced off by the log at its first append.
pub struct Agent {
    pub(super) parts: AgentParts,
    pub(super) writer: Writer,
    pub(super) state: SessionState,
    pub(super) settings: Settings,
    pub(super) workspace: PathBuf,
    pub(super) workroom: Workroom,
    pub(super) snapshots: SnapshotKeeper,
    publisher: SnapshotPublisher,
    pub(super) background: Arc<Background>,
    /// Paths that calls have touched, whose instruction files have not been looked for.
    pub(super) touched: Vec<String>,
    /// Commands in the background that are over and not in the log yet.
    pub(super) ended: VecDeque<BackgroundEnd>,
    pub(super) retry: RetryPolicy,
    pub(super) ears: Ears,
    pub(super) family: Option<FamilyUsage>,
    pub(super) restarts: u32,
    /// The next request, once it was rendered.
    pub(super) rendered: Option<Rendered>,
    /// The smallest request that was too large for the model, whatever its row says.
    pub(super) too_large_tokens: Option<u64>,
    /// The session's past.
    pub(super) past: KeptPast,
    /// The last prompt whose past was looked for.
    pub(super) looked_back_for: Option<EventId>,
    /// Whether the user was told that the index lacks something.
    pub(super) told_of_index: bool,
    /// A summary that the API is writing.
    pub(super) compacting: Option<Compacting>,
    /// Whether the user wants the context to begin afresh.
    pub(super) wishes_compaction: bool,
    /// Frees the session for others when the agent is gone.
    _claim: Claim,
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
        let claim = claim(&parts, &stream).await?;
        let sandbox = sandboxing::start(&wish(&parts, &workspace, &settings)).await?;
        let writer = Writer::create(Arc::clone(&parts.log), Arc::clone(&parts.mint), stream, Hash::GENESIS);
        let proven = sandboxing::started(&sandbox, &parts.sandboxes);
        let workroom = Workroom::Ready(sandbox);
        let mut agent = Self::assemble(parts, writer, SessionState::default(), settings, (workspace, workroom), claim);
        let started = SessionStarted {
            title,
            workspace: agent.workspace.display().to_string(),
            retrace_version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: agent.settings.clone(),
        };
        agent.append(vec![(started.into(), None), (proven.into(), None)]).await?;
        Ok(agent)
    }

    /// Goes on with a session after its process ended, in whatever way. `changed` are settings that differ from the logged
    /// ones, and on whose word.
    ///
    /// # Errors
    /// When there is no such session, when another process holds it, when it cannot be continued, or as [`Self::start`].
    pub async fn resume(
        parts: AgentParts,
        stream: StreamId,
        changed: Option<(Settings, String)>,
    ) -> Result<Self, AgentError> {
        let claim = claim(&parts, &stream).await?;
        let state = parts.checkpoints.load(parts.log.as_ref(), &stream).await?;
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
        let Entered { workspace, workroom, found } = enter(&parts, &state, &settings).await?;
        let writer = Writer::resume(Arc::clone(&parts.log), Arc::clone(&parts.mint), stream, (seq, hash));
        let mut agent = Self::assemble(parts, writer, state, settings, (workspace, workroom), claim);
        let mut batch = Vec::new();
        if let Some((settings, why)) = changed {
            batch.push((SessionConfigured { settings, why }.into(), None));
        }
        batch.extend(found.into_iter().map(|found| (found, None)));
        batch.extend(
            agent.workroom.ready().map(|sandbox| (sandboxing::started(sandbox, &agent.parts.sandboxes).into(), None)),
        );
        batch.extend(agent.background_gone("retrace was restarted, and the command is gone"));
        if !batch.is_empty() {
            agent.append(batch).await?;
        }
        agent.look_at_family().await?;
        Ok(agent)
    }

    fn assemble(
        parts: AgentParts,
        writer: Writer,
        state: SessionState,
        settings: Settings,
        (workspace, workroom): (PathBuf, Workroom),
        claim: Claim,
    ) -> Self {
        let retry = RetryPolicy { max_attempts: settings.max_attempts, ..RetryPolicy::default() };
        let inbox = Inbox::open(Arc::clone(&parts.log), writer.stream(), state.control_next);
        let ears = Ears::new(inbox, &parts.cancel);
        let parts_snapshots = parts.snapshots.clone();
        let publisher = SnapshotPublisher::begin(&parts.log, parts.snapshots.as_ref());
        if let Some(tree) = state.files.tree() {
            // The process before this one may have died with it on its way.
            publisher.send(&logged(tree, None));
        }
        let past = KeptPast::new(parts.checkpoints.clone(), writer.stream().clone(), Arc::clone(&parts.redactor));
        Self {
            parts,
            writer,
            state,
            settings,
            publisher,
            snapshots: SnapshotKeeper::new(parts_snapshots, workspace.clone()),
            workspace,
            workroom,
            background: Arc::new(Background::new()),
            touched: Vec::new(),
            ended: VecDeque::new(),
            retry,
            ears,
            family: None,
            restarts: 0,
            rendered: None,
            too_large_tokens: None,
            past,
            looked_back_for: None,
            told_of_index: false,
            compacting: None,
            wishes_compaction: false,
            _claim: claim,
        }
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

    /// Writes a prompt into the log, redacted, with its images. It opens a turn, which [`Self::run`] carries out.
    ///
    /// # Errors
    /// When it has no words or cannot be written.
    pub async fn prompt(&mut self, text: &str, source: PromptSource, images: Vec<ToolImage>) -> Result<(), AgentError> {
        if text.trim().is_empty() {
            return Err(AgentError::EmptyPrompt);
        }
        image_room::check(&self.state, &images).map_err(AgentError::Images)?;
        let text = self.parts.redactor.redact(text).into_owned();
        let mut batch: Vec<(Payload, Option<EventId>)> =
            images.into_iter().map(|image| (attached(image, None).into(), None)).collect();
        batch.push((TurnPrompted { text, source, attachments: Vec::new() }.into(), None));
        self.append(batch).await?;
        self.restarts = 0;
        self.look_at_family().await
    }

    /// Ends what runs in the background, and stops the sandbox.
    pub async fn close(mut self) {
        if let Err(error) = self.give_up_summary().await {
            tracing::warn!(%error, "what came of a summary is not in the log");
        }
        self.background.kill_all("the session was left").await;
        if let Err(error) = self.log_background_ends().await {
            tracing::warn!(%error, "the end of a background command is not in the log");
        }
        if let Some(sandbox) = self.workroom.ready().cloned()
            && let Err(error) = self.log_end_of(&sandbox).await
        {
            tracing::warn!(%error, "the last connections are not in the log");
        }
        self.parts.checkpoints.left(self.writer.stream(), &self.state);
        self.past.close().await;
        self.parts.checkpoints.settled().await;
        self.publisher.close().await;
    }

    /// What is to be logged of commands in the background that are gone with whoever ran them.
    fn background_gone(&self, why: &str) -> Vec<(Payload, Option<EventId>)> {
        let ended = |call| ToolBackgroundEnded { call, exit: None, output: None, why: why.to_owned() };
        self.state.background.iter().map(|(call, _)| (ended(call.clone()).into(), None)).collect()
    }

    /// Appends one atomic batch, takes it into the state and shows it. The only way into the log.
    pub(super) async fn append(&mut self, batch: Vec<(Payload, Option<EventId>)>) -> Result<Vec<Event>, AgentError> {
        // A snapshot stands before what it belongs to.
        let named = batch.iter().find(|(payload, _)| !matches!(payload, Payload::Workspace(_))).or(batch.first());
        let kind = named.map_or("nothing", |(payload, _)| payload.kind());
        step(&format!("before append {kind}"));
        let events = self.writer.append(batch).await?;
        step(&format!("after append {kind}"));
        let before = self.state.next_seq();
        for event in &events {
            self.state.apply(event);
            if let Some(Payload::Workspace(Workspace::Snapshotted(taken))) = event.payload.known() {
                self.publisher.send(taken);
            }
            self.parts.live.send(Live::Logged(Arc::new(event.clone())));
        }
        self.parts.checkpoints.passed(self.writer.stream(), before, &self.state);
        Ok(events)
    }
}

/// An image as an event.
pub(super) fn attached(image: ToolImage, call: Option<retrace_events::CallId>) -> ContextImageAttached {
    use base64::Engine as _;
    ContextImageAttached {
        name: image.name,
        media_type: image.media_type,
        data_base64: base64::engine::general_purpose::STANDARD.encode(&image.bytes),
        call,
        width_px: image.width_px,
        height_px: image.height_px,
    }
}

async fn claim(parts: &AgentParts, stream: &StreamId) -> Result<Claim, AgentError> {
    parts.log.claim(stream, &parts.holder).await.map_err(|error| AgentError::unclaimed(stream, error))
}

pub(super) fn wish<'a>(parts: &'a AgentParts, workspace: &'a Path, settings: &'a Settings) -> SandboxWish<'a> {
    SandboxWish { workspace, settings, guest_dir: &parts.guest_dir, setup: &parts.sandboxes }
}
