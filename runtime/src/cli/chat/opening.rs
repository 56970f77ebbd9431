//! Opens the session of a conversation: a new one, an old one, or one that another process holds, which is then followed.

use super::Chat;
use crate::agent::{Agent, AgentError, AgentOrder, AgentParts, Live, LiveSender, NewSession};
use crate::cli::exit::{CliError, Exit};
use crate::cli::render::{Detail, LivePrinter, clean, units};
use crate::cli::setup::Setup;
use crate::cli::view::{SharedView, View};
use crate::cli::watch::{Seen, Watch};
use crate::cli::{events, following, resume, session_name, sessions};
use crate::config::Config;
use crate::indexing::{BackgroundIndex, IndexPlan};
use crate::permissions::{self, RuleSet};
use futures::StreamExt;
use retrace_events::control::ControlSender;
use retrace_events::log::Holder;
use retrace_events::mint::SystemMint;
use retrace_events::payload::settings::Settings;
use retrace_events::payload::tool::ToolApprovalAsked;
use retrace_events::payload::{Payload, Sandbox, Tool, Turn};
use retrace_events::{Event, EventLog, LogError, Mint, SessionState, StreamId};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long a sandbox may take to stop when a session is left.
const CLOSE_TIME: Duration = Duration::from_secs(10);

/// How many orders may wait.
const ORDERS: usize = 16;

/// Which session is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// A new one.
    New,
    /// One that is in the log, named on the command line: it goes on under the flags given there.
    Old(StreamId),
    /// One that is in the log, and that the user goes to from another: it goes on under its own settings.
    Loaded(StreamId),
}

/// What this process is to the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It runs the session.
    Holder,
    /// Another process does; what is typed is sent there.
    Sender,
    /// Another process does; it is only looked at.
    Watcher,
}

/// A session that is open in this conversation.
pub(super) struct Running {
    /// Its name.
    pub(super) stream: StreamId,
    /// What this process is to it.
    pub(super) role: Role,
    /// How it stands.
    pub(super) view: SharedView,
    /// What the user says goes in here.
    pub(super) sender: ControlSender,
    /// Orders to the agent, when it is in this process.
    pub(super) orders: Option<mpsc::Sender<AgentOrder>>,
    /// The agent, or what follows the session in its place.
    pub(super) task: JoinHandle<Result<(), CliError>>,
    /// Interrupts the turn and ends the agent.
    pub(super) cancel: CancellationToken,
    watch: Watch,
}

/// What came of opening a session.
pub(super) enum Opened {
    /// It is open.
    Running(Box<Running>),
    /// Another process holds it.
    Held(StreamId, Holder),
}

impl Running {
    /// Waits until the agent has ended, `patience` at most, and shows what is left.
    pub(super) async fn end(mut self, patience: Duration) -> (Result<(), CliError>, Seen, SharedView) {
        drop(self.orders.take());
        self.cancel.cancel();
        let ended = match tokio::time::timeout(patience, &mut self.task).await {
            Ok(Ok(ended)) => ended,
            Ok(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Ok(Err(_)) => Ok(()),
            Err(_) => {
                self.task.abort();
                Err(CliError::new(Exit::Failed, "the agent did not stop in time")
                    .hint(format!("`retrace chat {}` goes on; what was open is settled then", self.stream.id)))
            }
        };
        (ended, self.watch.end().await, self.view)
    }
}

impl Chat {
    /// Opens the session that is meant.
    ///
    /// # Errors
    /// When there is no such session, or it cannot be used.
    pub(super) async fn open(&mut self, target: &Target) -> Result<Opened, CliError> {
        match target {
            Target::New => {
                self.own_flags = self.flags.clone();
                Box::pin(self.begin()).await
            }
            Target::Old(stream) => Box::pin(self.go_on(stream, &self.setup.config)).await,
            Target::Loaded(stream) => {
                self.own_flags = self.own_flags.without_logged();
                let config = Config::load(&self.invocation.surroundings(&self.own_flags))?;
                Box::pin(self.go_on(stream, &config)).await
            }
        }
    }

    async fn begin(&self) -> Result<Opened, CliError> {
        let setup = &self.setup;
        let stream = session_name::new_session(&setup.config.workspace, SystemMint.event_id());
        let settings = self.settings.clone();
        let (parts, cancel) = self.parts(&settings)?;
        let view = self.view(SessionState::default(), true);
        view.lock().greet(String::new(), self.greeting(Role::Holder));
        let watch = self.watch(&parts.live, &stream, 0, &view);
        let workspace = setup.config.workspace.clone();
        let plan = IndexPlan::beside(&parts, &setup.config, &setup.index_model, &workspace);
        // What a session is about shows with its first prompt.
        let new = NewSession { stream: stream.clone(), title: String::new(), workspace, settings };
        let agent = Agent::start(parts, new).await;
        self.running(stream, view, watch, cancel, agent, plan).await
    }

    async fn go_on(&self, stream: &StreamId, config: &Config) -> Result<Opened, CliError> {
        let setup = &self.setup;
        let state = setup.checkpoints(self.log.as_ref()).load(self.log.as_ref(), stream).await?;
        resume::check_workspace(setup, stream, &state)?;
        let logged = state.settings.as_ref();
        let logged = logged
            .ok_or_else(|| CliError::new(Exit::Log, format!("session {} has no readable first event", stream.id)))?;
        let resumed = config.resumed(logged, &setup.models)?;
        let (parts, cancel) = self.parts(&resumed.settings)?;
        let next_seq = state.next_seq();
        let plan = IndexPlan::beside(&parts, config, &setup.index_model, Path::new(&state.workspace));
        let (view, past) = self.past(stream, state, true).await?;
        view.lock().greet(past, self.greeting(Role::Holder));
        let watch = self.watch(&parts.live, stream, next_seq, &view);
        let changed = resumed.why.map(|why| (resumed.settings, why));
        let agent = Agent::resume(parts, stream.clone(), changed).await;
        self.running(stream.clone(), view, watch, cancel, agent, plan).await
    }

    async fn running(
        &self,
        stream: StreamId,
        view: SharedView,
        watch: Watch,
        cancel: CancellationToken,
        agent: Result<Agent, AgentError>,
        plan: IndexPlan,
    ) -> Result<Opened, CliError> {
        let mut agent = match agent {
            Ok(agent) => agent,
            Err(error) => {
                watch.end().await;
                return match error {
                    AgentError::Held { holder, .. } => Ok(Opened::Held(stream, *holder)),
                    error => Err(error.into()),
                };
            }
        };
        let (orders, taken) = mpsc::channel(ORDERS);
        let index = BackgroundIndex::begin(plan);
        let task = tokio::spawn(async move {
            let _index = index;
            let served = agent.serve(taken).await;
            // The sandbox dies with this process in any case; waiting long for it helps nobody.
            let _ = tokio::time::timeout(CLOSE_TIME, agent.close()).await;
            served.map_err(CliError::from)
        });
        let (sender, role) = (self.sender(&stream), Role::Holder);
        Ok(Opened::Running(Box::new(Running { stream, role, view, sender, orders: Some(orders), task, cancel, watch })))
    }

    /// Follows a session that another process holds.
    pub(super) async fn follow(&self, stream: &StreamId, role: Role) -> Result<Box<Running>, CliError> {
        let state = self.setup.checkpoints(self.log.as_ref()).load(self.log.as_ref(), stream).await?;
        let next_seq = state.next_seq();
        let (view, past) = self.past(stream, state, role == Role::Sender).await?;
        let questions = view.lock().put_questions();
        self.setup.output.note(&format!("{past}{}{questions}", self.greeting(role)));
        let (live, cancel) = (LiveSender::default(), CancellationToken::new());
        let watch = self.watch(&live, stream, next_seq, &view);
        let mut events = following::follow(Arc::clone(&self.log), stream.clone(), next_seq);
        let stop = cancel.clone();
        let task = tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = stop.cancelled() => return Ok(()),
                    next = events.next() => match next {
                        Some(Ok(event)) => live.send(Live::Logged(Arc::new(event))),
                        Some(Err(error)) => return Err(error.into()),
                        None => return Ok(()),
                    },
                }
            }
        });
        let (stream, sender) = (stream.clone(), self.sender(stream));
        Ok(Box::new(Running { stream, role, view, sender, orders: None, task, cancel, watch }))
    }

    fn sender(&self, stream: &StreamId) -> ControlSender {
        ControlSender::new(Arc::clone(&self.log), Arc::new(SystemMint), stream)
    }

    fn parts(&self, settings: &Settings) -> Result<(AgentParts, CancellationToken), CliError> {
        let setup = &self.setup;
        let cancel = CancellationToken::new();
        let parts = setup.parts(Arc::clone(&self.log), settings, setup.auth()?, cancel.clone())?;
        let config = Config { rules: self.rules(), ..setup.config.clone() };
        let permissions = Arc::new(config.permissions(settings, settings.sandbox != "none"));
        Ok((AgentParts { attended: self.attended, permissions, ..parts }, cancel))
    }

    /// The rules the chat began with, and what has come into the user's file since: what was always allowed in one session
    /// is allowed in the next.
    fn rules(&self) -> RuleSet {
        let config = &self.setup.config;
        let mut rules = config.rules.clone();
        match permissions::read_user(&config.folders.permissions_file()) {
            Ok(mut user) => {
                // A rule that was there before may stand in another line now; twice it does no harm.
                user.deny.retain(|given| !rules.deny.contains(given));
                user.ask.retain(|given| !rules.ask.contains(given));
                user.allow.retain(|given| !rules.allow.contains(given));
                rules.extend(user);
            }
            Err(error) => self.setup.output.warn(&clean::line(&format!("{error}; the rules stay as they were"))),
        }
        rules
    }

    fn view(&self, state: SessionState, answers: bool) -> SharedView {
        let setup = &self.setup;
        let (output, redactor) = (setup.output.clone(), Arc::clone(&setup.redactor));
        SharedView::new(View::new(state, output, redactor, answers && self.attended).talking())
    }

    fn watch(&self, live: &LiveSender, stream: &StreamId, next_seq: u64, view: &SharedView) -> Watch {
        let setup = &self.setup;
        let words = Setup::log_words(self.log.as_ref());
        let mut transcript = setup.transcript(setup.output.note_style(), Detail::Short).naming_log(words);
        transcript.know(&view.lock().state.calls);
        let place = (Arc::clone(&self.log), stream.clone(), next_seq);
        let printer = LivePrinter::new(transcript);
        let (output, redactor) = (setup.output.clone(), Arc::clone(&setup.redactor));
        Watch::begin(live.listen(), printer, output, redactor, place, Some(Box::new(view.clone())))
    }

    /// Where a session stands that is in the log, and its last turn as text.
    async fn past(
        &self,
        stream: &StreamId,
        state: SessionState,
        answers: bool,
    ) -> Result<(SharedView, String), CliError> {
        let (setup, log, style) = (&self.setup, self.log.as_ref(), self.setup.output.note_style());
        let past = Past::of(log, stream, state.next_seq()).await?;
        let title = clean::short(&setup.redactor.redact(&sessions::title(&state)), 80);
        let about = units::of(u64::from(state.totals.prompts), "prompt");
        let mut text = format!("session {} · {about} · {title}\n", style.bold(stream.id.as_str()));
        let view = self.view(state, answers);
        {
            let mut view = view.lock();
            view.sandbox = past.sandbox;
            past.asked.into_iter().for_each(|asked| view.know(asked));
        }
        let Some(seq) = past.last_prompt else { return Ok((view, text)) };
        if view.lock().state.totals.prompts > 1 {
            text.push_str(&style.dim(&format!("what was before: retrace show {}\n", stream.id)));
        }
        let mut transcript = setup.transcript(style, Detail::Short);
        events::for_each(log, stream, seq, |event| {
            let shown = transcript.event(event);
            // What still waits is put to the user again, with the answers there are.
            if !view.lock().is_open_question(event) {
                text.push_str(&shown);
            }
            Ok(())
        })
        .await?;
        Ok((view, text))
    }
}

/// What is looked for in the events of the past.
#[derive(Default)]
struct Past {
    last_prompt: Option<u64>,
    sandbox: Option<retrace_events::payload::sandbox::SandboxStarted>,
    asked: Vec<ToolApprovalAsked>,
}

impl Past {
    /// Looks back from event `end` on until all is found: a session may be long.
    async fn of(log: &dyn EventLog, stream: &StreamId, mut end: u64) -> Result<Self, LogError> {
        let mut past = Self::default();
        while end > 0 && (past.last_prompt.is_none() || past.sandbox.is_none()) {
            let from = end.saturating_sub(events::PAGE as u64);
            let page = log.read(stream, from, usize::try_from(end - from).unwrap_or(events::PAGE)).await?;
            for envelope in page.into_iter().rev().filter(|envelope| Self::KINDS.contains(&envelope.kind.as_str())) {
                past.take_older(&Event::decode(envelope)?);
            }
            end = from;
        }
        past.asked.reverse();
        Ok(past)
    }

    /// The kinds of events that it looks for.
    const KINDS: [&str; 3] = ["turn.prompted", "tool.approval_asked", "sandbox.started"];

    fn take_older(&mut self, event: &Event) {
        match event.payload.known() {
            Some(Payload::Turn(Turn::Prompted(_))) => {
                self.last_prompt.get_or_insert(event.envelope.seq);
            }
            Some(Payload::Tool(Tool::ApprovalAsked(asked))) if self.last_prompt.is_none() => {
                self.asked.push(asked.clone());
            }
            Some(Payload::Sandbox(Sandbox::Started(started))) => {
                self.sandbox.get_or_insert_with(|| started.clone());
            }
            _ => {}
        }
    }
}
