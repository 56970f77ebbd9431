//! Recorded sessions of other agents, as sessions of retrace: to measure on what people really did.
//!
//! The file has one JSON object a line (`session`, `i`, `ts`, `kind`, `tool`, `path`, `text`), in order of time; it may be
//! compressed with gzip. Line `i` of a session becomes event `i + 1`, behind the event that begins the session, so that what is
//! found can be compared with the recording. Calls and results have no ids there: a result belongs to the oldest open call of the
//! same tool and path.

use retrace_events::codec::CodecError;
use retrace_events::payload::session::SessionStarted;
use retrace_events::payload::tool::{ToolCalled, ToolEffect, ToolFinished};
use retrace_events::payload::turn::{PromptSource, TurnAnswered, TurnPrompted, Usage};
use retrace_events::{CallId, Envelope, EventId, Hash, Payload, StreamId, Timestamp};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// Where the recorded sessions worked; what stands before a path in a call's input is the recorder's own business.
const WORKSPACE: &str = "/recorded";

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RecordedLine {
    /// The session's id.
    pub session: String,
    /// The line's place in its session.
    pub i: usize,
    /// When, as RFC 3339.
    pub ts: String,
    /// `user`, `meta`, `assistant`, `thinking`, `tool_call`, `tool_result`, `summary`.
    pub kind: String,
    /// The tool of a call or result.
    pub tool: Option<String>,
    /// The file it is about.
    pub path: Option<String>,
    /// The words.
    pub text: String,
    /// About how many tokens that is.
    pub tok: u64,
}

/// A session as it was recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedSession {
    /// Its id.
    pub id: String,
    /// Its lines, in order.
    pub lines: Vec<RecordedLine>,
}

/// Reads the sessions in the file at `path`, in the order in which they begin.
///
/// # Errors
/// When the file cannot be read or a line is not one of these.
pub fn recorded_sessions(path: &Path) -> io::Result<Vec<RecordedSession>> {
    let mut sessions: Vec<RecordedSession> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for line in BufReader::new(open(path)?).lines() {
        let line: RecordedLine = serde_json::from_str(&line?)?;
        let place = *places.entry(line.session.clone()).or_insert_with(|| {
            sessions.push(RecordedSession { id: line.session.clone(), lines: Vec::new() });
            sessions.len() - 1
        });
        sessions[place].lines.push(line);
    }
    Ok(sessions)
}

/// The file's text; what ends in `.gz` is unpacked by `gzip`.
fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return Ok(Box::new(std::fs::File::open(path)?));
    }
    let child = Command::new("gzip").arg("-cd").arg(path).stdout(Stdio::piped()).spawn()?;
    child.stdout.map_or_else(|| Err(io::Error::other("gzip has no output")), |out| Ok(Box::new(out) as Box<dyn Read>))
}

impl RecordedSession {
    /// Its events in `stream`. `vary` changes every text a little, so that a session can be there many times.
    ///
    /// # Errors
    /// When an event is too large.
    pub fn events(&self, stream: &StreamId, vary: &dyn Fn(&str) -> String) -> Result<Vec<Envelope>, CodecError> {
        let mut chain = Chain::new(stream.clone(), Timestamp(0));
        let title = self.lines.iter().find(|line| line.kind == "user").map_or("", |line| line.text.as_str());
        let started = SessionStarted {
            title: title.chars().take(80).collect(),
            workspace: WORKSPACE.to_owned(),
            retrace_version: "0".to_owned(),
            settings: super::settings(),
        };
        chain.at = self.lines.first().map_or(Timestamp(0), |line| time(&line.ts));
        let mut events = vec![chain.next(&started.into())?];
        let mut open: Vec<(CallId, Option<String>, Option<String>)> = Vec::new();
        for line in &self.lines {
            // Calls of one answer were written down in another order than they ended; in a log time does not go backwards.
            chain.at = chain.at.max(time(&line.ts));
            events.push(chain.next(&payload(line, &mut open, vary))?);
        }
        Ok(events)
    }
}

type OpenCalls = Vec<(CallId, Option<String>, Option<String>)>;

fn payload(line: &RecordedLine, open: &mut OpenCalls, vary: &dyn Fn(&str) -> String) -> Payload {
    let text = vary(&line.text);
    match line.kind.as_str() {
        "assistant" => answered("text", "text", &text),
        "thinking" => answered("thinking", "thinking", &text),
        "tool_call" => {
            let call = CallId(format!("call-{}", line.i));
            open.push((call.clone(), line.tool.clone(), line.path.clone()));
            let tool = line.tool.clone().unwrap_or_default();
            let (request, effect) = (EventId(uuid::Uuid::nil()), ToolEffect::Writes);
            ToolCalled { call, tool, input: text, request, effect }.into()
        }
        "tool_result" => {
            let same =
                |(_, tool, path): &(CallId, Option<String>, Option<String>)| *tool == line.tool && *path == line.path;
            let call = open.iter().position(same).map(|at| open.remove(at).0);
            let call = call.unwrap_or_else(|| CallId(format!("lost-{}", line.i)));
            ToolFinished {
                call,
                is_error: false,
                content: text,
                exit: None,
                output: None,
                changed: Vec::new(),
                duration_ms: 0,
            }
            .into()
        }
        _ => TurnPrompted { text, source: PromptSource::Local, attachments: Vec::new() }.into(),
    }
}

fn answered(kind: &str, field: &str, text: &str) -> Payload {
    TurnAnswered {
        request: EventId(uuid::Uuid::nil()),
        content: serde_json::json!([{ "type": kind, field: text }]).to_string(),
        model: "recorded".into(),
        stop_reason: "end_turn".into(),
        stop_details: None,
        usage: Usage::default(),
        cost_microusd: 0,
        request_id: None,
        duration_ms: 0,
    }
    .into()
}

pub(crate) fn time(text: &str) -> Timestamp {
    let parsed: Result<jiff::Timestamp, _> = text.parse();
    Timestamp(parsed.map_or(0, |at| u64::try_from(at.as_millisecond()).unwrap_or(0)))
}

/// Events of one stream, one behind the other.
pub(crate) struct Chain {
    stream: StreamId,
    /// The number of the next event.
    pub(crate) next_seq: u64,
    prev_hash: Hash,
    /// When the next event is made.
    pub(crate) at: Timestamp,
}

impl Chain {
    /// A stream without events.
    pub(crate) const fn new(stream: StreamId, at: Timestamp) -> Self {
        Self { stream, next_seq: 0, prev_hash: Hash::GENESIS, at }
    }

    /// The next event.
    pub(crate) fn next(&mut self, payload: &Payload) -> Result<Envelope, CodecError> {
        let name = Hash::of(format!("{}/{}", self.stream, self.next_seq).as_bytes()).to_string();
        let random = u128::from_str_radix(name.get(..20).unwrap_or("0"), 16).unwrap_or(0);
        // A UUIDv7: 48 bits of time, then what tells it apart.
        let id = u128::from(self.at.0) << 80
            | 0x7 << 76
            | (random >> 8 & 0xfff) << 64
            | 0b10 << 62
            | (random & ((1 << 62) - 1));
        let envelope = Envelope {
            id: EventId(uuid::Uuid::from_u128(id)),
            stream: self.stream.clone(),
            seq: self.next_seq,
            at: self.at,
            kind: payload.kind().to_owned(),
            schema: Payload::schema_of(payload.kind()).unwrap_or(1),
            cause: None,
            prev_hash: self.prev_hash,
            payload: payload.encode()?,
        };
        self.next_seq += 1;
        self.prev_hash = envelope.hash()?;
        Ok(envelope)
    }
}
