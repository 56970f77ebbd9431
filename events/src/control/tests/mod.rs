//! What senders and inboxes do when the log fails, and what only a log without a strict reader would take.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod faulty_log;
mod inbox_tests;
mod sender_tests;

use super::{ControlSender, control_stream};
use crate::codec::Decoded;
use crate::id::StreamId;
use crate::log::{EventLog, MemoryLog};
use crate::mint::SeededMint;
use crate::payload::{Payload, control};
use crate::testing::example_stream;
use faulty_log::FaultyLog;
use std::sync::Arc;

/// A log that can be made to fail, and a session in it.
fn bench() -> (Arc<FaultyLog>, StreamId) {
    (Arc::new(FaultyLog::new(MemoryLog::new())), example_stream("control"))
}

/// A sender whose ids are its own.
fn sender(log: &Arc<FaultyLog>, session: &StreamId, seed: u64) -> ControlSender {
    let log: Arc<dyn EventLog> = log.clone();
    ControlSender::new(log, Arc::new(SeededMint::new(seed)), session)
}

fn prompt(text: &str) -> Payload {
    control::ControlPromptSent { text: text.to_owned(), attachments: Vec::new() }.into()
}

/// The words of all prompts in the session's control stream.
async fn texts(log: &FaultyLog, session: &StreamId) -> Vec<String> {
    let stored = log.read(&control_stream(session), 0, 1_000).await.unwrap();
    let events = stored.into_iter().map(|envelope| crate::Event::decode(envelope).unwrap());
    events.map(|event| text(&event.payload)).collect()
}

fn text(payload: &Decoded) -> String {
    match payload.known() {
        Some(Payload::Control(control::Control::PromptSent(sent))) => sent.text.clone(),
        other => panic!("not a prompt: {other:?}"),
    }
}
