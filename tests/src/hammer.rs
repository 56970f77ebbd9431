//! Says things to the only session of a log through its control stream, as fast as they are handled: prompts, approvals of calls that wait
//! and of such that do not, cancels. A test runs two of them at once. Each event that was acknowledged is a line on stdout.
//!
//! `retrace-hammer LOG NAME COUNT`; the name seeds what is said, and stands in each prompt.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test's other process")]

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use retrace_events::control::ControlSender;
use retrace_events::log::{StreamFilter, open_log};
use retrace_events::mint::SystemMint;
use retrace_events::payload::control::{ControlApprovalGiven, ControlCancelRequested, ControlPromptSent};
use retrace_events::payload::tool::ToolApprovalScope;
use retrace_events::payload::{Payload, Session as Sessions, Tool};
use retrace_events::{CallId, Class, EventId, EventLog, StreamId, codec};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// How many events are read at a time.
const PAGE: usize = 64;

/// How far it may be ahead of whoever runs the session: with all said at once, nothing would be going on meanwhile.
const AHEAD: usize = 1;

/// The session as far as it was read.
struct Session {
    log: Arc<dyn EventLog>,
    stream: StreamId,
    next_seq: u64,
    /// What was said here and not handled yet.
    open: HashSet<EventId>,
    /// The call that approval was asked for last.
    newest: CallId,
}

impl Session {
    /// Reads on until there is room for one thing more to be said.
    async fn wait_for_room(&mut self) {
        loop {
            for envelope in self.log.read(&self.stream, self.next_seq, PAGE).await.unwrap() {
                self.next_seq = envelope.seq + 1;
                let payload = codec::decode_payload(&envelope.kind, envelope.schema, &envelope.payload).unwrap();
                match payload.known() {
                    Some(Payload::Tool(Tool::ApprovalAsked(asked))) => self.newest = asked.call.clone(),
                    Some(Payload::Session(Sessions::ControlHandled(handled))) => drop(self.open.remove(&handled.event)),
                    _ => {}
                }
            }
            if self.open.len() < AHEAD {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (name, count): (&str, u32) = (&args[2], args[3].parse().unwrap());
    let log = open_log(&args[1].parse().unwrap()).await.unwrap();
    let sessions = log.streams(&StreamFilter { class: Some(Class::Session), ..StreamFilter::default() }).await.unwrap();
    let stream = sessions[0].stream.clone();
    let sender = ControlSender::new(Arc::clone(&log), Arc::new(SystemMint), &stream);
    let newest = CallId("toolu_nobody_asked".to_owned());
    let mut session = Session { log, stream, next_seq: 0, open: HashSet::new(), newest };
    let mut chance = StdRng::seed_from_u64(name.bytes().map(u64::from).sum());
    for n in 0..count {
        session.wait_for_room().await;
        let (call, by) = (session.newest.clone(), name.to_owned());
        let payload: Payload = match chance.random_range(0..20) {
            0..8 => ControlPromptSent { text: format!("prompt {name} {n}"), attachments: Vec::new() }.into(),
            8..15 => ControlApprovalGiven { call, allow: Some(ToolApprovalScope::Once), note: String::new() }.into(),
            15..17 => ControlApprovalGiven { call, allow: None, note: format!("{name} says no") }.into(),
            17..19 => ControlCancelRequested { call: Some(call), by }.into(),
            _ => ControlCancelRequested { call: None, by }.into(),
        };
        let said = sender.send(payload).await.unwrap().envelope.id;
        session.open.insert(said);
        println!("{said}");
    }
}
