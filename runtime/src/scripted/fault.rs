//! What can go wrong on purpose. Each fault of a step is used up by one attempt (or `times` of them) at one body.

use std::time::Duration;

use serde::Deserialize;

use super::api_error::{ApiError, error_type};

/// One fault.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fault {
    /// An error status with its headers.
    Refuse { error: ApiError, retry_after: Option<String>, retry_after_ms: Option<u64>, should_retry: Option<bool> },
    /// An `error` event in the middle of the stream.
    ErrorMidStream { error: ApiError, after: After },
    /// The connection is cut in the middle of the stream.
    Cut { after: After },
    /// The stream ends early, but properly.
    End { after: After },
    /// The stream goes silent and stays open.
    Stall { after: After },
    /// The request is taken and never answered.
    Hang,
}

/// A place in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// After so many events.
    Events(usize),
    /// After so many bytes.
    Bytes(usize),
}

impl Fault {
    /// A short name for the records.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Refuse { error, .. } => format!("status {}", error.status),
            Self::ErrorMidStream { error, .. } => format!("{} in mid-stream", error.kind),
            Self::Cut { .. } => "cut".to_owned(),
            Self::End { .. } => "early end".to_owned(),
            Self::Stall { .. } => "stall".to_owned(),
            Self::Hang => "hang".to_owned(),
        }
    }
}

/// A fault as it stands in the file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FaultFile {
    status: Option<u16>,
    error_type: Option<String>,
    message: Option<String>,
    retry_after: Option<toml::Value>,
    retry_after_ms: Option<u64>,
    should_retry: Option<bool>,
    error_mid_stream: Option<String>,
    after_events: Option<usize>,
    after_bytes: Option<usize>,
    cut_after_events: Option<usize>,
    cut_after_bytes: Option<usize>,
    end_after_events: Option<usize>,
    stall_after_events: Option<usize>,
    hang: bool,
    times: Option<usize>,
}

/// The most attempts one fault may spoil.
const MAX_TIMES: usize = 1_000;

impl FaultFile {
    /// The faults this entry stands for, one an attempt.
    pub(super) fn check(self) -> Result<Vec<Fault>, String> {
        let times = self.times.unwrap_or(1);
        if times == 0 || times > MAX_TIMES {
            return Err(format!("`times` must be between 1 and {MAX_TIMES}"));
        }
        Ok(vec![self.fault()?; times])
    }

    fn fault(self) -> Result<Fault, String> {
        let mut faults = Vec::new();
        let message = self.message.clone().unwrap_or_else(|| "scripted fault".to_owned());
        let refuse_only = self.retry_after.is_some() || self.retry_after_ms.is_some() || self.should_retry.is_some();
        let after = match (self.after_events, self.after_bytes) {
            (Some(_), Some(_)) => return Err("`after_events` and `after_bytes` exclude each other".to_owned()),
            (Some(events), None) => Some(After::Events(events)),
            (None, Some(bytes)) => Some(After::Bytes(bytes)),
            (None, None) => None,
        };
        if let Some(status) = self.status {
            if !(300..=599).contains(&status) {
                return Err(format!("`status` {status} is no error (300 to 599)"));
            }
            let kind = self.error_type.clone().unwrap_or_else(|| error_type(status).to_owned());
            faults.push(Fault::Refuse {
                error: ApiError { status, kind, message: message.clone(), code: None },
                retry_after: self.retry_after.map(header_text).transpose()?,
                retry_after_ms: self.retry_after_ms,
                should_retry: self.should_retry,
            });
        } else if refuse_only || self.error_type.is_some() {
            return Err("`retry_after`, `retry_after_ms`, `should_retry` and `error_type` need a `status`".to_owned());
        }
        if let Some(kind) = self.error_mid_stream {
            faults.push(Fault::ErrorMidStream {
                error: ApiError { status: 200, kind, message, code: None },
                after: after.unwrap_or(After::Events(3)),
            });
        } else if after.is_some() {
            return Err("`after_events` and `after_bytes` need `error_mid_stream`".to_owned());
        }
        faults.extend(self.cut_after_events.map(|n| Fault::Cut { after: After::Events(n) }));
        faults.extend(self.cut_after_bytes.map(|n| Fault::Cut { after: After::Bytes(n) }));
        faults.extend(self.end_after_events.map(|n| Fault::End { after: After::Events(n) }));
        faults.extend(self.stall_after_events.map(|n| Fault::Stall { after: After::Events(n) }));
        faults.extend(self.hang.then_some(Fault::Hang));
        match faults.len() {
            1 => faults.pop().ok_or_else(String::new),
            0 => Err("a fault needs one of `status`, `error_mid_stream`, `cut_after_events`, `cut_after_bytes`, \
                      `end_after_events`, `stall_after_events`, `hang`"
                .to_owned()),
            _ => Err("one fault cannot be several things; write several `[[step.fault]]`".to_owned()),
        }
    }
}

/// `retry-after` as a number of seconds or as the text of a date.
fn header_text(value: toml::Value) -> Result<String, String> {
    let text = match value {
        toml::Value::Integer(seconds) => seconds.to_string(),
        toml::Value::Float(seconds) => seconds.to_string(),
        toml::Value::String(text) => text,
        toml::Value::Boolean(_) | toml::Value::Datetime(_) | toml::Value::Array(_) | toml::Value::Table(_) => {
            return Err("`retry_after` is a number of seconds or the text of an HTTP date".to_owned());
        }
    };
    let sound = text.bytes().all(|b| b.is_ascii_graphic() || b == b' ');
    if sound { Ok(text) } else { Err("`retry_after` holds a character that no header can carry".to_owned()) }
}

/// How long a write waits, so that what was sent before a cut leaves the machine first.
pub(super) const BEFORE_CUT: Duration = Duration::from_millis(20);
