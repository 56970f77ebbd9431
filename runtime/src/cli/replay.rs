//! `retrace replay`: watch a session again in its own rhythm, or verify it.

use super::events;
use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::render::{Detail, units};
use super::session_name;
use super::setup::Setup;
use super::show::footer;
use crate::agent::{ReplayReport, verify_session};
use clap::Args;
use retrace_events::{Event, EventLog, SessionState, StreamId, Timestamp};
use serde_json::json;
use std::time::Duration;

/// The longest pause between two events, in milliseconds: nobody wants to wait for a night's compile again.
const MAX_PAUSE_MS: f64 = 2_000.0;

/// Differing requests that are listed for people.
const LISTED: usize = 10;

/// Watch a session again, or verify that every request follows from the log
#[derive(Debug, Args)]
pub(super) struct ReplayCommand {
    /// The session: any unique beginning of its id
    session: String,
    /// Check the hash chain, render every request again and compare
    #[arg(long)]
    verify: bool,
    /// How much faster than it was; 0 is at once
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, conflicts_with = "verify", value_parser = factor)]
    speed: f64,
}

impl ReplayCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let log = setup.open_log().await?;
        let stream = session_name::find(log.as_ref(), &self.session).await?;
        if self.verify {
            let report = verify_session(log.as_ref(), &stream).await?;
            return verdict(&setup, &stream, &report);
        }
        watch(&setup, log.as_ref(), &stream, self.speed).await?;
        Ok(Exit::Done)
    }
}

/// Prints a report; the exit tells whether all agrees.
pub(crate) fn verdict(setup: &Setup, stream: &StreamId, report: &ReplayReport) -> Result<Exit, CliError> {
    let differing: Vec<_> = report.requests.iter().filter(|check| !check.agrees()).collect();
    let exit = if differing.is_empty() { Exit::Done } else { Exit::Failed };
    if setup.output.json {
        let row = |check: &&crate::agent::RequestCheck| json!({ "seq": check.seq, "event": check.event, "logged": check.logged, "rendered": check.rendered });
        setup.output.json_line(&json!({
            "session": stream.id.as_str(),
            "events": report.events,
            "head": report.head,
            "requests": report.requests.len(),
            "imported_requests": report.imported,
            "agree": report.requests.len() - differing.len(),
            "differ": differing.iter().map(row).collect::<Vec<_>>(),
        }))?;
        return Ok(exit);
    }
    let style = setup.output.data_style();
    let total = report.requests.len() as u64;
    let requests = if total == 0 && report.imported > 0 {
        style.dim("no requests of retrace's own")
    } else if differing.is_empty() {
        style.green(&format!("all {} render to the bytes that were sent", units::of(total, "request")))
    } else {
        style.red(&format!(
            "{} of {} do not render to the bytes that were sent",
            differing.len(),
            units::of(total, "request")
        ))
    };
    setup.output.data(&format!(
        "chain: {} sound, head {}\n{requests}\n",
        units::of(report.events, "event"),
        report.head.short()
    ))?;
    if report.imported > 0 {
        setup.output.data(&format!(
            "{} made by another program before the import: what was sent is not known, and not checked\n",
            units::of(report.imported, "request")
        ))?;
    }
    for check in differing.iter().take(LISTED) {
        setup.output.data(&format!(
            "  event {}: logged {}, rendered {}\n",
            check.seq,
            check.logged.short(),
            check.rendered.short()
        ))?;
    }
    Ok(exit)
}

async fn watch(setup: &Setup, log: &dyn EventLog, stream: &StreamId, speed: f64) -> Result<(), CliError> {
    let output = &setup.output;
    let mut transcript = setup.transcript(output.data_style(), Detail::Short);
    let mut state = SessionState::default();
    let mut last: Option<Timestamp> = None;
    loop {
        let page = log.read(stream, state.next_seq(), events::PAGE).await?;
        if page.is_empty() {
            break;
        }
        for envelope in page {
            let event = Event::decode(envelope).map_err(retrace_events::LogError::from)?;
            tokio::time::sleep(pause(last, event.envelope.at, speed)).await;
            last = Some(event.envelope.at);
            state.apply(&event);
            if output.json {
                output.data(&events::json_line(&event, &setup.redactor)?)?;
            } else {
                output.data(&transcript.event(&event))?;
            }
        }
    }
    if output.json { Ok(()) } else { output.data(&footer(&state)) }
}

/// How long to wait before an event at `at`.
fn pause(last: Option<Timestamp>, at: Timestamp, speed: f64) -> Duration {
    let Some(last) = last.filter(|_| speed > 0.0) else { return Duration::ZERO };
    #[expect(clippy::cast_precision_loss, reason = "a pause needs no more than 52 bits of milliseconds")]
    let ms = (at.since_ms(last) as f64 / speed).min(MAX_PAUSE_MS);
    Duration::from_secs_f64(ms / 1_000.0)
}

fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor >= 0.0 => Ok(factor),
        _ => Err("a number from 0 on, like 2 or 0.5".to_owned()),
    }
}
