//! What a document must be, apart from its words. A list that is empty allows everything; a list with several entries allows
//! each of them; different lists must all agree.

use crate::document::{Document, DocumentKind};
use crate::query::path_pattern::PathPattern;

/// Conditions on documents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Only these kinds.
    pub kinds: Vec<DocumentKind>,
    /// None of these kinds.
    pub not_kinds: Vec<DocumentKind>,
    /// Only these parts of what is known.
    pub within: Vec<Within>,
    /// None of these parts.
    pub not_within: Vec<Within>,
    /// Only calls of these tools and their results; case does not count.
    pub tools: Vec<String>,
    /// Nothing of these tools.
    pub not_tools: Vec<String>,
    /// Only what is about a path that fits one of these patterns, see [`PathPattern`].
    pub paths: Vec<String>,
    /// Further groups of patterns, each of which must be met as well; they come from [`Filter::merge`].
    pub and_paths: Vec<Vec<String>>,
    /// Nothing about these paths.
    pub not_paths: Vec<String>,
    /// Only these sessions: a stream, or how its id begins.
    pub sessions: Vec<String>,
    /// None of these sessions.
    pub not_sessions: Vec<String>,
    /// Only what belongs to this workspace, named exactly.
    pub workspace: Option<String>,
    /// Only what happened at this moment or later, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Only what happened before this moment, in milliseconds since 1970.
    pub until_ms: Option<i64>,
    /// Only what ended with one of these exit codes.
    pub exit: Vec<i64>,
    /// Only what ended with an exit code that is none of these.
    pub not_exit: Vec<i64>,
    /// Set when two filters contradict each other: nothing gets through.
    pub nothing: bool,
}

/// A part of what is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Within {
    /// What happened in sessions.
    Events,
    /// Summaries of sessions.
    Summaries,
    /// The workspace's code.
    Code,
}

impl Within {
    /// All parts.
    pub const ALL: [Self; 3] = [Self::Events, Self::Summaries, Self::Code];

    /// Its name in queries.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Summaries => "summaries",
            Self::Code => "code",
        }
    }

    /// The part a kind belongs to.
    #[must_use]
    pub const fn of_kind(kind: DocumentKind) -> Self {
        match kind {
            DocumentKind::Prompt
            | DocumentKind::Answer
            | DocumentKind::Thinking
            | DocumentKind::Call
            | DocumentKind::Result
            | DocumentKind::Note => Self::Events,
            DocumentKind::Summary => Self::Summaries,
            DocumentKind::Code => Self::Code,
        }
    }
}

impl Filter {
    /// Whether documents of this kind can get through.
    #[must_use]
    pub fn accepts_kind(&self, kind: DocumentKind) -> bool {
        let part = Within::of_kind(kind);
        !self.nothing
            && (self.kinds.is_empty() || self.kinds.contains(&kind))
            && !self.not_kinds.contains(&kind)
            && (self.within.is_empty() || self.within.contains(&part))
            && !self.not_within.contains(&part)
    }

    /// Whether anything of this part can get through.
    #[must_use]
    pub fn accepts_within(&self, part: Within) -> bool {
        DocumentKind::ALL.into_iter().any(|kind| Within::of_kind(kind) == part && self.accepts_kind(kind))
    }

    /// Whether a moment lies in the wanted time.
    #[must_use]
    pub fn accepts_time(&self, at_ms: i64) -> bool {
        self.since_ms.is_none_or(|since| at_ms >= since) && self.until_ms.is_none_or(|until| at_ms < until)
    }

    /// Whether a stream is one of the wanted sessions.
    #[must_use]
    pub fn accepts_session(&self, stream: &str) -> bool {
        let named = |wanted: &String| session_fits(stream, wanted);
        (self.sessions.is_empty() || self.sessions.iter().any(named)) && !self.not_sessions.iter().any(named)
    }

    /// Whether a tool (or none) is wanted.
    #[must_use]
    pub fn accepts_tool(&self, tool: Option<&str>) -> bool {
        let named =
            |names: &[String]| tool.is_some_and(|tool| names.iter().any(|name| name.eq_ignore_ascii_case(tool)));
        (self.tools.is_empty() || named(&self.tools)) && !named(&self.not_tools)
    }

    /// Whether an exit code (or none) is wanted.
    #[must_use]
    pub fn accepts_exit(&self, exit: Option<i64>) -> bool {
        (self.exit.is_empty() || exit.is_some_and(|code| self.exit.contains(&code)))
            && (self.not_exit.is_empty() || exit.is_some_and(|code| !self.not_exit.contains(&code)))
    }

    /// Whether a document gets through. Indexes answer the same from their fields; this is what they are held against.
    #[must_use]
    pub fn accepts(&self, document: &Document) -> bool {
        let about = |patterns: &[String]| {
            patterns
                .iter()
                .map(|pattern| PathPattern::new(pattern))
                .any(|pattern| document.paths.iter().any(|path| pattern.fits(path)))
        };
        self.accepts_kind(document.kind)
            && self.accepts_time(document.at_ms)
            && self.accepts_session(&document.stream)
            && self.accepts_tool(document.tool.as_deref())
            && self.accepts_exit(document.exit)
            && self.workspace.as_ref().is_none_or(|workspace| *workspace == document.workspace)
            && self.path_groups().all(about)
            && !about(&self.not_paths)
    }

    /// The groups of path patterns; a document must meet at least one pattern of each group.
    pub fn path_groups(&self) -> impl Iterator<Item = &[String]> {
        std::iter::once(&self.paths).chain(&self.and_paths).map(Vec::as_slice).filter(|group| !group.is_empty())
    }
}

/// Whether a stream is meant by `wanted`: the stream itself, or how the session's id (what follows its last dot) begins.
#[must_use]
pub(crate) fn session_fits(stream: &str, wanted: &str) -> bool {
    if wanted.is_empty() || stream.is_empty() {
        return false;
    }
    let id = stream.rsplit('.').next().unwrap_or(stream);
    let starts = id.get(..wanted.len()).is_some_and(|head| head.eq_ignore_ascii_case(wanted));
    starts || stream.eq_ignore_ascii_case(wanted)
}
