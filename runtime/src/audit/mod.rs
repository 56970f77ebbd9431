//! What a session did and what it was not let do, call by call: files, commands, network, limits, refusals.
//!
//! A fold over the session's events, and the differences between the snapshots around its calls. Nothing is looked at but the log
//! and the store of snapshots; what these do not say is said to be unknown, and never guessed.

mod audit_reader;
mod audit_row;
mod audit_totals;
mod tree_changes;

#[cfg(test)]
mod tests;

pub(crate) use audit_reader::AuditReader;
pub(crate) use audit_row::{AuditEnd, AuditRow, AuditedCall, FileHow, FilesBehind, NetworkUse, RowKind};
pub(crate) use audit_totals::AuditTotals;
pub(crate) use tree_changes::{TreeChanges, resolve};
