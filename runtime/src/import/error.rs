//! Why an import cannot go on at all. What is wrong with a single file or line is part of the report instead.

use crate::config::ConfigError;
use retrace_events::log::ClaimError;
use retrace_events::{LogError, codec::CodecError};

/// Why an import cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The log failed.
    #[error(transparent)]
    Log(#[from] LogError),
    /// It cannot be noted that a session came from a file.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl From<CodecError> for ImportError {
    fn from(error: CodecError) -> Self {
        Self::Log(error.into())
    }
}

/// A claim that could not be had: who holds it, or that the log failed.
pub(super) fn holder(error: ClaimError) -> Result<String, LogError> {
    match error {
        ClaimError::Held(holder) => Ok(holder.to_string()),
        ClaimError::Log(error) => Err(error),
    }
}
