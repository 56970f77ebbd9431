//! What the client reads out of response headers. Everything there is hostile: bounded, checked, or dropped.

use std::time::SystemTime;

use reqwest::header::HeaderMap;

const MAX_REQUEST_ID_BYTES: usize = 200;

/// The request's id, as the API (`request-id`) or a gateway (`x-request-id`) names it.
pub(super) fn request_id(headers: &HeaderMap) -> Option<String> {
    let value = ["request-id", "x-request-id"].iter().find_map(|name| headers.get(*name))?.to_str().ok()?;
    let sound = !value.is_empty() && value.len() <= MAX_REQUEST_ID_BYTES && value.bytes().all(|b| b.is_ascii_graphic());
    sound.then(|| value.to_owned())
}

/// `x-should-retry`, when it says true or false.
pub(super) fn should_retry(headers: &HeaderMap) -> Option<bool> {
    match headers.get("x-should-retry")?.to_str().ok()?.trim() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// How long the server asks to wait from `now` on, in milliseconds: `retry-after-ms`, else `retry-after` in seconds or
/// as an HTTP date (a date in the past asks for no wait).
pub(super) fn retry_after_ms(headers: &HeaderMap, now: SystemTime) -> Option<u64> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|value| milliseconds(value, 1.0)) {
        return Some(ms);
    }
    let value = text("retry-after")?;
    milliseconds(value, 1_000.0).or_else(|| {
        let wait = httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default();
        u64::try_from(wait.as_millis()).ok()
    })
}

/// A non-negative decimal number of `unit_ms` milliseconds each, rounded up.
fn milliseconds(text: &str, unit_ms: f64) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    // A float cast to an integer saturates, so a huge value is a huge wait and no overflow.
    (number.is_finite() && number >= 0.0).then(|| (number * unit_ms).ceil() as u64)
}
