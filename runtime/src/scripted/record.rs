//! What the server remembers of each request, for tests and for `GET /scripted/requests`.

use retrace_events::hash::Hash;
use serde::Serialize;

/// One request that the server received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequestRecord {
    /// Counted from 0 in order of arrival.
    pub index: usize,
    /// The path.
    pub path: String,
    /// BLAKE3 of the exact bytes of the body.
    pub body_hash: Hash,
    /// The body's size in bytes.
    pub size_bytes: usize,
    /// The `request-id` that was answered with.
    pub request_id: String,
    /// The status that was answered with; `None` when the server never answered.
    pub status: Option<u16>,
    /// The step that was chosen, by name or number.
    pub step: Option<String>,
    /// How many requests with this body came to this step before.
    pub attempt: Option<usize>,
    /// The fault that was played, in words.
    pub fault: Option<String>,
    /// Why the request was refused by the server's checks (never set by a scripted fault).
    pub refusal: Option<String>,
    /// Simulated input tokens that were neither written to the cache nor read from it.
    pub input_tokens: u64,
    /// Simulated tokens written to the cache.
    pub cache_creation_input_tokens: u64,
    /// Simulated tokens read from the cache.
    pub cache_read_input_tokens: u64,
}
