//! How much effort a model can be asked to make.

use serde::{Deserialize, Serialize};

/// A value of `output_config.effort` in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Few tokens.
    Low,
    /// In between.
    Medium,
    /// As much as most tasks need; what most models do by themselves.
    High,
    /// For long work; needs thinking.
    Xhigh,
    /// Whatever it takes; needs thinking.
    Max,
}

impl Effort {
    /// All of them, least first.
    pub const ALL: [Self; 5] = [Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// The value as it stands in a request.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The effort of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.as_str() == name)
    }

    /// Whether the API takes it only of a model that thinks.
    #[must_use]
    pub const fn needs_thinking(self) -> bool {
        matches!(self, Self::Xhigh | Self::Max)
    }
}
