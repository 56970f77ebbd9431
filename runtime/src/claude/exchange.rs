//! One attempt: a request goes out, headers and bytes come back, all under limits of size and time.
//!
//! The state lives outside the future that does the work, so that cancelling or timing out still knows how far it got.

use std::time::{Duration, SystemTime};

use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Request, Response};
use serde::Deserialize;
use tokio::time::timeout;

use super::assemble::{AssembleError, Assembler};
use super::failure::{Failure, FailureKind};
use super::secret::Secret;
use super::sent::Sent;
use super::sse::{SseDecoder, SseEvent};
use super::timeouts::Timeouts;
use super::{Answer, Delta, headers};

/// The most of an error message that is kept.
const MAX_MESSAGE_CHARS: usize = 2_000;

/// How long and how much is read after `message_stop`, so that the connection can be used again.
const DRAIN: Duration = Duration::from_millis(100);
const DRAIN_BYTES: usize = 4_096;

/// Size limits of what a server may send.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Of a whole answer.
    pub(super) answer_bytes: usize,
    /// Of one event of it.
    pub(super) event_bytes: usize,
    /// Of the body of an error.
    pub(super) error_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { answer_bytes: 32 << 20, event_bytes: 8 << 20, error_bytes: 64 << 10 }
    }
}

/// The state of one attempt.
pub(super) struct Exchange<'a> {
    http: &'a reqwest::Client,
    timeouts: Timeouts,
    limits: Limits,
    secret: &'a Secret,
    sent: Sent,
    status: Option<u16>,
    request_id: Option<String>,
    assembler: Assembler,
}

#[derive(Deserialize)]
struct ErrorJson {
    error: ErrorBody,
    request_id: Option<String>,
}

#[derive(Deserialize)]
struct ErrorBody {
    #[serde(rename = "type")]
    kind: String,
    message: String,
}

impl<'a> Exchange<'a> {
    pub(super) fn new(http: &'a reqwest::Client, timeouts: Timeouts, limits: Limits, secret: &'a Secret) -> Self {
        Self {
            http,
            timeouts,
            limits,
            secret,
            sent: Sent::Nothing,
            status: None,
            request_id: None,
            assembler: Assembler::new(),
        }
    }

    /// Sends `request` and gathers its streaming answer.
    pub(super) async fn stream(
        &mut self,
        request: Request,
        mut on_delta: impl FnMut(Delta) + Send,
    ) -> Result<Answer, Failure> {
        let mut response = self.open(request, "text/event-stream").await?;
        let mut decoder = SseDecoder::new(self.limits.event_bytes);
        let mut events: Vec<SseEvent> = Vec::new();
        let mut size_bytes = 0_usize;
        loop {
            let Some(chunk) = self.chunk(&mut response).await? else {
                return Err(self.fail(FailureKind::Unfinished, "the answer ended before it was complete"));
            };
            size_bytes = size_bytes.saturating_add(chunk.len());
            if size_bytes > self.limits.answer_bytes {
                let message = format!("the answer is larger than {} bytes", self.limits.answer_bytes);
                return Err(self.fail(FailureKind::TooLarge, message));
            }
            let decoded = decoder.push(&chunk, &mut events);
            // Events that were complete before the stream went wrong still count.
            for event in events.drain(..) {
                self.sent = Sent::Partly;
                match self.assembler.push(&event.data) {
                    Ok(delta) => delta.into_iter().for_each(&mut on_delta),
                    Err(error) => return Err(self.assembly_failure(error)),
                }
            }
            if let Some(answer) = self.assembler.answer(self.request_id.clone()) {
                drain(response).await;
                return Ok(answer);
            }
            decoded.map_err(|error| self.fail(FailureKind::Stream, error.to_string()))?;
        }
    }

    /// Sends `request` and reads `input_tokens` out of its JSON answer.
    pub(super) async fn count(&mut self, request: Request) -> Result<u64, Failure> {
        #[derive(Deserialize)]
        struct Count {
            input_tokens: u64,
        }
        let mut response = self.open(request, "application/json").await?;
        let body = self.bounded_body(&mut response).await?;
        let count = serde_json::from_slice::<Count>(&body);
        Ok(count.map_err(|error| self.fail(FailureKind::Stream, format!("not a token count: {error}")))?.input_tokens)
    }

    pub(super) fn cancelled(&self) -> Failure {
        self.fail(FailureKind::Cancelled, "the request was cancelled")
    }

    pub(super) fn too_slow(&self) -> Failure {
        self.fail(FailureKind::Timeout, format!("the answer took longer than {:?}", self.timeouts.whole))
    }

    /// Adds to `failure` what this attempt knows, and makes its message safe to show.
    pub(super) fn complete(&self, failure: Failure) -> Failure {
        Failure {
            status: failure.status.or(self.status),
            request_id: failure.request_id.or_else(|| self.request_id.clone()),
            partial: failure.partial.or_else(|| self.assembler.partial().map(Box::new)),
            message: self.presentable(&failure.message),
            error_type: failure.error_type.map(|kind| self.presentable(&kind)),
            ..failure
        }
    }

    fn fail(&self, kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure::new(kind, self.sent, message)
    }

    /// Sends the request and returns the response if it is a success of the wanted content type.
    async fn open(&mut self, request: Request, content_type: &str) -> Result<Response, Failure> {
        // From the first poll on a byte may have left; a failed connection sets this back.
        self.sent = Sent::Unanswered;
        let answered = timeout(self.timeouts.idle, self.http.execute(request)).await;
        let mut response = match answered {
            Err(_) => return Err(self.fail(FailureKind::Timeout, self.silence())),
            Ok(Err(error)) => return Err(self.connection_failure(error)),
            Ok(Ok(response)) => response,
        };
        self.status = Some(response.status().as_u16());
        self.request_id = headers::request_id(response.headers());
        if !response.status().is_success() {
            return Err(self.refusal(&mut response).await);
        }
        self.sent = Sent::Accepted;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !kind.trim_start().to_ascii_lowercase().starts_with(content_type) {
            let message = format!("the server answered with {kind:?} where {content_type} was due");
            return Err(self.fail(FailureKind::Stream, message));
        }
        Ok(response)
    }

    async fn chunk(&self, response: &mut Response) -> Result<Option<bytes::Bytes>, Failure> {
        match timeout(self.timeouts.idle, response.chunk()).await {
            Err(_) => Err(self.fail(FailureKind::Timeout, self.silence())),
            Ok(Err(error)) => {
                let message = format!("the connection broke in the middle of the answer: {}", causes(error));
                Err(self.fail(FailureKind::Unfinished, message))
            }
            Ok(Ok(chunk)) => Ok(chunk),
        }
    }

    /// The body up to the limit for errors; what is beyond it is not read.
    async fn bounded_body(&self, response: &mut Response) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk(response).await? {
            let room = self.limits.error_bytes - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() >= room {
                break;
            }
        }
        Ok(body)
    }

    async fn refusal(&mut self, response: &mut Response) -> Failure {
        self.sent = Sent::Refused;
        let status = response.status();
        let kind = FailureKind::from_status(status.as_u16());
        let head = response.headers().clone();
        // A body that cannot be read leaves the status, which says enough.
        let body = self.bounded_body(response).await.unwrap_or_default();
        let parsed = serde_json::from_slice::<ErrorJson>(&body).ok();
        let message = match &parsed {
            Some(json) => format!("{} {}: {}", status.as_u16(), json.error.kind, json.error.message),
            None => describe(status.as_u16(), &head, &body),
        };
        Failure {
            error_type: parsed.as_ref().map(|json| json.error.kind.clone()),
            request_id: self.request_id.clone().or_else(|| parsed.and_then(|json| json.request_id).map(bounded_id)),
            retry_after_ms: headers::retry_after_ms(&head, SystemTime::now()),
            should_retry: headers::should_retry(&head),
            ..self.fail(kind, message)
        }
    }

    fn connection_failure(&mut self, error: reqwest::Error) -> Failure {
        if error.is_connect() || error.is_builder() {
            self.sent = Sent::Nothing;
        }
        let (kind, what) = match (error.is_connect(), error.is_timeout()) {
            (_, true) => (FailureKind::Timeout, "no connection in time"),
            (true, false) => (FailureKind::Connection, "cannot connect to the server"),
            (false, false) => (FailureKind::Connection, "the connection broke before an answer came"),
        };
        self.fail(kind, format!("{what}: {}", causes(error)))
    }

    fn assembly_failure(&self, error: AssembleError) -> Failure {
        let message = error.to_string();
        match error {
            AssembleError::Api { error_type, .. } => {
                let kind = FailureKind::from_error_type(&error_type);
                Failure { error_type: Some(error_type), ..self.fail(kind, message) }
            }
            AssembleError::Malformed(_) | AssembleError::Protocol(_) => self.fail(FailureKind::Stream, message),
        }
    }

    fn silence(&self) -> String {
        format!("the server sent nothing for {:?}", self.timeouts.idle)
    }

    /// `text` without the key, without control characters, in one line and not too long.
    fn presentable(&self, text: &str) -> String {
        let text = text.replace(self.secret.expose(), "[key]");
        let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
        clean.take(MAX_MESSAGE_CHARS).collect()
    }
}

/// What an error status without the API's JSON says.
fn describe(status: u16, head: &HeaderMap, body: &[u8]) -> String {
    if (300..400).contains(&status) {
        let target = head.get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or("nowhere");
        return format!("{status}: redirected to {target}; redirects are not followed\nhint: check ANTHROPIC_BASE_URL");
    }
    let text = String::from_utf8_lossy(body);
    let text: String = text.trim().chars().take(200).collect();
    if text.is_empty() { format!("{status} without a reason") } else { format!("{status}: {text}") }
}

/// The error and its causes in one line, without the address.
fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

fn bounded_id(id: String) -> String {
    id.chars().filter(char::is_ascii_graphic).take(200).collect()
}

/// Reads the little that follows `message_stop`, so that the connection can be used again.
async fn drain(mut response: Response) {
    let rest = async {
        let mut left = DRAIN_BYTES;
        while let Ok(Some(chunk)) = response.chunk().await {
            left = left.saturating_sub(chunk.len());
            if left == 0 {
                break;
            }
        }
    };
    // Too slow means a new connection next time, nothing worse.
    let _ = timeout(DRAIN, rest).await;
}
