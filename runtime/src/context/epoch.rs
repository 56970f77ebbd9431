//! What an epoch begins with. Everything is written into the log as raw JSON, so that later versions of retrace, with other
//! words and other tables, still render the same bytes.

use super::instructions::{Surroundings, system_prompt};
use super::render::RENDERER;
use crate::claude::ModelRow;
use retrace_events::payload::context::ContextEpochStarted;
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

/// The first epoch of a session: no seed, the whole conversation from the first event on.
///
/// # Errors
/// When a part cannot be written as JSON.
pub fn first_epoch(
    settings: &Settings,
    row: &ModelRow,
    tools_json: String,
    workspace: &Path,
    backend: &str,
) -> Result<ContextEpochStarted, EpochError> {
    let text = system_prompt(&Surroundings { workspace, backend, network: false });
    // Tools stand before system in the prefix, so this one breakpoint covers both.
    let cache_control = CacheControl { r#type: "ephemeral", ttl: "1h" };
    let system = [SystemBlock { r#type: "text", text: &text, cache_control }];
    Ok(ContextEpochStarted {
        number: 1,
        renderer: RENDERER,
        model: settings.model.clone(),
        model_row: serde_json::to_string(row).map_err(|source| EpochError { what: "model row", source })?,
        system: serde_json::to_string(&system).map_err(|source| EpochError { what: "system", source })?,
        tools: tools_json,
        max_tokens: settings.max_tokens,
        thinking: settings.thinking.clone(),
        seed: Vec::new(),
        from_seq: 0,
        why: "the session begins".to_owned(),
    })
}
