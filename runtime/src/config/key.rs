//! The list of everything that can be configured: one row a key, with the names it goes by in each source.
//!
//! A new key is a variant of [`Key`], a row in [`KEYS`], and an arm where the compiler then asks for one.

/// Something that can be configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// The model's id.
    Model,
    /// The most tokens of one answer.
    MaxTokens,
    /// Whether and how the model thinks.
    Thinking,
    /// How much effort the model is asked to make.
    Effort,
    /// Where requests go.
    BaseUrl,
    /// The API key (`x-api-key`).
    ApiKey,
    /// The API token (`Authorization: Bearer`), for gateways.
    AuthToken,
    /// The folder that is worked on.
    Workspace,
    /// The sandbox that is asked for.
    Sandbox,
    /// When a person is asked before a call.
    Approvals,
    /// Where the event log is.
    Log,
    /// Whether a log whose acks may be lost with the power is taken.
    AcceptNondurable,
    /// The most answered requests of a session.
    MaxSteps,
    /// The most tokens of a session.
    MaxTotalTokens,
    /// The most a session may cost.
    MaxCost,
    /// The longest a session may work.
    MaxTime,
    /// The most answered requests of a session and all its forks together.
    MaxTreeSteps,
    /// The most tokens of a session and all its forks together.
    MaxTreeTokens,
    /// The most a session and all its forks may cost together.
    MaxTreeCost,
    /// The longest a session and all its forks may work together.
    MaxTreeTime,
    /// How long a command may run.
    CommandTimeout,
    /// How often a failed request is tried.
    MaxAttempts,
    /// The most tokens of a request before the context begins afresh.
    ContextTokens,
    /// Who sums the older part of a conversation up when the context begins afresh.
    Compaction,
    /// Who writes the summaries of sessions.
    Summaries,
    /// The model that writes them.
    SummaryModel,
    /// Folders outside the workspace that commands may read.
    Expose,
    /// Names of files that commands may not read.
    Mask,
    /// Memory of everything in the sandbox together.
    Memory,
    /// Processors' worth of time of everything in the sandbox together.
    Cpus,
    /// Processes and threads in the sandbox.
    Processes,
    /// What commands may add to the workspace.
    Disk,
    /// Size of `/tmp` and of the home folder in the sandbox.
    Scratch,
    /// Output of one command.
    OutputSize,
    /// CPU time of one process.
    CpuTime,
    /// The longest time that a command may ask for.
    CommandTime,
    /// After so long without work the sandbox ends.
    IdleTime,
    /// The image of containers and microVMs.
    Image,
    /// The socket of the container engine.
    Engine,
    /// The domains that commands may reach.
    Network,
    /// What the proxy adds to requests to a domain.
    NetworkCredentials,
    /// Whether a session's process keeps the search index up to date.
    Index,
    /// The model that turns texts into vectors.
    EmbedModel,
    /// Whether snapshots of the workspace are taken.
    Snapshots,
}

/// The names of a key.
#[derive(Debug, Clone, Copy)]
pub struct KeyInfo {
    /// The key.
    pub key: Key,
    /// Its name in a configuration file and in `retrace config show`; a dot stands for a table.
    pub name: &'static str,
    /// Environment variables it is read from; the first that is set counts.
    pub env: &'static [&'static str],
    /// The only one of these that is taken from a `.env` file too.
    pub dotenv: Option<&'static str>,
    /// Where it may be written down.
    pub home: Home,
}

/// The kind of file a key may stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// The user's `config.toml`, and the project's `.retrace.toml` as far as it tightens.
    Config,
    /// Only the user's `credentials.toml`.
    Credentials,
}

const fn row(
    key: Key,
    name: &'static str,
    env: &'static [&'static str],
    dotenv: Option<&'static str>,
    home: Home,
) -> KeyInfo {
    KeyInfo { key, name, env, dotenv, home }
}

/// All keys, in the order in which they are shown.
pub const KEYS: &[KeyInfo] = &[
    row(Key::Model, "model", &["RETRACE_MODEL", "MODEL"], Some("MODEL"), Home::Config),
    row(Key::MaxTokens, "max_tokens", &["RETRACE_MAX_TOKENS", "MAX_TOKENS"], Some("MAX_TOKENS"), Home::Config),
    row(Key::Thinking, "thinking", &["RETRACE_THINKING"], None, Home::Config),
    row(Key::Effort, "effort", &["RETRACE_EFFORT"], None, Home::Config),
    row(Key::BaseUrl, "base_url", &["ANTHROPIC_BASE_URL"], Some("ANTHROPIC_BASE_URL"), Home::Config),
    row(Key::ApiKey, "anthropic_api_key", &["ANTHROPIC_API_KEY"], Some("ANTHROPIC_API_KEY"), Home::Credentials),
    row(Key::AuthToken, "anthropic_auth_token", &["ANTHROPIC_AUTH_TOKEN"], None, Home::Credentials),
    row(Key::Workspace, "workspace", &["RETRACE_WORKSPACE", "SAFEDIR"], Some("SAFEDIR"), Home::Config),
    row(Key::Sandbox, "sandbox", &["RETRACE_SANDBOX", "USE_SANDBOX"], Some("USE_SANDBOX"), Home::Config),
    row(Key::Approvals, "approvals", &["RETRACE_APPROVALS"], None, Home::Config),
    row(Key::Log, "log", &["RETRACE_LOG_LOCATION", "NATS_URL"], None, Home::Config),
    row(Key::AcceptNondurable, "accept_nondurable", &["RETRACE_ACCEPT_NONDURABLE"], None, Home::Config),
    row(Key::MaxSteps, "budget.steps", &["RETRACE_MAX_STEPS"], None, Home::Config),
    row(Key::MaxTotalTokens, "budget.tokens", &["RETRACE_MAX_TOTAL_TOKENS"], None, Home::Config),
    row(Key::MaxCost, "budget.cost", &["RETRACE_MAX_COST"], None, Home::Config),
    row(Key::MaxTime, "budget.time", &["RETRACE_MAX_TIME"], None, Home::Config),
    row(Key::MaxTreeSteps, "tree_budget.steps", &["RETRACE_MAX_TREE_STEPS"], None, Home::Config),
    row(Key::MaxTreeTokens, "tree_budget.tokens", &["RETRACE_MAX_TREE_TOKENS"], None, Home::Config),
    row(Key::MaxTreeCost, "tree_budget.cost", &["RETRACE_MAX_TREE_COST"], None, Home::Config),
    row(Key::MaxTreeTime, "tree_budget.time", &["RETRACE_MAX_TREE_TIME"], None, Home::Config),
    row(Key::CommandTimeout, "command_timeout", &["RETRACE_COMMAND_TIMEOUT"], None, Home::Config),
    row(Key::MaxAttempts, "max_attempts", &["RETRACE_MAX_ATTEMPTS"], None, Home::Config),
    row(Key::ContextTokens, "context_tokens", &["RETRACE_CONTEXT_TOKENS"], None, Home::Config),
    row(Key::Compaction, "compaction", &["RETRACE_COMPACTION"], None, Home::Config),
    row(Key::Summaries, "summaries", &["RETRACE_SUMMARIES"], None, Home::Config),
    row(Key::SummaryModel, "summary_model", &["RETRACE_SUMMARY_MODEL"], None, Home::Config),
    row(Key::Expose, "expose", &["RETRACE_EXPOSE"], None, Home::Config),
    row(Key::Mask, "mask", &["RETRACE_MASK"], None, Home::Config),
    row(Key::Memory, "limits.memory", &["RETRACE_MEMORY"], None, Home::Config),
    row(Key::Cpus, "limits.cpus", &["RETRACE_CPUS"], None, Home::Config),
    row(Key::Processes, "limits.processes", &["RETRACE_PROCESSES"], None, Home::Config),
    row(Key::Disk, "limits.disk", &["RETRACE_DISK"], None, Home::Config),
    row(Key::Scratch, "limits.scratch", &["RETRACE_SCRATCH"], None, Home::Config),
    row(Key::OutputSize, "limits.output", &["RETRACE_OUTPUT"], None, Home::Config),
    row(Key::CpuTime, "limits.cpu_time", &["RETRACE_CPU_TIME"], None, Home::Config),
    row(Key::CommandTime, "limits.time", &["RETRACE_COMMAND_TIME"], None, Home::Config),
    row(Key::IdleTime, "limits.idle_time", &["RETRACE_IDLE_TIME"], None, Home::Config),
    row(Key::Image, "image", &["RETRACE_IMAGE"], None, Home::Config),
    row(Key::Engine, "engine", &["RETRACE_CONTAINER_SOCKET"], None, Home::Config),
    row(Key::Network, "network", &["RETRACE_NETWORK"], None, Home::Config),
    row(Key::NetworkCredentials, "network_credentials", &["RETRACE_NETWORK_CREDENTIALS"], None, Home::Config),
    row(Key::Index, "index", &["RETRACE_INDEX"], None, Home::Config),
    row(Key::EmbedModel, "embed_model", &["RETRACE_EMBED_MODEL"], None, Home::Config),
    row(Key::Snapshots, "snapshots", &["RETRACE_SNAPSHOTS"], None, Home::Config),
];

impl Key {
    /// The key's names.
    #[must_use]
    pub fn info(self) -> &'static KeyInfo {
        // A test holds the table to be complete; the first row stands in for a missing one.
        KEYS.iter().find(|row| row.key == self).unwrap_or(&KEYS[0])
    }

    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.info().name
    }
}

/// The known name most like `name`, for a "did you mean".
#[must_use]
pub fn similar<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    ::similar::get_close_matches(name, known, 1, 0.6).first().copied()
}
