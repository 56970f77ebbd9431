//! How a model thinks, as far as a request can say.

use serde::{Deserialize, Serialize};

/// A value of `thinking.type` in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingType {
    /// The model decides when and how much to think.
    Adaptive,
    /// A fixed budget, `budget_tokens`.
    Enabled,
    /// No thinking.
    Disabled,
    /// No thinking up front, short notes between tool calls.
    BetweenTools,
}

impl ThinkingType {
    /// The value as it stands in a request.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::BetweenTools => "between_tools",
        }
    }
}

/// How a model thinks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thinking {
    /// The values of `thinking.type` that the API takes for this model; empty: not known, so send none.
    pub accepts: Vec<ThinkingType>,
    /// Whether the model thinks when a request says nothing about it.
    pub by_default: bool,
}
