//! Why one attempt at a request failed, with all that a caller needs to decide, to log and to explain.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Partial, Sent};

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// 429: too many requests or tokens.
    RateLimited,
    /// 529, or `overloaded_error` in mid-stream.
    Overloaded,
    /// Another failure of the server (5xx, 409, `api_error`).
    Server,
    /// Nothing came for too long, the whole took too long, or the server said so (408, 504).
    Timeout,
    /// The server could not be reached, or the connection broke before the answer began.
    Connection,
    /// What came is no event stream of this API.
    Stream,
    /// The stream ended, or the connection broke, before `message_stop`.
    Unfinished,
    /// The request is wrong (400 and other 4xx); sending it again cannot help.
    InvalidRequest,
    /// The key is missing, wrong or expired (401).
    Authentication,
    /// The key may not do this, or there is a billing problem (402, 403).
    Permission,
    /// No such model or address (404, redirects).
    NotFound,
    /// The request (413) or the answer is too large.
    TooLarge,
    /// The caller cancelled it.
    Cancelled,
}

impl FailureKind {
    /// Whether the same request may well succeed later.
    #[must_use]
    pub fn is_transient(self) -> bool {
        match self {
            Self::RateLimited
            | Self::Overloaded
            | Self::Server
            | Self::Timeout
            | Self::Connection
            | Self::Stream
            | Self::Unfinished => true,
            Self::InvalidRequest
            | Self::Authentication
            | Self::Permission
            | Self::NotFound
            | Self::TooLarge
            | Self::Cancelled => false,
        }
    }

    pub(super) fn from_status(status: u16) -> Self {
        match status {
            300..=399 | 404 => Self::NotFound,
            401 => Self::Authentication,
            402 | 403 => Self::Permission,
            408 | 504 => Self::Timeout,
            409 => Self::Server,
            413 => Self::TooLarge,
            429 => Self::RateLimited,
            529 => Self::Overloaded,
            500..=599 => Self::Server,
            _ => Self::InvalidRequest,
        }
    }

    pub(super) fn from_error_type(error_type: &str) -> Self {
        match error_type {
            "overloaded_error" => Self::Overloaded,
            "rate_limit_error" => Self::RateLimited,
            "timeout_error" => Self::Timeout,
            "invalid_request_error" => Self::InvalidRequest,
            "authentication_error" => Self::Authentication,
            "permission_error" | "billing_error" => Self::Permission,
            "not_found_error" => Self::NotFound,
            "request_too_large" => Self::TooLarge,
            // `api_error`, and whatever the API may add: a failure on its side, in the middle of an accepted request.
            _ => Self::Server,
        }
    }
}

/// One failed attempt.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{message}")]
pub struct Failure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// The HTTP status, if one came.
    pub status: Option<u16>,
    /// The API's error type, if it named one.
    pub error_type: Option<String>,
    /// One line for people, without keys and control characters.
    pub message: String,
    /// The request's id at the API, if it named one.
    pub request_id: Option<String>,
    /// What had arrived of the answer.
    pub partial: Option<Box<Partial>>,
    /// How long the server asks to wait before the next attempt, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// The server's own word (`x-should-retry`) on whether another attempt makes sense.
    pub should_retry: Option<bool>,
    /// How far the request got.
    pub sent: Sent,
}

impl Failure {
    pub(super) fn new(kind: FailureKind, sent: Sent, message: impl Into<String>) -> Self {
        Self {
            kind,
            status: None,
            error_type: None,
            message: message.into(),
            request_id: None,
            partial: None,
            retry_after_ms: None,
            should_retry: None,
            sent,
        }
    }

    /// A request that ended without anybody knowing how.
    pub(crate) fn unanswered(message: String) -> Self {
        Self::new(FailureKind::Stream, Sent::Unanswered, message)
    }

    /// Whether another attempt makes sense: the server's word if it gave one, else what the kind suggests. A cancelled
    /// request is never tried again.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.kind != FailureKind::Cancelled && self.should_retry.unwrap_or_else(|| self.kind.is_transient())
    }

    /// How long the server asks to wait.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after_ms.map(Duration::from_millis)
    }
}
