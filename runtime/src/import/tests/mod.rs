//! Tests of imports, on made-up transcripts in Claude Code's format (`transcripts/`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod broken_files;
mod conversation;
mod folders;
mod growth;
mod hostile_lines;
mod outcomes;
mod readings;
mod refusals;

use super::Draft;
use super::claude_code::{Beginning, Converter, ImportReport, Importer, Record, Shop};
use crate::claude::ModelTable;
use retrace_events::log::{Holder, MemoryLog};
use retrace_events::redact::Redactor;
use retrace_events::testing::{example_settings, example_stream};
use retrace_events::{Class, Envelope, Event, EventLog, Payload, SessionState, StreamId, Timestamp, Token, fold};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A whole session with most of what there is in one.
const SESSION: &str = include_str!("transcripts/session.jsonl");
/// Its name.
const SESSION_ID: &str = "5e551011-0000-4000-8000-000000000001";
/// A session with subagents: one with a file of its own, one in progress lines, one in a side chain.
const WITH_SUBAGENTS: &str = include_str!("transcripts/with-subagents.jsonl");
/// The file of the first of them.
const AGENT_FILE: &str = include_str!("transcripts/agent-f1111111.jsonl");
/// Its session's name.
const PARENT_ID: &str = "5e551011-0000-4000-8000-000000000002";
/// Long after all of them.
const LATER_MS: u64 = 1_800_000_000_000;

fn redactor() -> Arc<Redactor> {
    Arc::new(Redactor::new(Vec::new()))
}

fn converter() -> Converter {
    let beginning = Beginning {
        stream: example_stream("test"),
        source_session: SESSION_ID.to_owned(),
        source_version: "2.1.30".to_owned(),
        title: "a test".to_owned(),
        workspace: "/home/ada/parser".to_owned(),
        settings: example_settings(),
        at_ms: 1_772_000_000_000,
    };
    Converter::new(beginning, redactor(), ModelTable::builtin().unwrap())
}

/// The drafts of `lines`, without the two a session begins with.
fn convert<'a>(lines: impl IntoIterator<Item = &'a str>, complete: bool) -> Vec<Draft> {
    let mut converter = converter();
    for (place, line) in lines.into_iter().enumerate() {
        let record = Record::of(line).unwrap_or_default();
        let name = record.name().unwrap_or_else(|| format!("line {place}"));
        converter.line(&name, &record);
    }
    converter.finish(complete);
    converter.take().split_off(2)
}

/// The drafts of a session with a prompt and these lines.
fn after_prompt(lines: &[String]) -> Vec<Draft> {
    let prompt = user("p", r#""the task""#);
    let lines: Vec<&str> = std::iter::once(prompt.as_str()).chain(lines.iter().map(String::as_str)).collect();
    convert(lines, true).split_off(1)
}

/// A user's line with `content`, as JSON.
fn user(name: &str, content: &str) -> String {
    line(name, "user", &format!(r#""message":{{"role":"user","content":{content}}}"#))
}

/// A line of an answer with one block.
fn answer(name: &str, message: &str, block: &str) -> String {
    let message = format!(r#"{{"role":"assistant","id":"{message}","model":"claude-example-5","content":[{block}]}}"#);
    line(name, "assistant", &format!(r#""message":{message}"#))
}

fn line(name: &str, kind: &str, rest: &str) -> String {
    format!(
        r#"{{"type":"{kind}","uuid":"{name}","sessionId":"{SESSION_ID}","cwd":"/w","timestamp":"2026-03-01T10:00:00Z",{rest}}}"#
    )
}

fn call(id: &str, tool: &str, input: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"{tool}","input":{input}}}"#)
}

fn kinds(drafts: &[Draft]) -> Vec<&'static str> {
    drafts.iter().map(|draft| draft.payload.kind()).collect()
}

/// A place to import into: a log in memory, and a folder for files.
struct Desk {
    log: Arc<MemoryLog>,
    root: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { log: Arc::new(MemoryLog::new()), root: tempfile::tempdir().unwrap() }
    }

    fn shop(&self, now_ms: u64) -> Shop {
        Shop {
            log: Arc::clone(&self.log) as Arc<dyn EventLog>,
            redactor: redactor(),
            models: ModelTable::builtin().unwrap(),
            settings: example_settings(),
            stream: Box::new(|_: &Path, id: &str| stream(id)),
            workspace: PathBuf::from("/fallback"),
            imported_list: self.root.path().join("imported.json"),
            holder: Holder::this_process("retrace import", Timestamp(1)),
            now_ms,
            subagents: true,
        }
    }

    /// Writes a file beneath the folder of transcripts.
    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    fn folder(&self) -> PathBuf {
        self.root.path().join("projects")
    }

    async fn import(&self, path: &Path) -> ImportReport {
        self.import_at(path, LATER_MS).await
    }

    async fn import_at(&self, path: &Path, now_ms: u64) -> ImportReport {
        Importer::new(&self.shop(now_ms)).run(path, &mut |_, _| {}).await.unwrap()
    }

    /// All events of a session.
    async fn events(&self, id: &str) -> Vec<Envelope> {
        self.log.read(&stream(id), 0, 100_000).await.unwrap()
    }

    async fn kinds(&self, id: &str) -> Vec<String> {
        self.events(id).await.into_iter().map(|envelope| envelope.kind).collect()
    }

    async fn payloads(&self, id: &str) -> Vec<Payload> {
        let decode = |envelope| Event::decode(envelope).unwrap().payload.known().unwrap().clone();
        self.events(id).await.into_iter().map(decode).collect()
    }

    async fn state(&self, id: &str) -> SessionState {
        fold::load(self.log.as_ref(), &stream(id)).await.unwrap()
    }
}

fn stream(id: &str) -> StreamId {
    StreamId {
        tenant: Token::slug("local"),
        project: Token::slug("project"),
        class: Class::Session,
        id: Token::slug(id),
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
