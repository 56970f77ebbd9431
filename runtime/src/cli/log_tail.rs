//! `retrace log tail`: the newest events, and those to come.

use super::events;
use super::exit::{CliError, Exit};
use super::render::clean;
use super::session_name;
use super::setup::Setup;
use clap::Args;
use futures::StreamExt;
use retrace_events::log::{Position, StreamFilter};
use retrace_events::{Class, Envelope, Event, EventLog, LogError, StreamId};

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
        let stream = match &self.session {
            Some(name) => Some(session_name::find(log, name).await?),
            None => None,
        };
        // Taken first: an event appended meanwhile may be shown twice, but none is left out.
        let position = if self.follow { last_position(log).await? } else { Position::default() };
        for envelope in newest(log, stream.as_ref(), self.limit).await? {
            setup.output.data(&line(setup, envelope)?)?;
        }
        if !self.follow {
            return Ok(Exit::Done);
        }
        let filter = match &stream {
            Some(stream) => StreamFilter {
                tenant: Some(stream.tenant.clone()),
                project: Some(stream.project.clone()),
                class: Some(Class::Session),
            },
            None => StreamFilter::default(),
        };
        let mut live = log.follow(filter, position).await?;
        while let Some(next) = live.next().await {
            let (_, envelope) = next?;
            if stream.as_ref().is_none_or(|stream| *stream == envelope.stream) {
                setup.output.data(&line(setup, envelope)?)?;
            }
        }
        Ok(Exit::Done)
    }
}

/// The newest events: at most `limit` of each of the streams written last, put in order of time.
async fn newest(log: &dyn EventLog, only: Option<&StreamId>, limit: usize) -> Result<Vec<Envelope>, LogError> {
    let streams = log.streams(&StreamFilter::default()).await?;
    let mut found = Vec::new();
    for info in streams.iter().filter(|info| only.is_none_or(|only| info.stream == *only)).take(limit) {
        let from = (info.head.seq + 1).saturating_sub(limit as u64);
        found.extend(log.read(&info.stream, from, limit).await?);
    }
    found.sort_by(|one, other| (one.at, &one.stream, one.seq).cmp(&(other.at, &other.stream, other.seq)));
    let surplus = found.len().saturating_sub(limit);
    Ok(found.split_off(surplus))
}

/// The position of the last event, found by halving: the contract has no question for it, and reading a million events to
/// get to their end would take long.
async fn last_position(log: &dyn EventLog) -> Result<Position, LogError> {
    let after = async |position: u64| log.read_all(Position(position), 1).await.map(|found| found.first().map(|(at, _)| at.0));
    let (mut low, mut step) = (0, 1_u64);
    // `low` has something behind it or is the end; grow until nothing is behind.
    while let Some(next) = after(low + step).await? {
        low = next;
        step = step.saturating_mul(2);
    }
    let mut high = low + step;
    while low < high {
        let middle = low + (high - low) / 2;
        match after(middle).await? {
            Some(next) => low = next,
            None => high = middle,
        }
    }
    Ok(Position(low))
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
