//! Hits as people read them: grouped by where they are from, each with its rank, what it is, and the words that matched.
//!
//! Everything here makes text and prints nothing. All words come from outside and pass through [`Passage`] or [`clean`].

use super::origins::Origins;
use super::passage::Passage;
use crate::cli::render::{Style, clean, units};
use retrace_events::Timestamp;
use retrace_events::redact::Redactor;
use retrace_indexer::{DocumentKind, Hit, HitSource};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The most lines of a snippet.
const SNIPPET_LINES: usize = 6;

/// How far snippets stand from the edge, in columns.
const INDENT: usize = 6;

/// A score below this is none.
const LEAST_SCORE: f32 = 0.005;

/// The narrowest terminal there is something for.
const MIN_WIDTH: usize = 20;

/// The longest path, tool or title, in characters.
const MAX_CHARS: usize = 200;

/// How hits are shown.
pub(super) struct HitList<'a> {
    /// Colours.
    pub(super) style: Style,
    /// The terminal's width in columns; `None` where there is none, and nothing is cut or wrapped.
    pub(super) width: Option<usize>,
    /// Whether each hit says where its score comes from.
    pub(super) explain: bool,
    /// Where they are from.
    pub(super) origins: &'a Origins,
    /// Takes secrets out.
    pub(super) redactor: &'a Redactor,
}

impl HitList<'_> {
    /// All `hits`, the best first, those of one session or one folder together.
    #[must_use]
    pub(super) fn text(&self, hits: &[Hit]) -> String {
        let mut groups: Vec<(Group<'_>, Vec<(usize, &Hit)>)> = Vec::new();
        for (rank, hit) in (1..).zip(hits) {
            let group = self.group(hit);
            match groups.iter_mut().find(|(known, _)| *known == group) {
                Some((_, members)) => members.push((rank, hit)),
                None => groups.push((group, vec![(rank, hit)])),
            }
        }
        let mut text = String::new();
        for (number, (group, members)) in groups.iter().enumerate() {
            if number > 0 {
                text.push('\n');
            }
            text.push_str(&self.heading(group));
            for (rank, hit) in members {
                text.push_str(&self.block(*rank, hit));
            }
        }
        text
    }

    /// What a hit stands under: its session, or the workspace whose code it is.
    fn group<'h>(&'h self, hit: &'h Hit) -> Group<'h> {
        match &hit.source {
            HitSource::Event { stream, .. } | HitSource::Summary { stream, .. } => {
                Group { name: short_session(stream), about: self.origins.title(hit).unwrap_or_default() }
            }
            HitSource::File { .. } => Group { name: "code", about: self.origins.workspace(hit).unwrap_or_default() },
        }
    }

    fn heading(&self, group: &Group<'_>) -> String {
        let name = clean::short(group.name, 40);
        let room = self.room().saturating_sub(name.width() + 2);
        let about =
            if group.about.is_empty() { String::new() } else { format!("  {}", fit(&self.foreign(group.about), room)) };
        format!("{}{about}\n", self.style.bold(&name))
    }

    /// One hit: a line that says what it is, and the snippet below it.
    fn block(&self, rank: usize, hit: &Hit) -> String {
        // A list without words has no scores worth a glance.
        let score = if hit.score.abs() < LEAST_SCORE { String::new() } else { format!("{:.2}", hit.score) };
        let rank = format!("{rank:>3}. ");
        let mut parts = vec![self.place(hit)];
        parts.extend(self.marks(hit));
        let room = self.room().saturating_sub(rank.width());
        let (line, whole) = joined(&parts, room);
        let score = if !score.is_empty() && whole + score.width() + 3 <= room {
            self.style.dim(&format!(" · {score}"))
        } else {
            String::new()
        };
        let mut text = format!("{}{}{score}\n", self.style.dim(&rank), self.lead(&line, hit));
        if self.explain {
            text.push_str(&self.explained(hit));
        }
        let passage = Passage::new(&hit.snippet.text, &hit.snippet.highlights).shown(self.redactor);
        let width = self.width.map(|_| self.room().saturating_sub(INDENT));
        for part in passage.lines(width, SNIPPET_LINES) {
            text.push_str(&format!("{:INDENT$}{}\n", "", passage.painted(&part, self.style)));
        }
        text
    }

    /// Where it stands: `#42 result`, `#3-57 summary`, `src/lib.rs:10-42`.
    fn place(&self, hit: &Hit) -> String {
        match &hit.source {
            HitSource::Event { seq, .. } => format!("#{seq} {}", hit.kind.name()),
            HitSource::Summary { first_seq, last_seq, .. } => format!("#{first_seq}-{last_seq} {}", hit.kind.name()),
            HitSource::File { path, first_line, last_line } => {
                format!("{}:{first_line}-{last_line}", self.foreign(path))
            }
        }
    }

    /// What else is known of it.
    fn marks(&self, hit: &Hit) -> Vec<String> {
        let mut marks = Vec::new();
        marks.extend(hit.tool.as_deref().map(|tool| self.foreign(tool)));
        marks.extend(hit.exit.map(|code| format!("exit {code}")));
        let at = u64::try_from(hit.at_ms).unwrap_or(0);
        if !matches!(hit.source, HitSource::File { .. }) {
            marks.push(units::moment(Timestamp(at)));
            let more = hit.paths.len().saturating_sub(1);
            let more = if more > 0 { format!(" +{more}") } else { String::new() };
            marks.extend(hit.paths.first().map(|path| format!("{}{more}", self.foreign(path))));
        }
        marks
    }

    /// The line in the colour of what it is.
    fn lead(&self, line: &str, hit: &Hit) -> String {
        match (hit.kind, hit.exit) {
            (DocumentKind::Prompt, _) => self.style.cyan(line),
            (_, Some(code)) if code != 0 => self.style.red(line),
            _ => line.to_owned(),
        }
    }

    fn explained(&self, hit: &Hit) -> String {
        let parts = hit.parts.named().into_iter().filter(|(_, value)| value.abs() >= LEAST_SCORE);
        let parts: Vec<String> = parts.map(|(name, value)| format!("{name} {value:.3}")).collect();
        let line = fit(&parts.join(" · "), self.room().saturating_sub(INDENT));
        format!("{:INDENT$}{}\n", "", self.style.dim(&line))
    }

    fn foreign(&self, text: &str) -> String {
        clean::short(&self.redactor.redact(text), MAX_CHARS)
    }

    fn room(&self) -> usize {
        self.width.map_or(usize::MAX, |width| width.max(MIN_WIDTH))
    }
}

/// What hits stand together under.
#[derive(PartialEq, Eq)]
struct Group<'a> {
    name: &'a str,
    about: &'a str,
}

/// The id in a stream's subject, as other commands take it.
#[must_use]
pub(super) fn short_session(stream: &str) -> &str {
    stream.rsplit('.').next().unwrap_or(stream)
}

/// As many of `parts` as there is room for, the first at least, and the columns they take.
fn joined(parts: &[String], room: usize) -> (String, usize) {
    let mut line = parts.first().map(|first| fit(first, room)).unwrap_or_default();
    for part in parts.iter().skip(1) {
        if line.width() + part.width() + 3 > room {
            continue;
        }
        line.push_str(" · ");
        line.push_str(part);
    }
    let columns = line.width();
    (line, columns)
}

/// `text` in at most `room` columns.
fn fit(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let (mut cut, mut columns) = (String::new(), 1);
    for c in text.chars() {
        columns += c.width().unwrap_or(0);
        if columns > room {
            break;
        }
        cut.push(c);
    }
    cut.push('…');
    cut
}
