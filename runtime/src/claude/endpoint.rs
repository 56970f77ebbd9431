//! Where requests go: the base address, checked, and the addresses below it.

use reqwest::Url;

use super::{Auth, ClientError, Timeouts};

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
