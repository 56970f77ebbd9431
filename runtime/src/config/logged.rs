//! Resuming: a session goes on under the settings in its log unless a flag says otherwise.
//!
//! Three things a log may not decide by itself, since it may have come from somebody else: where the user's key is sent,
//! whether there is a sandbox, and when a person is asked. The address is always today's; a session without a sandbox must
//! be asked for again; of the log's approvals and today's the stricter hold.

use super::Config;
use super::origin::Origin;
use crate::claude::ModelTable;
use crate::permissions::ApprovalMode;
use retrace_events::payload::settings::Settings;
use retrace_sandbox::SandboxChoice;

/// Why a session cannot go on under its logged settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoggedError {
    /// It talked to another address than the one requests would go to now, and nobody named either.
    #[error("the session's requests went to {logged}, and none is configured")]
    OtherAddress {
        /// The address in the log.
        logged: String,
        /// The built-in one.
        default: String,
    },
    /// It ran without a sandbox.
    #[error("the session ran without a sandbox")]
    NoSandbox,
}

impl LoggedError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::OtherAddress { logged, default } => format!("say --base-url {logged} or --base-url {default}"),
            Self::NoSandbox => "say --sandbox none to go on like that, or --sandbox auto".to_owned(),
        }
    }
}

/// The settings a session goes on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resumed {
    /// All settings.
    pub settings: Settings,
    /// What differs from the log and on whose word; `None` when nothing does.
    pub why: Option<String>,
}

impl Config {
    /// The settings for going on with a session that was logged under `logged`.
    ///
    /// # Errors
    /// When the log alone would redirect requests or do without a sandbox.
    pub fn resumed(&self, logged: &Settings, models: &ModelTable) -> Result<Resumed, LoggedError> {
        let today = self.settings(models);
        let mut next = logged.clone();
        let flagged = |origin: &Origin| matches!(origin, Origin::Flag(_));
        let values = &self.values;

        let model_changed = flagged(&values.model.origin);
        if model_changed {
            next.model.clone_from(&today.model);
        }
        if flagged(&values.max_tokens.origin) {
            next.max_tokens = today.max_tokens;
        }
        // Another model may not take the old one's thinking setting.
        if flagged(&values.thinking.origin) || (model_changed && next.model != logged.model) {
            next.thinking = values.thinking.value.field(&models.row(&next.model), next.max_tokens);
        }
        if flagged(&values.effort.origin) {
            next.effort.clone_from(&today.effort);
        }
        if flagged(&values.sandbox.origin) {
            next.sandbox.clone_from(&today.sandbox);
        }
        if flagged(&values.approvals.origin) || ApprovalMode::of_settings(&logged.approvals) < values.approvals.value {
            next.approvals.clone_from(&today.approvals);
        }
        self.address(logged, &mut next)?;
        if next.sandbox == SandboxChoice::None.as_str() && values.sandbox.value != SandboxChoice::None {
            return Err(LoggedError::NoSandbox);
        }
        self.limits(&today, &mut next);
        let words = changes(logged, &next);
        let why = (!words.is_empty()).then(|| words.join("; "));
        Ok(Resumed { settings: next, why })
    }

    /// Limits that a flag names.
    fn limits(&self, today: &Settings, next: &mut Settings) {
        type Take = fn(&Settings, &mut Settings);
        let values = &self.values;
        let limits: [(&Origin, Take); 10] = [
            (&values.max_steps.origin, |from, to| to.budget.max_steps = from.budget.max_steps),
            (&values.max_total_tokens.origin, |from, to| to.budget.max_tokens = from.budget.max_tokens),
            (&values.max_cost_microusd.origin, |from, to| to.budget.max_cost_microusd = from.budget.max_cost_microusd),
            (&values.max_time_ms.origin, |from, to| to.budget.max_time_ms = from.budget.max_time_ms),
            (&values.max_tree_steps.origin, |from, to| to.tree_budget.max_steps = from.tree_budget.max_steps),
            (&values.max_tree_tokens.origin, |from, to| to.tree_budget.max_tokens = from.tree_budget.max_tokens),
            (&values.max_tree_cost_microusd.origin, |from, to| {
                to.tree_budget.max_cost_microusd = from.tree_budget.max_cost_microusd;
            }),
            (&values.max_tree_time_ms.origin, |from, to| to.tree_budget.max_time_ms = from.tree_budget.max_time_ms),
            (&values.command_timeout_ms.origin, |from, to| to.command_timeout_ms = from.command_timeout_ms),
            (&values.max_attempts.origin, |from, to| to.max_attempts = from.max_attempts),
        ];
        for (origin, take) in limits {
            if matches!(origin, Origin::Flag(_)) {
                take(today, next);
            }
        }
    }

    fn address(&self, logged: &Settings, next: &mut Settings) -> Result<(), LoggedError> {
        let today = &self.values.base_url;
        if today.value != logged.base_url && today.origin == Origin::Default {
            return Err(LoggedError::OtherAddress { logged: logged.base_url.clone(), default: today.value.clone() });
        }
        next.base_url.clone_from(&today.value);
        Ok(())
    }
}

/// What differs, one phrase a field.
fn changes(old: &Settings, new: &Settings) -> Vec<String> {
    let (Ok(serde_json::Value::Object(old)), Ok(serde_json::Value::Object(new))) =
        (serde_json::to_value(old), serde_json::to_value(new))
    else {
        return vec!["settings changed".to_owned()];
    };
    let phrase = |(name, value): (&String, &serde_json::Value)| {
        let before = old.get(name).cloned().unwrap_or_default();
        (before != *value).then(|| format!("{name}: {before} -> {value}"))
    };
    new.iter().filter_map(phrase).collect()
}
