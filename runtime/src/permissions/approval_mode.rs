//! When a person is asked about a call that no rule is about.

use std::fmt;
use std::str::FromStr;

/// When a person is asked about a call that no rule is about. Looking is always allowed. The later, the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApprovalMode {
    /// Never: every call is allowed.
    Allow,
    /// On the host, before a call that may change something; in a sandbox never.
    Auto,
    /// Before every call that may change something, in a sandbox too.
    Ask,
}

impl ApprovalMode {
    /// Its name in settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Auto => "auto",
            Self::Ask => "ask",
        }
    }

    /// The mode of a session by its logged settings. One that this retrace does not know is taken for the strictest.
    #[must_use]
    pub fn of_settings(name: &str) -> Self {
        name.parse().unwrap_or(Self::Ask)
    }
}

impl FromStr for ApprovalMode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        [Self::Allow, Self::Auto, Self::Ask].into_iter().find(|mode| mode.as_str() == text.trim()).ok_or(UnknownMode)
    }
}

impl fmt::Display for ApprovalMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that names no mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be auto, ask or allow")]
pub struct UnknownMode;
