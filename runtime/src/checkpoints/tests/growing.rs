//! Sessions and forks that grow by random moves.

use proptest::prelude::*;
use retrace_events::log::MemoryLog;
use retrace_events::mint::SeededMint;
use retrace_events::payload::context::ContextEpochStarted;
use retrace_events::payload::session::{SessionForkReason, SessionForked};
use retrace_events::payload::tool::{ToolCalled, ToolEffect, ToolFinished};
use retrace_events::payload::turn::{PromptSource, TurnAnswered, TurnEnded, TurnOutcome, TurnPrompted, Usage};
use retrace_events::payload::{Context, Payload, Session};
use retrace_events::testing::{example_payloads, example_settings, example_stream};
use retrace_events::{CallId, EventId, EventLog as _, Hash, LogError, StreamId, Writer};
use std::sync::Arc;

/// One thing that happens in one of the sessions.
#[derive(Debug, Clone)]
pub(super) enum Move {
    Prompt(String),
    /// An answer with calls of these tools.
    Step(Vec<u8>, String),
    /// A call that has no result yet.
    Begun(String),
    End,
    /// A fresh epoch that keeps so many of the newest events.
    Epoch(u64),
    /// Any payload at all, as a hostile log may have it.
    Example(usize),
    /// A fork of the session, so many events back.
    Fork(u64),
}

pub(super) fn moves(count: usize) -> impl Strategy<Value = Vec<(usize, Move)>> {
    let text = "[a-z_é\n]{0,60}";
    let one = prop_oneof![
        3 => text.prop_map(Move::Prompt),
        6 => (prop::collection::vec(0_u8..5, 0..4), text).prop_map(|(tools, text)| Move::Step(tools, text)),
        1 => text.prop_map(Move::Begun),
        1 => Just(Move::End),
        2 => (0_u64..12).prop_map(Move::Epoch),
        3 => any::<prop::sample::Index>().prop_map(|index| Move::Example(index.index(1_000))),
        1 => (0_u64..20).prop_map(Move::Fork),
    ];
    prop::collection::vec((0_usize..4, one), 1..count)
}

/// A log with a session, and forks of it.
pub(super) struct Growing {
    pub(super) log: MemoryLog,
    writers: Vec<Writer>,
    calls: usize,
}

impl Growing {
    pub(super) fn new() -> Self {
        let log = MemoryLog::new();
        let mint = Arc::new(SeededMint::new(7));
        let writer = Writer::create(Arc::new(log.clone()), mint, example_stream("grown"), Hash::GENESIS);
        Self { log, writers: vec![writer], calls: 0 }
    }

    /// A session of `events` prompts.
    pub(super) async fn of_prompts(events: u64) -> Self {
        let mut growing = Self::new();
        for number in 0..events {
            growing.add(0, prompt(&format!("prompt {number}"))).await;
        }
        growing
    }

    pub(super) fn stream(&self, number: usize) -> StreamId {
        self.writers[number].stream().clone()
    }

    /// All sessions with their last events.
    pub(super) fn sessions(&self) -> Vec<(StreamId, u64)> {
        let begun = self.writers.iter().filter(|writer| writer.next_seq() > 0);
        begun.map(|writer| (writer.stream().clone(), writer.next_seq() - 1)).collect()
    }

    pub(super) async fn add(&mut self, whose: usize, payload: Payload) {
        self.writers[whose].append(vec![(payload, None)]).await.unwrap();
    }

    /// A fork of session `whose` behind its event `parent_seq`; its number.
    pub(super) async fn fork(&mut self, whose: usize, parent_seq: u64) -> usize {
        let parent = self.stream(whose);
        let last = self.log.read(&parent, parent_seq, 1).await.unwrap().remove(0);
        let number = self.writers.len();
        let stream = example_stream(&format!("fork{number}"));
        let mint = Arc::new(SeededMint::new(100 + number as u64));
        let hash = last.hash().unwrap();
        self.writers.push(Writer::create(Arc::new(self.log.clone()), mint, stream, hash));
        let forked = SessionForked {
            parent,
            parent_seq,
            parent_hash: hash,
            reason: SessionForkReason::Fork,
            title: "another way".to_owned(),
            workspace: "/work/other".to_owned(),
            retrace_version: "0".to_owned(),
            settings: example_settings(),
        };
        self.add(number, forked.into()).await;
        number
    }

    pub(super) async fn make(&mut self, moves: &[(usize, Move)]) {
        for (whose, one) in moves {
            self.make_one(whose % self.writers.len(), one).await;
        }
    }

    async fn make_one(&mut self, whose: usize, one: &Move) {
        match one {
            Move::Prompt(text) => self.add(whose, prompt(text)).await,
            Move::Step(tools, text) => self.step(whose, tools, text).await,
            Move::Begun(text) => {
                let called = self.called(0, text);
                self.add(whose, called.into()).await;
            }
            Move::End => {
                self.add(whose, TurnEnded { outcome: TurnOutcome::Completed, note: "done".to_owned() }.into()).await;
            }
            Move::Epoch(kept) => {
                let example = example_payloads().into_iter().find_map(|payload| match payload {
                    Payload::Context(Context::EpochStarted(start)) => Some(start),
                    _ => None,
                });
                let from_seq = self.writers[whose].next_seq().saturating_sub(*kept);
                self.add(whose, ContextEpochStarted { from_seq, ..example.unwrap() }.into()).await;
            }
            Move::Example(number) => {
                let mut examples = example_payloads();
                // A fork begins with its event and has it nowhere else.
                examples.retain(|payload| !matches!(payload, Payload::Session(Session::Forked(_))));
                let example = examples.swap_remove(number % examples.len());
                // Whose blob is not there is refused by the log.
                let added = self.writers[whose].append(vec![(example, None)]).await;
                assert!(matches!(added, Ok(_) | Err(LogError::NoSuchBlob(_))), "{added:?}");
            }
            Move::Fork(back) => {
                if let Some(last) = self.writers[whose].next_seq().checked_sub(1).filter(|_| self.writers.len() < 5) {
                    self.fork(whose, last.saturating_sub(*back)).await;
                }
            }
        }
    }

    fn called(&mut self, tool: u8, text: &str) -> ToolCalled {
        self.calls += 1;
        let path = format!("src/file{}.rs", text.len() % 4);
        let (tool, input) = match tool {
            0 => ("bash", serde_json::json!({ "command": format!("echo {text}") })),
            1 => ("read_file", serde_json::json!({ "path": path })),
            2 => ("write_file", serde_json::json!({ "path": path, "content": format!("fn a() {{}}\n{text}\n") })),
            3 => ("edit_file", serde_json::json!({ "path": path, "old_string": "a", "new_string": text })),
            _ => ("search_files", serde_json::json!({ "pattern": text, "path": "src" })),
        };
        let call = CallId(format!("toolu_{:06}", self.calls));
        let request = EventId(uuid::Uuid::nil());
        ToolCalled { call, tool: tool.to_owned(), input: input.to_string(), request, effect: ToolEffect::Writes }
    }

    /// An answer, its calls, and their results in the other order.
    async fn step(&mut self, whose: usize, tools: &[u8], text: &str) {
        let calls: Vec<ToolCalled> = tools.iter().map(|tool| self.called(*tool, text)).collect();
        let mut blocks = vec![serde_json::json!({ "type": "text", "text": format!("because {text}") })];
        for ToolCalled { call, tool, input, .. } in &calls {
            let input: serde_json::Value = serde_json::from_str(input).unwrap();
            blocks.push(serde_json::json!({ "type": "tool_use", "id": call.0, "name": tool, "input": input }));
        }
        let answered = TurnAnswered {
            request: EventId(uuid::Uuid::nil()),
            content: serde_json::to_string(&blocks).unwrap(),
            model: "m".to_owned(),
            stop_reason: "tool_use".to_owned(),
            stop_details: None,
            usage: Usage { input_tokens: 10, ..Usage::default() },
            cost_microusd: 3,
            request_id: None,
            duration_ms: 1,
        };
        self.add(whose, answered.into()).await;
        for called in &calls {
            self.add(whose, called.clone().into()).await;
        }
        for ToolCalled { call, .. } in calls.into_iter().rev() {
            let output = match text.len() % 2 {
                0 => Some(self.log.blobs().put(text.as_bytes()).await.unwrap()),
                _ => None,
            };
            let content = format!("1\tfn a() {{}}\n2\t{text}\n3\tlet password = 'hunter22222';\n");
            let finished = ToolFinished {
                call,
                is_error: false,
                content,
                exit: None,
                output,
                changed: Vec::new(),
                duration_ms: 1,
            };
            self.add(whose, finished.into()).await;
        }
    }
}

pub(super) fn prompt(text: &str) -> Payload {
    TurnPrompted { text: text.to_owned(), source: PromptSource::Local, attachments: Vec::new() }.into()
}
