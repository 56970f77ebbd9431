//! The record as JSON, one object a row.

use crate::audit::{AuditEnd, AuditRow, AuditedCall, NetworkUse, RowKind, TreeChanges};
use crate::cli::render::clean;
use retrace_events::redact::Redactor;
use retrace_sandbox::snapshot::ChangeKind;
use serde_json::{Value, json};

/// Paths of one row at most; how many there are is said beside them.
const MAX_PATHS: usize = 10_000;

/// A row.
pub(super) fn row(row: &AuditRow, changes: &TreeChanges, redactor: &Redactor) -> Value {
    let redact = |text: &str| redactor.redact(text).into_owned();
    let (kind, what) = match &row.kind {
        RowKind::Call(call) => ("call", of_call(call, &redact)),
        RowKind::Started(started) => ("sandbox_started", json!({ "sandbox": started })),
        RowKind::Stopped(stopped) => ("sandbox_stopped", json!({ "sandbox": stopped })),
        RowKind::ByHand(_) => ("changed_by_hand", json!({})),
        RowKind::Network(network) => ("network", json!({ "network": [of_network(network, &redact)] })),
        RowKind::Limit(limit, detail) => ("limit", json!({ "limits": [{ "limit": limit, "detail": redact(detail) }] })),
    };
    let mut value = json!({
        "kind": kind,
        "session": row.event.0.id.as_str(),
        "event": row.event.1,
        "at": row.at.to_string(),
    });
    let more = [what, of_changes(changes, &redact)];
    if let Value::Object(fields) = &mut value {
        for (name, field) in more
            .into_iter()
            .filter_map(|more| match more {
                Value::Object(more) => Some(more),
                _ => None,
            })
            .flatten()
        {
            fields.insert(name, field);
        }
    }
    value
}

fn of_call(call: &AuditedCall, redact: &dyn Fn(&str) -> String) -> Value {
    let end = match &call.end {
        AuditEnd::Open => json!({ "end": "open" }),
        AuditEnd::Finished { failed, exit, duration_ms } => {
            json!({ "end": "finished", "failed": failed, "exit": exit, "duration_ms": duration_ms })
        }
        AuditEnd::Denied { by, why } => json!({ "end": "denied", "by": redact(by), "why": redact(why) }),
        AuditEnd::Unknown(why) => json!({ "end": "unknown", "why": redact(why) }),
    };
    let files: Vec<Value> =
        call.files.iter().map(|(how, path)| json!({ "how": how.word(), "path": redact(path) })).collect();
    let pairs = |pairs: &[(String, String)], name: &str| -> Vec<Value> {
        pairs.iter().map(|(what, detail)| json!({ name: what, "detail": redact(detail) })).collect()
    };
    json!({
        "call": call.call.0,
        "part_of": call.part_of.as_ref().map(|whole| whole.0.as_str()),
        "tool": call.tool,
        "command": call.command().map(|command| redact(&command)),
        "is_batch": call.is_whole,
        "allowed_by": call.allowed_by,
        "result": end,
        "repeats": call.repeats.map(|from| from.to_string()),
        "files": files,
        "network": call.network.iter().map(|network| of_network(network, redact)).collect::<Vec<_>>(),
        "limits": pairs(&call.limits, "limit"),
        "refused": pairs(&call.refused, "what"),
    })
}

fn of_network(network: &NetworkUse, redact: &dyn Fn(&str) -> String) -> Value {
    match network {
        NetworkUse::Attempt(attempt) => {
            json!({ "destination": redact(&attempt.destination), "allowed": attempt.allowed })
        }
        NetworkUse::Connection(used) => json!({
            "destination": redact(&network.destination()),
            "allowed": used.allowed,
            "how": used.how,
            "why": redact(&used.why),
            "sent_bytes": used.sent_bytes,
            "received_bytes": used.received_bytes,
            "credential": used.credential,
            "duration_ms": used.duration_ms,
        }),
    }
}

fn of_changes(changes: &TreeChanges, redact: &dyn Fn(&str) -> String) -> Value {
    match changes {
        TreeChanges::Nothing => json!({}),
        TreeChanges::Unknown(why) => json!({ "changes_unknown": redact(why) }),
        TreeChanges::Paths(paths) => {
            let change = |change: &retrace_sandbox::snapshot::Change| {
                let what = match change.kind() {
                    ChangeKind::Added => "created",
                    ChangeKind::Deleted => "deleted",
                    ChangeKind::Modified => "modified",
                    ChangeKind::Mode => "mode",
                    ChangeKind::Replaced => "replaced",
                };
                json!({ "path": clean::line(&redact(&change.path.display().to_string())), "change": what })
            };
            let listed: Vec<Value> = paths.iter().take(MAX_PATHS).map(change).collect();
            json!({ "paths_changed": paths.len(), "changes": listed })
        }
    }
}
