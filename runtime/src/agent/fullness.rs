//! How full the present epoch is, and when a fresh one is due: at the budget, or earlier when the cache has gone cold and the
//! next request is paid in full anyway.

use super::agent_handle::Agent;
use super::error::AgentError;
use crate::claude::ModelRow;
use crate::context::render;
use bytes::Bytes;
use retrace_events::fold::{Stage, TranscriptItem};
use retrace_events::{EventId, SessionState, Timestamp};

/// About how many bytes of a request make a token, where nothing was measured; low, so that estimates are high.
const BYTES_PER_TOKEN: u64 = 3;

/// After so long without a request the tail is not in the cache any more; in milliseconds.
const TAIL_COLD_MS: u64 = 5 * 60 * 1_000;

/// After so long nothing is; in milliseconds.
const ALL_COLD_MS: u64 = 60 * 60 * 1_000;

/// With a cold tail an epoch ends at this share of its budget, in percent.
const TAIL_COLD_PERCENT: u64 = 75;

/// With nothing in the cache, at this one.
const ALL_COLD_PERCENT: u64 = 50;

/// From this share of the budget on a summary is asked for while the turn goes on, in percent.
const SOON_PERCENT: u64 = 85;

/// Of the model's window this much is left free, in percent: an estimate may be too low.
const WINDOW_MARGIN_PERCENT: u64 = 5;

/// From this share of the window on the API is asked instead of an estimate, in percent.
const COUNTED_FROM_PERCENT: u64 = 90;

/// The next request.
#[derive(Debug)]
pub(super) struct Rendered {
    /// How many events it was made of.
    seq: u64,
    body: Bytes,
    /// Its tokens, once the API was asked.
    counted: Option<u64>,
}

impl Rendered {
    /// The length of its body in bytes.
    pub(super) fn body_bytes(&self) -> u64 {
        self.body.len() as u64
    }
}

/// How large the next request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fullness {
    /// The tokens it will have, estimated.
    pub(crate) tokens: u64,
    /// The most it may have by the user's word; never more than fits the window.
    pub(crate) budget_tokens: u64,
    /// The most that fits the model's window beside the answer.
    pub(crate) window_tokens: u64,
    /// For how long nothing was asked, in milliseconds.
    pub(super) idle_ms: u64,
    /// Whether anything was said in this epoch that a fresh one could do without.
    pub(super) can_shrink: bool,
}

impl Fullness {
    /// The next request of `state`, whose body has `body_bytes`.
    pub(crate) fn of(
        state: &SessionState,
        row: &ModelRow,
        body_bytes: u64,
        budget: Option<u64>,
        now: Timestamp,
    ) -> Self {
        let start = state.epoch.as_ref().map(|epoch| &epoch.start);
        let answer_tokens = start.map_or(0, |start| u64::from(start.max_tokens));
        // A model with a small window and a large answer still has to be asked something.
        let room = row.context_window_tokens.saturating_sub(answer_tokens).max(row.context_window_tokens / 2);
        let window_tokens = room - room * WINDOW_MARGIN_PERCENT / 100;
        Self {
            tokens: estimate(state, body_bytes),
            budget_tokens: budget.map_or(window_tokens, |budget| budget.min(window_tokens)),
            window_tokens,
            idle_ms: state.sent.map_or(0, |sent| now.since_ms(sent.at)),
            can_shrink: state
                .transcript
                .items()
                .iter()
                .any(|item| matches!(item, TranscriptItem::Answer { carried_over: false, .. })),
        }
    }

    /// Why a fresh epoch is due, in words; `None` while it is not.
    pub(crate) fn due(&self) -> Option<String> {
        let (percent, cold) = match self.idle_ms {
            idle if idle >= ALL_COLD_MS => (ALL_COLD_PERCENT, ", and the cache is cold"),
            idle if idle >= TAIL_COLD_MS => (TAIL_COLD_PERCENT, ", and the cache is cold"),
            _ => (100, ""),
        };
        let limit = self.budget_tokens.saturating_mul(percent) / 100;
        (self.can_shrink && self.tokens >= limit)
            .then(|| format!("the context has about {} of its {} tokens{cold}", self.tokens, self.budget_tokens))
    }

    /// Whether a fresh epoch will be due before long, so that a summary of this one is worth asking for.
    pub(super) fn soon(&self) -> bool {
        self.can_shrink && self.tokens.saturating_mul(100) >= self.budget_tokens.saturating_mul(SOON_PERCENT)
    }

    /// Why no request can be made at all, in words.
    pub(super) fn too_large(&self) -> Option<String> {
        (self.tokens > self.window_tokens && !self.can_shrink).then(|| {
            format!(
                "the newest messages alone have about {} tokens, and the model takes {}. hint: give the large part as a \
                 file, or take a model with a larger window",
                self.tokens, self.window_tokens
            )
        })
    }
}

/// The tokens of a body, at the rate of the last answered request.
pub(crate) fn estimate(state: &SessionState, body_bytes: u64) -> u64 {
    state.measured.map_or(body_bytes.div_ceil(BYTES_PER_TOKEN), |measured| measured.tokens_of(body_bytes))
}

/// The body as the API counts it: without what only an answer needs.
fn countable(body: &[u8]) -> Option<Bytes> {
    let mut body: serde_json::Value = serde_json::from_slice(body).ok()?;
    let fields = body.as_object_mut()?;
    fields.retain(|name, _| !matches!(name.as_str(), "max_tokens" | "stream"));
    Some(Bytes::from(body.to_string()))
}

impl Agent {
    /// The next request's bytes; rendered once, however often they are asked for.
    pub(super) fn body(&mut self) -> Result<Bytes, AgentError> {
        let seq = self.state.next_place();
        if let Some(rendered) = self.rendered.as_ref().filter(|rendered| rendered.seq == seq) {
            return Ok(rendered.body.clone());
        }
        let body = Bytes::from(render(&self.state)?);
        self.rendered = Some(Rendered { seq, body: body.clone(), counted: None });
        Ok(body)
    }

    /// How full the epoch is; `None` where no request is to be made now.
    pub(super) async fn fullness(&mut self) -> Result<Option<Fullness>, AgentError> {
        let asks = self.state.turn.as_ref().is_some_and(|turn| matches!(turn.stage, Stage::Ask { .. }));
        if !asks || self.state.epoch.is_none() {
            return Ok(None);
        }
        let body = self.body()?;
        let body_bytes = body.len() as u64;
        let (_, row) = self.epoch_row();
        let (budget, now) = (self.context_budget(), self.parts.mint.now());
        let mut fullness = Fullness::of(&self.state, &row, body_bytes, budget, now);
        if fullness.tokens.saturating_mul(100) >= fullness.window_tokens.saturating_mul(COUNTED_FROM_PERCENT)
            && let Some(tokens) = self.counted(&body).await?
        {
            fullness.tokens = tokens;
        }
        Ok(Some(fullness))
    }

    /// The tokens of the next request as the API counts them; `None` when it does not say.
    async fn counted(&mut self, body: &Bytes) -> Result<Option<u64>, AgentError> {
        if let Some(known) = self.rendered.as_ref().and_then(|rendered| rendered.counted) {
            return Ok(Some(known));
        }
        let Some(countable) = countable(body) else { return Ok(None) };
        let (client, stop, betas) = (self.parts.client.clone(), self.ears.step.clone(), self.betas());
        let counted = self.attend(client.count_tokens(countable, betas, &stop)).await?;
        // Whatever went wrong: the estimate stands, and the request itself will tell.
        let tokens = counted.ok();
        if let Some(rendered) = &mut self.rendered {
            rendered.counted = tokens;
        }
        Ok(tokens)
    }

    /// The most tokens a request may have: by the user's word, and by what was too large before, whatever the model's row says.
    pub(super) fn context_budget(&self) -> Option<u64> {
        // A tenth less than what was too large: an estimate is one.
        let learned = self.too_large_tokens.map(|tokens| tokens - tokens / 10);
        self.parts.context_tokens.into_iter().chain(learned).min()
    }

    /// The epoch's event and the model's row as the epoch has it.
    pub(super) fn epoch_row(&self) -> (EventId, ModelRow) {
        let epoch = self.state.epoch.as_ref();
        let logged = epoch.and_then(|epoch| serde_json::from_str(&epoch.start.model_row).ok());
        // A row written by another version may have other fields; today's row of the same model stands in then.
        let row = logged.unwrap_or_else(|| self.parts.models.row(&self.settings.model));
        (epoch.map_or_else(|| EventId(uuid::Uuid::nil()), |epoch| epoch.event), row)
    }
}
