//! Runs a session's turns and reports how they ended; shared by `run`, `resume` and `demo`.

use super::chat::Asker;
use super::exit::{CliError, Exit, failure_hint};
use super::place::Place;
use super::render::{Detail, LivePrinter, clean, units};
use super::setup::Setup;
use super::view::{SharedView, View};
use super::watch::{Seen, Watch};
use crate::agent::{Agent, AgentError, AgentParts, NewSession, TurnEnd};
use crate::config::Origin;
use crate::indexing::{BackgroundIndex, IndexPlan};
use crate::tools::ToolImage;
use retrace_events::control::ControlSender;
use retrace_events::payload::settings::Settings;
use retrace_events::payload::turn::PromptSource;
use retrace_events::{SessionState, StreamId};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long the sandbox may take to stop when the work is done.
const CLOSE_TIME: Duration = Duration::from_secs(10);

/// Which session is run.
pub(crate) enum Which {
    /// A new one.
    New(Box<NewSession>),
    /// One that is in the log, with settings that differ from the logged ones, and how many events it has.
    Old {
        /// Its name.
        stream: StreamId,
        /// Other settings, and on whose word.
        changed: Option<Box<(Settings, String)>>,
        /// How it stands.
        state: Box<SessionState>,
    },
}

/// What the user says first.
pub(crate) struct FirstPrompt<'a> {
    /// The words.
    pub(crate) text: &'a str,
    /// Images that go with them.
    pub(crate) images: Vec<ToolImage>,
}

impl<'a> FirstPrompt<'a> {
    /// Words alone.
    pub(crate) const fn of(text: &'a str) -> Self {
        Self { text, images: Vec::new() }
    }
}

/// Opens the session, finishes what is open, sends `prompt`, shows it all, and tells how the command ends. Where `place` is
/// a terminal, its user is asked what has to be asked.
///
/// # Errors
/// When the agent cannot go on; what happened until then is in the log.
pub(crate) async fn drive(
    setup: &Setup,
    mut parts: AgentParts,
    which: Which,
    prompt: Option<FirstPrompt<'_>>,
    place: &Place,
) -> Result<Exit, CliError> {
    let output = &setup.output;
    let (stream, state) = match &which {
        Which::New(new) => (new.stream.clone(), SessionState::default()),
        Which::Old { stream, state, .. } => (stream.clone(), state.as_ref().clone()),
    };
    // Who does not see the question is not asked.
    parts.attended = place.stdin_is_terminal && !output.quiet;
    let log_words = Setup::log_words(parts.log.as_ref());
    let mut transcript = setup.transcript(output.note_style(), Detail::Short).naming_log(log_words);
    transcript.know(&state.calls);
    let watched = (Arc::clone(&parts.log), stream.clone(), state.next_seq());
    let view = SharedView::new(View::new(state, output.clone(), Arc::clone(&setup.redactor), parts.attended));
    let asker = parts.attended.then(|| {
        let sender = ControlSender::new(Arc::clone(&parts.log), Arc::clone(&parts.mint), &stream);
        Asker::begin(view.clone(), sender, output.clone(), Arc::clone(&setup.redactor), place.clone())
    });
    let watch = Watch::begin(
        parts.live.listen(),
        LivePrinter::new(transcript),
        output.clone(),
        Arc::clone(&setup.redactor),
        watched,
        Some(Box::new(view)),
    );
    let workspace = match &which {
        Which::New(new) => new.workspace.clone(),
        Which::Old { state, .. } => PathBuf::from(&state.workspace),
    };
    let plan = IndexPlan::beside(&parts, &setup.config, &setup.index_model, &workspace);
    let outcome = Box::pin(turns(parts, which, prompt, plan)).await;
    let seen = watch.end().await;
    if let Some(asker) = asker {
        asker.end();
    }
    match outcome {
        Ok((end, state)) => report(setup, &stream, &end, state, seen),
        Err(error) => {
            if let Some(unshown) = seen.failed.filter(|unshown| !unshown.quiet) {
                output.error(&unshown);
            }
            Err(error.into())
        }
    }
}

/// Does the same without showing anything or asking anybody, and leaves the indexes to others.
///
/// # Errors
/// As [`drive`].
pub(crate) async fn quietly(
    mut parts: AgentParts,
    which: Which,
    prompt: Option<FirstPrompt<'_>>,
) -> Result<(TurnEnd, SessionState), AgentError> {
    parts.attended = false;
    work(parts, which, prompt).await
}

async fn turns(
    parts: AgentParts,
    which: Which,
    prompt: Option<FirstPrompt<'_>>,
    plan: IndexPlan,
) -> Result<(TurnEnd, SessionState), AgentError> {
    let _index = BackgroundIndex::begin(plan);
    work(parts, which, prompt).await
}

async fn work(
    parts: AgentParts,
    which: Which,
    prompt: Option<FirstPrompt<'_>>,
) -> Result<(TurnEnd, SessionState), AgentError> {
    let mut agent = match which {
        Which::New(new) => Agent::start(parts, *new).await?,
        Which::Old { stream, changed, .. } => Agent::resume(parts, stream, changed.map(|changed| *changed)).await?,
    };
    let driven = drive_turns(&mut agent, prompt).await;
    let state = agent.state().clone();
    // The sandbox dies with this process in any case; waiting long for it helps nobody.
    let _ = tokio::time::timeout(CLOSE_TIME, agent.close()).await;
    Ok((driven?, state))
}

async fn drive_turns(agent: &mut Agent, prompt: Option<FirstPrompt<'_>>) -> Result<TurnEnd, AgentError> {
    let open = agent.run().await?;
    match (prompt, &open) {
        // However the open turn ended, the user's new words are not dropped.
        (Some(prompt), TurnEnd::Idle | TurnEnd::Ended { .. }) => {
            agent.prompt(prompt.text, PromptSource::Local, prompt.images).await?;
            agent.run().await
        }
        (None, _) | (Some(_), TurnEnd::Interrupted) => Ok(open),
    }
}

fn report(setup: &Setup, stream: &StreamId, end: &TurnEnd, state: SessionState, seen: Seen) -> Result<Exit, CliError> {
    let output = &setup.output;
    let (exit, note) = ending(end, &state);
    let hint = seen.gave_up.as_ref().filter(|_| exit == Exit::Request).and_then(|failed| failure_hint(failed.failure));
    output.note(&summary(setup, stream, exit, &state, &note, seen.exposed, Again::Resume));
    if seen.exposed && output.quiet {
        output.warn("no sandbox: all commands of this session ran as you");
    }
    if let Some(hint) = hint {
        output.note(&format!("hint: {hint}\n"));
    }
    if output.json {
        output.json_line(&json!({ "summary": summary_json(stream, exit, &note, &state) }))?;
    } else if !output.one_screen() && !seen.last_text.is_empty() {
        // On one screen the answer has been seen as it came.
        output.data(&format!("{}\n", seen.last_text))?;
    }
    match seen.failed {
        Some(error) => Err(error),
        None => Ok(exit),
    }
}

/// How the command ends, and in which words.
pub(crate) fn ending(end: &TurnEnd, state: &SessionState) -> (Exit, String) {
    match (end, &state.last_end) {
        (TurnEnd::Interrupted, _) => (Exit::Interrupted, "interrupted".to_owned()),
        (TurnEnd::Ended { outcome, note }, _) => (Exit::of_outcome(*outcome), clean::short(note, 500)),
        (TurnEnd::Idle, Some((outcome, note))) => (Exit::of_outcome(*outcome), clean::short(note, 500)),
        (TurnEnd::Idle, None) => (Exit::Done, "nothing to do".to_owned()),
    }
}

/// By which command a session goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// `resume`.
    Resume,
    /// `chat`.
    Chat,
}

/// What a session has come to, for people, and how to go on with it.
pub(crate) fn summary(
    setup: &Setup,
    stream: &StreamId,
    exit: Exit,
    state: &SessionState,
    note: &str,
    exposed: bool,
    again: Again,
) -> String {
    let style = setup.output.note_style();
    let id = stream.id.as_str();
    // Another log must be named again; the one that is configured is found by itself.
    let log = &setup.config.values.log;
    let log = if matches!(log.origin, Origin::Flag(_)) {
        format!(" --log {}", clean::line(&log.value.to_string()))
    } else {
        String::new()
    };
    let word = if exit == Exit::Done { style.green("done") } else { style.red(&format!("ended: {note}")) };
    let totals = state.totals_since_fork();
    let unknown = match totals.unknown_cost_microusd {
        0 => String::new(),
        cost => format!(" (and up to {} for lost answers)", units::cost(cost)),
    };
    let warning = if exposed {
        format!("{}\n", style.red("NO SANDBOX: all commands of this session ran as you"))
    } else {
        String::new()
    };
    format!(
        "\n{word} · {} · {} tokens · {}{unknown} · {}\n{warning}session {id}\n  go on:  retrace {}\n  look:   retrace show {id}{log}\n  verify: retrace replay {id} --verify{log}\n",
        units::of(u64::from(totals.steps), "step"),
        units::count(totals.tokens()),
        units::cost(totals.cost_microusd),
        units::duration(totals.turn_time_ms),
        match again {
            Again::Resume => format!("resume {id}{log} \"…\""),
            Again::Chat => format!("chat {id}{log}"),
        },
    )
}

/// The last object of `--json`.
fn summary_json(stream: &StreamId, exit: Exit, note: &str, state: &SessionState) -> Value {
    let totals = state.totals_since_fork();
    json!({
        "session": stream.id.as_str(),
        "stream": stream.subject(),
        "exit_code": exit.code(),
        "note": note,
        "events": state.next_seq(),
        "steps": totals.steps,
        "calls": totals.calls,
        "tokens": totals.tokens(),
        "cost_microusd": totals.cost_microusd,
        "unknown_cost_microusd": totals.unknown_cost_microusd,
        "time_ms": totals.turn_time_ms,
    })
}
