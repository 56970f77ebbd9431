//! Turns written down in short, and driven through the detector as the agent does it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod healthy;
mod loops;
mod notes;
mod properties;

use super::detect;
use retrace_events::fold::{CallRecord, StepRecord, keep_step};
use retrace_events::{CallId, Hash};
use std::collections::VecDeque;

/// A step written as `words:call+call`, both parts optional. A call is a name that stands for tool and input, and may
/// have `=result` (else the name stands for the result too), `!` (it failed), `*` (it may have changed something) and `~` (it
/// waits).
fn step(text: &str) -> StepRecord {
    let (said, calls) = text.split_once(':').unwrap_or(("", text));
    let said = (!said.is_empty()).then(|| Hash::of(said.as_bytes()));
    StepRecord { said, calls: calls.split('+').filter(|call| !call.is_empty()).map(call).collect() }
}

fn call(text: &str) -> CallRecord {
    let plain = text.trim_end_matches(['!', '*', '~']);
    let (name, result) = plain.split_once('=').unwrap_or((plain, plain));
    let has = |sign| text[plain.len()..].contains(sign);
    CallRecord {
        call: CallId(format!("toolu_{name}")),
        tool: "bash".into(),
        input: Hash::of(name.as_bytes()),
        gist: format!("{{\"command\":\"{name}\"}}"),
        waits: has('~'),
        result: Some(Hash::of(result.as_bytes())),
        is_error: has('!'),
        wrote: has('*'),
    }
}

/// The steps of a turn, with blanks between them.
fn turn(text: &str) -> Vec<StepRecord> {
    text.split_whitespace().map(step).collect()
}

/// What becomes of a turn: at which step (from 1) each rule warns, and at which one stops it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Driven {
    warned: Vec<(usize, &'static str)>,
    stopped: Option<(usize, &'static str)>,
}

/// Drives a turn as the agent does: after each step, with the steps that are kept.
fn drive(steps: impl IntoIterator<Item = StepRecord>) -> Driven {
    let (mut kept, mut driven) = (VecDeque::new(), Driven::default());
    for (index, step) in steps.into_iter().enumerate() {
        keep_step(&mut kept, step);
        let Some(stuck) = detect(kept.iter()) else { continue };
        let known = driven.warned.iter().any(|(_, rule)| *rule == stuck.rule);
        if stuck.stop && known {
            driven.stopped = Some((index + 1, stuck.rule));
            break;
        }
        if !known {
            driven.warned.push((index + 1, stuck.rule));
        }
    }
    driven
}
