//! Tests of what `retrace search` says: hits made by hand, so that every word of the text is known beforehand.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod flags_tests;
mod footer_tests;
mod hit_json_tests;
mod hit_list_tests;
mod passage_tests;

use crate::cli::search::origins::{Origins, SessionOrigin};
use retrace_events::redact::Redactor;
use retrace_indexer::{DocumentKind, Hit, HitSource, ScoreParts, Snippet};
use std::sync::LazyLock;

/// What the redactor of these tests knows.
const SECRET: &str = "hunter2-correct-horse";

/// What must never reach a terminal.
const NASTY: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}gnp.exe\r\u{0}\u{200b}";

/// The sessions of these tests.
const FIRST: &str = "ev.local.work-abc123.session.01m7ywme-w0rdt05x";
const SECOND: &str = "ev.local.work-abc123.session.01m80000-aaaabbbb";

fn redactor() -> &'static Redactor {
    static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(vec![SECRET.to_owned()]));
    &REDACTOR
}

fn origins() -> Origins {
    let titles = [(FIRST, "make the flaky test deterministic"), (SECOND, "carets in error messages")];
    let session = |title: &str| SessionOrigin { title: title.to_owned(), workspace: "/home/ada/project".to_owned() };
    let sessions = titles.map(|(stream, title)| (stream.to_owned(), session(title))).into();
    Origins { sessions, code: [("code/src/error.rs#120".to_owned(), "/home/ada/project".to_owned())].into() }
}

/// Where hits of a session with this title are from.
fn titled(stream: &str, title: &str) -> Origins {
    let origin = SessionOrigin { title: title.to_owned(), workspace: title.to_owned() };
    Origins { sessions: [(stream.to_owned(), origin)].into(), ..Origins::default() }
}

/// `text` with what stands between ‹ and › marked.
fn marked(text: &str) -> Snippet {
    let (mut plain, mut highlights, mut from) = (String::new(), Vec::new(), 0);
    for c in text.chars() {
        match c {
            '‹' => from = plain.len(),
            '›' => highlights.push(from..plain.len()),
            other => plain.push(other),
        }
    }
    Snippet { text: plain, highlights }
}

/// An event's hit.
fn event(kind: DocumentKind, stream: &str, seq: u64, snippet: &str) -> Hit {
    let snippet = marked(snippet);
    Hit {
        key: format!("{stream}/{seq}.0"),
        kind,
        source: HitSource::Event { stream: stream.to_owned(), seq, event: format!("0199-{seq}") },
        at_ms: 1_795_255_500_000 + i64::try_from(seq).unwrap() * 60_000,
        tool: None,
        paths: Vec::new(),
        exit: None,
        text: snippet.text.clone(),
        snippet,
        score: 1.5,
        parts: ScoreParts { keyword: 1.0, recency: 0.5, ..ScoreParts::default() },
    }
}

/// A hit in the workspace's code.
fn code(path: &str, first_line: u32, last_line: u32, snippet: &str) -> Hit {
    Hit {
        key: format!("code/{path}#{first_line}"),
        source: HitSource::File { path: path.to_owned(), first_line, last_line },
        paths: vec![path.to_owned()],
        score: 0.75,
        ..event(DocumentKind::Code, "", 0, snippet)
    }
}

/// One hit of every sort.
fn all_sorts() -> Vec<Hit> {
    let result = Hit {
        tool: Some("bash".to_owned()),
        exit: Some(101),
        paths: vec!["src/error.rs".to_owned(), "src/lib.rs".to_owned()],
        score: 3.25,
        ..event(DocumentKind::Result, FIRST, 42, "test error::‹caret› … FAILED\n\n  left: 7\n right: 8")
    };
    let summary = Hit {
        key: format!("summary/{SECOND}/1.0"),
        kind: DocumentKind::Summary,
        source: HitSource::Summary { stream: SECOND.to_owned(), level: 1, index: 0, first_seq: 3, last_seq: 57 },
        ..event(DocumentKind::Summary, SECOND, 3, "user: the ‹caret› stands in the wrong column")
    };
    vec![
        result,
        code("src/error.rs", 120, 158, "fn ‹notate_line›(&self) -> String {\n    let mut ‹caret› = 0;"),
        summary,
        event(DocumentKind::Prompt, FIRST, 0, "where does the ‹caret› come from?"),
    ]
}
