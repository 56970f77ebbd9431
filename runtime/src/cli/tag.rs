//! `retrace tag`: a name for an event.

use super::event_name;
use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::render::clean;
use super::setup::Setup;
use super::{events, session_name};
use crate::forking::tags_of;
use clap::Args;
use retrace_events::control::ControlSender;
use retrace_events::mint::SystemMint;
use retrace_events::payload::control::ControlTagged;
use retrace_events::{Event, EventId, EventLog, StreamId};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

/// The longest name, in characters.
const MAX_CHARS: usize = 60;

/// Name an event of a session, or list its names
#[derive(Debug, Args)]
pub(super) struct TagCommand {
    /// The session, or an event of it: SESSION@EVENT; without an event the newest is meant
    session: String,
    /// The name; without one the session's tags are listed
    name: Option<String>,
}

impl TagCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let log = setup.open_log().await?;
        match self.name {
            Some(name) => add(&setup, log, &self.session, &name).await,
            None => list(&setup, log.as_ref(), &session_name::find(log.as_ref(), &self.session).await?).await,
        }
    }
}

async fn add(setup: &Setup, log: Arc<dyn EventLog>, event: &str, name: &str) -> Result<Exit, CliError> {
    let name = usable(name)?;
    let named = event_name::find(log.as_ref(), event).await?;
    let seq = match named.seq {
        Some(seq) => seq,
        None => log.head(&named.stream).await?.map_or(0, |head| head.seq),
    };
    let gone = || CliError::new(Exit::NotFound, format!("session {} has no event {seq}", named.stream.id));
    let envelope = log.read(&named.stream, seq, 1).await?.into_iter().next().ok_or_else(gone)?;
    let tagged = ControlTagged { event: envelope.id, tag: setup.redactor.redact(&name).into_owned() };
    ControlSender::new(Arc::clone(&log), Arc::new(SystemMint), &named.stream).send(tagged.into()).await?;
    let id = named.stream.id.as_str();
    if setup.output.json {
        setup.output.json_line(&json!({ "tag": name, "session": id, "event": seq, "id": envelope.id }))?;
    } else {
        setup.output.note(&format!("`{name}` is event {seq} of session {id} ({})\n", envelope.kind));
    }
    Ok(Exit::Done)
}

async fn list(setup: &Setup, log: &dyn EventLog, stream: &StreamId) -> Result<Exit, CliError> {
    let tags = tags_of(log, stream).await?;
    let mut wanted: HashMap<EventId, Option<(u64, String)>> = tags.iter().map(|tag| (tag.event, None)).collect();
    if !tags.is_empty() {
        let look = |event: &Event| {
            if let Some(found) = wanted.get_mut(&event.envelope.id) {
                *found = Some((event.envelope.seq, event.envelope.kind.clone()));
            }
            Ok(())
        };
        events::for_each(log, stream, 0, look).await?;
    }
    for tag in &tags {
        let found = wanted.get(&tag.event).cloned().flatten();
        let name = clean::short(&tag.name, MAX_CHARS);
        if setup.output.json {
            let seq = found.as_ref().map(|(seq, _)| *seq);
            setup
                .output
                .json_line(&json!({ "tag": tag.name, "session": stream.id.as_str(), "event": seq, "id": tag.event }))?;
        } else {
            let place =
                found.map_or_else(|| "not in this session".to_owned(), |(seq, kind)| format!("{seq:>6}  {kind}"));
            setup.output.data(&format!("{name:<24}  {place}\n"))?;
        }
    }
    if tags.is_empty() {
        setup.output.note(&format!("session {} has no tags\nhint: retrace tag {}@EVENT NAME\n", stream.id, stream.id));
    }
    Ok(Exit::Done)
}

/// A name that can stand behind an `@` and is not taken for a number.
fn usable(name: &str) -> Result<String, CliError> {
    let name = name.trim();
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let fits = !name.is_empty() && name.chars().count() <= MAX_CHARS && name.chars().all(is_plain);
    if fits && name.parse::<u64>().is_err() {
        return Ok(name.to_owned());
    }
    let what = format!("`{}` cannot be a tag", clean::short(name, MAX_CHARS));
    Err(CliError::new(Exit::Usage, what)
        .hint(format!("letters, digits, `-`, `_`, `.` and `/`, at most {MAX_CHARS}, and not only digits")))
}
