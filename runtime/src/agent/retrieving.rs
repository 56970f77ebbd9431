//! What the past has to say, put where a request sees it: into the seed of a fresh epoch, and at the tail when a turn begins.
//!
//! Nothing is shown twice in an epoch, nothing that stands in it anyway, and nothing beyond a budget. Whatever is put in is an
//! event first, with where it is from. An index that is missing or lags is no reason to wait or to fail.

use super::agent_handle::Agent;
use super::error::AgentError;
use crate::tools::{Memories, MemoryError, MemoryQuestion};
use retrace_events::fold::TranscriptItem;
use retrace_events::payload::context::{ContextPassage, ContextRetrieved, ContextSource};
use retrace_events::{EventId, SessionState};
use retrace_indexer::{Hit, HitSource};
use std::collections::{BTreeSet, HashSet};

/// The most of a question that is looked for, in characters: its words beyond that add noise, and time.
const QUERY_CHARS: usize = 2_000;
/// Questions with fewer words than this ("go on", "yes") have nothing to look for.
const MIN_WORDS: usize = 3;
/// The most passages that a turn begins with.
const TURN_PASSAGES: usize = 4;
/// The most tokens that they have together.
const TURN_TOKENS: usize = 1_600;
/// The most tokens that all of an epoch's turns may begin with.
const EPOCH_TOKENS: u32 = 8_000;
/// A passage that fits less than this share of the best one is left out, in percent.
const MIN_SHARE_PERCENT: f32 = 50.0;
/// An index that is behind by more events than this is said to be; fewer are the steps of a moment.
const LAG_EVENTS: u64 = 500;
/// Words shorter than this say little about what a text is about, in characters.
const WORD_CHARS: usize = 4;
/// Of the words of a long question no more than this have to be in a passage.
const ASKED_WORDS: usize = 12;

/// How much of a question a passage must have, in percent of its longer words: a hit is only the best there is, which may be
/// nothing to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relevance {
    /// At the beginning of a turn, where nobody asked for it.
    Turn,
    /// In a seed, whose question is long.
    Seed,
}

impl Relevance {
    const fn percent(self) -> usize {
        match self {
            Self::Turn => 40,
            Self::Seed => 20,
        }
    }
}

/// Where passages come from that stand in the epoch already.
type Seen = HashSet<String>;

impl Agent {
    /// Puts what the past says of a turn's prompt at the tail, before the turn's first request.
    pub(super) async fn look_back(&mut self) -> Result<(), AgentError> {
        let Some(turn) = self.state.turn.as_ref().filter(|turn| turn.requests == 0) else { return Ok(()) };
        if self.looked_back_for == Some(turn.prompt) || self.state.epoch.is_none() || !self.between_steps() {
            return Ok(());
        }
        self.looked_back_for = Some(turn.prompt);
        let spent: u32 = self.state.transcript.passages().map(|passage| passage.tokens).sum();
        let Some(question) = newest_prompt(&self.state).filter(|_| spent < EPOCH_TOKENS) else { return Ok(()) };
        let query: String = question.chars().take(QUERY_CHARS).collect();
        let (passages, index_position) = self.recalled(&query, Relevance::Turn, TURN_PASSAGES, TURN_TOKENS).await?;
        if !passages.is_empty() && !self.ears.told_to_stop() {
            self.append(vec![(ContextRetrieved { query, passages, index_position }.into(), None)]).await?;
        }
        Ok(())
    }

    /// What the past says of `query`, without what stands in the epoch; and the position the index reflected.
    pub(super) async fn recalled(
        &mut self,
        query: &str,
        relevance: Relevance,
        limit: usize,
        budget_tokens: usize,
    ) -> Result<(Vec<ContextPassage>, u64), AgentError> {
        if query.split_whitespace().count() < MIN_WORDS {
            return Ok((Vec::new(), 0));
        }
        let own = self.writer.stream().clone();
        let memory = std::sync::Arc::clone(&self.parts.memory);
        // More than wanted: some of it stands in the epoch already.
        let question = MemoryQuestion {
            query: plain(query),
            limit: limit * 3,
            budget_tokens: budget_tokens * 3,
            ..Default::default()
        };
        let end = self.parts.log.end().await?;
        let found = self.attend(async move { memory.search(&own, question).await }).await?;
        if relevance == Relevance::Seed {
            self.tell_of_index(found.as_ref());
        }
        let Ok(Memories { hits, behind, .. }) = found else { return Ok((Vec::new(), 0)) };
        let own = self.writer.stream().subject();
        let visible_from = first_visible(&self.state);
        let in_sight = |hit: &Hit| matches!(&hit.source, HitSource::Event { stream, seq, .. } if *stream == own && *seq >= visible_from);
        let mut seen = seen(&self.state);
        let asked = longer_words(query);
        let is_relevant = |hit: &Hit| covers(&asked, &hit.text, relevance);
        let best = hits.first().map_or(0.0, |hit| hit.score);
        let mut left = budget_tokens;
        let (mut passages, mut taken) = (Vec::new(), Vec::new());
        // A turn begins again and again in an epoch; a summary would say what an event said the last time.
        let is_kind = |hit: &Hit| relevance == Relevance::Seed || !matches!(hit.source, HitSource::Summary { .. });
        let fits = |hit: &&Hit| {
            hit.score * 100.0 >= best * MIN_SHARE_PERCENT && is_relevant(hit) && !in_sight(hit) && is_kind(hit)
        };
        for hit in hits.iter().filter(fits) {
            let Some(passage) = passage_of(hit, &self.parts.redactor) else { continue };
            let tokens = usize::try_from(passage.tokens).unwrap_or(usize::MAX);
            let is_new = !taken.iter().any(|other| say_the_same(other, &hit.source));
            if passages.len() < limit && tokens <= left && is_new && seen.insert(place(&passage.source)) {
                left -= tokens;
                passages.push(passage);
                taken.push(hit.source.clone());
            }
        }
        Ok((passages, end.0.saturating_sub(behind)))
    }
}

impl Agent {
    /// Tells the user, once, that a fresh context begins without what the index would have found.
    fn tell_of_index(&mut self, found: Result<&Memories, &MemoryError>) {
        let lack = match found {
            Ok(memories) if memories.behind <= LAG_EVENTS => return,
            Ok(memories) => format!("the search index is {} events behind", memories.behind),
            Err(error) => error.to_string(),
        };
        if !std::mem::replace(&mut self.told_of_index, true) {
            self.tell([format!(
                "the context begins afresh with what this session itself knows: {lack}. hint: `retrace index status` says more"
            )]);
        }
    }
}

/// The longer words of a question, in lower case, each once.
pub(super) fn longer_words(query: &str) -> BTreeSet<String> {
    let words = query.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.chars().count() >= WORD_CHARS);
    words.map(str::to_lowercase).collect()
}

/// Whether a text has enough of what is asked for.
pub(super) fn covers(asked: &BTreeSet<String>, text: &str, relevance: Relevance) -> bool {
    let text = text.to_lowercase();
    let found = asked.iter().filter(|word| text.contains(word.as_str())).count();
    let wanted = (asked.len().min(ASKED_WORDS) * relevance.percent()).div_ceil(100).max(2);
    found >= wanted
}

/// Whether one is a summary of the other: its words would be said twice.
pub(super) fn say_the_same(one: &HitSource, other: &HitSource) -> bool {
    match (one, other) {
        (HitSource::Summary { stream, first_seq, last_seq, .. }, HitSource::Event { stream: of, seq, .. })
        | (HitSource::Event { stream: of, seq, .. }, HitSource::Summary { stream, first_seq, last_seq, .. }) => {
            stream == of && (*first_seq..=*last_seq).contains(seq)
        }
        (HitSource::Summary { .. } | HitSource::Event { .. } | HitSource::File { .. }, _) => false,
    }
}

/// The query's words without what the query language would take for more than words.
fn plain(query: &str) -> String {
    query.chars().map(|letter| if matches!(letter, '"' | ':' | '-' | '*' | '(' | ')') { ' ' } else { letter }).collect()
}

/// The newest prompt's words.
fn newest_prompt(state: &SessionState) -> Option<String> {
    state.transcript.items().iter().rev().find_map(|item| match item {
        TranscriptItem::Prompt { text, .. } => Some(text.clone()),
        TranscriptItem::Answer { .. }
        | TranscriptItem::Result { .. }
        | TranscriptItem::Passages(_)
        | TranscriptItem::Interruption
        | TranscriptItem::Warning { .. }
        | TranscriptItem::BackgroundEnded { .. } => None,
    })
}

fn seen(state: &SessionState) -> Seen {
    let seed = state.epoch.iter().flat_map(|epoch| &epoch.start.seed);
    seed.chain(state.transcript.passages()).map(|passage| place(&passage.source)).collect()
}

fn place(source: &ContextSource) -> String {
    format!("{source:?}")
}

/// The first event whose words stand in the epoch as they are.
fn first_visible(state: &SessionState) -> u64 {
    state.transcript.seqs().first().copied().unwrap_or_else(|| state.next_place())
}

fn passage_of(hit: &Hit, redactor: &retrace_events::redact::Redactor) -> Option<ContextPassage> {
    let source = match &hit.source {
        HitSource::Event { event, .. } => ContextSource::Event(EventId(uuid::Uuid::parse_str(event).ok()?)),
        HitSource::File { path, first_line, last_line } => {
            ContextSource::File { path: path.clone(), first_line: *first_line, last_line: *last_line }
        }
        HitSource::Summary { stream, level, index, .. } => {
            ContextSource::Summary(format!("{}/{level}/{index}", stream.rsplit('.').next().unwrap_or(stream)))
        }
    };
    let text = redactor.redact(&hit.text).into_owned();
    Some(ContextPassage::new(text, source, (hit.score.max(0.0) * 1_000.0) as u32))
}
