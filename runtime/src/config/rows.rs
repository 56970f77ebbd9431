//! The configuration as rows for people and programs: name, value, origin. Secrets show their last four characters.

use super::Config;
use super::key::{KEYS, Key};
use super::origin::{Origin, Sourced};
use crate::claude::Secret;
use crate::permissions::{GivenRule, RuleList};
use serde_json::{Value, json};

/// One line of `retrace config show`.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The key's name.
    pub name: &'static str,
    /// The value, as JSON; `null` when there is none.
    pub value: Value,
    /// The value for people.
    pub shown: String,
    /// Where it came from, for people.
    pub origin: String,
}

impl Config {
    /// All values, in the order of the key table, and then the permission rules, one a row.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let rules = RuleList::ALL.into_iter().flat_map(|list| {
            let row = move |given: &GivenRule| Row {
                name: list.key(),
                value: json!(given.rule.to_string()),
                shown: given.rule.to_string(),
                origin: given.origin.to_string(),
            };
            self.rules.list(list).iter().map(row)
        });
        KEYS.iter().map(|row| self.row(row.key)).chain(rules).collect()
    }

    fn row(&self, key: Key) -> Row {
        let values = &self.values;
        match key {
            Key::Model => plain(key, &values.model),
            Key::MaxTokens => optional(key, &values.max_tokens, "the model's own", |tokens| json!(tokens)),
            Key::Thinking => plain(key, &values.thinking),
            Key::Effort => optional(key, &values.effort, "the model's own", |effort| json!(effort)),
            Key::BaseUrl => plain(key, &values.base_url),
            Key::ApiKey => hidden(key, values.api_key.as_ref()),
            Key::AuthToken => hidden(key, values.auth_token.as_ref()),
            Key::Workspace => Row {
                name: key.name(),
                value: json!(self.workspace.to_string_lossy()),
                shown: self.workspace.display().to_string(),
                origin: values.workspace.origin.to_string(),
            },
            Key::Sandbox => plain(key, &values.sandbox),
            Key::Approvals => plain(key, &values.approvals),
            Key::Log => {
                let mut row = plain(key, &values.log);
                if row.shown == "embedded" {
                    row.shown = format!("embedded ({})", self.log);
                }
                row
            }
            Key::AcceptNondurable => typed(key, &values.accept_nondurable, json!(values.accept_nondurable.value)),
            Key::MaxSteps => optional(key, &values.max_steps, "none", |steps| json!(steps)),
            Key::MaxTotalTokens => optional(key, &values.max_total_tokens, "none", |tokens| json!(tokens)),
            Key::MaxCost => optional(key, &values.max_cost_microusd, "none", |micro| json!(dollars(*micro))),
            Key::MaxTime => optional(key, &values.max_time_ms, "none", |ms| json!(time(*ms))),
            Key::MaxTreeSteps => optional(key, &values.max_tree_steps, "none", |steps| json!(steps)),
            Key::MaxTreeTokens => optional(key, &values.max_tree_tokens, "none", |tokens| json!(tokens)),
            Key::MaxTreeCost => optional(key, &values.max_tree_cost_microusd, "none", |micro| json!(dollars(*micro))),
            Key::MaxTreeTime => optional(key, &values.max_tree_time_ms, "none", |ms| json!(time(*ms))),
            Key::CommandTimeout => typed(key, &values.command_timeout_ms, json!(time(values.command_timeout_ms.value))),
            Key::MaxAttempts => typed(key, &values.max_attempts, json!(values.max_attempts.value)),
            Key::ContextTokens => optional(key, &values.context_tokens, "the model's window", |tokens| json!(tokens)),
            Key::Compaction => plain(key, &values.compaction),
            Key::Summaries => plain(key, &values.summaries),
            Key::SummaryModel => optional(key, &values.summary_model, "the session's", |model| json!(model)),
            Key::Expose => {
                let paths: Vec<String> = values.expose.value.iter().map(|path| path.display().to_string()).collect();
                typed(key, &values.expose, json!(paths))
            }
            Key::Mask => self.mask_row(),
            Key::Memory => {
                optional(key, &values.sandboxes.memory_bytes, "512 MiB in containers and microVMs, else 4 GiB", size)
            }
            Key::Cpus => optional(key, &values.sandboxes.cpus_percent, "all", |percent| json!(cpus(*percent))),
            Key::Processes => typed(key, &values.sandboxes.processes, json!(values.sandboxes.processes.value)),
            Key::Disk => optional(key, &values.sandboxes.disk_bytes, "none", size),
            Key::Scratch => typed(key, &values.sandboxes.scratch_bytes, size(&values.sandboxes.scratch_bytes.value)),
            Key::OutputSize => typed(key, &values.sandboxes.output_bytes, size(&values.sandboxes.output_bytes.value)),
            Key::CpuTime => typed(key, &values.sandboxes.cpu_time_ms, json!(time(values.sandboxes.cpu_time_ms.value))),
            Key::CommandTime => {
                typed(key, &values.sandboxes.command_time_ms, json!(time(values.sandboxes.command_time_ms.value)))
            }
            Key::IdleTime => optional(key, &values.sandboxes.idle_ms, "none", |ms| json!(time(*ms))),
            Key::Image => optional(key, &values.sandboxes.image, "retrace's own", |image| json!(image)),
            Key::Engine => optional(key, &values.sandboxes.engine, "found", |socket| json!(socket.to_string_lossy())),
            Key::Network => typed(key, &values.sandboxes.network, json!(values.sandboxes.network.value)),
            Key::NetworkCredentials => {
                let lines: Vec<String> = values.sandboxes.credentials.value.iter().map(ToString::to_string).collect();
                typed(key, &values.sandboxes.credentials, json!(lines))
            }
            Key::Index => typed(key, &values.index, json!(values.index.value)),
            Key::Snapshots => plain(key, &values.snapshots),
            Key::EmbedModel => optional(key, &values.embed_model, "none", |model| json!(model)),
        }
    }

    /// Masked names may have come from several places.
    fn mask_row(&self) -> Row {
        let names: Vec<&str> = self.values.mask.iter().map(|name| name.value.as_str()).collect();
        let mut origins: Vec<String> = self.values.mask.iter().map(|name| name.origin.to_string()).collect();
        origins.dedup();
        if origins.is_empty() {
            origins.push(Origin::Default.to_string());
        }
        make(Key::Mask, json!(names), origins.join(", "))
    }
}

fn make(key: Key, value: Value, origin: String) -> Row {
    let shown = match &value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => {
            items.iter().map(|item| item.as_str().unwrap_or_default()).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    Row { name: key.name(), value, shown, origin }
}

fn typed<T>(key: Key, sourced: &Sourced<T>, value: Value) -> Row {
    make(key, value, sourced.origin.to_string())
}

fn plain<T: ToString>(key: Key, sourced: &Sourced<T>) -> Row {
    typed(key, sourced, Value::String(sourced.value.to_string()))
}

fn optional<T>(key: Key, sourced: &Sourced<Option<T>>, unset: &str, json: impl Fn(&T) -> Value) -> Row {
    match &sourced.value {
        Some(value) => typed(key, sourced, json(value)),
        None => {
            Row { name: key.name(), value: Value::Null, shown: unset.to_owned(), origin: sourced.origin.to_string() }
        }
    }
}

fn hidden(key: Key, secret: Option<&Sourced<Secret>>) -> Row {
    match secret {
        Some(secret) => {
            let shown = masked(secret.value.expose());
            Row { name: key.name(), value: Value::String(shown.clone()), shown, origin: secret.origin.to_string() }
        }
        None => Row { name: key.name(), value: Value::Null, shown: "not set".to_owned(), origin: "-".to_owned() },
    }
}

/// Enough of a secret to recognise it by; nothing of one so short that four characters would give it away.
fn masked(secret: &str) -> String {
    match secret.len() {
        0..16 => "set".to_owned(),
        length => format!("set (…{})", &secret[length - 4..]),
    }
}

/// An amount in dollars, with as many decimals as it needs and at least two.
fn dollars(micro: u64) -> String {
    let text = format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000);
    let keep = text.trim_end_matches('0').len().max(text.len() - 4);
    text[..keep].to_owned()
}

/// A size as it can be written.
fn size(bytes: &u64) -> Value {
    json!(bytesize::ByteSize(*bytes).display().iec().to_string())
}

fn cpus(percent: u32) -> String {
    (f64::from(percent) / 100.0).to_string()
}

fn time(ms: u64) -> String {
    let length = jiff::SignedDuration::from_millis(i64::try_from(ms).unwrap_or(i64::MAX));
    format!("{length:#}")
}
