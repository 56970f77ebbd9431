//! The agent's decisions between requests, made again: when an epoch begins, with what, and what it lacks.
//!
//! A fold over the log's events with a state of its own. The log's epochs and what it put at their tails are left out; in their place
//! come those that these settings lead to. What the agent decides by pure functions is decided by the same ones here.

use super::WhatIfError;
use super::cache_blocks::CacheBlocks;
use super::other_settings::OtherSettings;
use super::request_figures::{ItemKind, RequestFigures, bytes_by_kind, divided, share};
use crate::agent::{
    Fullness, LACKING_QUERY, SeedPlan, estimate, lacking_room, seed_budget, stays_whole, without_instructions,
};
use crate::bench::cache::CacheSimulator;
use crate::claude::{ModelRow, ModelTable, Usage};
use crate::context::{EpochPlan, Past, conversation_bytes, inventory, new_epoch, render};
use retrace_events::codec::Decoded;
use retrace_events::fold::TranscriptItem;
use retrace_events::payload::context::{ContextEpochStarted, ContextPassage, ContextRetrieved, ContextSource};
use retrace_events::payload::turn::{TurnAnswered, TurnRequested};
use retrace_events::payload::{Context, Payload, Turn};
use retrace_events::redact::Redactor;
use retrace_events::{Envelope, Event, EventId, SessionState, StreamId};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// About how many bytes make a token, where an answer does not say.
const BYTES_PER_TOKEN: u64 = 4;
/// How the agent says that a person asked for a fresh context.
const WISHED: &str = "the user asked for it";

/// What an assembly works with.
pub(super) struct AssemblyParts<'a> {
    pub(super) models: &'a ModelTable,
    pub(super) redactor: Arc<Redactor>,
    /// What is other than in the log; nothing in the baseline.
    pub(super) other: Option<OtherSettings>,
    /// The most tokens of a context; `None` is the model's window.
    pub(super) context_tokens: Option<u64>,
}

/// A session under way.
pub(super) struct Assembly<'a> {
    parts: AssemblyParts<'a>,
    stream: StreamId,
    state: SessionState,
    past: Past,
    /// The newest epoch of the log.
    logged: Option<ContextEpochStarted>,
    epochs: u64,
    /// The cache, and the model it belongs to.
    cache: Option<(String, CacheSimulator)>,
    asked: Option<Asked>,
}

/// A request that was put together and waits for its answer.
struct Asked {
    request: EventId,
    at_ms: u64,
    logged_bytes: u64,
    bytes: u64,
    by_kind: BTreeMap<ItemKind, u64>,
    blocks: CacheBlocks,
    row: ModelRow,
}

impl<'a> Assembly<'a> {
    pub(super) fn new(parts: AssemblyParts<'a>, stream: &StreamId) -> Self {
        let past = Past::new(stream.clone(), Arc::clone(&parts.redactor));
        Self {
            parts,
            stream: stream.clone(),
            state: SessionState::default(),
            past,
            logged: None,
            epochs: 0,
            cache: None,
            asked: None,
        }
    }

    /// Takes the event at `place`, and gives the figures of the request that it answers.
    pub(super) fn take(&mut self, place: u64, event: &Event) -> Result<Option<RequestFigures>, WhatIfError> {
        let mut figures = None;
        match event.payload.known() {
            Some(Payload::Context(Context::EpochStarted(start))) => {
                let wanted = self.is_forced(start);
                let why = start.why.clone();
                self.logged = Some(start.clone());
                if wanted {
                    self.begin(place, event, why)?;
                }
                return Ok(None);
            }
            Some(Payload::Context(Context::Retrieved(found))) if found.query == LACKING_QUERY => return Ok(None),
            Some(Payload::Context(
                Context::CompactionRequested(_) | Context::CompactionAnswered(_) | Context::CompactionFailed(_),
            )) => return Ok(None),
            Some(Payload::Turn(Turn::Requested(request))) => self.ask(place, event, request)?,
            Some(Payload::Turn(Turn::Answered(answer))) => figures = self.answered(answer),
            _ => {}
        }
        self.apply(place, event);
        Ok(figures)
    }

    fn apply(&mut self, place: u64, event: &Event) {
        self.state.apply(event);
        let mut placed = event.clone();
        placed.envelope.seq = place;
        placed.envelope.stream.clone_from(&self.stream);
        self.past.apply(&placed);
    }

    /// Whether an epoch of the log has another reason than how full the context was.
    fn is_forced(&self, start: &ContextEpochStarted) -> bool {
        let Some(before) = self.logged.as_ref().filter(|_| self.state.epoch.is_some()) else { return true };
        let frame = |epoch: &ContextEpochStarted| {
            (
                epoch.model.clone(),
                epoch.max_tokens,
                epoch.thinking.clone(),
                epoch.output_config.clone(),
                epoch.renderer,
                epoch.tools.clone(),
                epoch.system.clone(),
            )
        };
        frame(before) != frame(start) || start.why == WISHED
    }

    /// Puts a request together as the agent does: what the epoch lacks, a fresh epoch where one is due, and once more.
    fn ask(&mut self, place: u64, event: &Event, request: &TurnRequested) -> Result<(), WhatIfError> {
        let failed = |source| WhatIfError::Render { seq: event.envelope.seq, source };
        self.add_lacking(place, event).map_err(failed)?;
        if let Some(why) = self.fullness(event).map_err(failed)?.and_then(|fullness| fullness.due()) {
            self.begin(place, event, why)?;
            self.add_lacking(place, event).map_err(failed)?;
        }
        let body = render(&self.state).map_err(failed)?;
        self.asked = Some(Asked {
            request: event.envelope.id,
            at_ms: event.envelope.at.0,
            logged_bytes: request.body_bytes,
            bytes: body.len() as u64,
            by_kind: bytes_by_kind(&inventory(&self.state)),
            blocks: CacheBlocks::of(&body),
            row: self.row(),
        });
        Ok(())
    }

    /// The figures of the request, now that it is known how many tokens its bytes were.
    fn answered(&mut self, answer: &TurnAnswered) -> Option<RequestFigures> {
        let asked = self.asked.take().filter(|asked| asked.request == answer.request)?;
        let counted = answer.usage.total_input_tokens();
        let input_tokens = match (counted, asked.logged_bytes) {
            (0, _) | (_, 0) => asked.bytes.div_ceil(BYTES_PER_TOKEN),
            (counted, logged_bytes) => share(counted, asked.bytes, logged_bytes),
        };
        let (segments, marks) = asked.blocks.segments(input_tokens);
        let model = asked.row.id.clone();
        let cache = match &mut self.cache {
            Some((of, cache)) if *of == model => cache,
            slot => &mut slot.insert((model, CacheSimulator::new(asked.row.min_cacheable_tokens))).1,
        };
        let split = cache.send(&segments, marks, asked.at_ms);
        let usage = Usage {
            input_tokens: split.fresh,
            output_tokens: answer.usage.output_tokens,
            cache_creation_input_tokens: split.written_5m + split.written_1h,
            cache_creation_5m_input_tokens: split.written_5m,
            cache_creation_1h_input_tokens: split.written_1h,
            cache_read_input_tokens: split.read,
            ..Usage::default()
        };
        Some(RequestFigures {
            epoch: self.epochs,
            input_tokens,
            by_kind: divided(&asked.by_kind, input_tokens),
            read_tokens: split.read,
            written_tokens: split.written_5m + split.written_1h,
            output_tokens: answer.usage.output_tokens,
            cost_microusd: asked.row.cost_micros(&usage),
        })
    }

    /// How full the next request's context is.
    fn fullness(&self, event: &Event) -> Result<Option<Fullness>, crate::context::RenderError> {
        if self.state.epoch.is_none() {
            return Ok(None);
        }
        let bytes = render(&self.state)?.len() as u64;
        let now = event.envelope.at;
        Ok(Some(Fullness::of(&self.state, &self.row(), bytes, self.parts.context_tokens, now)))
    }

    /// Puts at the tail what an epoch lacks that does not hold the whole conversation.
    fn add_lacking(&mut self, place: u64, event: &Event) -> Result<(), crate::context::RenderError> {
        let is_whole = self.state.epoch.as_ref().is_none_or(|epoch| epoch.start.from_seq == 0);
        let is_done = matches!(self.state.transcript.items().last(), Some(TranscriptItem::Passages(_)));
        if is_whole || is_done {
            return Ok(());
        }
        let Some(fullness) = self.fullness(event)? else { return Ok(()) };
        let Some(room) = lacking_room(&self.state, &fullness) else { return Ok(()) };
        let passages = self.past.lacking(room, &self.parts.redactor);
        if !passages.is_empty() {
            let found = ContextRetrieved { query: LACKING_QUERY.to_owned(), passages, index_position: 0 };
            self.apply(place, &made(event, found.into()));
        }
        Ok(())
    }

    /// Begins an epoch.
    fn begin(&mut self, place: u64, event: &Event, why: String) -> Result<(), WhatIfError> {
        let Some(logged) = self.logged.clone() else { return Ok(()) };
        let (past, from_seq) = self.seed(place, event, &why)?;
        let instructions = |passage: &&ContextPassage| matches!(passage.source, ContextSource::Instructions(_));
        let seed: Vec<ContextPassage> = logged.seed.iter().filter(instructions).cloned().chain(past).collect();
        self.epochs += 1;
        let number = u32::try_from(self.epochs).unwrap_or(u32::MAX);
        let same = ContextEpochStarted { number, seed, from_seq, why, compacted: None, ..logged };
        let start = match (&self.parts.other, &self.state.settings) {
            (Some(other), Some(settings)) if other.changes_requests() => self.under(other, settings, same),
            _ => same,
        };
        self.apply(place, &made(event, start.into()));
        Ok(())
    }

    /// An epoch under other settings; what they do not touch is as it was.
    fn under(
        &self,
        other: &OtherSettings,
        settings: &retrace_events::payload::settings::Settings,
        same: ContextEpochStarted,
    ) -> ContextEpochStarted {
        let settings = other.over(settings, self.parts.models);
        let row = self.parts.models.row(&settings.model);
        let plan = EpochPlan {
            number: same.number,
            settings: &settings,
            row: &row,
            tools_json: same.tools.clone(),
            workspace: Path::new(&self.state.workspace),
            backend: "",
            network: &[],
            seed: same.seed.clone(),
            from_seq: same.from_seq,
            why: same.why.clone(),
        };
        match new_epoch(plan) {
            // The words of the system prompt and how it is rendered are those of the version that ran then.
            Ok((start, _)) => ContextEpochStarted { system: same.system, renderer: same.renderer, ..start },
            Err(_) => same,
        }
    }

    /// What the next epoch begins with, and the first event that it keeps.
    fn seed(&self, place: u64, event: &Event, why: &str) -> Result<(Vec<ContextPassage>, u64), WhatIfError> {
        let before = self.state.epoch.as_ref().map(|epoch| &epoch.start);
        if before.is_none() && self.state.imported.is_none() {
            return Ok((Vec::new(), 0));
        }
        let bytes = match before {
            Some(_) => {
                let failed = |source| WhatIfError::Render { seq: event.envelope.seq, source };
                render(&self.state).map_err(failed)?.len() as u64
            }
            None => conversation_bytes(&self.state.transcript),
        };
        let tokens = estimate(&self.state, bytes);
        let budget = seed_budget(&self.row(), self.parts.context_tokens);
        if why != WISHED && stays_whole(tokens, budget) {
            return Ok(before.map_or((Vec::new(), 0), |before| (without_instructions(&before.seed), before.from_seq)));
        }
        let plan = SeedPlan::of(&self.state, budget, tokens, bytes);
        let mut passages = self.past.seed(plan.from_seq.min(place), plan.past_tokens);
        for passage in &mut passages {
            passage.text = self.parts.redactor.redact(&passage.text).into_owned();
        }
        Ok((passages, plan.from_seq.min(place)))
    }

    /// The row of the model that is asked.
    fn row(&self) -> ModelRow {
        let start = self.state.epoch.as_ref().map(|epoch| &epoch.start).or(self.logged.as_ref());
        let logged = start.and_then(|start| serde_json::from_str(&start.model_row).ok());
        logged.unwrap_or_else(|| self.parts.models.row(start.map_or("", |start| &start.model)))
    }
}

/// An event that the simulation makes, at the place of a logged one.
fn made(event: &Event, payload: Payload) -> Event {
    let envelope = Envelope { kind: payload.kind().to_owned(), payload: Vec::new(), ..event.envelope.clone() };
    Event { envelope, hash: event.hash, payload: Decoded::Known(Box::new(payload)) }
}
