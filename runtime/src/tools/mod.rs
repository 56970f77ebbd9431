//! The tools the model may call: one file each, one list ([`all`]).
//!
//! Tools know neither the model nor any user interface. They act only through the sandbox's guest, so that paths stay
//! beneath the workspace and nothing runs on the host; `recall` alone asks the host, for what it remembers, and changes
//! nothing. What they return is text for the model, and nothing is logged here (the agent loop does that, before and after).

mod ask_user;
mod background;
mod background_job;
mod bash;
mod bash_background;
mod batch;
mod capture;
mod edit_file;
mod ending;
mod guest;
mod image;
mod image_end;
mod kept_output;
mod kill;
mod lines;
mod list_dir;
mod magic;
pub(crate) mod memory;
mod missing;
pub(crate) mod narrowing;
mod nearest;
mod output;
mod preview;
mod question;
mod read_file;
mod read_output;
mod recall;
mod recalled;
mod replace;
mod schema;
mod search_files;
mod selection;
mod text_file;
mod todo;
mod typed;
mod window;
mod write_file;

#[cfg(test)]
mod tests;

use async_trait::async_trait;
use retrace_events::payload::session::PlanItem;
use retrace_events::payload::tool::{ToolEffect, ToolExit};
use retrace_events::{BlobRef, CallId, EventLog, StreamId};
use retrace_sandbox::Sandbox;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub use background::{Background, BackgroundCommand, BackgroundEnd};
pub(crate) use batch::{cut_part, is_batch, joined, part_share_bytes, parts_of};
pub use image::{MAX_IMAGE_BYTES, ToolImage, image_of};
pub use memory::{Memories, Memory, MemoryError, MemoryQuestion, NoMemory};
pub use question::{Question, answer_content};
pub use schema::{ToolSchema, tools_json};

/// Finds the whole output of a call of this session.
pub type Outputs = Arc<dyn Fn(&CallId) -> Option<BlobRef> + Send + Sync>;

/// What a tool has to work with.
#[derive(Clone)]
pub struct ToolContext {
    /// The session it belongs to.
    pub session: StreamId,
    /// The call's id; commands see it as `RETRACE_CALL_ID`.
    pub call: CallId,
    /// Where everything happens.
    pub sandbox: Sandbox,
    /// Where large outputs are kept and read from.
    pub log: Arc<dyn EventLog>,
    /// How long a command may run when its input names no time, in milliseconds.
    pub command_timeout_ms: u64,
    /// Takes secrets out of a text before it is kept or shown.
    pub redactor: Arc<retrace_events::redact::Redactor>,
    /// Finds, among this session's finished calls, the whole output of a call (for `read_output`).
    pub outputs: Outputs,
    /// What is remembered of this workspace's past (for `recall`).
    pub memory: Arc<dyn Memory>,
    /// The commands that run in the background; they outlive the call.
    pub background: Arc<Background>,
    /// Names of files that read as empty in the sandbox, since they may hold secrets.
    pub masked: Arc<[String]>,
    /// Takes pieces of output as they come, for whoever watches.
    pub progress: Arc<dyn Fn(&str) + Send + Sync>,
    /// Ends the call early.
    pub cancel: CancellationToken,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolResult {
    /// What the model is told.
    pub content: String,
    /// Whether that is a failure.
    pub is_error: bool,
    /// How the command ended, when there was one.
    pub exit: Option<ToolExit>,
    /// The whole output, when `content` has only a part.
    pub output: Option<BlobRef>,
    /// Files it changed, relative to the workspace.
    pub changed: Vec<String>,
    /// A limit of the sandbox that was hit: its name and what happened.
    pub limit_hit: Option<(String, String)>,
    /// What it wanted and may not have: the kind, and in words.
    pub refused: Option<(String, String)>,
    /// The model's plan, when the call changed it.
    pub plan: Option<Vec<PlanItem>>,
    /// Images the model shall see, before `content`.
    pub images: Vec<ToolImage>,
    /// The command, redacted, when the call left it running in the background.
    pub background: Option<String>,
}

impl ToolResult {
    /// A failure the model is told about.
    #[must_use]
    pub fn error(content: impl Into<String>) -> Self {
        Self { content: content.into(), is_error: true, ..Self::default() }
    }

    /// A success with a text.
    #[must_use]
    pub fn text(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }
}

/// Why a call could not be carried out at all; anything the model should hear is a [`ToolResult`] instead.
#[derive(Debug, thiserror::Error)]
pub enum ToolFailure {
    /// The sandbox is gone. How far the call came is not known.
    #[error("the sandbox is gone: {0}")]
    SandboxGone(String),
    /// The call was ended early by the user.
    #[error("cancelled")]
    Cancelled,
    /// The log could not keep the output.
    #[error(transparent)]
    Log(#[from] retrace_events::LogError),
}

/// A tool.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Its name, as the model calls it.
    fn name(&self) -> &'static str;

    /// Name, description and input schema, as the model is told them.
    fn schema(&self) -> ToolSchema;

    /// Whether a call may be carried out a second time without harm.
    fn effect(&self) -> ToolEffect;

    /// Whether its result is a person's answer: then [`Tool::run`] is called only when nobody can be asked.
    fn waits_for_user(&self) -> bool {
        false
    }

    /// One line for people, from an input that may be anything: `cargo test`, `src/lib.rs`.
    fn summary(&self, input: &serde_json::Value) -> String;

    /// The result of a call whose input alone shows that it cannot work, so that nobody is asked about it in vain.
    fn refused(&self, _input: &serde_json::Value) -> Option<ToolResult> {
        None
    }

    /// What a person should see before allowing the call: the command, or a diff against the files as they are now.
    /// Redacted, cut to 16 KiB, without control characters. `None` when the input says it all, or does not fit.
    async fn preview(&self, _context: &ToolContext, _input: &serde_json::Value) -> Option<String> {
        None
    }

    /// Carries out a call. An input that does not fit the schema is a [`ToolResult::error`] that says what is wrong.
    ///
    /// # Errors
    /// Only when the call could not be carried out at all.
    async fn run(&self, context: &ToolContext, input: serde_json::Value) -> Result<ToolResult, ToolFailure>;
}

/// All tools, in the order in which the model is told of them.
#[must_use]
pub fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(bash::Bash),
        Arc::new(read_file::ReadFile),
        Arc::new(write_file::WriteFile),
        Arc::new(edit_file::EditFile),
        Arc::new(list_dir::ListDir),
        Arc::new(search_files::SearchFiles),
        Arc::new(recall::Recall),
        Arc::new(read_output::ReadOutput),
        Arc::new(kill::Kill),
        Arc::new(todo::Todo),
        Arc::new(ask_user::AskUser),
        Arc::new(batch::Batch),
    ]
}

/// What a call of `tool` may do to the world. A tool that does not exist does nothing.
#[must_use]
pub fn effect_of(tool: &str) -> ToolEffect {
    named(tool).map_or(ToolEffect::ReadOnly, |known| known.effect())
}

/// Whether `input`, raw JSON, alone shows that a call of `tool` cannot work; carrying it out says why, and does nothing.
#[must_use]
pub fn cannot_work(tool: &str, input: &str) -> bool {
    let Ok(input) = serde_json::from_str(input) else { return true };
    named(tool).is_none_or(|known| known.refused(&input).is_some())
}

/// Whether a call of `tool` waits for what a person says.
#[must_use]
pub fn waits_for_user(tool: &str) -> bool {
    named(tool).is_some_and(|known| known.waits_for_user())
}

/// The tool of this name.
#[must_use]
pub fn named(tool: &str) -> Option<Arc<dyn Tool>> {
    all().into_iter().find(|known| known.name() == tool)
}
