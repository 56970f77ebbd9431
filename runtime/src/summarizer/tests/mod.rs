//! Tests of the summaries that a model writes: what is asked for, what is stored, and that nothing is paid for twice.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod claude_tests;
mod counting;
mod random_tests;
mod request_tests;
mod writer_tests;

use super::{SummaryWriter, WriteLimits};
use counting::Counting;
use retrace_events::log::{Holder, MemoryLog};
use retrace_events::mint::SystemMint;
use retrace_events::payload::summary::SummaryWritten;
use retrace_events::payload::turn::{PromptSource, TurnAnswered, TurnPrompted, Usage};
use retrace_events::payload::{Payload, Summary};
use retrace_events::redact::Redactor;
use retrace_events::testing::{EventMaker, example_stream};
use retrace_events::{Class, Envelope, Event, EventId, EventLog, StreamId, Timestamp};
use retrace_indexer::Summarize;
use std::sync::{Arc, LazyLock};

/// What the redactor of these tests knows.
const SECRET: &str = "hunter2-hunter2-hunter2";

fn redactor() -> Arc<Redactor> {
    static REDACTOR: LazyLock<Arc<Redactor>> = LazyLock::new(|| Arc::new(Redactor::new(vec![SECRET.to_owned()])));
    Arc::clone(&REDACTOR)
}

fn session() -> StreamId {
    example_stream("tested")
}

fn holder() -> Holder {
    Holder::this_process("retrace test", Timestamp(1))
}

const fn all() -> WriteLimits {
    WriteLimits { max_nodes: u32::MAX, max_cost_microusd: None }
}

fn prompt(text: &str) -> Payload {
    TurnPrompted { text: text.to_owned(), source: PromptSource::Local, attachments: Vec::new() }.into()
}

fn answer(text: &str) -> Payload {
    TurnAnswered {
        request: EventId(uuid::Uuid::nil()),
        content: serde_json::json!([{ "type": "text", "text": text }]).to_string(),
        model: "m".to_owned(),
        stop_reason: "end_turn".to_owned(),
        stop_details: None,
        usage: Usage::default(),
        cost_microusd: 0,
        request_id: None,
        duration_ms: 1,
    }
    .into()
}

/// A log with a session of `steps` steps, and the maker of further events of it. The last step is open.
async fn logged(steps: usize) -> (MemoryLog, EventMaker) {
    let log = MemoryLog::new();
    let mut maker = EventMaker::new(session(), 5);
    grow(&log, &mut maker, 0..steps).await;
    (log, maker)
}

/// Appends steps, a prompt and an answer in turn.
async fn grow(log: &MemoryLog, maker: &mut EventMaker, steps: std::ops::Range<usize>) {
    for step in steps {
        let payload = match step % 2 {
            0 => prompt(&format!("please mend part {step}, the key is {SECRET}")),
            _ => answer(&format!("I chose to mend part {step} by hand.")),
        };
        let event: Envelope = maker.payload(&payload, None);
        log.append(&[event]).await.unwrap();
    }
}

/// A writer, as a process that has just begun has one.
fn writer<S: Summarize + 'static>(log: &MemoryLog, summarizer: &Arc<S>) -> SummaryWriter {
    let summarizer = Arc::clone(summarizer) as Arc<dyn Summarize>;
    SummaryWriter::new(Arc::new(log.clone()), Arc::new(SystemMint), session(), summarizer, redactor(), holder())
}

/// What was written, in order.
async fn written(log: &MemoryLog) -> Vec<SummaryWritten> {
    let events = log.read(&session().sibling(Class::Summary), 0, 10_000).await.unwrap();
    let summary = |envelope| match Event::decode(envelope).unwrap().payload.known() {
        Some(Payload::Summary(Summary::Written(written))) => written.clone(),
        other => panic!("{other:?}"),
    };
    events.into_iter().map(summary).collect()
}

/// Level and place of each of these.
fn places(written: &[SummaryWritten]) -> Vec<(u32, u64)> {
    written.iter().map(|written| (written.level, written.index)).collect()
}

/// A summarizer that always has words.
fn willing() -> Arc<Counting> {
    Arc::new(Counting::default())
}
