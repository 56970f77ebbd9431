//! Requests of Claude Code's that came to nothing.

use super::record::Record;
use retrace_events::EventId;
use retrace_events::payload::turn::{TurnFailed, TurnFailure};
use retrace_events::redact::Redactor;
use serde_json::Value;

/// The most of a message that is kept, in characters.
const MESSAGE_CHARS: usize = 4_000;

/// Names and words by which a failure is known, the surest first. Statuses come before words.
const KNOWN: [(&str, TurnFailure); 16] = [
    ("rate_limit", TurnFailure::RateLimited),
    ("overloaded", TurnFailure::Overloaded),
    ("authentication", TurnFailure::Authentication),
    ("oauth", TurnFailure::Authentication),
    ("invalid api key", TurnFailure::Authentication),
    ("please run /login", TurnFailure::Authentication),
    ("permission", TurnFailure::Permission),
    ("billing", TurnFailure::Permission),
    ("credit balance", TurnFailure::Permission),
    ("usage limit", TurnFailure::RateLimited),
    ("prompt is too long", TurnFailure::TooLarge),
    ("invalid_request", TurnFailure::InvalidRequest),
    ("aborted", TurnFailure::Cancelled),
    ("timed out", TurnFailure::Timeout),
    ("timeout", TurnFailure::Timeout),
    ("connection", TurnFailure::Connection),
];

/// The failure that `record` tells of, in the words `text`. `retry_in_ms` is when Claude Code tried again.
pub(super) fn failure(
    record: &Record<'_>,
    text: &str,
    origin: EventId,
    retry_in_ms: Option<u64>,
    redactor: &Redactor,
) -> TurnFailed {
    let error: Value = record.error.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let status = error.get("status").and_then(Value::as_u64).or_else(|| status_in(text));
    let status = status.and_then(|status| u16::try_from(status).ok()).filter(|status| (100..600).contains(status));
    let words = if text.is_empty() { error.to_string() } else { text.to_owned() };
    let message: String = redactor.redact(&words).chars().take(MESSAGE_CHARS).collect();
    TurnFailed {
        request: origin,
        failure: kind(status, &format!("{} {words}", error.as_str().unwrap_or_default())),
        status,
        message,
        request_id: record.request_id.clone(),
        partial: None,
        billed_microusd: 0,
        retry_in_ms,
    }
}

/// The status in `API Error: 529 {…}`.
fn status_in(text: &str) -> Option<u64> {
    let rest = text.split_once("API Error: ")?.1;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn kind(status: Option<u16>, words: &str) -> TurnFailure {
    match status {
        Some(401) => return TurnFailure::Authentication,
        Some(403) => return TurnFailure::Permission,
        Some(404) => return TurnFailure::NotFound,
        Some(413) => return TurnFailure::TooLarge,
        Some(429) => return TurnFailure::RateLimited,
        Some(529) => return TurnFailure::Overloaded,
        Some(500..) => return TurnFailure::Server,
        Some(_) | None => {}
    }
    let words = words.to_lowercase();
    let known = KNOWN.iter().find(|(word, _)| words.contains(word)).map(|(_, kind)| *kind);
    known.unwrap_or(if status.is_some() { TurnFailure::InvalidRequest } else { TurnFailure::Server })
}
