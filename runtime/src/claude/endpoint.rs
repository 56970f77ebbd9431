//! Where requests go and with which key.
//!
//! A [`Secret`] has no readable `Debug` and no `Display`; it leaves this module only as a header marked sensitive.

use std::fmt;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use thiserror::Error;

/// A key or token. Its text is shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps `text`.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

/// How the client authenticates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// `x-api-key` (`ANTHROPIC_API_KEY`).
    ApiKey(Secret),
    /// `Authorization: Bearer` (`ANTHROPIC_AUTH_TOKEN`).
    Bearer(Secret),
}

impl Auth {
    pub(super) fn secret(&self) -> &Secret {
        match self {
            Self::ApiKey(secret) | Self::Bearer(secret) => secret,
        }
    }

    pub(super) fn header(&self) -> Result<(HeaderName, HeaderValue), ClientError> {
        let (name, text, what) = match self {
            Self::ApiKey(secret) => (HeaderName::from_static("x-api-key"), secret.expose().to_owned(), "API key"),
            Self::Bearer(secret) => (AUTHORIZATION, format!("Bearer {}", secret.expose()), "auth token"),
        };
        if self.secret().expose().is_empty() {
            return Err(ClientError::EmptyKey { what });
        }
        if !self.secret().expose().bytes().all(|b| b.is_ascii_graphic()) {
            return Err(ClientError::UnusableKey { what });
        }
        let mut value = HeaderValue::from_str(&text).map_err(|_| ClientError::UnusableKey { what })?;
        value.set_sensitive(true);
        Ok((name, value))
    }
}

/// How long the client waits for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection, TLS included.
    pub connect: Duration,
    /// For the next byte of the answer, its first one too.
    pub idle: Duration,
    /// For the whole attempt.
    pub whole: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), idle: Duration::from_secs(90), whole: Duration::from_mins(10) }
    }
}

/// Where requests go, how they authenticate, and how long they may take.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The base address; `/v1/messages` is added to its path.
    pub base_url: String,
    /// The key.
    pub auth: Auth,
    /// The time limits.
    pub timeouts: Timeouts,
}

impl Endpoint {
    /// The address of the vendor's API.
    pub const DEFAULT_BASE_URL: &'static str = "https://api.anthropic.com";

    /// An endpoint with the usual time limits.
    #[must_use]
    pub fn new(base_url: impl Into<String>, auth: Auth) -> Self {
        Self { base_url: base_url.into(), auth, timeouts: Timeouts::default() }
    }

    pub(super) fn parse_base(&self) -> Result<Url, ClientError> {
        let invalid = |reason: &'static str| ClientError::BaseUrl { reason };
        let url = Url::parse(self.base_url.trim()).map_err(|_| invalid("it is no absolute address"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(invalid("only http and https are spoken"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("it must not contain a user name or password"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(invalid("it must not contain a query or fragment"));
        }
        Ok(url)
    }
}

/// The address of `path` below `base`, whose own path is kept.
pub(super) fn join(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
    url
}

/// Whether `url` names this machine, which no proxy can reach.
pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    address.map_or_else(|_| host == "localhost" || host.ends_with(".localhost"), |ip| ip.is_loopback())
}

/// Why a client cannot be made.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The base address is not usable.
    #[error(
        "the base URL is not usable: {reason}\nhint: check ANTHROPIC_BASE_URL; it looks like https://api.anthropic.com"
    )]
    BaseUrl {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The key is empty.
    #[error("the {what} is empty\nhint: set ANTHROPIC_API_KEY")]
    EmptyKey {
        /// Which kind of key.
        what: &'static str,
    },
    /// The key holds a character that no header can carry.
    #[error(
        "the {what} contains a line break, space or other character that cannot be sent\nhint: copy it again, without what surrounds it"
    )]
    UnusableKey {
        /// Which kind of key.
        what: &'static str,
    },
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    /// The HTTP client cannot be set up.
    #[error("the HTTP client cannot be set up: {0}")]
    Http(#[from] reqwest::Error),
}
