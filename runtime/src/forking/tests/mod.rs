//! Tests of forks: whole agents in this process against the scripted server, in workspaces of their own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod every_event;
mod kept_trees;
mod places;
mod random_work;
mod trees;

use super::*;
use crate::agent::{Agent, AgentParts, LiveSender, NewSession, SandboxSetup, TurnEnd};
use crate::claude::{Auth, ClaudeClient, Endpoint, ModelTable, Secret};
use crate::permissions::Permissions;
use crate::scripted::{Script, ScriptedServer, ServerOptions};
use crate::snapshots::SnapshotPlan;
use crate::tools::NoMemory;
use kept_trees::KeepingMint;
use retrace_events::log::{Holder, MemoryLog};
use retrace_events::mint::SystemMint;
use retrace_events::payload::session::SessionForkReason;
use retrace_events::payload::settings::{Budget, Settings};
use retrace_events::payload::turn::PromptSource;
use retrace_events::redact::Redactor;
use retrace_events::testing::example_stream;
use retrace_events::{Event, EventLog, Mint, StreamId, Timestamp};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A place for agents and their forks: a log, a store, and a server that plays a script.
pub(super) struct World {
    pub(super) root: tempfile::TempDir,
    pub(super) log: MemoryLog,
    pub(super) settings: Settings,
    server: ScriptedServer,
}

impl World {
    pub(super) async fn with(script: &str) -> Self {
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
        Self { root, log: MemoryLog::new(), settings, server }
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.root.path().join("work").canonicalize().unwrap()
    }

    pub(super) fn plan(&self) -> SnapshotPlan {
        // What looks like a secret is part of the tests, too.
        let mut plan = SnapshotPlan::new(&self.root.path().join("state"), self.log.identity(), &[], false);
        plan.options.secrets.clear();
        plan
    }

    pub(super) fn parts(&self, mint: Arc<dyn Mint>) -> AgentParts {
        let auth = Auth::ApiKey(Secret::new(ServerOptions::DEFAULT_API_KEY));
        AgentParts {
            log: Arc::new(self.log.clone()),
            mint,
            client: ClaudeClient::new(&Endpoint::new(self.settings.base_url.clone(), auth)).unwrap(),
            models: ModelTable::builtin().unwrap(),
            redactor: Arc::new(Redactor::new(Vec::new())),
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
            checkpoints: crate::checkpoints::Checkpoints::none(),
            snapshots: Some(self.plan()),
            user_instructions: self.root.path().join("config"),
        }
    }

    /// A new session in the workspace, whose events keep the tree aside.
    async fn start(&self, name: &str, mint: &Arc<KeepingMint>) -> Agent {
        let mint: Arc<dyn Mint> = Arc::<KeepingMint>::clone(mint);
        let new = NewSession {
            stream: example_stream(name),
            title: "a test".to_owned(),
            workspace: self.workspace(),
            settings: self.settings.clone(),
        };
        Agent::start(self.parts(mint), new).await.unwrap()
    }

    /// Makes a fork of event `seq` of `stream` with a folder of its own, which is not restored yet.
    pub(super) async fn fork(
        &self,
        stream: &StreamId,
        seq: u64,
        name: &str,
        leaves_turn: bool,
    ) -> (ForkPoint, StreamId) {
        let point = ForkPoint::find(&self.log, stream, Some(seq)).await.unwrap();
        let fork = NewFork {
            stream: example_stream(name),
            reason: SessionForkReason::Fork,
            title: name.to_owned(),
            workspace: self.root.path().canonicalize().unwrap().join(name),
            settings: self.settings.clone(),
            leaves_turn,
            replaced: None,
        };
        let stream = fork.stream.clone();
        fork.write(Arc::new(self.log.clone()), Arc::new(SystemMint), &point).await.unwrap();
        (point, stream)
    }

    pub(super) async fn events(&self, stream: &StreamId) -> Vec<Event> {
        let envelopes = self.log.read(stream, 0, 100_000).await.unwrap();
        envelopes.into_iter().map(|envelope| Event::decode(envelope).unwrap()).collect()
    }

    /// Fails when the server refused anything.
    pub(super) fn check(&self) {
        for request in self.server.requests() {
            assert_eq!(request.refusal, None, "the server refused request {}", request.index);
        }
    }
}

/// Prompts, and runs to the turn's end.
pub(super) async fn ask(agent: &mut Agent, words: &str) -> TurnEnd {
    agent.prompt(words, PromptSource::Local, Vec::new()).await.unwrap();
    agent.run().await.unwrap()
}
