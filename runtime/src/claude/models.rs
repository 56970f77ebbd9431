//! The table of models: what each can do and what it costs, as data ([`ModelRow`], `models.toml`).
//!
//! Any model id is passed on to the API; one that no row fits gets the fallback row, whose values are safe for every
//! model. The table decides nothing by itself and is never changed while a session runs (the session keeps its row).

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::prices::estimate_input_tokens;
use super::{Effort, LongPromptPrices, Prices, Thinking, ThinkingType, Usage};

/// The smallest thinking budget the API takes, in tokens.
const MIN_THINKING_TOKENS: u64 = 1_024;

/// One model: limits, abilities and prices. Stored verbatim in the log of each session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRow {
    /// The model id of the row; after a lookup, the id that was asked for.
    pub id: String,
    /// Other ids of the same model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Input and output tokens that one request may use together.
    pub context_window_tokens: u64,
    /// The largest `max_tokens`.
    pub max_output_tokens: u64,
    /// Prefixes of fewer tokens are not cached.
    pub min_cacheable_tokens: u64,
    /// Whether thinking blocks are bound to their prefix.
    pub preserved_thinking: bool,
    /// Whether `role: "system"` messages may stand inside the conversation.
    pub mid_conversation_system: bool,
    /// Whether the API writes a summary of the conversation on demand.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compaction: bool,
    /// Whether sampling parameters (`temperature`, ...) are taken.
    pub sampling: bool,
    /// Whether `tool_choice` may force a tool.
    pub forced_tools: bool,
    /// Whether the last message may be the assistant's.
    pub prefill: bool,
    /// How the model thinks.
    pub thinking: Thinking,
    /// The efforts it can be asked to make; empty: none is to be named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effort: Vec<Effort>,
    /// Prices per million tokens.
    pub prices: Prices,
    /// Prices of long prompts, where they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_prompt: Option<LongPromptPrices>,
}

impl ModelRow {
    /// Cost of `usage`, in micro-dollars, rounded up.
    #[must_use]
    pub fn cost_micros(&self, usage: &Usage) -> u64 {
        self.prices_for(usage.total_input_tokens()).cost_micros(usage)
    }

    /// What a request can cost at the most, in micro-dollars, known before it is sent: its body size in bytes (about
    /// 3 bytes a token) at the dearest input price, and all of `max_tokens` produced.
    #[must_use]
    pub fn upper_bound_micros(&self, body_size_bytes: u64, max_tokens: u64) -> u64 {
        let input_tokens = estimate_input_tokens(body_size_bytes);
        let normal = self.prices.bound_micros(input_tokens, max_tokens);
        let applied = self.prices_for(input_tokens).bound_micros(input_tokens, max_tokens);
        normal.max(applied)
    }

    /// The `thinking` field that makes this model think with readable summaries, or `None` where the field must be left
    /// out. `max_tokens` bounds the budget of models that want one.
    #[must_use]
    pub fn thinking_field(&self, max_tokens: u64) -> Option<serde_json::Value> {
        if self.thinking.accepts.contains(&ThinkingType::Adaptive) {
            return Some(serde_json::json!({ "type": "adaptive", "display": "summarized" }));
        }
        let budget = max_tokens / 2;
        let fits = self.thinking.accepts.contains(&ThinkingType::Enabled) && budget >= MIN_THINKING_TOKENS;
        fits.then(|| serde_json::json!({ "type": "enabled", "budget_tokens": budget }))
    }

    fn prices_for(&self, input_tokens: u64) -> &Prices {
        match &self.long_prompt {
            Some(long) if input_tokens > long.above_input_tokens => &long.prices,
            Some(_) | None => &self.prices,
        }
    }
}

/// All known models and the fallback for unknown ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelTable {
    fallback: ModelRow,
    rows: Vec<ModelRow>,
}

/// Why a table could not be read.
#[derive(Debug, Error)]
pub enum ModelTableError {
    /// The text is not TOML of the expected shape.
    #[error("model table: {0}")]
    Parse(#[from] toml::de::Error),
    /// Two rows claim the same id.
    #[error("model table: the id {id:?} occurs twice")]
    Duplicate {
        /// The id.
        id: String,
    },
    /// A built-in table without its fallback row.
    #[error("model table: [fallback] is missing")]
    NoFallback,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    fallback: Option<ModelRow>,
    #[serde(default)]
    model: Vec<ModelRow>,
}

impl ModelTable {
    /// The table this program was built with.
    ///
    /// # Errors
    /// Only if the embedded file is wrong, which a test rules out.
    pub fn builtin() -> Result<Self, ModelTableError> {
        let file: TableFile = toml::from_str(include_str!("models.toml"))?;
        let fallback = file.fallback.ok_or(ModelTableError::NoFallback)?;
        Self { fallback, rows: Vec::new() }.merge(file.model)
    }

    /// This table with the rows of `text` (the format of `models.toml`) replacing those of the same id and added
    /// otherwise.
    ///
    /// # Errors
    /// When `text` is not such a table, or names an id twice.
    pub fn with_overrides(&self, text: &str) -> Result<Self, ModelTableError> {
        let file: TableFile = toml::from_str(text)?;
        let ids: Vec<&String> = file.model.iter().map(|row| &row.id).collect();
        let mut rows = self.rows.clone();
        rows.retain(|row| !ids.contains(&&row.id));
        let fallback = file.fallback.unwrap_or_else(|| self.fallback.clone());
        Self { fallback, rows }.merge(file.model)
    }

    /// The row of `id`: an exact id, an alias, or a dated id (`-YYYYMMDD`) whose undated row exists.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<ModelRow> {
        let exact =
            |wanted: &str| self.rows.iter().find(|row| row.id == wanted || row.aliases.iter().any(|a| a == wanted));
        let row = exact(id).or_else(|| exact(undated(id)?))?;
        Some(ModelRow { id: id.to_owned(), ..row.clone() })
    }

    /// The row of `id`, or the fallback row under that id.
    #[must_use]
    pub fn row(&self, id: &str) -> ModelRow {
        self.find(id).unwrap_or_else(|| ModelRow { id: id.to_owned(), ..self.fallback.clone() })
    }

    /// All rows, in the table's order.
    pub fn rows(&self) -> impl Iterator<Item = &ModelRow> {
        self.rows.iter()
    }

    fn merge(mut self, rows: Vec<ModelRow>) -> Result<Self, ModelTableError> {
        for row in rows {
            let ids = std::iter::once(&row.id).chain(&row.aliases);
            for id in ids {
                if self.rows.iter().any(|known| known.id == *id || known.aliases.contains(id)) {
                    return Err(ModelTableError::Duplicate { id: id.clone() });
                }
            }
            self.rows.push(row);
        }
        Ok(self)
    }
}

/// `id` without its date, if it ends in one.
fn undated(id: &str) -> Option<&str> {
    let (stem, date) = id.rsplit_once('-')?;
    (date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit())).then_some(stem)
}
