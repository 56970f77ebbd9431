//! Sessions that are made up, for machines without recorded ones: a code base of some files, and somebody who reads them,
//! searches, edits, and runs tests. The same seed makes the same sessions.

use crate::recorded::{RecordedLine, RecordedSession};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::json;

/// Files of the code base, and the lines of each when the session begins.
const FILES: usize = 60;
const LINES: usize = 400;
/// Steps between two prompts.
const STEPS: usize = 25;
/// What names are made of.
const SYLLABLES: [&str; 24] = [
    "parse", "token", "queue", "index", "merge", "cache", "retry", "limit", "frame", "guard", "event", "chunk",
    "store", "label", "route", "batch", "probe", "trace", "shift", "fetch", "align", "split", "count", "write",
];

/// So many sessions of about so many lines each.
#[must_use]
pub fn made_sessions(sessions: usize, lines: usize, seed: u64) -> Vec<RecordedSession> {
    (0..sessions).map(|number| Maker::new(number, seed).session(lines)).collect()
}

struct Maker {
    random: StdRng,
    files: Vec<Vec<String>>,
    session: RecordedSession,
}

impl Maker {
    fn new(number: usize, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed.wrapping_add(number as u64));
        let files = (0..FILES).map(|_| (0..LINES).map(|_| code(&mut random)).collect()).collect();
        let session = RecordedSession { id: format!("made{number}"), lines: Vec::new() };
        Self { random, files, session }
    }

    fn session(mut self, lines: usize) -> RecordedSession {
        let mut step = 0;
        while self.session.lines.len() < lines {
            if step % STEPS == 0 {
                let text = format!("Make {} faster, and see that {} still works.", self.name(), self.name());
                self.line("user", None, None, text);
            }
            let text = format!("I look at {} next, since {} depends on it.", self.name(), self.name());
            self.line("assistant", None, None, text);
            match self.random.random_range(0..10) {
                0..4 => self.read(),
                4..7 => self.edit(),
                7 => self.search(),
                _ => self.test(),
            }
            step += 1;
        }
        self.session
    }

    fn read(&mut self) {
        let (file, first) = (self.file(), self.random.random_range(0..LINES - 100));
        let text: Vec<String> = self.files[file]
            .iter()
            .enumerate()
            .skip(first)
            .take(100)
            .map(|(at, line)| format!("{}\t{line}", at + 1))
            .collect();
        let input = json!({ "path": path(file), "offset": first + 1, "limit": 100 });
        self.call("read_file", Some(path(file)), input, text.join("\n"));
    }

    fn edit(&mut self) {
        let (file, at) = (self.file(), self.random.random_range(0..LINES));
        let new = code(&mut self.random);
        let old = std::mem::replace(&mut self.files[file][at], new.clone());
        let shown = format!("{}: replaced 1 place\n{}\t{new}", path(file), at + 1);
        self.call(
            "edit_file",
            Some(path(file)),
            json!({ "path": path(file), "old_string": old, "new_string": new }),
            shown,
        );
    }

    fn search(&mut self) {
        let (name, file) = (self.name(), self.file());
        let hits: Vec<String> =
            (1..20).map(|at| format!("{}:{}:{}", path(file), at * 7, self.files[file][at * 7 - 1])).collect();
        self.call("search_files", None, json!({ "pattern": name }), hits.join("\n"));
    }

    fn test(&mut self) {
        let results: Vec<String> = (0..40).map(|_| format!("test {}::{} ... ok", self.name(), self.name())).collect();
        let (file, line) = (self.file(), self.random.random_range(1..LINES));
        let text = format!("{}\nerror: {}:{line}: {} is not known here", results.join("\n"), path(file), self.name());
        let command = format!("cargo test {}", self.name());
        self.call("bash", None, json!({ "command": command }), text);
    }

    fn call(&mut self, tool: &str, path: Option<String>, input: serde_json::Value, result: String) {
        self.line("tool_call", Some(tool), path.clone(), input.to_string());
        self.line("tool_result", Some(tool), path, result);
    }

    fn line(&mut self, kind: &str, tool: Option<&str>, path: Option<String>, text: String) {
        let i = self.session.lines.len();
        self.session.lines.push(RecordedLine {
            session: self.session.id.clone(),
            i,
            ts: format!(
                "2026-01-{:02}T{:02}:{:02}:{:02}Z",
                5 + i / 28_800 % 20,
                i / 1_200 % 24,
                i / 20 % 60,
                i % 20 * 3
            ),
            kind: kind.to_owned(),
            tool: tool.map(str::to_owned),
            path,
            tok: text.len() as u64 / 4,
            text,
        });
    }

    /// A file; the first ones more often, as in any work.
    fn file(&mut self) -> usize {
        let (one, two) = (self.random.random_range(0..FILES), self.random.random_range(0..FILES));
        one.min(two)
    }

    fn name(&mut self) -> String {
        name(&mut self.random)
    }
}

fn path(file: usize) -> String {
    format!("src/{}/{}_{file}.rs", SYLLABLES[file % 6], SYLLABLES[file % SYLLABLES.len()])
}

fn name(random: &mut StdRng) -> String {
    let mut syllable = || SYLLABLES[random.random_range(0..SYLLABLES.len())];
    let (one, two, three) = (syllable(), syllable(), syllable());
    format!("{one}_{two}_{three}")
}

fn code(random: &mut StdRng) -> String {
    match random.random_range(0..8) {
        0 => format!("pub fn {}({}: usize) -> usize {{", name(random), name(random)),
        1 => "}".to_owned(),
        2 => String::new(),
        _ => format!("    let {} = {}({});", name(random), name(random), random.random_range(0..1_000)),
    }
}
