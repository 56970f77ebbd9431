//! Showing what an agent does: nothing is lost when the terminal is slow, and the agent never waits.

use crate::agent::{Live, LiveSender};
use crate::cli::output::Output;
use crate::cli::render::{Detail, LivePrinter, Style, Transcript};
use crate::cli::watch::{Seen, Watch};
use crate::tools;
use retrace_events::log::MemoryLog;
use retrace_events::payload::turn::{TurnAnswered, TurnFailed, TurnFailure, Usage};
use retrace_events::redact::Redactor;
use retrace_events::testing::{EventMaker, example_stream};
use retrace_events::{Event, EventId, EventLog};
use std::sync::Arc;

/// A watched session.
struct Session {
    log: Arc<MemoryLog>,
    maker: EventMaker,
    live: LiveSender,
    output: Output,
    watch: Option<Watch>,
}

impl Session {
    fn watched(json: bool, next_seq: u64) -> Self {
        let stream = example_stream("s");
        let (log, live, output) = (Arc::new(MemoryLog::new()), LiveSender::default(), Output::in_memory(json, false));
        let redactor = Arc::new(Redactor::new(Vec::new()));
        let transcript = Transcript::new(Style::Plain, Detail::Short, Arc::clone(&redactor), tools::all());
        let place = (Arc::clone(&log) as Arc<dyn EventLog>, stream.clone(), next_seq);
        let watch = Watch::begin(live.listen(), LivePrinter::new(transcript), output.clone(), redactor, place, None);
        Self { log, maker: EventMaker::new(stream, 1), live, output, watch: Some(watch) }
    }

    /// Logs `count` prompts without showing them.
    async fn log_prompts(&mut self, count: usize) -> Vec<Event> {
        let envelopes = self.maker.prompts(count);
        for batch in envelopes.chunks(50) {
            self.log.append(batch).await.unwrap();
        }
        envelopes.into_iter().map(|envelope| Event::decode(envelope).unwrap()).collect()
    }

    fn show(&self, event: &Event) {
        self.live.send(Live::Logged(Arc::new(event.clone())));
    }

    async fn end(&mut self) -> (Seen, String, String) {
        let seen = self.watch.take().unwrap().end().await;
        let (out, err) = self.output.take();
        (seen, out, err)
    }
}

/// The sequence numbers in `--json` output.
fn numbers(out: &str) -> Vec<u64> {
    out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["seq"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn what_was_sent_before_the_end_is_shown() {
    let mut session = Session::watched(true, 0);
    let events = session.log_prompts(100).await;
    events.iter().for_each(|event| session.show(event));
    let (seen, out, _) = session.end().await;
    assert_eq!(numbers(&out), (0..100).collect::<Vec<_>>());
    assert_eq!(seen.failed, None);
}

#[tokio::test]
async fn what_the_channel_dropped_is_read_from_the_log() {
    let mut session = Session::watched(true, 0);
    let events = session.log_prompts(700).await;
    // Nothing is awaited here, so the watcher cannot keep up: the channel holds 4,096 items.
    for event in &events[..600] {
        session.live.send(Live::Text("word ".to_owned()));
        session.show(event);
    }
    (0..5_000).for_each(|piece| session.live.send(Live::Text(format!("{piece} "))));
    session.show(&events[699]);
    let (_, out, _) = session.end().await;
    assert_eq!(numbers(&out), (0..700).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_event_shown_twice_is_printed_once() {
    let mut session = Session::watched(true, 0);
    let events = session.log_prompts(3).await;
    for number in [0, 1, 0, 2, 1, 2] {
        session.show(&events[number]);
    }
    assert_eq!(numbers(&session.end().await.1), [0, 1, 2]);
}

#[tokio::test]
async fn a_resumed_session_begins_where_it_was() {
    let mut session = Session::watched(true, 5);
    let events = session.log_prompts(8).await;
    session.show(&events[6]);
    assert_eq!(numbers(&session.end().await.1), [5, 6]);
}

#[tokio::test]
async fn a_log_that_fails_meanwhile_is_told_at_the_end() {
    let mut session = Session::watched(true, 0);
    let events = session.log_prompts(10).await;
    session.log.flip_byte(&example_stream("s"), 4);
    session.show(&events[9]);
    let (seen, _, _) = session.end().await;
    assert!(seen.failed.unwrap().message.contains("damaged"));
}

fn answer(text: &str) -> TurnAnswered {
    TurnAnswered {
        request: EventId(uuid::Uuid::nil()),
        content: format!(r#"[{{"type":"text","text":"{text}"}}]"#),
        model: "m".to_owned(),
        stop_reason: "end_turn".to_owned(),
        stop_details: None,
        usage: Usage::default(),
        cost_microusd: 0,
        request_id: None,
        duration_ms: 0,
    }
}

fn failure(retry_in_ms: Option<u64>) -> TurnFailed {
    TurnFailed {
        request: EventId(uuid::Uuid::nil()),
        failure: TurnFailure::Overloaded,
        status: Some(529),
        message: "busy".to_owned(),
        request_id: None,
        partial: None,
        billed_microusd: 0,
        retry_in_ms,
    }
}

#[tokio::test]
async fn the_last_answer_and_the_last_failure_are_remembered() {
    let mut session = Session::watched(false, 0);
    let payloads = [answer("one").into(), failure(Some(5)).into(), answer("two").into(), failure(None).into()];
    for payload in &payloads {
        let envelope = session.maker.payload(payload, None);
        session.log.append(std::slice::from_ref(&envelope)).await.unwrap();
        session.show(&Event::decode(envelope).unwrap());
    }
    let (seen, out, err) = session.end().await;
    assert_eq!(
        (seen.last_text.as_str(), seen.gave_up.map(|failed| failed.failure)),
        ("two", Some(TurnFailure::Overloaded))
    );
    assert_eq!(out, "");
    assert!(err.starts_with("one\n") && err.contains("\ntwo\n"), "{err}");
}

#[tokio::test]
async fn a_failure_that_was_made_good_is_forgotten() {
    let mut session = Session::watched(false, 0);
    for payload in [failure(None).into(), answer("after all").into()] {
        let envelope = session.maker.payload(&payload, None);
        session.log.append(std::slice::from_ref(&envelope)).await.unwrap();
        session.show(&Event::decode(envelope).unwrap());
    }
    assert_eq!(session.end().await.0.gave_up, None);
}
