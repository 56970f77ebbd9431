//! `retrace context`: what a request was made of, what it said, and how it differs from another.
//!
//! Everything here is made of the log again, as it was made for the request itself.

mod shown;

#[cfg(test)]
mod tests;

use super::events;
use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::render::clean;
use super::session_name;
use super::setup::Setup;
use crate::context::{ContextPart, inventory, render};
use clap::{Args, Subcommand};
use retrace_events::payload::{Payload, Turn};
use retrace_events::{EventLog, SessionState, StreamId};
use serde_json::{Value, json};
use shown::Shown;

/// See what a request was made of, and from where
#[derive(Debug, Args)]
pub(super) struct ContextCommand {
    #[command(subcommand)]
    action: ContextAction,
}

#[derive(Debug, Clone, Subcommand)]
enum ContextAction {
    /// List the parts of a request: where each is from, its score, and its cost in tokens
    Explain(Which),
    /// Print a request as it was sent, redacted
    Show(Which),
    /// List what a request has that an earlier one had not, and what it has lost
    Diff {
        #[command(flatten)]
        which: Which,
        /// The request to compare with; by default the one before
        #[arg(long, value_name = "EVENT")]
        with: Option<u64>,
    },
}

#[derive(Debug, Clone, Args)]
struct Which {
    /// The session: any unique beginning of its id
    session: String,
    /// The request: its event's number, or that of any event behind it. By default the last one
    event: Option<u64>,
}

/// A request, and the session as it was before it.
struct Requested {
    seq: u64,
    state: SessionState,
}

impl ContextCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let log = setup.open_log().await?;
        let which = match &self.action {
            ContextAction::Explain(which) | ContextAction::Show(which) | ContextAction::Diff { which, .. } => which,
        };
        let stream = session_name::find(log.as_ref(), &which.session).await?;
        let request = request_at(log.as_ref(), &stream, which.event.unwrap_or(u64::MAX)).await?;
        match &self.action {
            ContextAction::Explain(_) => explain(&setup, &request)?,
            ContextAction::Show(_) => show(&setup, &request)?,
            ContextAction::Diff { with, .. } => {
                let before = with.unwrap_or_else(|| request.seq.saturating_sub(1));
                let earlier = request_at(log.as_ref(), &stream, before).await?;
                diff(&setup, &earlier, &request)?;
            }
        }
        Ok(Exit::Done)
    }
}

/// The last request at or before event `seq`.
async fn request_at(log: &dyn EventLog, stream: &StreamId, seq: u64) -> Result<Requested, CliError> {
    // Only requests are kept, so that of a long session no more than two states are held.
    let mut state = SessionState::default();
    let mut found: Option<Requested> = None;
    let mut last = 0;
    events::for_each_of_history(log, stream, |event, is_own| {
        last = event.envelope.seq;
        if is_own
            && event.envelope.seq <= seq
            && matches!(event.payload.known(), Some(Payload::Turn(Turn::Requested(_))))
        {
            found = Some(Requested { seq: event.envelope.seq, state: state.clone() });
        }
        state.apply(event);
        Ok(())
    })
    .await?;
    if seq != u64::MAX && seq > last {
        return Err(CliError::new(Exit::NotFound, format!("session {} has no event {seq}", stream.id))
            .hint(format!("its last is {last}; `retrace show {} --full` numbers them", stream.id)));
    }
    found.ok_or_else(|| {
        let place = if seq == u64::MAX { String::new() } else { format!(" at or before event {seq}") };
        CliError::new(Exit::NotFound, format!("session {} has no request of retrace{place}", stream.id))
    })
}

fn explain(setup: &Setup, request: &Requested) -> Result<(), CliError> {
    let parts = inventory(&request.state);
    if setup.output.json {
        for part in &parts {
            setup.output.json_line(&row(part, setup)?)?;
        }
        return Ok(());
    }
    let shown = Shown { style: setup.output.data_style(), redactor: &setup.redactor };
    setup.output.data(&shown.parts(request.seq, &request.state, &parts))
}

fn show(setup: &Setup, request: &Requested) -> Result<(), CliError> {
    let body = render(&request.state).map_err(|error| CliError::new(Exit::Failed, error.to_string()))?;
    let body: Value = serde_json::from_slice(&body)
        .map_err(|error| CliError::new(Exit::Failed, format!("the request is not JSON: {error}")))?;
    let text = if setup.output.json { body.to_string() } else { format!("{body:#}") };
    let text = setup.redactor.redact(&text).into_owned();
    setup.output.data(&format!("{}\n", clean::text(&text)))
}

fn diff(setup: &Setup, earlier: &Requested, later: &Requested) -> Result<(), CliError> {
    let (before, after) = (inventory(&earlier.state), inventory(&later.state));
    let known = |parts: &[ContextPart], part: &ContextPart| {
        parts.iter().any(|other| other.what == part.what && other.source == part.source && other.text == part.text)
    };
    let gone: Vec<&ContextPart> = before.iter().filter(|part| !known(&after, part)).collect();
    let new: Vec<&ContextPart> = after.iter().filter(|part| !known(&before, part)).collect();
    if setup.output.json {
        for (change, part) in gone.iter().map(|part| ("gone", part)).chain(new.iter().map(|part| ("new", part))) {
            let mut value = row(part, setup)?;
            if let Some(fields) = value.as_object_mut() {
                fields.insert("change".to_owned(), json!(change));
            }
            setup.output.json_line(&value)?;
        }
        return Ok(());
    }
    let shown = Shown { style: setup.output.data_style(), redactor: &setup.redactor };
    setup.output.data(&shown.difference((earlier.seq, later.seq), &gone, &new, before.len()))
}

fn row(part: &ContextPart, setup: &Setup) -> Result<Value, CliError> {
    let mut value = serde_json::to_value(part)
        .map_err(|error| CliError::new(Exit::Failed, format!("cannot write the part as JSON: {error}")))?;
    if let Some(fields) = value.as_object_mut() {
        let source = setup.redactor.redact(&part.source).into_owned();
        fields.insert("source".to_owned(), json!(source));
    }
    Ok(value)
}
