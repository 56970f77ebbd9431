//! What an agent is made of, and what a session begins with.

use super::live::LiveSender;
use super::sandboxing::SandboxSetup;
use crate::checkpoints::Checkpoints;
use crate::claude::{ClaudeClient, ModelTable};
use crate::permissions::Permissions;
use crate::snapshots::SnapshotPlan;
use crate::tools::Memory;
use retrace_events::log::Holder;
use retrace_events::payload::settings::Settings;
use retrace_events::redact::Redactor;
use retrace_events::{EventLog, Mint, StreamId};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

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
    /// Stops the turn and the agent.
    pub cancel: CancellationToken,
    /// Where the sandbox's guest is unpacked; outside every workspace.
    pub guest_dir: PathBuf,
    /// What is remembered of the workspace's past.
    pub memory: Arc<dyn Memory>,
    /// What sandboxes may see and use.
    pub sandboxes: SandboxSetup,
    /// Which calls may be carried out without asking anybody.
    pub permissions: Arc<Permissions>,
    /// Whether somebody is there who can be asked. Where nobody is, "ask" means "no".
    pub attended: bool,
    /// Who this is, for those who want the same session.
    pub holder: Holder,
    /// The most tokens of a request before the context begins afresh; `None` is the model's window.
    pub context_tokens: Option<u64>,
    /// Whether the API is asked for a summary when the context is to begin afresh, where the model has it.
    pub api_compaction: bool,
    /// Where states are kept, so that a long session is resumed quickly.
    pub checkpoints: Checkpoints,
    /// Where snapshots of the workspace go; `None` takes none.
    pub snapshots: Option<SnapshotPlan>,
    /// The folder of the user's own instruction files.
    pub user_instructions: PathBuf,
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

/// How much of the first prompt becomes a session's title, in characters.
const TITLE_CHARS: usize = 80;

/// The beginning of a prompt, on one line.
#[must_use]
pub fn title_of(prompt: &str) -> String {
    let line = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= TITLE_CHARS {
        return line;
    }
    line.chars().take(TITLE_CHARS - 1).chain(['…']).collect()
}
