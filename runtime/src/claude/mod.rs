//! The Claude client: one streaming request, one answer or one typed failure.
//!
//! Invariants:
//! - A body is sent exactly as it was given, so its hash in the log is the hash of what left the machine.
//! - An answer keeps every content block as the raw JSON text it came as, so that it can go back byte for byte.
//! - A failure says what may have been billed, whether trying again makes sense, and what had arrived by then.
//! - Keys never appear in an error, a `Debug` text, or a message.
//!
//! This module retries nothing by itself ([`RetryPolicy`] is a pure function for the caller, who logs each attempt
//! first) and knows neither the event log nor the tools.

mod answer;
mod assemble;
mod auth;
mod block;
mod client;
mod client_error;
mod compaction;
mod delta;
mod effort;
mod endpoint;
mod exchange;
mod failure;
mod headers;
mod models;
mod partial;
mod prices;
mod raw;
mod retry;
mod secret;
mod sent;
mod sse;
mod stop_reason;
mod stream_event;
mod thinking;
mod timeouts;
mod tls;
mod usage;

#[cfg(test)]
pub(crate) mod tests;

pub use answer::Answer;
pub use assemble::{AssembleError, Assembler};
pub use auth::Auth;
pub use block::Block;
pub use client::ClaudeClient;
pub use client_error::ClientError;
pub use compaction::{COMPACTION_BETA, summary_in};
pub use delta::Delta;
pub use effort::Effort;
pub use endpoint::Endpoint;
pub use failure::{Failure, FailureKind};
pub use models::{ModelRow, ModelTable, ModelTableError};
pub use partial::Partial;
pub use prices::{LongPromptPrices, Prices};
pub use retry::RetryPolicy;
pub use secret::Secret;
pub use sent::Sent;
pub use sse::{SseDecoder, SseError, SseEvent};
pub use stop_reason::StopReason;
pub use thinking::{Thinking, ThinkingType};
pub use timeouts::Timeouts;
pub use usage::Usage;

#[cfg(test)]
pub(crate) use tls::client_config as test_tls;
