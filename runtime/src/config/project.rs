//! What a project's `.retrace.toml` may say: it may forbid more, never allow more and never redirect.
//!
//! A value that would allow more is left out and reported, so that a repository can neither loosen anything nor hide that
//! it tried; it does not stop the work, since then any repository could do that.

use super::choice;
use super::error::ConfigError;
use super::key::Key;
use super::raw::{Misfit, Raw};
use super::values::{Entry, Values};
use crate::permissions::RuleSet;
use retrace_sandbox::SandboxChoice;
use std::cmp::Reverse;
use std::path::Path;

/// What became of a project's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// It forbids more than what held.
    Tightens,
    /// It is what holds already.
    Same,
    /// It would allow more.
    Loosens,
    /// Its key is none of a project's business.
    NotHere,
}

/// Lays the project's entries over `values` as far as they tighten; returns one line for each that does not.
///
/// # Errors
/// When a value is not what its key wants: a limit that cannot be read must not be dropped silently.
pub(super) fn tighten(values: &mut Values, entries: &[Entry]) -> Result<Vec<String>, ConfigError> {
    let mut refused = Vec::new();
    for entry in entries {
        let (origin, name) = (&entry.origin, entry.key.name());
        match judge(values, entry).map_err(|why| entry.misfit(why))? {
            Verdict::Tightens => values.apply(entry)?,
            Verdict::Same => {}
            Verdict::Loosens => {
                refused.push(format!("{origin}: `{name}` ignored: a project may only make it stricter"))
            }
            Verdict::NotHere => refused.push(format!("{origin}: `{name}` ignored: a project may not set it")),
        }
    }
    Ok(refused)
}

/// Adds the project's rules to `rules`; what it allows counts only where the user trusts the folder. Returns what was
/// left out.
pub(super) fn add_rules(rules: &mut RuleSet, mut project: RuleSet, file: &Path, trusted: bool) -> Option<String> {
    let refused = if trusted { Vec::new() } else { std::mem::take(&mut project.allow) };
    rules.extend(project);
    (!refused.is_empty()).then(|| {
        let count = if refused.len() == 1 { "1 rule".to_owned() } else { format!("{} rules", refused.len()) };
        format!(
            "{}: {count} of `permissions.allow` ignored, because the folder is not trusted (hint: retrace config trust)",
            file.display()
        )
    })
}

fn judge(values: &Values, entry: &Entry) -> Result<Verdict, Misfit> {
    let raw = &entry.raw;
    Ok(match entry.key {
        Key::MaxTokens => lower(Some(raw.number()?), values.max_tokens.value),
        Key::MaxSteps => lower(raw.limit(Raw::number)?, values.max_steps.value),
        Key::MaxTotalTokens => lower(raw.limit(Raw::number)?, values.max_total_tokens.value),
        Key::MaxCost => lower(raw.limit(Raw::money_microusd)?, values.max_cost_microusd.value),
        Key::MaxTime => lower(raw.limit(Raw::time_ms)?, values.max_time_ms.value),
        Key::MaxTreeSteps => lower(raw.limit(Raw::number)?, values.max_tree_steps.value),
        Key::MaxTreeTokens => lower(raw.limit(Raw::number)?, values.max_tree_tokens.value),
        Key::MaxTreeCost => lower(raw.limit(Raw::money_microusd)?, values.max_tree_cost_microusd.value),
        Key::MaxTreeTime => lower(raw.limit(Raw::time_ms)?, values.max_tree_time_ms.value),
        Key::CommandTimeout => lower(Some(raw.time_ms()?), Some(values.command_timeout_ms.value)),
        Key::MaxAttempts => lower(Some(raw.number()?), Some(values.max_attempts.value)),
        Key::Sandbox => stricter(choice::sandbox(raw, values.sandbox.value)?, values.sandbox.value),
        // The later mode is the stricter one.
        Key::Approvals => lower(Some(Reverse(choice::approvals(raw)?)), Some(Reverse(values.approvals.value))),
        Key::Memory => {
            // As much as any backend has when nothing is said; a container's own default may be less.
            lower(Some(raw.size_bytes()?), Some(values.sandboxes.limits().memory()))
        }
        Key::Cpus => lower(raw.limit(Raw::cpus_percent)?, values.sandboxes.cpus_percent.value),
        Key::Processes => lower(Some(raw.number()?), Some(values.sandboxes.processes.value)),
        Key::Disk => lower(raw.limit(Raw::size_bytes)?, values.sandboxes.disk_bytes.value),
        Key::Scratch => lower(Some(raw.size_bytes()?), Some(values.sandboxes.scratch_bytes.value)),
        Key::OutputSize => lower(Some(raw.size_bytes()?), Some(values.sandboxes.output_bytes.value)),
        Key::CpuTime => lower(Some(raw.time_ms()?), Some(values.sandboxes.cpu_time_ms.value)),
        Key::CommandTime => lower(Some(raw.time_ms()?), Some(values.sandboxes.command_time_ms.value)),
        Key::IdleTime => lower(raw.limit(Raw::time_ms)?, values.sandboxes.idle_ms.value),
        Key::Mask => raw.names().map(|_| Verdict::Tightens)?,
        Key::Model
        | Key::Thinking
        | Key::Effort
        | Key::BaseUrl
        | Key::ApiKey
        | Key::AuthToken
        | Key::Workspace
        | Key::Log
        | Key::AcceptNondurable
        | Key::ContextTokens
        | Key::Compaction
        | Key::Summaries
        | Key::SummaryModel
        | Key::Expose
        | Key::Image
        | Key::Engine
        | Key::Network
        | Key::NetworkCredentials
        | Key::Index
        | Key::EmbedModel
        | Key::Snapshots => Verdict::NotHere,
    })
}

/// Compares limits; `None` is no limit.
fn lower<T: Ord>(wanted: Option<T>, held: Option<T>) -> Verdict {
    match (wanted, held) {
        (None, None) => Verdict::Same,
        (None, Some(_)) => Verdict::Loosens,
        (Some(_), None) => Verdict::Tightens,
        (Some(wanted), Some(held)) => match wanted.cmp(&held) {
            std::cmp::Ordering::Less => Verdict::Tightens,
            std::cmp::Ordering::Equal => Verdict::Same,
            std::cmp::Ordering::Greater => Verdict::Loosens,
        },
    }
}

fn stricter(wanted: SandboxChoice, held: SandboxChoice) -> Verdict {
    if wanted == held {
        Verdict::Same
    } else if choice::surely_as_strict(wanted, held) {
        Verdict::Tightens
    } else {
        Verdict::Loosens
    }
}
