//! [`AuditTotals`]: the record in numbers.

use super::audit_row::{AuditEnd, AuditRow, AuditedCall, FileHow, NetworkUse, RowKind};
use super::tree_changes::TreeChanges;
use retrace_sandbox::snapshot::ChangeKind;
use serde::Serialize;
use std::collections::BTreeSet;

/// The record in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct AuditTotals {
    /// Calls, those that are made of others left out.
    pub(crate) calls: u64,
    /// Commands that were run.
    pub(crate) commands: u64,
    /// Of them those that did not end with exit code 0.
    pub(crate) commands_failed: u64,
    /// Results that were repeated in place of carrying the call out.
    pub(crate) repeated: u64,
    /// Files that were read through tools, each once.
    pub(crate) files_read: u64,
    /// Files that were written through tools, each once.
    pub(crate) files_written: u64,
    /// Paths that appeared behind calls.
    pub(crate) created: u64,
    /// Paths whose contents or kind changed behind calls.
    pub(crate) modified: u64,
    /// Paths that went behind calls.
    pub(crate) deleted: u64,
    /// Paths whose permission bits alone changed behind calls.
    pub(crate) mode_changed: u64,
    /// Calls of which nobody knows what they changed.
    pub(crate) unknown_changes: u64,
    /// Connections that were let through.
    pub(crate) connections: u64,
    /// Bytes that went out over them.
    pub(crate) sent_bytes: u64,
    /// Bytes that came back.
    pub(crate) received_bytes: u64,
    /// Connections that were not let through.
    pub(crate) connections_refused: u64,
    /// Calls that were not carried out.
    pub(crate) denied: u64,
    /// What calls wanted and did not get.
    pub(crate) refused: u64,
    /// Limits that were hit.
    pub(crate) limits_hit: u64,
    #[serde(skip)]
    read: BTreeSet<String>,
    #[serde(skip)]
    written: BTreeSet<String>,
}

impl AuditTotals {
    /// Counts a row in, with what changed behind it.
    pub(crate) fn add(&mut self, row: &AuditRow, changes: &TreeChanges) {
        match &row.kind {
            RowKind::Call(call) => self.add_call(call, changes),
            RowKind::Network(network) => self.add_network(network),
            RowKind::Limit(..) => self.limits_hit += 1,
            RowKind::Started(_) | RowKind::Stopped(_) | RowKind::ByHand(_) => {}
        }
    }

    fn add_call(&mut self, call: &AuditedCall, changes: &TreeChanges) {
        self.calls += u64::from(!call.is_whole);
        self.repeated += u64::from(call.repeats.is_some());
        let carried_out = call.repeats.is_none() && !matches!(call.end, AuditEnd::Denied { .. });
        if call.tool == "bash" && carried_out {
            self.commands += 1;
            let fine = matches!(call.end, AuditEnd::Finished { exit: Some(exit), .. } if exit.code == Some(0));
            self.commands_failed += u64::from(!fine);
        }
        for (how, path) in &call.files {
            match how {
                FileHow::Read => drop(self.read.insert(path.clone())),
                FileHow::Written => drop(self.written.insert(path.clone())),
                FileHow::Listed | FileHow::Searched => {}
            }
        }
        (self.files_read, self.files_written) = (self.read.len() as u64, self.written.len() as u64);
        match changes {
            TreeChanges::Nothing => {}
            TreeChanges::Unknown(_) => self.unknown_changes += 1,
            TreeChanges::Paths(paths) => {
                for change in paths {
                    match change.kind() {
                        ChangeKind::Added => self.created += 1,
                        ChangeKind::Deleted => self.deleted += 1,
                        ChangeKind::Modified | ChangeKind::Replaced => self.modified += 1,
                        ChangeKind::Mode => self.mode_changed += 1,
                    }
                }
            }
        }
        self.denied += u64::from(matches!(call.end, AuditEnd::Denied { .. }));
        self.refused += call.refused.len() as u64;
        self.limits_hit += call.limits.len() as u64;
        call.network.iter().for_each(|network| self.add_network(network));
    }

    fn add_network(&mut self, network: &NetworkUse) {
        if !network.allowed() {
            self.connections_refused += 1;
            return;
        }
        self.connections += 1;
        if let NetworkUse::Connection(connection) = network {
            self.sent_bytes = self.sent_bytes.saturating_add(connection.sent_bytes);
            self.received_bytes = self.received_bytes.saturating_add(connection.received_bytes);
        }
    }
}
