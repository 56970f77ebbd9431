//! `retrace log`: the event log itself.

use super::exit::{CliError, Exit};
use super::export;
use super::invocation::Invocation;
use super::log_tail::TailCommand;
use super::render::{clean, units};
use super::setup::Setup;
use super::transfer::Transfer;
use crate::travelling;
use clap::{Args, Subcommand};
use retrace_events::blob::referenced_blobs;
use retrace_events::log::{LogLocation, StreamFilter, open_log};
use retrace_events::{Class, Event, EventLog, LogError, verify};
use serde_json::json;
use std::collections::HashSet;

/// How many events are copied at a time.
const PAGE: usize = 200;

/// Look at, check or copy the event log
#[derive(Debug, Args)]
pub(super) struct LogCommand {
    #[command(subcommand)]
    command: LogAction,
}

#[derive(Debug, Subcommand)]
enum LogAction {
    /// Say where the log is, what it holds, and what its acknowledgements are worth
    Info,
    /// Check the hash chain of one session or of everything
    Verify {
        /// The session: any unique beginning of its id [default: everything]
        session: Option<String>,
    },
    /// Show the newest events
    Tail(TailCommand),
    /// Copy sessions to another log, with everything that belongs to them
    Copy {
        /// The other log: a folder, or nats://host:4222
        #[arg(long, value_name = "LOCATION")]
        to: String,
        /// The session: any unique beginning of its id
        #[arg(required_unless_present = "all")]
        session: Option<String>,
        /// Everything in the log
        #[arg(long, conflicts_with = "session")]
        all: bool,
    },
}

impl LogCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let log = setup.open_log().await?;
        match self.command {
            LogAction::Info => info(&setup, log.as_ref()).await,
            LogAction::Verify { session } => verify(&setup, log.as_ref(), session.as_deref()).await,
            LogAction::Tail(tail) => tail.run(&setup, log.as_ref()).await,
            LogAction::Copy { to, session, .. } => {
                copy(&setup, log.as_ref(), &target(invocation, &to)?, session.as_deref()).await
            }
        }
    }
}

async fn info(setup: &Setup, log: &dyn EventLog) -> Result<Exit, CliError> {
    let streams = log.streams(&StreamFilter::default()).await?;
    let events: u64 = streams.iter().map(|info| info.head.seq + 1).sum();
    let sessions = streams.iter().filter(|info| info.stream.class == Class::Session).count() as u64;
    let newest = streams.iter().map(|info| info.head.at).max();
    if setup.output.json {
        setup.output.json_line(&json!({
            "location": log.location(),
            "durability": format!("{:?}", log.durability()),
            "sessions": sessions,
            "streams": streams.len(),
            "events": events,
            "newest_event_at": newest.map(|at| at.to_string()),
        }))?;
        return Ok(Exit::Done);
    }
    let newest = newest.map_or_else(|| "never".to_owned(), units::moment);
    setup.output.data(&format!(
        "log:      {}\nholds:    {}, {}, {}\nwritten:  {newest}\n",
        Setup::log_words(log),
        units::of(sessions, "session"),
        units::of(streams.len() as u64, "stream"),
        units::of(events, "event")
    ))?;
    Ok(Exit::Done)
}

/// Checks stream after stream; one that is damaged does not keep the others from being checked.
async fn verify(setup: &Setup, log: &dyn EventLog, session: Option<&str>) -> Result<Exit, CliError> {
    let streams = export::streams(log, session).await?;
    let (mut sound, mut events, mut broken) = (0_u64, 0_u64, 0_u64);
    for stream in &streams {
        match verify::verify_stream(log, stream).await {
            Ok(verified) => {
                sound += 1;
                events += verified.events;
                if setup.output.json {
                    setup.output.json_line(
                        &json!({ "stream": stream.subject(), "events": verified.events, "head": verified.head }),
                    )?;
                }
            }
            Err(error @ (LogError::Damaged { .. } | LogError::Codec(_) | LogError::NoSuchBlob(_))) => {
                broken += 1;
                let error = clean::line(&error.to_string());
                if setup.output.json {
                    setup.output.json_line(&json!({ "stream": stream.subject(), "damage": error }))?;
                } else {
                    setup.output.data(&format!("{} {error}\n", setup.output.data_style().red("damaged:")))?;
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    if !setup.output.json {
        setup.output.data(&format!("{} sound, {}\n", units::of(sound, "stream"), units::of(events, "event")))?;
    }
    if broken == 0 {
        return Ok(Exit::Done);
    }
    Err(CliError::new(Exit::Log, format!("{} damaged", units::of(broken, "stream")))
        .hint("restore them from a copy with `retrace import`, into another log"))
}

/// The log that `to` names.
fn target(invocation: &Invocation, to: &str) -> Result<LogLocation, CliError> {
    let mut location: LogLocation = to.parse()?;
    if let LogLocation::Nats(options) = &mut location {
        options.fill_from_env(|name| invocation.env(name))?;
    }
    Ok(location)
}

async fn copy(setup: &Setup, from: &dyn EventLog, to: &LogLocation, session: Option<&str>) -> Result<Exit, CliError> {
    if *to == setup.config.log {
        return Err(CliError::new(Exit::Usage, "this is the log the sessions are in already"));
    }
    let target = open_log(to).await?;
    let (streams, _) = export::with_ancestors(setup, from, session).await?;
    // The store is the same; what is kept beside the one log comes into it, and what the other one names stays in it.
    let state = &setup.config.folders.state;
    for problem in travelling::carry(state, from, target.as_ref(), &streams).await? {
        setup.output.warn(&clean::line(&format!("the copy lacks files: {problem}")));
    }
    for store in [false, true] {
        let mut transfer = Transfer::new(target.as_ref(), store);
        let mut blobs = HashSet::new();
        for stream in &streams {
            let mut next = 0;
            loop {
                let page = from.read(stream, next, PAGE).await?;
                let full = page.len() == PAGE;
                for envelope in page {
                    next = envelope.seq + 1;
                    let event = Event::decode(envelope).map_err(LogError::from)?;
                    for blob in event.payload.known().map(referenced_blobs).unwrap_or_default() {
                        if blobs.insert(blob.hash) {
                            transfer.blob(&from.blobs().read(blob.hash, 0..u64::MAX).await?).await?;
                        }
                    }
                    transfer.event(event.envelope).await?;
                }
                if !full {
                    break;
                }
            }
        }
        let (tally, _) = transfer.finish().await?;
        if store {
            if let Err(error) = travelling::settle(state, target.as_ref(), &streams).await {
                setup.output.warn(&clean::line(&format!("their files were not put beside the log: {error}")));
            }
            setup.output.data(&if setup.output.json {
                format!("{}\n", json!({ "streams": tally.streams, "stored": tally.stored, "present": tally.present, "blobs": tally.blobs }))
            } else {
                format!("{} copied, {} already there\n", units::of(tally.stored, "event"), units::count(tally.present))
            })?;
        }
    }
    Ok(Exit::Done)
}
