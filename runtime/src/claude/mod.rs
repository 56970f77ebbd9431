//! The Claude client: one streaming request, one answer or one typed failure.
//!
//! Invariants:
//! - A body is sent exactly as it was given, so its hash in the log is the hash of what left the machine.
//! - An answer keeps every content block as the raw JSON text it came as, so that it can go back byte for byte.
//! - A failure says what may have been billed, whether trying again makes sense, and what had arrived by then.
//! - Keys never appear in an error, a `Debug` text, or a message.
//!
//! This module retries nothing by itself ([`RetryPolicy`] is a pure function for the caller, who logs each attempt first)
//! and knows neither the event log nor the tools.

mod answer;
mod assemble;
mod client;
mod endpoint;
mod exchange;
mod failure;
mod headers;
mod models;
mod prices;
mod raw;
mod retry;
mod sse;
mod stream_event;
mod tls;
mod usage;

#[cfg(test)]
mod tests;

pub use answer::{Answer, Block, Partial, StopReason};
pub use assemble::{AssembleError, Assembler, Delta};
pub use client::ClaudeClient;
pub use endpoint::{Auth, ClientError, Endpoint, Secret, Timeouts};
pub use failure::{Failure, FailureKind, Sent};
pub use models::{ModelRow, ModelTable, ModelTableError, Thinking, ThinkingType};
pub use prices::{LongPrompt, Prices};
pub use retry::RetryPolicy;
pub use sse::{SseDecoder, SseError, SseEvent};
pub use usage::Usage;

#[cfg(test)]
pub(crate) use tls::client_config as test_tls;
