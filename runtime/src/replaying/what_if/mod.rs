//! A session's contexts put together again under other settings, beside what was really sent.
//!
//! Three columns come of one reading of the log: what was sent; a simulation under the settings of then; the same simulation under
//! the other ones. Only the last two can be compared with each other, and how far the first two agree says what the simulation is worth.
//!
//! Simulated is what the agent decides between requests: when an epoch begins, its seed from the session's own past, and what is
//! put at its tail; by the agent's own functions, rendered by its own renderer. So is the prompt cache. Taken from the log are
//! the conversation (what the model would have answered to another context is not known), what the index found then, and the tokens
//! and times of each request: another model's tokens are counted like those of the one that answered. A summary by the API is not
//! simulated: a seed of ours stands in for it.

mod assembly;
pub(super) mod cache_blocks;
mod other_settings;
pub(super) mod request_figures;
mod sent;

pub use other_settings::{OtherSettings, SettingError};
pub use request_figures::{ItemKind, RequestFigures};

use crate::claude::ModelTable;
use crate::context::RenderError;
use assembly::{Assembly, AssemblyParts};
use regex::Regex;
use retrace_events::payload::{Context, Payload};
use retrace_events::redact::Redactor;
use retrace_events::{Event, EventLog, History, LogError, StreamId};
use sent::Sent;
use std::sync::{Arc, LazyLock};

/// How many events are read at a time.
const PAGE: usize = 500;

/// How the agent says in an epoch's reason what its budget was.
static BUDGET: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^the context has about \d+ of its (\d+) tokens").ok());

/// Why nothing can be put together.
#[derive(Debug, thiserror::Error)]
pub enum WhatIfError {
    /// The log is damaged, or cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// There is no such session.
    #[error("there is no session {0}")]
    NoSuchSession(StreamId),
    /// Nothing was answered in it.
    #[error("session {} has no answered request of retrace's own, so there is nothing to compare with", .0.id)]
    NoRequest(StreamId),
    /// A request cannot be rendered under these settings.
    #[error("the request at event {seq} cannot be put together again: {source}")]
    Render {
        /// Its number in its stream.
        seq: u64,
        /// Why not.
        source: RenderError,
    },
}

/// What works together.
pub struct WhatIfParts<'a> {
    /// Where the session is.
    pub log: &'a dyn EventLog,
    /// What models cost and can do.
    pub models: &'a ModelTable,
    /// Takes secrets out of seeds.
    pub redactor: Arc<Redactor>,
    /// The budget of a context where the log says nothing of it.
    pub context_tokens: Option<u64>,
}

/// One request in three columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedRequest {
    /// The stream that holds it, and its number there.
    pub event: (StreamId, u64),
    /// As it was sent.
    pub sent: RequestFigures,
    /// Simulated under the settings of then.
    pub baseline: RequestFigures,
    /// Simulated under the other settings.
    pub other: RequestFigures,
}

/// A session under other settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhatIf {
    /// All answered requests, in order.
    pub requests: Vec<ComparedRequest>,
    /// The budget of a context in the baseline; `None` is the model's window.
    pub context_tokens: Option<u64>,
    /// Whether the log says so; otherwise it is today's configuration.
    pub logged_budget: bool,
    /// How often the API wrote a summary, which is not simulated, and what that cost in millionths of a US dollar.
    pub api_summaries: (u64, u64),
}

impl WhatIf {
    /// Plays the session through.
    ///
    /// # Errors
    /// When the log cannot be read, there is nothing in it to compare, or a request cannot be rendered.
    pub async fn of(parts: &WhatIfParts<'_>, stream: &StreamId, other: &OtherSettings) -> Result<Self, WhatIfError> {
        let history = History::of(parts.log, stream).await?;
        let logged = logged_budget(parts.log, &history).await?;
        let context_tokens = logged.or(parts.context_tokens);
        let assembly = |other: Option<OtherSettings>| {
            let budget = other.as_ref().and_then(|other| other.context_tokens).unwrap_or(context_tokens);
            let redactor = Arc::clone(&parts.redactor);
            Assembly::new(AssemblyParts { models: parts.models, redactor, other, context_tokens: budget }, stream)
        };
        let (mut baseline, mut changed) = (assembly(None), assembly(Some(other.clone())));
        let mut sent = Sent::default();
        let mut requests = Vec::new();
        let compare = |place, event: &Event| {
            let figures = [baseline.take(place, event)?, changed.take(place, event)?];
            if let ([Some(baseline), Some(other)], Some((at, sent))) = (figures, sent.take(event)) {
                let (stream, seq) = history.at(at);
                requests.push(ComparedRequest { event: (stream.clone(), seq), sent, baseline, other });
            }
            Ok::<_, WhatIfError>(())
        };
        if history.for_each(parts.log, 0, compare).await? == 0 {
            return Err(WhatIfError::NoSuchSession(stream.clone()));
        }
        if requests.is_empty() {
            return Err(WhatIfError::NoRequest(stream.clone()));
        }
        Ok(Self { requests, context_tokens, logged_budget: logged.is_some(), api_summaries: sent.api_summaries() })
    }

    /// The sums of a column.
    #[must_use]
    pub fn total(&self, column: impl Fn(&ComparedRequest) -> &RequestFigures) -> RequestFigures {
        let mut total = RequestFigures::default();
        self.requests.iter().for_each(|request| total.add(column(request)));
        total
    }
}

/// The first budget that an epoch's reason names.
async fn logged_budget(log: &dyn EventLog, history: &History) -> Result<Option<u64>, LogError> {
    let mut place = 0;
    loop {
        let page = history.read(log, place, PAGE).await?;
        if page.is_empty() {
            return Ok(None);
        }
        for envelope in page {
            place += 1;
            if envelope.kind != "context.epoch_started" {
                continue;
            }
            let event = Event::decode(envelope)?;
            if let Some(Payload::Context(Context::EpochStarted(start))) = event.payload.known()
                && let Some(found) = BUDGET.as_ref().and_then(|pattern| pattern.captures(&start.why))
                && let Some(tokens) = found.get(1).and_then(|digits| digits.as_str().parse().ok())
            {
                return Ok(Some(tokens));
            }
        }
    }
}
