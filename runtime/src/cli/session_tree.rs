//! `retrace sessions --tree`: which session came out of which.

use super::exit::{CliError, Exit};
use super::sessions;
use super::setup::Setup;
use crate::forking::{ForkTree, Kin};
use retrace_events::payload::session::SessionForkReason;
use retrace_events::{EventLog, SessionState};

/// Prints the newest `limit` trees.
///
/// # Errors
/// When the log cannot be asked.
pub(super) async fn print(setup: &Setup, log: &dyn EventLog, limit: usize) -> Result<Exit, CliError> {
    let tree = ForkTree::read(log).await?;
    let output = &setup.output;
    if !output.json && tree.roots().next().is_some() {
        output.data(&output.data_style().dim(&sessions::head()))?;
    }
    let checkpoints = setup.checkpoints(log);
    for root in tree.roots().take(limit) {
        for (depth, kin) in tree.below(&root.stream) {
            // One damaged session must not hide the others.
            match checkpoints.load(log, &kin.stream).await {
                Ok(state) => row(setup, depth, kin, &state)?,
                Err(error) => output.warn(&format!("{}: {}", kin.stream.id, CliError::from(error).message)),
            }
        }
    }
    let more = tree.roots().count().saturating_sub(limit);
    if more > 0 {
        output.note(&format!("{more} more: --limit {}\n", limit + more));
    }
    Ok(Exit::Done)
}

fn row(setup: &Setup, depth: usize, kin: &Kin, state: &SessionState) -> Result<(), CliError> {
    if setup.output.json {
        let mut row = sessions::json(&kin.stream, state, setup);
        row["depth"] = depth.into();
        return setup.output.json_line(&row);
    }
    let line = sessions::line(&kin.stream, state, setup);
    let Some((_, seq, reason)) = &kin.from else { return setup.output.data(&line) };
    let word = match reason {
        SessionForkReason::Fork => "fork",
        SessionForkReason::Rewind => "rewind",
        SessionForkReason::Delegate => "part",
    };
    // Behind the columns, so that they stay in line.
    let style = setup.output.data_style();
    let branch = style.dim(&format!("{}└─ {word} at event {seq}", "   ".repeat(depth.saturating_sub(1))));
    setup.output.data(&format!("{branch}\n{line}"))
}
