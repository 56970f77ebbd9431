//! What payloads looked like in earlier schemas, and how they become today's. These structs are history: they never change.

use super::Upcasters;
use crate::codec::{self, CodecError};
use crate::hash::Hash;
use crate::id::{StreamId, Timestamp};
use crate::payload::context::{ContextEpochStarted, ContextPassage};
use crate::payload::job::JobSubmitted;
use crate::payload::session::{SessionConfigured, SessionForkReason, SessionForked, SessionStarted};
use crate::payload::settings::{Budget, Settings};
use serde::{Deserialize, Serialize};

/// All steps.
pub(super) fn steps() -> Upcasters {
    Upcasters::default()
        .with("session.started", 1, |bytes| {
            let old: FirstStarted = codec::decode("session.started", bytes)?;
            let FirstStarted { title, workspace, retrace_version, settings } = old;
            codec::encode(&SessionStarted { title, workspace, retrace_version, settings: settings.into() })
        })
        .with("session.forked", 1, forked)
        .with("session.configured", 1, |bytes| {
            let old: FirstConfigured = codec::decode("session.configured", bytes)?;
            codec::encode(&SessionConfigured { settings: old.settings.into(), why: old.why })
        })
        .with("job.submitted", 1, |bytes| {
            let old: FirstSubmitted = codec::decode("job.submitted", bytes)?;
            let FirstSubmitted { task, workspace, settings, priority, max_attempts, deadline } = old;
            codec::encode(&JobSubmitted {
                task,
                workspace,
                settings: settings.into(),
                priority,
                max_attempts,
                deadline,
            })
        })
        .with("context.epoch_started", 1, epoch_started)
        // Only outcomes and sources were added at the end of an enum: the bytes mean the same.
        .with("turn.ended", 1, |bytes| Ok(bytes.to_vec()))
        .with("context.epoch_started", 2, |bytes| Ok(bytes.to_vec()))
        .with("context.epoch_started", 3, |bytes| {
            let old: ThirdEpoch = codec::decode("context.epoch_started", bytes)?;
            codec::encode(&ContextEpochStarted::from(old))
        })
        .with("context.retrieved", 1, |bytes| Ok(bytes.to_vec()))
}

#[derive(Deserialize)]
struct FirstSettings {
    model: String,
    max_tokens: u32,
    thinking: Option<String>,
    base_url: String,
    sandbox: String,
    budget: Budget,
    command_timeout_ms: u64,
    max_attempts: u32,
}

impl From<FirstSettings> for Settings {
    fn from(old: FirstSettings) -> Self {
        let FirstSettings { model, max_tokens, thinking, base_url, sandbox, budget, command_timeout_ms, max_attempts } =
            old;
        Self {
            model,
            max_tokens,
            thinking,
            effort: None,
            base_url,
            sandbox,
            approvals: "auto".to_owned(),
            budget,
            tree_budget: Budget::default(),
            command_timeout_ms,
            max_attempts,
        }
    }
}

#[derive(Deserialize)]
struct FirstStarted {
    title: String,
    workspace: String,
    retrace_version: String,
    settings: FirstSettings,
}

#[derive(Deserialize)]
struct FirstConfigured {
    settings: FirstSettings,
    why: String,
}

#[derive(Deserialize)]
struct FirstForked {
    parent: StreamId,
    parent_seq: u64,
    parent_hash: Hash,
    reason: SessionForkReason,
    title: String,
    workspace: String,
    retrace_version: String,
    settings: FirstSettings,
}

fn forked(bytes: &[u8]) -> Result<Vec<u8>, CodecError> {
    let old: FirstForked = codec::decode("session.forked", bytes)?;
    let FirstForked { parent, parent_seq, parent_hash, reason, title, workspace, retrace_version, settings } = old;
    let settings = settings.into();
    codec::encode(&SessionForked {
        parent,
        parent_seq,
        parent_hash,
        reason,
        title,
        workspace,
        retrace_version,
        settings,
    })
}

#[derive(Deserialize)]
struct FirstSubmitted {
    task: String,
    workspace: String,
    settings: FirstSettings,
    priority: i32,
    max_attempts: u32,
    deadline: Option<Timestamp>,
}

#[derive(Deserialize)]
struct FirstEpoch {
    number: u32,
    renderer: u32,
    model: String,
    model_row: String,
    system: String,
    tools: String,
    max_tokens: u32,
    thinking: Option<String>,
    seed: Vec<ContextPassage>,
    from_seq: u64,
    why: String,
}

/// As it was from schema 2 to 3.
#[derive(Serialize, Deserialize)]
struct ThirdEpoch {
    number: u32,
    renderer: u32,
    model: String,
    model_row: String,
    system: String,
    tools: String,
    max_tokens: u32,
    thinking: Option<String>,
    output_config: Option<String>,
    seed: Vec<ContextPassage>,
    from_seq: u64,
    why: String,
}

impl From<ThirdEpoch> for ContextEpochStarted {
    fn from(old: ThirdEpoch) -> Self {
        Self {
            number: old.number,
            renderer: old.renderer,
            model: old.model,
            model_row: old.model_row,
            system: old.system,
            tools: old.tools,
            max_tokens: old.max_tokens,
            thinking: old.thinking,
            output_config: old.output_config,
            seed: old.seed,
            from_seq: old.from_seq,
            why: old.why,
            compacted: None,
        }
    }
}

fn epoch_started(bytes: &[u8]) -> Result<Vec<u8>, CodecError> {
    let old: FirstEpoch = codec::decode("context.epoch_started", bytes)?;
    let FirstEpoch { number, renderer, model, model_row, system, tools, max_tokens, thinking, seed, from_seq, why } =
        old;
    codec::encode(&ThirdEpoch {
        number,
        renderer,
        model,
        model_row,
        system,
        tools,
        max_tokens,
        thinking,
        output_config: None,
        seed,
        from_seq,
        why,
    })
}
