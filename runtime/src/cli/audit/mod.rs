//! `retrace audit`: what a session did and was not let do: files, commands, network, limits, refusals, call by call.

mod audit_filter;
mod audit_json;
mod audit_text;

use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::session_name;
use super::setup::Setup;
use crate::audit::{AuditReader, AuditRow, AuditTotals, FilesBehind, RowKind, TreeChanges, resolve};
use crate::snapshots::SnapshotPlan;
use audit_filter::AuditFilter;
use audit_text::AuditText;
use clap::Args;
use retrace_events::{Event, EventLog, History, LogError, StreamId};

/// Show what a session did and was not let do: files, commands, network, limits, refusals
#[derive(Debug, Args)]
pub(super) struct AuditCommand {
    /// The session: any unique beginning of its id [default: the newest of this workspace]
    session: Option<String>,
    #[command(flatten)]
    filter: AuditFilter,
    /// Of a fork the whole history, not only what it did itself
    #[arg(long)]
    all: bool,
}

impl AuditCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let log = setup.open_log().await?;
        let stream = session_name::find_or_last(log.as_ref(), self.session.as_deref(), &setup.config.workspace).await?;
        let rows = self.rows(&setup, log.as_ref(), &stream).await?;
        let plan = SnapshotPlan::new(&setup.config.folders.state, log.identity(), &[], false);
        let text = AuditText::new(setup.output.data_style(), &setup.redactor, &stream);
        let mut totals = AuditTotals::default();
        let mut shown = 0_u64;
        for row in rows.iter().filter(|row| self.filter.wants(row)) {
            let changes = changes(&plan, row).await;
            totals.add(row, &changes);
            shown += 1;
            if setup.output.json {
                setup.output.json_line(&audit_json::row(row, &changes, &setup.redactor))?;
            } else {
                setup.output.data(&text.row(row, &changes))?;
            }
        }
        if setup.output.json {
            setup.output.json_line(&serde_json::json!({ "totals": totals }))?;
        } else {
            setup.output.data(&text.totals(&totals, shown))?;
        }
        Ok(Exit::Done)
    }

    /// The record, as far as it is asked for.
    async fn rows(&self, setup: &Setup, log: &dyn EventLog, stream: &StreamId) -> Result<Vec<AuditRow>, CliError> {
        let history = match History::of(log, stream).await {
            Err(error @ LogError::NoParent { .. }) if !self.all => {
                setup.output.warn(&format!("{error}: what its files were when it began is not known"));
                History::alone(stream.clone())
            }
            other => other?,
        };
        let mut reader = AuditReader::default();
        let apply = |place, event: &Event| {
            reader.apply(place, event);
            Ok::<_, CliError>(())
        };
        history.for_each(log, 0, apply).await?;
        let from = if self.all { 0 } else { history.own_from() };
        Ok(reader.into_rows().into_iter().filter(|row| row.place >= from).collect())
    }
}

/// What changed behind what a row is about.
async fn changes(plan: &SnapshotPlan, row: &AuditRow) -> TreeChanges {
    let behind = match &row.kind {
        RowKind::Call(call) => &call.behind,
        RowKind::ByHand(behind) => behind,
        RowKind::Started(_) | RowKind::Stopped(_) | RowKind::Network(_) | RowKind::Limit(..) => &FilesBehind::Same,
    };
    resolve(plan, behind).await
}
