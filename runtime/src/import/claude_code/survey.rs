//! A first look at a file: whether it is a transcript, whose, and what it is about. The second reading needs all of that from
//! its first line on.

use super::blocks::Content;
use super::collect::stem;
use super::lines::{Line, Lines};
use super::record::Record;
use super::words::Said;
use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

/// How many titles of conversations are kept.
const MAX_SUMMARIES: usize = 100;
/// The most of a title that is kept, in characters.
const TITLE_CHARS: usize = 400;

/// What a file is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Survey {
    /// The file.
    pub(super) path: PathBuf,
    /// Claude Code's name of the session.
    pub(super) session: String,
    /// The subagent whose file it is.
    pub(super) agent: Option<String>,
    /// Where it worked first.
    pub(super) cwd: String,
    /// Claude Code's version at its beginning.
    pub(super) version: String,
    /// When it began, in milliseconds since 1970.
    pub(super) first_ms: u64,
    /// A title that was given, by a person or by Claude Code.
    title: Option<String>,
    written_title: Option<String>,
    /// Titles of conversations, which may be others', with the line that each ends with.
    summaries: Vec<(u64, String)>,
    summary: Option<String>,
    lines: HashSet<u64>,
    prompt: Option<String>,
    sessions: BTreeSet<String>,
    agents: BTreeSet<String>,
    conversation_lines: u64,
    side_lines: u64,
}

impl Survey {
    /// Looks at `path`; `None` when it is no transcript.
    pub(super) fn of(path: &Path) -> io::Result<Option<Self>> {
        let mut survey = Self { path: path.to_owned(), first_ms: u64::MAX, ..Self::default() };
        let mut lines = Lines::open(path)?;
        let ended = loop {
            match lines.next() {
                Ok(Some(Line::Text(text) | Line::Unfinished(text))) => {
                    if let Some(record) = Record::of(text) {
                        survey.line(&record);
                    }
                }
                Ok(Some(Line::NotUtf8 | Line::TooLong)) => {}
                Ok(None) => break Ok(()),
                // What stands before the damage is taken; the second reading tells of the rest.
                Err(error) => break Err(error),
            }
        };
        match ended {
            Err(error) if survey.conversation_lines == 0 => Err(error),
            _ => Ok(survey.finish()),
        }
    }

    /// What the session is about: a given title, or the beginning of its first prompt.
    pub(super) fn title(&self) -> String {
        let titles = [&self.title, &self.written_title, &self.summary, &self.prompt];
        titles.into_iter().flatten().next().cloned().unwrap_or_default()
    }

    fn line(&mut self, record: &Record<'_>) {
        self.title = record.custom_title.clone().or(self.title.take());
        self.written_title = record.ai_title.clone().or(self.written_title.take());
        if let (Some(leaf), Some(summary)) = (&record.leaf_uuid, &record.summary)
            && self.summaries.len() < MAX_SUMMARIES
        {
            self.summaries.push((hash(leaf), summary.chars().take(TITLE_CHARS).collect()));
        }
        if !record.is_conversation() {
            return;
        }
        self.conversation_lines += 1;
        self.lines.extend(record.uuid.as_deref().map(hash));
        self.side_lines += u64::from(record.is_sidechain);
        self.sessions.extend(record.session_id.clone().filter(|id| !id.is_empty()));
        self.agents.extend(record.agent_id.clone().filter(|id| record.is_sidechain && !id.is_empty()));
        if self.session.is_empty() {
            self.session = record.session_id.clone().unwrap_or_default();
        }
        if self.cwd.is_empty() {
            self.cwd = record.cwd.clone().unwrap_or_default();
        }
        if self.version.is_empty() {
            self.version = record.version.clone().unwrap_or_default();
        }
        if let Some(at_ms) = record.at_ms {
            self.first_ms = self.first_ms.min(at_ms);
        }
        let message = record.message().unwrap_or_default();
        if record.kind() == "user"
            && self.prompt.is_none()
            && !record.is_compact_summary
            && let Said::Prompt(text) = Said::of(&Content::of(message.content).text(), record.is_meta)
        {
            self.prompt = Some(text.chars().take(TITLE_CHARS).collect());
        }
    }

    fn finish(mut self) -> Option<Self> {
        if self.conversation_lines == 0 || self.sessions.is_empty() {
            return None;
        }
        let own = self.summaries.iter().find(|(leaf, summary)| self.lines.contains(leaf) && !summary.trim().is_empty());
        self.summary = own.map(|(_, summary)| summary.clone());
        self.lines = HashSet::new();
        self.first_ms = if self.first_ms == u64::MAX { 0 } else { self.first_ms };
        // A file is named after its session; lines of the session before it may stand at its beginning.
        if let Some(stem) = stem(&self.path).filter(|stem| self.sessions.contains(stem)) {
            self.session = stem;
        }
        if self.side_lines == self.conversation_lines && self.agents.len() == 1 {
            self.agent = self.agents.pop_first();
        }
        Some(self)
    }
}

/// A line's name, shorter.
fn hash(uuid: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    uuid.hash(&mut hasher);
    hasher.finish()
}
