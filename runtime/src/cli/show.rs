//! `retrace show`: a session as a readable transcript, or one of its events.

use super::events;
use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::render::{Detail, clean, units};
use super::session_name;
use super::setup::Setup;
use clap::Args;
use retrace_events::{Event, EventLog, SessionState, StreamId};
use retrace_indexer::Outline;

/// Show a session: prompts, answers, tool calls, results
#[derive(Debug, Args)]
pub(super) struct ShowCommand {
    /// The session: any unique beginning of its id
    session: String,
    /// Everything: thinking, whole inputs and results, requests, contexts
    #[arg(long)]
    full: bool,
    /// Only this event, with all it holds: its number in the session, or a unique beginning of its id
    #[arg(long, value_name = "NUMBER|ID")]
    event: Option<String>,
    /// Only the outline: prompts, commands with their exit codes, files
    #[arg(long, conflicts_with_all = ["full", "event"])]
    outline: bool,
}

impl ShowCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let log = setup.open_log().await?;
        let stream = session_name::find(log.as_ref(), &self.session).await?;
        match &self.event {
            None if self.outline => outline(&setup, log.as_ref(), &stream).await?,
            Some(name) => one(&setup, log.as_ref(), &stream, name).await?,
            None if setup.output.json => {
                let json = |event: &Event| setup.output.data(&events::json_line(event, &setup.redactor)?);
                events::for_each(log.as_ref(), &stream, 0, json).await?;
            }
            None => transcript(&setup, log.as_ref(), &stream, self.full).await?,
        }
        Ok(Exit::Done)
    }
}

async fn transcript(setup: &Setup, log: &dyn EventLog, stream: &StreamId, full: bool) -> Result<(), CliError> {
    let output = &setup.output;
    let detail = if full { Detail::Full } else { Detail::Short };
    let mut transcript = setup.transcript(output.data_style(), detail);
    let mut state = SessionState::default();
    let print = |event: &Event| {
        state.apply(event);
        let text = transcript.event(event);
        let number = if full && !text.is_empty() {
            output.data_style().dim(&format!("#{} ", event.envelope.seq))
        } else {
            String::new()
        };
        output.data(&format!("{number}{text}"))
    };
    events::for_each(log, stream, 0, print).await?;
    output.data(&footer(&state))
}

async fn outline(setup: &Setup, log: &dyn EventLog, stream: &StreamId) -> Result<(), CliError> {
    let mut outline = Outline::default();
    let take = |event: &Event| {
        outline.apply(event);
        Ok(())
    };
    events::for_each(log, stream, 0, take).await?;
    let outline = outline.map_texts(|text| setup.redactor.redact(text).into_owned());
    if setup.output.json {
        let line = serde_json::to_string(&outline)
            .map_err(|error| CliError::new(Exit::Failed, format!("cannot write the outline as JSON: {error}")))?;
        return setup.output.data(&clean::json(&format!("{line}\n")));
    }
    setup.output.data(&clean::text(&outline.to_string()))
}

/// The session's sums.
pub(super) fn footer(state: &SessionState) -> String {
    let totals = &state.totals;
    let unknown = match totals.unknown_cost_microusd {
        0 => String::new(),
        cost => format!(" (and up to {} for lost answers)", units::cost(cost)),
    };
    format!(
        "\n{} · {} · {} · {} tokens · {}{unknown} · {}\n",
        units::of(state.next_seq(), "event"),
        units::of(u64::from(totals.steps), "step"),
        units::of(u64::from(totals.calls), "call"),
        units::count(totals.tokens()),
        units::cost(totals.cost_microusd),
        units::duration(totals.turn_time_ms),
    )
}

async fn one(setup: &Setup, log: &dyn EventLog, stream: &StreamId, name: &str) -> Result<(), CliError> {
    let mut found: Vec<Event> = Vec::new();
    if let Ok(seq) = name.parse::<u64>() {
        for envelope in log.read(stream, seq, 1).await? {
            found.push(Event::decode(envelope).map_err(retrace_events::LogError::from)?);
        }
    } else {
        let name = name.to_lowercase();
        let keep = |event: &Event| {
            if !name.is_empty() && event.envelope.id.to_string().starts_with(&name) {
                found.push(event.clone());
            }
            Ok(())
        };
        events::for_each(log, stream, 0, keep).await?;
    }
    let [event] = &found[..] else {
        let what = if found.is_empty() { "no event" } else { "more than one event" };
        return Err(CliError::new(Exit::NotFound, format!("session {} has {what} `{name}`", stream.id))
            .hint(format!("`retrace show {} --full` numbers them", stream.id)));
    };
    let value = events::json_value(event, &setup.redactor)?;
    if setup.output.json {
        return setup.output.json_line(&value);
    }
    // JSON escapes control characters; what else could disturb a terminal goes here.
    let pretty = serde_json::to_string_pretty(&value).unwrap_or_default();
    setup.output.data(&format!("{}\n", super::render::clean::text(&pretty)))
}
