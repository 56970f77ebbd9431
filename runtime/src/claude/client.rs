//! The client itself: [`ClaudeClient::send`] makes one attempt at one request and streams its answer.
//!
//! It follows no redirect, keeps no history and never tries again by itself. Requests to this machine bypass every
//! proxy.

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use reqwest::redirect::Policy;
use reqwest::{Request, Url};
use tokio_util::sync::CancellationToken;

use super::client_error::ClientError;
use super::endpoint::{Endpoint, is_loopback, join};
use super::exchange::{Exchange, Limits};
use super::failure::{Failure, FailureKind};
use super::secret::Secret;
use super::sent::Sent;
use super::timeouts::Timeouts;
use super::{Answer, Delta, tls};

/// The version of the API this client speaks. What the newer `2026-10-21` changed (no sampling parameters, no documents
/// in assistant messages, no citations in user messages) never occurs in our requests, and gateways may not know it
/// yet.
const API_VERSION: &str = "2023-06-01";

/// The largest request body the API takes.
const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;

/// A client of the Messages API. Cheap to clone; clones share their connections.
#[derive(Debug, Clone)]
pub struct ClaudeClient {
    http: reqwest::Client,
    messages_url: Url,
    count_url: Url,
    headers: HeaderMap,
    secret: Secret,
    timeouts: Timeouts,
    limits: Limits,
}

impl ClaudeClient {
    /// A client for `endpoint`. Nothing is sent yet.
    ///
    /// # Errors
    /// When the address or the key cannot be used, or TLS cannot be set up.
    pub fn new(endpoint: &Endpoint) -> Result<Self, ClientError> {
        let base = endpoint.parse_base()?;
        let mut headers = HeaderMap::new();
        let (name, value) = endpoint.auth.header()?;
        headers.insert(name, value);
        headers.insert(HeaderName::from_static("anthropic-version"), HeaderValue::from_static(API_VERSION));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("retrace/", env!("CARGO_PKG_VERSION"))));
        let mut builder = reqwest::Client::builder()
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .connect_timeout(endpoint.timeouts.connect)
            .tcp_nodelay(true)
            .referer(false)
            .tls_backend_preconfigured(tls::client_config()?);
        if is_loopback(&base) {
            builder = builder.no_proxy();
        }
        Ok(Self {
            http: builder.build()?,
            messages_url: join(&base, "/v1/messages"),
            count_url: join(&base, "/v1/messages/count_tokens"),
            headers,
            secret: endpoint.auth.secret().clone(),
            timeouts: endpoint.timeouts,
            limits: Limits::default(),
        })
    }

    /// Sends `body` (the JSON text of a streaming request) exactly as it is and gathers the answer; one attempt.
    /// `betas` are joined in `anthropic-beta`. `on_delta` sees the answer as it comes; it must return quickly.
    ///
    /// # Errors
    /// A [`Failure`] that says what went wrong, what had come, and what may have been billed. Cancelling makes it fail
    /// with [`FailureKind::Cancelled`] at once and closes the connection, which stops the model too.
    pub async fn send(
        &self,
        body: Bytes,
        betas: &[&str],
        on_delta: impl FnMut(Delta) + Send,
        cancel: &CancellationToken,
    ) -> Result<Answer, Failure> {
        let request = self.request(&self.messages_url, body, betas)?;
        let mut exchange = Exchange::new(&self.http, self.timeouts, self.limits, &self.secret);
        let result = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(exchange.cancelled()),
            () = tokio::time::sleep(self.timeouts.whole) => Err(exchange.too_slow()),
            result = exchange.stream(request, on_delta) => result,
        };
        result.map_err(|failure| exchange.complete(failure))
    }

    /// Asks how many input tokens `body` has. `body` is that of a request without `max_tokens` and `stream`.
    ///
    /// # Errors
    /// As for [`send`](Self::send).
    pub async fn count_tokens(&self, body: Bytes, betas: &[&str], cancel: &CancellationToken) -> Result<u64, Failure> {
        let request = self.request(&self.count_url, body, betas)?;
        let mut exchange = Exchange::new(&self.http, self.timeouts, self.limits, &self.secret);
        let result = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(exchange.cancelled()),
            () = tokio::time::sleep(self.timeouts.whole) => Err(exchange.too_slow()),
            result = exchange.count(request) => result,
        };
        result.map_err(|failure| exchange.complete(failure))
    }

    #[cfg(test)]
    pub(super) fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    fn request(&self, url: &Url, body: Bytes, betas: &[&str]) -> Result<Request, Failure> {
        let refused = |kind, message: String| Failure::new(kind, Sent::Nothing, message);
        if body.len() > MAX_BODY_BYTES {
            let message = format!("the request has {} bytes; the API takes at most {MAX_BODY_BYTES}", body.len());
            return Err(refused(FailureKind::TooLarge, message));
        }
        let mut request = Request::new(reqwest::Method::POST, url.clone());
        request.headers_mut().clone_from(&self.headers);
        if !betas.is_empty() {
            let sound = |beta: &&str| !beta.is_empty() && beta.bytes().all(|b| b.is_ascii_graphic() && b != b',');
            let value = betas.iter().all(sound).then(|| HeaderValue::from_str(&betas.join(",")).ok()).flatten();
            let Some(value) = value else {
                return Err(refused(FailureKind::InvalidRequest, format!("not a list of beta names: {betas:?}")));
            };
            request.headers_mut().insert(HeaderName::from_static("anthropic-beta"), value);
        }
        *request.body_mut() = Some(body.into());
        Ok(request)
    }
}
