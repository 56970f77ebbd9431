//! What an epoch begins with, and when another one is needed. Everything is written into the log as raw JSON, so that
//! later versions of retrace, with other words and other tables, still render the same bytes.

use super::fitted::Fitted;
use super::render::RENDERER;
use super::system_prompt::{Surroundings, system_prompt};
use crate::claude::ModelRow;
use retrace_events::payload::context::{ContextEpochStarted, ContextPassage};
use retrace_events::payload::settings::Settings;
use serde::Serialize;
use std::path::Path;

/// An epoch that cannot be written down.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the epoch's {what} as JSON")]
pub struct EpochError {
    what: &'static str,
    source: serde_json::Error,
}

/// What an epoch is made of.
#[derive(Debug, Clone)]
pub struct EpochPlan<'a> {
    /// 1 for the session's first.
    pub number: u32,
    /// What the session asks for.
    pub settings: &'a Settings,
    /// The row of the model that the settings name.
    pub row: &'a ModelRow,
    /// The request's `tools`, as raw JSON.
    pub tools_json: String,
    /// Where the session works.
    pub workspace: &'a Path,
    /// The sandbox's backend.
    pub backend: &'a str,
    /// What of the network can be reached from the sandbox.
    pub network: &'a [String],
    /// What the epoch begins with.
    pub seed: Vec<ContextPassage>,
    /// The first event whose conversation is kept; 0 keeps all of it. It must not lie within a turn.
    pub from_seq: u64,
    /// Why it begins.
    pub why: String,
}

#[derive(Serialize)]
struct SystemBlock<'a> {
    r#type: &'static str,
    text: &'a str,
    cache_control: CacheControl,
}

#[derive(Serialize)]
struct CacheControl {
    r#type: &'static str,
    ttl: &'static str,
}

/// The event that begins an epoch; and what of the settings the model does not take, a line each for the user.
///
/// # Errors
/// When a part cannot be written as JSON.
pub fn new_epoch(plan: EpochPlan<'_>) -> Result<(ContextEpochStarted, Vec<String>), EpochError> {
    let EpochPlan { number, settings, row, tools_json, workspace, backend, network, seed, from_seq, why } = plan;
    let Fitted { max_tokens, thinking, output_config, notices } = Fitted::new(settings, row);
    let text = system_prompt(&Surroundings { workspace, backend, network });
    // Tools stand before system in the prefix, so this one breakpoint covers both.
    let cache_control = CacheControl { r#type: "ephemeral", ttl: "1h" };
    let system = [SystemBlock { r#type: "text", text: &text, cache_control }];
    let epoch = ContextEpochStarted {
        number,
        renderer: RENDERER,
        model: settings.model.clone(),
        model_row: serde_json::to_string(row).map_err(|source| EpochError { what: "model row", source })?,
        system: serde_json::to_string(&system).map_err(|source| EpochError { what: "system", source })?,
        tools: tools_json,
        max_tokens,
        thinking,
        output_config,
        seed,
        from_seq,
        why,
        compacted: None,
    };
    Ok((epoch, notices))
}

/// The epoch that goes on after `before` behind a summary of everything older than `from_seq`, which the API wrote: all else
/// is as it was, since the thinking that is kept is bound to it.
#[must_use]
pub fn compacted_epoch(before: &ContextEpochStarted, block: String, from_seq: u64, why: String) -> ContextEpochStarted {
    ContextEpochStarted {
        number: before.number + 1,
        seed: Vec::new(),
        from_seq,
        why,
        compacted: Some(block),
        ..before.clone()
    }
}

/// Why `settings` need another epoch than `epoch`, in words; `None` while it fits. `row` is that of the model the settings
/// name.
#[must_use]
pub fn differs(epoch: &ContextEpochStarted, settings: &Settings, row: &ModelRow) -> Option<String> {
    let wanted = Fitted::new(settings, row);
    let mut changes = Vec::new();
    if epoch.renderer != RENDERER {
        changes.push("it was begun by another version of retrace".to_owned());
    }
    if epoch.model != settings.model {
        changes.push(format!("the model changes from {} to {}", epoch.model, settings.model));
    }
    if epoch.max_tokens != wanted.max_tokens {
        changes.push(format!("max_tokens changes from {} to {}", epoch.max_tokens, wanted.max_tokens));
    }
    let fields =
        [("thinking", &epoch.thinking, &wanted.thinking), ("effort", &epoch.output_config, &wanted.output_config)];
    for (name, before, after) in fields {
        if before != after {
            let shown = |json: &Option<String>| json.clone().unwrap_or_else(|| "the model's own".to_owned());
            changes.push(format!("{name} changes from {} to {}", shown(before), shown(after)));
        }
    }
    (!changes.is_empty()).then(|| changes.join("; "))
}
