//! [`Points`]: a session taken in event by event, and at places in its second half what a fresh epoch would begin with.

use super::bare::BareIndex;
use super::figures::{size, spread_to_99, timed};
use retrace_events::codec::Decoded;
use retrace_events::fold::{Stage, TranscriptItem};
use retrace_events::payload::context::{ContextPassage, ContextSource};
use retrace_events::payload::{Context, Payload};
use retrace_events::redact::Redactor;
use retrace_events::{Event, SessionState, StreamId, Timestamp};
use retrace_indexer::{EmbedderOptions, Hit, IndexFolder, IndexModel, ModelChoice, Query, SearchIndex, SearchRequest};
use retrace_runtime::claude::ModelTable;
use retrace_runtime::context::{EpochPlan, Past, WorkingSet, kept_from, new_epoch, render};
use retrace_runtime::tools;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many places are measured.
const POINTS: u64 = 200;
/// What an epoch of 100,000 tokens keeps word for word in bytes, and its seed without and with what the index finds in tokens.
const KEPT_BYTES: u64 = 45_000;
const SEED_TOKENS: u64 = 20_000;
const RECALLED_TOKENS: usize = 5_000;
/// The most that the index may add, and how many more it is asked for.
const RECALLED: usize = 12;
const SPARE: usize = 3;
/// What the working set alone is asked for, in tokens.
const WORKING_TOKENS: u64 = 8_000;
/// How much of the model's last words is looked for, in characters.
const SAID_CHARS: usize = 600;

/// A session as it goes on, and what it took to put its contexts together.
pub(crate) struct Points {
    stream: StreamId,
    past: Past,
    working: WorkingSet,
    state: SessionState,
    index: SearchIndex,
    peer: BareIndex,
    models: ModelTable,
    last: Option<Event>,
    /// The first event that is measured, and the first of the next point.
    from: u64,
    due: u64,
    every: u64,
    times: Times,
    found: usize,
    request_bytes: Vec<u64>,
    fresh_bytes: Vec<u64>,
}

#[derive(Default)]
struct Times {
    seed: Vec<Duration>,
    search: Vec<Duration>,
    peer: Vec<Duration>,
    working: Vec<Duration>,
    fresh: Vec<Duration>,
    next: Vec<Duration>,
    json: Vec<Duration>,
}

impl Points {
    pub(crate) fn new(
        stream: StreamId,
        redactor: Arc<Redactor>,
        index: IndexFolder,
        peer: PathBuf,
        events: u64,
    ) -> Self {
        let model = IndexModel::new(ModelChoice::from_setting(None), EmbedderOptions::default());
        Self {
            past: Past::new(stream.clone(), redactor),
            stream,
            working: WorkingSet::default(),
            state: SessionState::default(),
            index: SearchIndex::new(index, Vec::new(), Arc::new(model)),
            peer: BareIndex::open(&peer),
            models: ModelTable::builtin().unwrap(),
            last: None,
            from: events / 2,
            due: events / 2,
            every: (events / 2 / POINTS).max(1),
            times: Times::default(),
            found: 0,
            request_bytes: Vec::new(),
            fresh_bytes: Vec::new(),
        }
    }

    /// Takes in the next event; where the session began an epoch, one with a seed is begun in its place.
    pub(crate) async fn take(&mut self, mut event: Event) {
        let seq = event.envelope.seq;
        if let Some(Payload::Context(Context::EpochStarted(logged))) = event.payload.known() {
            let from_seq = logged.from_seq;
            let seed = if seq < self.from { Vec::new() } else { self.seed(from_seq).await };
            event.payload = self.epoch(seed, from_seq);
        }
        self.past.apply(&event);
        self.working.apply(&event);
        self.state.apply(&event);
        self.last = Some(event);
        let asks = self.state.turn.as_ref().is_some_and(|turn| matches!(turn.stage, Stage::Ask { .. }));
        if seq >= self.due && asks && self.state.epoch.is_some() {
            self.due = seq + self.every;
            self.measure().await;
        }
    }

    /// What would be done here, were the epoch full.
    async fn measure(&mut self) {
        let kept = kept_from(&self.state.transcript, KEPT_BYTES).unwrap_or_else(|| self.state.next_seq());
        let (chosen, time) = timed(|| self.working.passages(WORKING_TOKENS, kept));
        std::hint::black_box(chosen);
        self.times.working.push(time);
        let (body, time) = timed(|| render(&self.state).unwrap());
        self.times.next.push(time);
        self.request_bytes.push(body.len() as u64);
        let (again, time) = timed(|| serde_json::from_slice::<serde_json::Value>(&body).unwrap().to_string());
        std::hint::black_box(again);
        self.times.json.push(time);
        let seed = self.seed(kept).await;
        let mut fresh = self.state.clone();
        fresh.apply(&Event { payload: self.epoch(seed, kept), ..self.last.clone().unwrap() });
        let (body, time) = timed(|| render(&fresh).unwrap());
        self.fresh_bytes.push(body.len() as u64);
        self.times.fresh.push(time);
    }

    /// The seed of an epoch that keeps what was said from event `kept` on: what the past says of itself, and what the index
    /// finds for what is being done.
    async fn seed(&mut self, kept: u64) -> Vec<ContextPassage> {
        let (mut seed, time) = timed(|| self.past.seed(kept, SEED_TOKENS));
        self.times.seed.push(time);
        let words = task(&self.state);
        let at = self.last.as_ref().map_or(0, |event| event.envelope.at.0);
        let request = SearchRequest {
            query: Query::parse(&words, Timestamp(at)),
            own: Some(self.stream.subject()),
            limit: RECALLED * SPARE,
            budget_tokens: Some(RECALLED_TOKENS * SPARE),
            now_ms: i64::try_from(at).unwrap_or(0),
            ..SearchRequest::default()
        };
        let begun = Instant::now();
        let found = self.index.search(&request).await;
        self.times.search.push(begun.elapsed());
        self.found += usize::from(!found.hits.is_empty());
        self.times.peer.push(self.peer.search(&words, RECALLED * SPARE));
        seed.extend(found.hits.iter().take(RECALLED).map(passage));
        seed
    }

    fn epoch(&self, seed: Vec<ContextPassage>, from_seq: u64) -> Decoded {
        let settings = self.state.settings.as_ref().unwrap();
        let plan = EpochPlan {
            number: self.state.epoch.as_ref().map_or(1, |epoch| epoch.start.number + 1),
            settings,
            row: &self.models.row(&settings.model),
            tools_json: tools::tools_json(&tools::all()),
            workspace: Path::new(&self.state.workspace),
            backend: "process",
            network: &[],
            seed,
            from_seq,
            why: "bench".to_owned(),
        };
        Decoded::Known(Box::new(new_epoch(plan).unwrap().0.into()))
    }

    /// Prints the figures.
    pub(crate) fn print(&mut self) {
        let Times { seed, search, peer, working, fresh, next, json } = &mut self.times;
        let lines = [
            (format!("seed of {SEED_TOKENS} tokens from the past"), seed),
            (format!("what the index finds for it, {} hits", RECALLED * SPARE), search),
            ("the same words in bare tantivy".to_owned(), peer),
            (format!("working set alone, {WORKING_TOKENS} tokens"), working),
            (format!("first request of a fresh epoch, {} rendered", size(median(&mut self.fresh_bytes))), fresh),
            (format!("next request, {} rendered", size(median(&mut self.request_bytes))), next),
            ("the same bytes parsed and written by serde_json".to_owned(), json),
        ];
        for (what, times) in lines {
            println!("assembly, {what}: {}", spread_to_99(times));
        }
        println!("assembly: the index found something at {} of {} places", self.found, self.times.search.len());
    }
}

/// What is being done, as the agent asks the index for it: the newest prompt, and the model's last words.
fn task(state: &SessionState) -> String {
    let items = state.transcript.items();
    let prompt = items.iter().rev().find_map(|item| match item {
        TranscriptItem::Prompt { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let said = items.iter().rev().find_map(|item| match item {
        TranscriptItem::Answer { content, .. } => words_of(content),
        _ => None,
    });
    let words = format!("{} {}", prompt.unwrap_or_default(), said.unwrap_or_default());
    words.chars().map(|letter| if matches!(letter, '"' | ':' | '-' | '*' | '(' | ')') { ' ' } else { letter }).collect()
}

fn words_of(content: &str) -> Option<String> {
    let blocks: serde_json::Value = serde_json::from_str(content).ok()?;
    let text = blocks.as_array()?.iter().find_map(|block| block.get("text")?.as_str())?;
    Some(text.chars().take(SAID_CHARS).collect())
}

fn passage(hit: &Hit) -> ContextPassage {
    let tokens = u32::try_from(hit.text.len().div_ceil(4)).unwrap_or(u32::MAX);
    let source = ContextSource::Notes(hit.key.clone());
    ContextPassage { text: hit.text.clone(), source, tokens, score_milli: 0 }
}

fn median(sizes: &mut [u64]) -> u64 {
    sizes.sort_unstable();
    sizes.get(sizes.len() / 2).copied().unwrap_or(0)
}
