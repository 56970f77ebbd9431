//! The flags that set configuration values, shared by the commands that read the configuration.

use crate::config::{Flag, Key, Raw};
use crate::permissions::RuleList;
use clap::Args;

/// Flags every command has.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct GlobalFlags {
    /// Print data as JSON, one object a line
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    /// Print only data, warnings and errors
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,
    /// The event log: `embedded`, a folder, or nats://host:4222
    #[arg(long, global = true, value_name = "LOCATION", help_heading = "Global options")]
    pub(crate) log: Option<String>,
    /// Take a NATS server whose acknowledged events a power loss may undo
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) accept_nondurable: bool,
    /// The folder that is worked on [default: the current one]
    #[arg(long, short, global = true, value_name = "DIR", help_heading = "Global options")]
    pub(crate) workspace: Option<String>,
}

/// Flags of the commands that run an agent.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct SettingFlags {
    /// The model
    #[arg(long, value_name = "ID")]
    pub(crate) model: Option<String>,
    /// The most tokens of one answer
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<String>,
    /// How the model thinks: auto, off, adaptive, or a number of tokens
    #[arg(long, value_name = "HOW")]
    pub(crate) thinking: Option<String>,
    /// How much effort the model makes: low, medium, high, xhigh, max, or `none` for its own
    #[arg(long, value_name = "HOW")]
    pub(crate) effort: Option<String>,
    /// Where requests go
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Where commands run: auto, krun, container, process, or none (no isolation at all)
    #[arg(long, value_name = "KIND")]
    pub(crate) sandbox: Option<String>,
    /// When you are asked before a call: auto (without a sandbox), ask (before each that may change something), allow (never)
    #[arg(long, value_name = "WHEN")]
    pub(crate) approvals: Option<String>,
    /// Allow calls without asking, like `bash(cargo test *)` or `edit_file(src/**)`; can be repeated
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// Ask each time before such calls; can be repeated
    #[arg(long, value_name = "RULE")]
    pub(crate) ask: Vec<String>,
    /// Never make such calls; can be repeated
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<String>,
    /// Stop after this many answers, or `none`
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<String>,
    /// Stop after this many tokens in and out, or `none`
    #[arg(long, value_name = "N")]
    pub(crate) max_total_tokens: Option<String>,
    /// Stop at this cost in US dollars, like 2.50, or `none`
    #[arg(long, value_name = "USD")]
    pub(crate) max_cost: Option<String>,
    /// Stop after this time in turns, like 30m, or `none`
    #[arg(long, value_name = "TIME")]
    pub(crate) max_time: Option<String>,
    /// Stop after this many answers of the session and all its forks together, or `none`
    #[arg(long, value_name = "N")]
    pub(crate) max_tree_steps: Option<String>,
    /// Stop after this many tokens of the session and all its forks together, or `none`
    #[arg(long, value_name = "N")]
    pub(crate) max_tree_tokens: Option<String>,
    /// Stop at this cost of the session and all its forks together, or `none`
    #[arg(long, value_name = "USD")]
    pub(crate) max_tree_cost: Option<String>,
    /// Stop after this time in turns of the session and all its forks together, or `none`
    #[arg(long, value_name = "TIME")]
    pub(crate) max_tree_time: Option<String>,
    /// How long a command may run, like 2m
    #[arg(long, value_name = "TIME")]
    pub(crate) command_timeout: Option<String>,
    /// How often a failed request is tried
    #[arg(long, value_name = "N")]
    pub(crate) max_attempts: Option<String>,
    /// A path outside the workspace that commands may read; can be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) expose: Vec<String>,
    /// A file name that commands may not read; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) mask: Vec<String>,
}

impl GlobalFlags {
    /// The configuration values among them.
    #[must_use]
    pub(crate) fn values(&self) -> Vec<Flag> {
        let mut flags = Vec::new();
        text(&mut flags, Key::Log, "--log", self.log.as_ref());
        text(&mut flags, Key::Workspace, "--workspace", self.workspace.as_ref());
        if self.accept_nondurable {
            flags.push(Flag { key: Key::AcceptNondurable, name: "--accept-nondurable", value: Raw::Bool(true) });
        }
        flags
    }
}

impl SettingFlags {
    /// The configuration values among them, behind those of `global`.
    #[must_use]
    pub(crate) fn values(&self, global: &GlobalFlags) -> Vec<Flag> {
        let mut flags = global.values();
        text(&mut flags, Key::Model, "--model", self.model.as_ref());
        text(&mut flags, Key::MaxTokens, "--max-tokens", self.max_tokens.as_ref());
        text(&mut flags, Key::Thinking, "--thinking", self.thinking.as_ref());
        text(&mut flags, Key::Effort, "--effort", self.effort.as_ref());
        text(&mut flags, Key::BaseUrl, "--base-url", self.base_url.as_ref());
        text(&mut flags, Key::Sandbox, "--sandbox", self.sandbox.as_ref());
        text(&mut flags, Key::Approvals, "--approvals", self.approvals.as_ref());
        text(&mut flags, Key::MaxSteps, "--max-steps", self.max_steps.as_ref());
        text(&mut flags, Key::MaxTotalTokens, "--max-total-tokens", self.max_total_tokens.as_ref());
        text(&mut flags, Key::MaxCost, "--max-cost", self.max_cost.as_ref());
        text(&mut flags, Key::MaxTime, "--max-time", self.max_time.as_ref());
        text(&mut flags, Key::MaxTreeSteps, "--max-tree-steps", self.max_tree_steps.as_ref());
        text(&mut flags, Key::MaxTreeTokens, "--max-tree-tokens", self.max_tree_tokens.as_ref());
        text(&mut flags, Key::MaxTreeCost, "--max-tree-cost", self.max_tree_cost.as_ref());
        text(&mut flags, Key::MaxTreeTime, "--max-tree-time", self.max_tree_time.as_ref());
        text(&mut flags, Key::CommandTimeout, "--command-timeout", self.command_timeout.as_ref());
        text(&mut flags, Key::MaxAttempts, "--max-attempts", self.max_attempts.as_ref());
        list(&mut flags, Key::Expose, "--expose", &self.expose);
        list(&mut flags, Key::Mask, "--mask", &self.mask);
        flags
    }

    /// Without those that a session in the log has its own settings for. What the log may not decide alone stays: where
    /// requests go, what isolates, when somebody is asked.
    #[must_use]
    pub(crate) fn without_logged(&self) -> Self {
        let Self { base_url, sandbox, approvals, allow, ask, deny, expose, mask, .. } = self.clone();
        Self { base_url, sandbox, approvals, allow, ask, deny, expose, mask, ..Self::default() }
    }

    /// The permission rules among them.
    #[must_use]
    pub(crate) fn rules(&self) -> Vec<(RuleList, String)> {
        let lists = [(RuleList::Deny, &self.deny), (RuleList::Ask, &self.ask), (RuleList::Allow, &self.allow)];
        lists.into_iter().flat_map(|(list, texts)| texts.iter().map(move |text| (list, text.clone()))).collect()
    }
}

fn text(flags: &mut Vec<Flag>, key: Key, name: &'static str, value: Option<&String>) {
    flags.extend(value.map(|value| Flag { key, name, value: Raw::Text(value.clone()) }));
}

fn list(flags: &mut Vec<Flag>, key: Key, name: &'static str, values: &[String]) {
    if !values.is_empty() {
        flags.push(Flag { key, name, value: Raw::List(values.to_vec()) });
    }
}
