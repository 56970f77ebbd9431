//! Which rows of the record are wanted.

use crate::audit::{AuditRow, AuditedCall, FilesBehind, RowKind};
use clap::Args;

/// Which rows are wanted; without any of the four kinds all are.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct AuditFilter {
    /// Only what was refused, denied, or hit a limit
    #[arg(long)]
    pub(super) refused: bool,
    /// Only what used or changed files
    #[arg(long)]
    pub(super) files: bool,
    /// Only what reached for the network
    #[arg(long)]
    pub(super) network: bool,
    /// Only commands
    #[arg(long)]
    pub(super) commands: bool,
    /// Only this call, with the calls it is made of: its id, or the number of the event that begins it
    #[arg(long, value_name = "ID|NUMBER")]
    pub(super) call: Option<String>,
}

impl AuditFilter {
    /// Whether `row` is one of them.
    pub(super) fn wants(&self, row: &AuditRow) -> bool {
        let named = match (&self.call, &row.kind) {
            (None, _) => true,
            (Some(name), RowKind::Call(call)) => names(name, row, call),
            (Some(_), _) => false,
        };
        let kinds = [
            (self.refused, is_refusal(row)),
            (self.files, uses_files(row)),
            (self.network, uses_network(row)),
            (self.commands, matches!(&row.kind, RowKind::Call(call) if call.tool == "bash")),
        ];
        let any = kinds.iter().any(|(asked, _)| *asked);
        named && (!any || kinds.iter().any(|(asked, fits)| *asked && *fits))
    }
}

fn names(name: &str, row: &AuditRow, call: &AuditedCall) -> bool {
    let whole = call.part_of.as_ref().is_some_and(|whole| whole.0 == name);
    call.call.0 == name || whole || name.trim_start_matches('#').parse() == Ok(row.event.1)
}

fn is_refusal(row: &AuditRow) -> bool {
    match &row.kind {
        RowKind::Call(call) => call.was_refused(),
        RowKind::Network(network) => !network.allowed(),
        RowKind::Limit(..) => true,
        RowKind::Started(_) | RowKind::Stopped(_) | RowKind::ByHand(_) => false,
    }
}

fn uses_files(row: &AuditRow) -> bool {
    match &row.kind {
        RowKind::Call(call) => {
            !call.files.is_empty() || !matches!(call.behind, FilesBehind::Untouched | FilesBehind::Same)
        }
        RowKind::ByHand(_) => true,
        RowKind::Started(_) | RowKind::Stopped(_) | RowKind::Network(_) | RowKind::Limit(..) => false,
    }
}

fn uses_network(row: &AuditRow) -> bool {
    match &row.kind {
        RowKind::Call(call) => !call.network.is_empty(),
        RowKind::Network(_) => true,
        RowKind::Started(_) | RowKind::Stopped(_) | RowKind::ByHand(_) | RowKind::Limit(..) => false,
    }
}
