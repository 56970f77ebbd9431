//! `retrace log tail`: the newest events, and those to come.

use super::events;
use super::exit::{CliError, Exit};
use super::render::clean;
use super::session_name;
use super::setup::Setup;
use clap::Args;
use futures::StreamExt;
use retrace_events::log::{Position, StreamFilter, StreamInfo};
use retrace_events::{Envelope, Event, EventLog, LogError, StreamId};
use std::collections::HashMap;

/// What `retrace log tail` is asked.
#[derive(Debug, Args)]
pub(super) struct TailCommand {
    /// Only this session: any unique beginning of its id
    session: Option<String>,
    /// How many
    #[arg(long, short = 'n', default_value_t = 10)]
    limit: usize,
    /// Go on with new events as they come, until Ctrl-C
    #[arg(long, short)]
    follow: bool,
}

impl TailCommand {
    /// Runs the command.
    pub(super) async fn run(self, setup: &Setup, log: &dyn EventLog) -> Result<Exit, CliError> {
        let only = match &self.session {
            Some(name) => Some(session_name::find(log, name).await?),
            None => None,
        };
        // Asked first: what comes while the streams are listed is shown once, by whichever comes to it.
        let end = log.end().await?;
        let streams = log.streams(&StreamFilter::default()).await?;
        let show = |envelope| setup.output.data(&line(setup, envelope)?);
        for envelope in newest(log, &streams, only.as_ref(), self.limit).await? {
            show(envelope)?;
        }
        if self.follow {
            follow(log, (&streams, end), only.as_ref(), show).await?;
        }
        Ok(Exit::Done)
    }
}

/// The newest events: at most `limit` of each of the streams written last, put in order of time.
async fn newest(
    log: &dyn EventLog,
    streams: &[StreamInfo],
    only: Option<&StreamId>,
    limit: usize,
) -> Result<Vec<Envelope>, LogError> {
    let mut found = Vec::new();
    for info in streams.iter().filter(|info| only.is_none_or(|only| info.stream == *only)).take(limit) {
        let end = info.head.seq + 1;
        let from = end.saturating_sub(limit as u64);
        let page = log.read(&info.stream, from, limit).await?;
        // What was appended since `streams` were listed is left for `follow`.
        found.extend(page.into_iter().filter(|envelope| envelope.seq < end));
    }
    found.sort_by(|one, other| (one.at, &one.stream, one.seq).cmp(&(other.at, &other.stream, other.seq)));
    let surplus = found.len().saturating_sub(limit);
    Ok(found.split_off(surplus))
}

/// Calls `show` with every event behind a position that is not in the streams listed after it, as it comes, until it
/// fails.
pub(super) async fn follow(
    log: &dyn EventLog,
    (streams, end): (&[StreamInfo], Position),
    only: Option<&StreamId>,
    mut show: impl FnMut(Envelope) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let seen: HashMap<&StreamId, u64> = streams.iter().map(|info| (&info.stream, info.head.seq)).collect();
    let filter = only.map_or_else(StreamFilter::default, StreamFilter::only);
    let mut live = log.follow(filter, end).await?;
    while let Some(next) = live.next().await {
        let (_, envelope) = next?;
        if seen.get(&envelope.stream).is_none_or(|last| envelope.seq > *last) {
            show(envelope)?;
        }
    }
    Ok(())
}

fn line(setup: &Setup, envelope: Envelope) -> Result<String, CliError> {
    let event = Event::decode(envelope).map_err(LogError::from)?;
    if setup.output.json {
        return events::json_line(&event, &setup.redactor);
    }
    let envelope = &event.envelope;
    let payload = event.payload.known().map(|payload| payload.to_json().to_string()).unwrap_or_default();
    let style = setup.output.data_style();
    Ok(format!(
        "{} {} #{} {}  {}\n",
        style.dim(&envelope.at.to_string()),
        envelope.stream.id,
        envelope.seq,
        style.bold(&clean::short(&envelope.kind, 60)),
        clean::short(&setup.redactor.redact(&payload), 120)
    ))
}
