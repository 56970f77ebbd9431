//! What is said below the hits, on stderr: how many, how long it took, how far the index is, and what to do next.

use super::hit_list::short_session;
use crate::cli::render::{Style, clean, units};
use retrace_indexer::{Hit, HitSource, Notice};
use std::time::Duration;

/// How to get search by meaning.
const MODEL_HINT: &str = "RETRACE_EMBED_MODEL names a folder with one, or one to download";

/// What there is to say below the hits.
#[derive(Debug, Clone, Default)]
pub(super) struct Footer {
    /// How long the search took.
    pub(super) took: Duration,
    /// How many events the index does not have yet.
    pub(super) behind: u64,
    /// Who is writing the index, when that is another process.
    pub(super) busy: Option<String>,
    /// What the index and the query have to say; foreign words may be in them.
    pub(super) notices: Vec<String>,
    /// Whether something narrows the search beside its words.
    pub(super) narrowed: bool,
    /// What other commands have to be told to look into the same log: ` --log …`.
    pub(super) log: String,
}

impl Footer {
    /// The lines for `hits`.
    #[must_use]
    pub(super) fn text(&self, hits: &[Hit], style: Style) -> String {
        let mut text = self.notices.iter().map(|notice| format!("note: {}\n", clean::line(notice))).collect::<String>();
        let count = if hits.is_empty() { "nothing found".to_owned() } else { units::of(hits.len() as u64, "hit") };
        let took = units::duration(u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX));
        text.push_str(&style.dim(&format!("{count} · {took}{}", self.lag())));
        text.push('\n');
        text.push_str(&if hits.is_empty() { self.advice() } else { self.next_step(hits) });
        text
    }

    /// Takes in what the search says of its answer; `has_model` when the user has set a model.
    pub(super) fn hear(&mut self, notices: &[Notice], has_model: bool) {
        for notice in notices {
            match notice {
                Notice::WordsOnly if has_model => {
                    self.notices.push(format!("{notice}: there are no vectors yet"));
                }
                Notice::WordsOnly => self.notices.push(format!("{notice}: no embedding model is set ({MODEL_HINT})")),
                Notice::Query(_)
                | Notice::NoSessions
                | Notice::NoCode
                | Notice::Rebuild { .. }
                | Notice::Failed { .. }
                | Notice::Trace(_) => self.notices.push(notice.to_string()),
            }
        }
    }

    fn lag(&self) -> String {
        if self.behind == 0 {
            return String::new();
        }
        let who = self.busy.as_ref().map(|who| format!(" ({} is at it)", clean::short(who, 120))).unwrap_or_default();
        format!(" · the index is {} behind{who}", units::of(self.behind, "event"))
    }

    fn advice(&self) -> String {
        let narrowed = if self.narrowed { ", or leave out a filter" } else { "" };
        let lag = if self.behind > 0 { "; what is newest may not be indexed yet" } else { "" };
        format!("hint: try fewer or other words{narrowed}{lag}; `retrace index status` says what is indexed\n")
    }

    /// How to look closer at the first hit that is an event.
    fn next_step(&self, hits: &[Hit]) -> String {
        let place = hits.iter().find_map(|hit| match &hit.source {
            HitSource::Event { stream, seq, .. } => Some((stream, *seq)),
            HitSource::Summary { stream, first_seq, .. } => Some((stream, *first_seq)),
            HitSource::File { .. } => None,
        });
        place.map_or_else(String::new, |(stream, seq)| {
            let session = clean::short(short_session(stream), 80);
            format!("  look: retrace show {session} --event {seq}{}\n", self.log)
        })
    }
}
