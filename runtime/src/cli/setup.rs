//! What commands need to begin: configuration, model table, redactor, log.

use super::exit::{CliError, Exit};
use super::flags::SettingFlags;
use super::invocation::Invocation;
use super::output::Output;
use super::render::{Detail, Style, Transcript, clean};
use crate::agent::{AgentParts, LiveSender, SandboxSetup};
use crate::checkpoints::Checkpoints;
use crate::claude::{Auth, ClaudeClient, Endpoint, ModelTable};
use crate::config::{CompactionChoice, Config, SnapshotChoice};
use crate::indexing::{IndexMemory, model_of};
use crate::snapshots::SnapshotPlan;
use crate::tools;
use retrace_events::log::{Durability, Holder, open_log};
use retrace_events::mint::SystemMint;
use retrace_events::payload::settings::Settings;
use retrace_events::redact::Redactor;
use retrace_events::{EventLog, Mint};
use retrace_indexer::IndexModel;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The largest table of models a user may have, in bytes.
const MAX_MODELS_BYTES: u64 = 1024 * 1024;

/// What a command begins with.
pub(crate) struct Setup {
    /// The configuration.
    pub(crate) config: Config,
    /// The models.
    pub(crate) models: ModelTable,
    /// Takes secrets out, the configured ones among them.
    pub(crate) redactor: Arc<Redactor>,
    /// Where words go.
    pub(crate) output: Output,
    /// The model for search by meaning, opened at most once a process, by whoever needs it first.
    pub(crate) index_model: Arc<IndexModel>,
}

impl Setup {
    /// Reads the configuration for a command that runs an agent.
    ///
    /// # Errors
    /// When the configuration is wrong.
    pub(crate) fn new(invocation: &Invocation, settings: &SettingFlags) -> Result<Self, CliError> {
        let config = Config::load(&invocation.surroundings(settings))?;
        for notice in &config.notices {
            invocation.output.warn(&clean::line(notice));
        }
        Self::with(config, invocation.output.clone())
    }

    /// Reads the configuration for a command that only looks at the log: what is refused or untrusted in the workspace
    /// does not matter to it and is not told.
    ///
    /// # Errors
    /// When the configuration is wrong.
    pub(crate) fn for_reading(invocation: &Invocation) -> Result<Self, CliError> {
        let config = Config::load(&invocation.surroundings(&SettingFlags::default()))?;
        Self::with(config, invocation.output.clone())
    }

    fn with(config: Config, output: Output) -> Result<Self, CliError> {
        let secrets = [&config.values.api_key, &config.values.auth_token];
        let keys = secrets.into_iter().flatten().map(|secret| secret.value.expose().to_owned());
        // What the proxy adds must not come back by way of a server that repeats it.
        let variables = config.values.sandboxes.credentials.value.iter().map(|credential| &credential.variable);
        let known = keys.chain(variables.filter_map(|name| std::env::var(name).ok())).collect();
        let models = model_table(&config)?;
        let index_model = model_of(&config);
        Ok(Self { config, models, redactor: Arc::new(Redactor::new(known)), output, index_model })
    }

    /// Opens the log.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) async fn open_log(&self) -> Result<Arc<dyn EventLog>, CliError> {
        Ok(open_log(&self.config.log).await?)
    }

    /// The log in a few words: which, where, and what its acks are worth.
    #[must_use]
    pub(crate) fn log_words(log: &dyn EventLog) -> String {
        let worth = match log.durability() {
            Durability::PowerLoss => "durable".to_owned(),
            Durability::ProcessCrash(why) => format!("NOT DURABLE: {}", clean::short(&why, 120)),
            Durability::Volatile => "in memory only".to_owned(),
        };
        let location = clean::line(&log.location());
        let kind = if location.contains("://") { "" } else { "embedded " };
        format!("{kind}{location} ({worth})")
    }

    /// The key.
    ///
    /// # Errors
    /// When none is set, with how to set one.
    pub(crate) fn auth(&self) -> Result<Auth, CliError> {
        self.config.auth().ok_or_else(|| {
            let file = self.config.folders.credentials_file();
            CliError::new(Exit::Usage, "no API key is set").hint(format!(
                "export ANTHROPIC_API_KEY=…, or write anthropic_api_key = \"…\" into {} (mode 600); \
                 `retrace demo` works without one",
                file.display()
            ))
        })
    }

    /// What an agent works with that runs a session under `settings`. Nobody can be asked; who can ask says so.
    ///
    /// # Errors
    /// When key or address cannot be used.
    pub(crate) fn parts(
        &self,
        log: Arc<dyn EventLog>,
        settings: &Settings,
        auth: Auth,
        cancel: CancellationToken,
    ) -> Result<AgentParts, CliError> {
        let values = &self.config.values;
        let checkpoints = self.checkpoints(log.as_ref());
        let snapshots = self.snapshot_plan(log.as_ref());
        Ok(AgentParts {
            memory: Arc::new(IndexMemory::new(
                Arc::clone(&log),
                self.config.folders.state.clone(),
                Arc::clone(&self.index_model),
                values.masked(),
            )),
            log,
            mint: Arc::new(SystemMint),
            client: ClaudeClient::new(&Endpoint::new(settings.base_url.clone(), auth))?,
            models: self.models.clone(),
            redactor: Arc::clone(&self.redactor),
            live: LiveSender::default(),
            cancel,
            guest_dir: self.config.folders.state.join("guest"),
            sandboxes: SandboxSetup::of(values),
            permissions: Arc::new(self.config.permissions(settings, settings.sandbox != "none")),
            attended: false,
            holder: Holder::this_process(&command_line(), SystemMint.now()),
            context_tokens: values.context_tokens.value,
            api_compaction: values.compaction.value == CompactionChoice::Api,
            checkpoints,
            snapshots,
            user_instructions: self.config.folders.config.clone(),
        })
    }

    /// What is kept of the sessions in `log`, so that long ones need not be read from their beginning.
    #[must_use]
    pub(crate) fn checkpoints(&self, log: &dyn EventLog) -> Checkpoints {
        Checkpoints::of_log(&self.config.folders.state, &log.identity())
    }

    /// Where snapshots of the workspace go, unless the user wants none.
    pub(crate) fn snapshot_plan(&self, log: &dyn EventLog) -> Option<SnapshotPlan> {
        let values = &self.config.values;
        let with_ignored = values.snapshots.value == SnapshotChoice::WithIgnored;
        let plan = SnapshotPlan::new(&self.config.folders.state, log.identity(), &values.masked(), with_ignored);
        (values.snapshots.value != SnapshotChoice::Off).then_some(plan)
    }

    /// A transcript in `style`.
    #[must_use]
    pub(crate) fn transcript(&self, style: Style, detail: Detail) -> Transcript {
        Transcript::new(style, detail, Arc::clone(&self.redactor), tools::all())
    }
}

/// What this process was started as, without its arguments: `retrace chat`.
fn command_line() -> String {
    let subcommand = std::env::args().nth(1).unwrap_or_default();
    let words: String = subcommand.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(20).collect();
    format!("retrace {words}").trim_end().to_owned()
}

/// The built-in table with the user's own rows (`models.toml` in the configuration folder) over it.
fn model_table(config: &Config) -> Result<ModelTable, CliError> {
    let broken = |error: &dyn std::fmt::Display| CliError::new(Exit::Usage, format!("the table of models: {error}"));
    let table = ModelTable::builtin().map_err(|error| broken(&error))?;
    let path = config.folders.config.join("models.toml");
    let size = match std::fs::metadata(&path) {
        Err(_) => return Ok(table),
        Ok(meta) => meta.len(),
    };
    if size > MAX_MODELS_BYTES {
        return Err(broken(&format!("{} is larger than {MAX_MODELS_BYTES} bytes", path.display())));
    }
    let text = std::fs::read_to_string(&path).map_err(|error| broken(&format!("{}: {error}", path.display())))?;
    table.with_overrides(&text).map_err(|error| broken(&format!("{}: {error}", path.display())))
}
