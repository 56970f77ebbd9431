//! How requests authenticate. A key leaves this module only as a header marked sensitive.

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};

use super::{ClientError, Secret};

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
