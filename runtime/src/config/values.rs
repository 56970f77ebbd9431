//! All values with their origins, and how one more layer is laid over them. The later layer wins; only `mask` adds up,
//! since a name once masked stays masked.

use super::choice::{self, CompactionChoice, LogChoice, SnapshotChoice, SummaryChoice, ThinkingChoice};
use super::error::ConfigError;
use super::key::Key;
use super::origin::{Origin, Sourced};
use super::raw::{Misfit, Raw};
use super::sandbox_values::{self, SandboxValues};
use crate::claude::Secret;
use crate::permissions::ApprovalMode;
use retrace_events::payload::settings::Budget;
use retrace_sandbox::SandboxChoice;
use std::path::PathBuf;

/// One value of one source.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What it is for.
    pub key: Key,
    /// The value as the source has it.
    pub raw: Raw,
    /// The source.
    pub origin: Origin,
    /// Where relative paths start.
    pub base: PathBuf,
}

impl Entry {
    /// The error that this value is not what its key wants. Secrets are never part of `why`.
    pub(super) fn misfit(&self, why: Misfit) -> ConfigError {
        ConfigError::InvalidValue { origin: self.origin.clone(), key: self.key.name(), why }
    }
}

/// The configuration's values.
#[derive(Debug, Clone)]
pub struct Values {
    /// The model's id.
    pub model: Sourced<String>,
    /// The most tokens of one answer; `None` is the model's own limit, at most 32,000.
    pub max_tokens: Sourced<Option<u32>>,
    /// Whether and how the model thinks.
    pub thinking: Sourced<ThinkingChoice>,
    /// How much effort the model is asked to make, in the API's word; `None` asks for nothing.
    pub effort: Sourced<Option<String>>,
    /// Where requests go, without a slash at the end.
    pub base_url: Sourced<String>,
    /// The API key.
    pub api_key: Option<Sourced<Secret>>,
    /// The API token, for gateways.
    pub auth_token: Option<Sourced<Secret>>,
    /// The workspace, as it was named.
    pub workspace: Sourced<PathBuf>,
    /// The sandbox.
    pub sandbox: Sourced<SandboxChoice>,
    /// When a person is asked before a call that no rule is about.
    pub approvals: Sourced<ApprovalMode>,
    /// The event log.
    pub log: Sourced<LogChoice>,
    /// Whether a log is taken whose acks a loss of power may undo.
    pub accept_nondurable: Sourced<bool>,
    /// The most answered requests.
    pub max_steps: Sourced<Option<u32>>,
    /// The most tokens in and out.
    pub max_total_tokens: Sourced<Option<u64>>,
    /// The most money, in millionths of a US dollar.
    pub max_cost_microusd: Sourced<Option<u64>>,
    /// The most time in turns, in milliseconds.
    pub max_time_ms: Sourced<Option<u64>>,
    /// As the four above, for a session and all its forks together.
    pub max_tree_steps: Sourced<Option<u32>>,
    /// See [`Self::max_tree_steps`].
    pub max_tree_tokens: Sourced<Option<u64>>,
    /// See [`Self::max_tree_steps`].
    pub max_tree_cost_microusd: Sourced<Option<u64>>,
    /// See [`Self::max_tree_steps`].
    pub max_tree_time_ms: Sourced<Option<u64>>,
    /// How long a command may run, in milliseconds.
    pub command_timeout_ms: Sourced<u64>,
    /// How often a request is tried.
    pub max_attempts: Sourced<u32>,
    /// The most tokens of a request before the context begins afresh; `None` is the model's window.
    pub context_tokens: Sourced<Option<u64>>,
    /// Who sums the older part of a conversation up when the context begins afresh.
    pub compaction: Sourced<CompactionChoice>,
    /// Who writes the summaries of sessions.
    pub summaries: Sourced<SummaryChoice>,
    /// The model that writes them; `None` is the one of the session.
    pub summary_model: Sourced<Option<String>>,
    /// Paths outside the workspace that commands may read.
    pub expose: Sourced<Vec<PathBuf>>,
    /// Names of files that commands may not read, beside those that are always masked.
    pub mask: Vec<Sourced<String>>,
    /// What sandboxes may use and reach.
    pub sandboxes: SandboxValues,
    /// Whether the process that runs a session keeps the search index up to date.
    pub index: Sourced<bool>,
    /// The embedding model: a folder (a path with a slash) or the name of one to download; `None` searches by words only.
    pub embed_model: Sourced<Option<String>>,
    /// Whether snapshots of the workspace are taken.
    pub snapshots: Sourced<SnapshotChoice>,
    /// Patterns of commands whose results depend on the workspace's files alone.
    pub pure: Sourced<Vec<String>>,
}

impl Values {
    /// The built-in values, for a command started in `cwd`.
    #[must_use]
    pub fn builtin(cwd: PathBuf) -> Self {
        Self {
            model: Sourced::default("claude-opus-5-5".to_owned()),
            max_tokens: Sourced::default(None),
            thinking: Sourced::default(ThinkingChoice::Auto),
            effort: Sourced::default(None),
            base_url: Sourced::default("https://api.anthropic.com".to_owned()),
            api_key: None,
            auth_token: None,
            workspace: Sourced::default(cwd),
            sandbox: Sourced::default(SandboxChoice::Auto),
            approvals: Sourced::default(ApprovalMode::Auto),
            log: Sourced::default(LogChoice::Embedded),
            accept_nondurable: Sourced::default(false),
            max_steps: Sourced::default(Some(500)),
            max_total_tokens: Sourced::default(None),
            max_cost_microusd: Sourced::default(None),
            max_time_ms: Sourced::default(None),
            max_tree_steps: Sourced::default(None),
            max_tree_tokens: Sourced::default(None),
            max_tree_cost_microusd: Sourced::default(None),
            max_tree_time_ms: Sourced::default(None),
            command_timeout_ms: Sourced::default(120_000),
            max_attempts: Sourced::default(8),
            context_tokens: Sourced::default(Some(100_000)),
            compaction: Sourced::default(CompactionChoice::Off),
            summaries: Sourced::default(SummaryChoice::Extractive),
            summary_model: Sourced::default(None),
            expose: Sourced::default(Vec::new()),
            mask: Vec::new(),
            sandboxes: SandboxValues::default(),
            index: Sourced::default(true),
            embed_model: Sourced::default(None),
            snapshots: Sourced::default(SnapshotChoice::On),
            pure: Sourced::default(Vec::new()),
        }
    }

    /// Lays `entry` over what there is.
    ///
    /// # Errors
    /// When its value is not what its key wants.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), ConfigError> {
        self.lay(entry).map_err(|why| entry.misfit(why))
    }

    fn lay(&mut self, entry: &Entry) -> Result<(), Misfit> {
        let (raw, base) = (&entry.raw, entry.base.as_path());
        let origin = entry.origin.clone();
        match entry.key {
            Key::Model => self.model = Sourced::new(raw.line(200)?, origin),
            Key::MaxTokens => self.max_tokens = Sourced::new(Some(raw.number()?), origin),
            Key::Thinking => self.thinking = Sourced::new(ThinkingChoice::parse(raw)?, origin),
            Key::Effort => self.effort = Sourced::new(raw.limit(choice::effort)?, origin),
            Key::BaseUrl => self.base_url = Sourced::new(web_address(raw)?, origin),
            Key::ApiKey => self.api_key = Some(Sourced::new(secret(raw)?, origin)),
            Key::AuthToken => self.auth_token = Some(Sourced::new(secret(raw)?, origin)),
            Key::Workspace => self.workspace = Sourced::new(raw.path(base)?, origin),
            Key::Sandbox => self.lay_sandbox(choice::sandbox(raw, self.sandbox.value)?, raw, origin),
            Key::Approvals => self.approvals = Sourced::new(choice::approvals(raw)?, origin),
            Key::Log => self.log = Sourced::new(LogChoice::parse(raw, base)?, origin),
            Key::AcceptNondurable => self.accept_nondurable = Sourced::new(raw.switch()?, origin),
            Key::MaxSteps => self.max_steps = Sourced::new(raw.limit(Raw::number)?, origin),
            Key::MaxTotalTokens => self.max_total_tokens = Sourced::new(raw.limit(Raw::number)?, origin),
            Key::MaxCost => self.max_cost_microusd = Sourced::new(raw.limit(Raw::money_microusd)?, origin),
            Key::MaxTime => self.max_time_ms = Sourced::new(raw.limit(Raw::time_ms)?, origin),
            Key::MaxTreeSteps => self.max_tree_steps = Sourced::new(raw.limit(Raw::number)?, origin),
            Key::MaxTreeTokens => self.max_tree_tokens = Sourced::new(raw.limit(Raw::number)?, origin),
            Key::MaxTreeCost => self.max_tree_cost_microusd = Sourced::new(raw.limit(Raw::money_microusd)?, origin),
            Key::MaxTreeTime => self.max_tree_time_ms = Sourced::new(raw.limit(Raw::time_ms)?, origin),
            Key::CommandTimeout => self.command_timeout_ms = Sourced::new(raw.time_ms()?, origin),
            Key::MaxAttempts => self.max_attempts = Sourced::new(raw.number()?, origin),
            Key::ContextTokens => self.context_tokens = Sourced::new(raw.limit(Raw::number)?, origin),
            Key::Compaction => self.compaction = Sourced::new(CompactionChoice::parse(raw)?, origin),
            Key::Summaries => self.summaries = Sourced::new(SummaryChoice::parse(raw)?, origin),
            Key::SummaryModel => self.summary_model = Sourced::new(raw.limit(|raw| raw.line(200))?, origin),
            Key::Expose => self.expose = Sourced::new(raw.paths(base)?, origin),
            Key::Memory => self.sandboxes.memory_bytes = Sourced::new(Some(raw.size_bytes()?), origin),
            Key::Cpus => self.sandboxes.cpus_percent = Sourced::new(raw.limit(Raw::cpus_percent)?, origin),
            Key::Processes => self.sandboxes.processes = Sourced::new(raw.number()?, origin),
            Key::Disk => self.sandboxes.disk_bytes = Sourced::new(raw.limit(Raw::size_bytes)?, origin),
            Key::Scratch => self.sandboxes.scratch_bytes = Sourced::new(raw.size_bytes()?, origin),
            Key::OutputSize => self.sandboxes.output_bytes = Sourced::new(raw.size_bytes()?, origin),
            Key::CpuTime => self.sandboxes.cpu_time_ms = Sourced::new(raw.time_ms()?, origin),
            Key::CommandTime => self.sandboxes.command_time_ms = Sourced::new(raw.time_ms()?, origin),
            Key::IdleTime => self.sandboxes.idle_ms = Sourced::new(raw.limit(Raw::time_ms)?, origin),
            Key::Image => self.sandboxes.image = Sourced::new(raw.limit(|raw| raw.line(1_000))?, origin),
            Key::Engine => self.sandboxes.engine = Sourced::new(raw.limit(sandbox_values::engine)?, origin),
            Key::Network => self.sandboxes.network = Sourced::new(sandbox_values::domains(raw)?, origin),
            Key::NetworkCredentials => {
                self.sandboxes.credentials = Sourced::new(sandbox_values::credentials(raw)?, origin);
            }
            Key::Index => self.index = Sourced::new(raw.switch()?, origin),
            Key::EmbedModel => self.embed_model = Sourced::new(raw.limit(|raw| raw.line(1_000))?, origin),
            Key::Snapshots => self.snapshots = Sourced::new(SnapshotChoice::parse(raw)?, origin),
            Key::Pure => self.pure = Sourced::new(raw.command_patterns()?, origin),
            Key::Mask => {
                for name in raw.names()? {
                    self.add_mask(name, &origin);
                }
            }
        }
        Ok(())
    }

    /// A bare "yes" that changes nothing is not the origin of what was there before it.
    fn lay_sandbox(&mut self, choice: SandboxChoice, raw: &Raw, origin: Origin) {
        if choice != self.sandbox.value || raw.switch().is_err() {
            self.sandbox = Sourced::new(choice, origin);
        }
    }

    /// Masks a name, once.
    pub(super) fn add_mask(&mut self, name: String, origin: &Origin) {
        if !self.mask.iter().any(|known| known.value == name) {
            self.mask.push(Sourced::new(name, origin.clone()));
        }
    }

    /// Names of files that commands may not read, beside those that are always masked.
    #[must_use]
    pub fn masked(&self) -> Vec<String> {
        self.mask.iter().map(|name| name.value.clone()).collect()
    }

    /// The limits of a session.
    #[must_use]
    pub fn budget(&self) -> Budget {
        Budget {
            max_steps: self.max_steps.value,
            max_tokens: self.max_total_tokens.value,
            max_cost_microusd: self.max_cost_microusd.value,
            max_time_ms: self.max_time_ms.value,
        }
    }

    /// The limits of a session and all its forks together.
    #[must_use]
    pub fn tree_budget(&self) -> Budget {
        Budget {
            max_steps: self.max_tree_steps.value,
            max_tokens: self.max_tree_tokens.value,
            max_cost_microusd: self.max_tree_cost_microusd.value,
            max_time_ms: self.max_tree_time_ms.value,
        }
    }
}

/// An address requests can go to. User and password in it would end up in the log, so they are refused.
fn web_address(raw: &Raw) -> Result<String, Misfit> {
    let text = raw.line(2_000)?;
    let misfit = || "must be an address like https://host[:port][/path], without user, password or query".to_owned();
    let url = reqwest::Url::parse(&text).map_err(|_| misfit())?;
    let plain =
        url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() || !plain {
        return Err(misfit());
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// A key or token; what it is never gets into a message.
fn secret(raw: &Raw) -> Result<Secret, Misfit> {
    let text = raw.line(4_096)?;
    if text.bytes().all(|b| b.is_ascii_graphic()) {
        Ok(Secret::new(text))
    } else {
        Err("must have no spaces and no characters outside ASCII".to_owned())
    }
}
