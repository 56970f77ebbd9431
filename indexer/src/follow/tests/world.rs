//! A log in memory with made-up sessions, and an index in a temporary folder.

use crate::follow::{FollowError, Follower, IndexCheck, IndexFolder, Rebuild};
use crate::keyword::KeywordIndex;
use retrace_events::log::{Holder, MemoryLog};
use retrace_events::payload::summary::SummaryWritten;
use retrace_events::payload::tool::{ToolCalled, ToolEffect, ToolExit, ToolFinished};
use retrace_events::payload::turn::{PromptSource, TurnAnswered, TurnPrompted, Usage};
use retrace_events::redact::Redactor;
use retrace_events::testing::EventMaker;
use retrace_events::{CallId, Class, Envelope, EventId, EventLog, Payload, StreamId, Timestamp, Token};
use std::path::Path;
use std::sync::Arc;

/// A log, and where its index is.
pub(super) struct World {
    pub(super) log: Arc<MemoryLog>,
    pub(super) folder: IndexFolder,
    _state: tempfile::TempDir,
}

impl World {
    pub(super) fn new() -> Self {
        let state = tempfile::tempdir().unwrap();
        let folder = IndexFolder::of_log(state.path(), "memory");
        Self { log: Arc::new(MemoryLog::new()), folder, _state: state }
    }

    /// The same folder, and an empty log.
    pub(super) fn forget_log(&mut self) {
        self.log = Arc::new(MemoryLog::new());
    }

    pub(super) async fn append(&self, events: &[Envelope]) {
        self.log.append(events).await.unwrap();
    }

    pub(super) async fn follower(&self) -> Result<Follower, FollowError> {
        Follower::open(self.log(), &self.folder, redactor(), &holder()).await
    }

    /// Everything the log has, indexed; the follower is gone afterwards.
    pub(super) async fn index_all(&self) {
        self.follower().await.unwrap().catch_up(&mut |_| {}).await.unwrap();
    }

    pub(super) fn log(&self) -> Arc<dyn EventLog> {
        Arc::clone(&self.log) as _
    }

    pub(super) fn rebuild(&self) -> Rebuild {
        Rebuild::begin(self.log(), &self.folder, redactor(), &holder()).unwrap()
    }

    /// How the index differs from one that is made anew.
    pub(super) async fn check(&self) -> IndexCheck {
        self.rebuild().check(&mut |_| {}).await.unwrap()
    }

    pub(super) fn keyword(&self) -> KeywordIndex {
        KeywordIndex::open(&self.folder.keyword()).unwrap().unwrap()
    }

    /// All texts in the index, sorted.
    pub(super) fn texts(&self, id: &str) -> Vec<String> {
        let mut texts: Vec<String> =
            self.keyword().documents_of(&stream(id).to_string()).unwrap().into_iter().map(|found| found.text).collect();
        texts.sort();
        texts
    }
}

pub(super) fn redactor() -> Arc<Redactor> {
    Arc::new(Redactor::new(Vec::new()))
}

pub(super) fn holder() -> Holder {
    Holder { host: "here".into(), pid: 7, command: "test".into(), since: Timestamp(1) }
}

pub(super) fn stream(id: &str) -> StreamId {
    StreamId { tenant: Token::slug("local"), project: Token::slug("p"), class: Class::Session, id: Token::slug(id) }
}

/// A session of `steps` prompts, each with an answer and a command, all different.
pub(super) fn session(id: &str, steps: usize) -> Vec<Envelope> {
    let mut maker = EventMaker::new(stream(id), id.bytes().map(u64::from).sum());
    let mut events = Vec::new();
    for n in 0..steps {
        let prompt = prompt(&format!("please look at part {n} of {id}"));
        events.push(maker.payload(&prompt, None));
        events.push(maker.payload(&answer(&format!("I shall look at part {n}")), None));
        let call = CallId(format!("call-{id}-{n}"));
        events.push(maker.payload(&called(&call, &format!("grep -n part{n} src/lib.rs")), None));
        events.push(maker.payload(&finished(&call, &format!("{n}: fn part{n}() of {id}")), None));
    }
    events
}

pub(super) fn prompt(text: &str) -> Payload {
    TurnPrompted { text: text.into(), source: PromptSource::Local, attachments: Vec::new() }.into()
}

pub(super) fn answer(text: &str) -> Payload {
    TurnAnswered {
        request: EventId(uuid::Uuid::nil()),
        content: serde_json::json!([{ "type": "text", "text": text }]).to_string(),
        model: "m".into(),
        stop_reason: "tool_use".into(),
        stop_details: None,
        usage: Usage::default(),
        cost_microusd: 0,
        request_id: None,
        duration_ms: 1,
    }
    .into()
}

fn called(call: &CallId, command: &str) -> Payload {
    let input = serde_json::json!({ "command": command }).to_string();
    let (request, effect) = (EventId(uuid::Uuid::nil()), ToolEffect::Writes);
    ToolCalled { call: call.clone(), tool: "bash".into(), input, request, effect }.into()
}

fn finished(call: &CallId, content: &str) -> Payload {
    ToolFinished {
        call: call.clone(),
        is_error: false,
        content: content.into(),
        exit: Some(ToolExit { code: Some(0), signal: None, timed_out: false }),
        output: None,
        changed: Vec::new(),
        duration_ms: 1,
    }
    .into()
}

/// A model's summary of the first node of `level` of a session, in its summary stream.
pub(super) fn written(id: &str, level: u32, text: &str) -> Vec<Envelope> {
    let session = stream(id);
    let mut maker = EventMaker::new(session.sibling(Class::Summary), 99);
    let payload = SummaryWritten {
        session,
        level,
        index: 0,
        first_seq: 0,
        last_seq: 0,
        text: text.into(),
        evidence: Vec::new(),
        by: "a-model".into(),
        cost_microusd: 5,
    };
    vec![maker.payload(&payload.into(), None)]
}

/// Cuts the file `name` beneath `folder` to half its length.
pub(super) fn halve(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}
