//! Several forks side by side: each agent in its own sandbox and folder, and a table of what came of them.

use super::super::compare;
use super::super::drive::{self, FirstPrompt, Which};
use super::super::exit::{CliError, Exit};
use super::super::setup::Setup;
use crate::agent::AgentParts;
use futures::stream::{FuturesUnordered, StreamExt};
use retrace_events::StreamId;

/// Runs all of them with the same words, and compares them. Nobody is asked: calls that want an answer are refused.
///
/// # Errors
/// When none of them could run.
pub(super) async fn run(setup: &Setup, agents: Vec<(AgentParts, Which)>, prompt: &str) -> Result<Exit, CliError> {
    let log = agents.first().map(|(parts, _)| std::sync::Arc::clone(&parts.log));
    let streams: Vec<StreamId> = agents.iter().filter_map(|(_, which)| which.stream().cloned()).collect();
    for stream in &streams {
        setup.output.note(&format!("session {} begins\n", stream.id));
    }
    let one = |(parts, which): (AgentParts, Which)| async move {
        let stream = which.stream().cloned();
        (stream, Box::pin(drive::quietly(parts, which, Some(FirstPrompt::of(prompt)))).await)
    };
    let mut running: FuturesUnordered<_> = agents.into_iter().map(one).collect();
    let (mut worst, mut first_error) = (Exit::Done, None);
    while let Some((stream, outcome)) = running.next().await {
        let id = stream.map(|stream| stream.id.as_str().to_owned()).unwrap_or_default();
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
    if let Some(log) = log {
        compare::print(setup, log.as_ref(), &streams).await?;
    }
    first_error.map_or(Ok(worst), Err)
}
