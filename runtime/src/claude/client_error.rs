//! Why a client cannot be made; nothing has been sent then.

use thiserror::Error;

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
        "the {what} contains a line break, space or other character that cannot be sent\n\
         hint: copy it again, without what surrounds it"
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
