//! `retrace show`: a session as a readable transcript, also as it goes on, or one of its events.

use super::exit::{CliError, Exit};
use super::invocation::Invocation;
use super::render::{Detail, Transcript, clean, units};
use super::session_name;
use super::setup::Setup;
use super::{events, following};
use clap::Args;
use futures::StreamExt;
use futures::stream::BoxStream;
use retrace_events::{Event, EventLog, LogError, SessionState, StreamId};
use retrace_indexer::Outline;
use tokio_util::sync::CancellationToken;

/// Show a session: prompts, answers, tool calls, results
#[derive(Debug, Args)]
pub(super) struct ShowCommand {
    /// The session: any unique beginning of its id [default: the newest of this workspace]
    session: Option<String>,
    /// Everything: thinking, whole inputs and results, requests, contexts
    #[arg(long)]
    full: bool,
    /// Only this event, with all it holds: its number in the session, or a unique beginning of its id
    #[arg(long, value_name = "NUMBER|ID")]
    event: Option<String>,
    /// Only the outline: prompts, commands with their exit codes, files
    #[arg(long, conflicts_with_all = ["full", "event"])]
    outline: bool,
    /// Go on with new events as they come, until Ctrl-C
    #[arg(long, short, conflicts_with_all = ["outline", "event"])]
    follow: bool,
}

impl ShowCommand {
    /// Runs the command.
    pub(super) async fn run(self, invocation: &Invocation) -> Result<Exit, CliError> {
        let setup = Setup::for_reading(invocation)?;
        let log = setup.open_log().await?;
        let stream = session_name::find_or_last(log.as_ref(), self.session.as_deref(), &setup.config.workspace).await?;
        match &self.event {
            None if self.outline => outline(&setup, log.as_ref(), &stream).await?,
            Some(name) => one(&setup, log.as_ref(), &stream, name).await?,
            None => {
                let mut reader = Reader::new(&setup, self.full);
                events::for_each(log.as_ref(), &stream, 0, |event| reader.print(event)).await?;
                if self.follow {
                    let mut coming = following::follow(log, stream, reader.state.next_seq());
                    while let Some(event) = next(&mut coming, &invocation.cancel).await {
                        reader.print(&event?)?;
                    }
                }
                reader.end()?;
            }
        }
        Ok(Exit::Done)
    }
}

/// The next event; none when the command is to end.
async fn next(
    coming: &mut BoxStream<'static, Result<Event, LogError>>,
    cancel: &CancellationToken,
) -> Option<Result<Event, LogError>> {
    tokio::select! {
        event = coming.next() => event,
        () = cancel.cancelled() => None,
    }
}

/// Prints a session, event by event.
struct Reader<'a> {
    setup: &'a Setup,
    transcript: Transcript,
    state: SessionState,
    full: bool,
}

impl<'a> Reader<'a> {
    fn new(setup: &'a Setup, full: bool) -> Self {
        let detail = if full { Detail::Full } else { Detail::Short };
        let transcript = setup.transcript(setup.output.data_style(), detail);
        Self { setup, transcript, state: SessionState::default(), full }
    }

    fn print(&mut self, event: &Event) -> Result<(), CliError> {
        let output = &self.setup.output;
        self.state.apply(event);
        if output.json {
            return output.data(&events::json_line(event, &self.setup.redactor)?);
        }
        let text = self.transcript.event(event);
        let number = if self.full && !text.is_empty() {
            output.data_style().dim(&format!("#{} ", event.envelope.seq))
        } else {
            String::new()
        };
        output.data(&format!("{number}{text}"))
    }

    fn end(&self) -> Result<(), CliError> {
        let output = &self.setup.output;
        if output.json { Ok(()) } else { output.data(&footer(&self.state)) }
    }
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
