//! `retrace replay --show`: a session's events in their own rhythm.

use crate::cli::events;
use crate::cli::exit::CliError;
use crate::cli::render::{Detail, clean};
use crate::cli::setup::Setup;
use crate::cli::show::footer;
use retrace_events::{Event, EventLog, History, LogError, SessionState, StreamId, Timestamp};
use std::time::Duration;

/// The longest pause between two events, in milliseconds: nobody wants to wait for a night's compile again.
const MAX_PAUSE_MS: f64 = 2_000.0;

/// Plays the session's own events. What a fork has from its ancestors is known and not played.
pub(super) async fn watch(setup: &Setup, log: &dyn EventLog, stream: &StreamId, speed: f64) -> Result<(), CliError> {
    let output = &setup.output;
    let history = History::of(log, stream).await?;
    if let Some(parent) = history.ancestors().next() {
        let from = format!("{}@{}", parent.stream.id, parent.last_seq);
        output.note(&format!("a fork of {}: what follows is its own\n", clean::line(&from)));
    }
    let mut transcript = setup.transcript(output.data_style(), Detail::Short);
    let mut state = SessionState::default();
    let mut last: Option<Timestamp> = None;
    loop {
        let page = history.read(log, state.next_place(), events::PAGE).await?;
        if page.is_empty() {
            break;
        }
        for envelope in page {
            let event = Event::decode(envelope).map_err(LogError::from)?;
            let is_own = state.next_place() >= history.own_from();
            state.apply(&event);
            if !is_own {
                continue;
            }
            tokio::time::sleep(pause(last, event.envelope.at, speed)).await;
            last = Some(event.envelope.at);
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
