//! Several forks side by side: each agent in its own sandbox and folder, and a table of what came of them.

use super::super::compare;
use super::super::drive::{self, FirstPrompt, Which};
use super::super::exit::{CliError, Exit};
use super::super::setup::Setup;
use crate::agent::AgentParts;
use futures::stream::{FuturesUnordered, StreamExt};
use retrace_events::{EventLog, StreamId};

/// Runs all of them with the same words, and compares them. Nobody is asked: calls that want an answer are refused.
///
/// # Errors
/// When none of them could run.
pub(super) async fn run(
    setup: &Setup,
    log: &dyn EventLog,
    streams: &[StreamId],
    agents: Vec<(AgentParts, Which)>,
    prompt: &str,
) -> Result<Exit, CliError> {
    for stream in streams {
        setup.output.note(&format!("session {} begins\n", stream.id));
    }
    let one = |(stream, (parts, which))| async move {
        (stream, Box::pin(drive::quietly(parts, which, Some(FirstPrompt::of(prompt)))).await)
    };
    let mut running: FuturesUnordered<_> = streams.iter().zip(agents).map(one).collect();
    let (mut worst, mut first_error) = (Exit::Done, None);
    while let Some((stream, outcome)) = running.next().await {
        let id = &stream.id;
        match outcome {
            Ok((end, state)) => {
                let (exit, note) = drive::ending(&end, &state);
                if exit != Exit::Done {
                    worst = exit;
                }
                let words = if note.is_empty() { "done".to_owned() } else { note };
                setup.output.note(&format!("session {id} ended: {words}\n"));
            }
            Err(error) => {
                let error = CliError::from(error);
                setup.output.warn(&format!("session {id}: {}", error.message));
                first_error.get_or_insert(error);
            }
        }
    }
    compare::print(setup, log, streams).await?;
    first_error.map_or(Ok(worst), Err)
}
