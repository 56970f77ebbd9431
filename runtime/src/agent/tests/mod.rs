//! Tests of the agent: the table of steps by itself, and whole agents in this process against the scripted server.
//!
//! The agents work without a sandbox in a workspace of their own, and only ever run harmless commands.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod approval_tests;
mod asking;
mod background_tests;
mod budget_tests;
mod checkpoint_tests;
mod compaction_tests;
mod control_tests;
mod crash_tests;
mod epoch_tests;
mod failure_tests;
mod family_tests;
mod fence_tests;
mod idle_tests;
mod image_room_tests;
mod interrupt_tests;
mod next_tests;
mod pausing_log;
mod random_tests;
mod redaction_tests;
mod repeats_tests;
mod retrieving_tests;
mod rotation_tests;
mod start_tests;
mod turn_tests;
mod unusable_tests;

use super::{Agent, AgentParts, Live, LiveSender, NewSession, SandboxSetup, TurnEnd};
use crate::checkpoints::Checkpoints;
use crate::claude::{Auth, ClaudeClient, Endpoint, ModelTable, Secret};
use crate::permissions::Permissions;
use crate::replaying::verify_session;
use crate::scripted::{RequestRecord, Script, ScriptedServer, ServerOptions};
use crate::tools::NoMemory;
use pausing_log::PausingLog;
use retrace_events::log::{Holder, MemoryLog};
use retrace_events::mint::SystemMint;
use retrace_events::payload::context::ContextEpochStarted;
use retrace_events::payload::settings::{Budget, Settings};
use retrace_events::payload::turn::{PromptSource, TurnOutcome};
use retrace_events::payload::{Context, Payload, Tool, Turn};
use retrace_events::redact::Redactor;
use retrace_events::testing::example_stream;
use retrace_events::{CallId, Event, EventLog, StreamId, Timestamp};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What the redactor of these tests knows.
const SECRET: &str = "hunter2-hunter2-hunter2";

/// A place for agents: a log, a workspace, and a server that plays a script.
struct World {
    root: tempfile::TempDir,
    log: MemoryLog,
    server: ScriptedServer,
    settings: Settings,
}

impl World {
    async fn with(script: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("work")).unwrap();
        let server = ScriptedServer::start(Script::parse(script).unwrap(), ServerOptions::default()).await.unwrap();
        let settings = Settings {
            model: "claude-opus-5-5".to_owned(),
            max_tokens: 1_000,
            thinking: None,
            effort: None,
            base_url: server.base_url(),
            sandbox: "none".to_owned(),
            approvals: "allow".to_owned(),
            budget: Budget::default(),
            tree_budget: Budget::default(),
            command_timeout_ms: 60_000,
            max_attempts: 3,
        };
        Self { root, log: MemoryLog::new(), server, settings }
    }

    /// A server all of whose models have a window of so many tokens.
    async fn with_window(script: &str, tokens: u64) -> ScriptedServer {
        let table = include_str!("../../claude/models.toml");
        let (_, rows) = table.split_at(table.find("[[model]]").unwrap());
        let rows: Vec<String> = rows
            .lines()
            .map(|line| match line.split_once(" = ") {
                Some(("context_window_tokens", _)) => format!("context_window_tokens = {tokens}"),
                _ => line.to_owned(),
            })
            .collect();
        let models = Some(ModelTable::builtin().unwrap().with_overrides(&rows.join("\n")).unwrap());
        ScriptedServer::start(Script::parse(script).unwrap(), ServerOptions { models, ..Default::default() })
            .await
            .unwrap()
    }

    fn workspace(&self) -> PathBuf {
        self.root.path().join("work").canonicalize().unwrap()
    }

    /// What its epochs begin with.
    async fn epochs(&self) -> Vec<ContextEpochStarted> {
        let payloads = self.payloads().await.into_iter();
        payloads
            .filter_map(|payload| match payload {
                Payload::Context(Context::EpochStarted(epoch)) => Some(epoch),
                _ => None,
            })
            .collect()
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.workspace().join(name), text).unwrap();
    }

    /// The text of a file in the workspace; `None` when there is none.
    fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.workspace().join(name)).ok()
    }

    /// The parts of a new agent, with a token of its own.
    fn parts(&self) -> AgentParts {
        let auth = Auth::ApiKey(Secret::new(ServerOptions::DEFAULT_API_KEY));
        AgentParts {
            log: Arc::new(PausingLog::of(&self.log)),
            mint: Arc::new(SystemMint),
            client: ClaudeClient::new(&Endpoint::new(self.settings.base_url.clone(), auth)).unwrap(),
            models: ModelTable::builtin().unwrap(),
            redactor: Arc::new(Redactor::new(vec![SECRET.to_owned()])),
            live: LiveSender::default(),
            cancel: CancellationToken::new(),
            memory: Arc::new(NoMemory),
            guest_dir: self.root.path().join("guest"),
            sandboxes: SandboxSetup::default(),
            permissions: Arc::new(Permissions::builtin(true)),
            attended: false,
            holder: Holder::this_process("a test", Timestamp(0)),
            context_tokens: None,
            api_compaction: false,
            checkpoints: Checkpoints::none(),
            snapshots: None,
            user_instructions: self.root.path().join("config"),
        }
    }

    /// The parts of an agent that does not notice that another one holds the session.
    fn unseeing_parts(&self) -> AgentParts {
        AgentParts { log: Arc::new(PausingLog::unseeing(&self.log)), ..self.parts() }
    }

    fn new_session(&self) -> NewSession {
        NewSession {
            stream: stream(),
            title: "a test".to_owned(),
            workspace: self.workspace(),
            settings: self.settings.clone(),
        }
    }

    async fn start(&self) -> Agent {
        Agent::start(self.parts(), self.new_session()).await.unwrap()
    }

    async fn resume(&self) -> Agent {
        Agent::resume(self.parts(), stream(), None).await.unwrap()
    }

    /// A new session that was asked `text`, and how the turn came back.
    async fn ask(&self, text: &str) -> (Agent, TurnEnd) {
        let mut agent = self.start().await;
        agent.prompt(text, PromptSource::Local, Vec::new()).await.unwrap();
        let end = agent.run().await.unwrap();
        (agent, end)
    }

    /// All events of the session.
    async fn events(&self) -> Vec<Event> {
        let envelopes = self.log.read(&stream(), 0, 100_000).await.unwrap();
        envelopes.into_iter().map(|envelope| Event::decode(envelope).unwrap()).collect()
    }

    async fn payloads(&self) -> Vec<Payload> {
        self.events().await.iter().map(|event| event.payload.known().unwrap().clone()).collect()
    }

    /// The kinds of the session's events, in order.
    async fn kinds(&self) -> Vec<String> {
        self.events().await.into_iter().map(|event| event.envelope.kind).collect()
    }

    /// How many events of `kind` there are.
    async fn count(&self, kind: &str) -> usize {
        self.kinds().await.iter().filter(|known| *known == kind).count()
    }

    /// The results in the log: call, whether the model is told that it failed, and what it is told.
    async fn results(&self) -> Vec<(CallId, bool, String)> {
        let payloads = self.payloads().await;
        payloads.iter().filter_map(result).collect()
    }

    /// The requests that the server answered or refused.
    fn requests(&self) -> Vec<RequestRecord> {
        self.server.requests()
    }

    /// Checks what must hold of every log: the server refused nothing, every call has one result at most (exactly one
    /// when no turn is open), the chain is sound, and every request renders to what was sent.
    async fn check(&self) {
        for request in self.requests() {
            assert_eq!(request.refusal, None, "the server refused request {}", request.index);
        }
        let payloads = self.payloads().await;
        let asked: Vec<CallId> = payloads.iter().flat_map(asked).collect();
        let results: Vec<CallId> = payloads.iter().filter_map(result).map(|(call, ..)| call).collect();
        let state = retrace_events::fold::load(&self.log, &stream()).await.unwrap();
        for call in &asked {
            let count = results.iter().filter(|other| *other == call).count();
            assert!(count == 1 || (count == 0 && state.turn.is_some()), "{call} has {count} results");
        }
        assert!(results.iter().all(|call| asked.contains(call)), "a result of a call that nobody made");
        let report = verify_session(&self.log, &stream()).await.unwrap();
        assert!(report.agrees(), "{report:?}");
        assert_eq!(report.events, payloads.len() as u64);
        let requested = self.count("turn.requested").await + self.count("context.compaction_requested").await;
        assert_eq!(report.requests.len(), requested);
        // What was sent is what the log says was sent.
        for sent in self.requests() {
            assert!(report.requests.iter().any(|logged| logged.logged == sent.body_hash), "an unlogged request");
        }
    }
}

fn stream() -> StreamId {
    example_stream("tested")
}

fn completed() -> TurnEnd {
    TurnEnd::Ended { outcome: TurnOutcome::Completed, note: "done".to_owned() }
}

fn outcome(end: &TurnEnd) -> Option<TurnOutcome> {
    match end {
        TurnEnd::Ended { outcome, .. } => Some(*outcome),
        TurnEnd::Interrupted | TurnEnd::Idle => None,
    }
}

/// The calls that an answer asks for.
fn asked(payload: &Payload) -> Vec<CallId> {
    let Payload::Turn(Turn::Answered(answer)) = payload else { return Vec::new() };
    let blocks: Vec<serde_json::Value> = serde_json::from_str(&answer.content).unwrap();
    let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
    calls.map(|block| CallId(block["id"].as_str().unwrap().to_owned())).collect()
}

/// Call, failure and text of a result.
fn result(payload: &Payload) -> Option<(CallId, bool, String)> {
    let Payload::Tool(tool) = payload else { return None };
    match tool {
        Tool::Called(_)
        | Tool::Approved(_)
        | Tool::ApprovalAsked(_)
        | Tool::BackgroundStarted(_)
        | Tool::BackgroundEnded(_) => None,
        Tool::Denied(denied) => Some((denied.call.clone(), true, denied.content.clone())),
        Tool::Finished(done) => Some((done.call.clone(), done.is_error, done.content.clone())),
        Tool::OutcomeUnknown(unknown) => Some((unknown.call.clone(), true, unknown.content.clone())),
    }
}

fn is_logged(live: &Live, kind: &str) -> bool {
    matches!(live, Live::Logged(event) if event.envelope.kind == kind)
}

/// Runs `agent` until `stop` says so of something it shows, and then drops what it was doing, as a crash would; `Some` when
/// the turn was over before.
async fn run_until(agent: &mut Agent, mut stop: impl FnMut(&Live) -> bool) -> Option<TurnEnd> {
    let mut listener = agent.parts.live.listen();
    let seen = async { while !stop(&listener.recv().await.unwrap()) {} };
    tokio::select! {
        biased;
        () = seen => None,
        end = agent.run() => Some(end.unwrap()),
    }
}

/// Counts in a file, with much to read each time, until it has `goal`.
fn counts(goal: u32) -> String {
    r#"
[[step]]
name = "count"
next = ["enough", "count"]
[[step.block]]
type = "thinking"
text = "one more"
[[step.block]]
type = "tool_use"
name = "bash"
input = { command = "n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n; echo \"count $n\"; if [ $n -ge GOAL ]; then echo that is enough; fi; head -c 3000 /dev/zero | tr '\\0' x" }

[[step]]
name = "enough"
when = "that is enough"
block = [{ type = "text", text = "counted" }]
"#
    .replace("GOAL", &goal.to_string())
}
