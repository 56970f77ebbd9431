//! Turns the events of an answer into writes, with pauses, cuts and silences where the script wants them.

use std::time::Duration;

use axum::body::{Body, Bytes};
use futures::stream;
use tokio_util::sync::CancellationToken;

use super::fault::{After, BEFORE_CUT, Fault};
use super::frames;
use super::step::Delivery;

/// One thing the body of a response does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    /// Writes these bytes, and lets them leave before the next act.
    Write(Bytes),
    /// Waits.
    Pause(Duration),
    /// Breaks the connection.
    Cut,
    /// Sends nothing more, and keeps the connection open.
    Stall,
}

/// What to do for `events`, spoiled by `fault`.
pub(super) fn acts(events: Vec<String>, fault: Option<&Fault>, delivery: &Delivery, request_id: &str) -> Vec<Act> {
    let mut bytes_kept = usize::MAX;
    let mut events = events;
    let mut last = None;
    match fault {
        None | Some(Fault::Refuse { .. }) | Some(Fault::Hang) => {}
        Some(Fault::ErrorMidStream { error, after }) => {
            events.truncate(events_before(&events, *after));
            let body = serde_json::from_str(&error.body(request_id)).unwrap_or_default();
            events.push(frames::event(&body, delivery.odd));
        }
        Some(Fault::Cut { after }) => {
            match after {
                After::Events(count) => events.truncate(*count),
                After::Bytes(count) => bytes_kept = *count,
            }
            last = Some(Act::Cut);
        }
        Some(Fault::End { after }) => events.truncate(events_before(&events, *after)),
        Some(Fault::Stall { after }) => {
            events.truncate(events_before(&events, *after));
            last = Some(Act::Stall);
        }
    }
    let mut acts: Vec<Act> = Vec::new();
    for write in writes(&events, bytes_kept, delivery.split_bytes) {
        if !acts.is_empty() && !delivery.delay.is_zero() {
            acts.push(Act::Pause(delivery.delay));
        }
        acts.push(Act::Write(write));
    }
    if last == Some(Act::Cut) {
        acts.push(Act::Pause(BEFORE_CUT));
    }
    acts.extend(last);
    acts
}

/// How many whole events come before the place: those whose bytes reach it, where it is given in bytes.
fn events_before(events: &[String], after: After) -> usize {
    match after {
        After::Events(count) => count.min(events.len()),
        After::Bytes(bytes) => {
            let mut total = 0;
            let reached = events.iter().position(|event| {
                total += event.len();
                total >= bytes
            });
            reached.map_or(events.len(), |index| index + 1)
        }
    }
}

fn writes(events: &[String], bytes_kept: usize, split_bytes: usize) -> Vec<Bytes> {
    if split_bytes == 0 && bytes_kept == usize::MAX {
        return events.iter().map(|event| Bytes::from(event.clone())).collect();
    }
    let mut all = events.concat().into_bytes();
    all.truncate(bytes_kept);
    let size = if split_bytes == 0 { all.len().max(1) } else { split_bytes };
    let all = Bytes::from(all);
    (0..all.len()).step_by(size).map(|at| all.slice(at..all.len().min(at + size))).collect()
}

/// A response body that does `acts`. A silence ends with `closing`, everything else with `abort`.
pub(super) fn body(acts: Vec<Act>, closing: CancellationToken, abort: CancellationToken) -> Body {
    let acts = acts.into_iter();
    Body::from_stream(stream::unfold((acts, closing, abort), |(mut acts, closing, abort)| async move {
        loop {
            // Giving way lets the connection write out what it was given before.
            tokio::task::yield_now().await;
            match acts.next()? {
                Act::Write(bytes) => return Some((Ok(bytes), (acts, closing, abort))),
                Act::Pause(pause) => tokio::select! {
                    () = tokio::time::sleep(pause) => continue,
                    () = abort.cancelled() => {}
                },
                Act::Stall => closing.cancelled().await,
                Act::Cut => {}
            }
            let cut = std::io::Error::other("the script cuts the connection here");
            return Some((Err(cut), (Vec::new().into_iter(), closing, abort)));
        }
    }))
}
