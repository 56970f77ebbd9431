//! Secrets that the host adds to requests on their way out, so that no command ever holds them.

use std::fmt;
use std::io::Read as _;
use std::path::Path;

use hyper::header::{HeaderName, HeaderValue};

use super::entry::AllowError;
use super::target::{Host, Target, parse_port};

/// The longest secret, in bytes.
const MAX_SECRET_BYTES: u64 = 16 * 1024;
/// Headers that say how a message is carried, or where it goes.
const CARRYING: [&str; 10] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "proxy-authorization",
];

/// Why a credential cannot be used. Never shows the secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// The domain is not one.
    #[error("{0}")]
    Domain(#[from] AllowError),
    /// The variable is not set.
    #[error("cannot take a credential from the variable {name}: {detail}\nhint: set it where retrace is started")]
    Variable {
        /// Its name.
        name: String,
        /// What is wrong.
        detail: String,
    },
    /// The file cannot be read.
    #[error("cannot take a credential from {path}: {detail}")]
    File {
        /// The file.
        path: String,
        /// What is wrong.
        detail: String,
    },
    /// It cannot be sent in a header.
    #[error("the credential for {domain} cannot be sent as the header {header:?}: {reason}")]
    Header {
        /// The domain.
        domain: String,
        /// The header's name.
        header: String,
        /// Why not.
        reason: &'static str,
    },
    /// A credential for what cannot be reached.
    #[error("there is a credential for {domain}, which is not allowed\nhint: put {domain} on the allow-list")]
    NotAllowed {
        /// The domain.
        domain: String,
    },
}

/// A secret. Its `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(redacted)")
    }
}

impl Secret {
    /// A secret that is at hand.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// The value of a variable of this process.
    ///
    /// # Errors
    /// When it is not set, or empty, or not UTF-8.
    pub fn from_variable(name: &str) -> Result<Self, CredentialError> {
        let fail = |detail: &str| CredentialError::Variable { name: name.to_owned(), detail: detail.to_owned() };
        match std::env::var(name) {
            Ok(secret) if secret.trim().is_empty() => Err(fail("it is empty")),
            Ok(secret) => Ok(Self(secret.trim().to_owned())),
            Err(std::env::VarError::NotPresent) => Err(fail("it is not set")),
            Err(std::env::VarError::NotUnicode(_)) => Err(fail("it is not UTF-8")),
        }
    }

    /// The contents of a file, without white space around them.
    ///
    /// # Errors
    /// When it cannot be read, or is empty, too long or not UTF-8.
    pub fn from_file(path: &Path) -> Result<Self, CredentialError> {
        let fail = |detail: String| CredentialError::File { path: path.display().to_string(), detail };
        let mut secret = String::new();
        let file = std::fs::File::open(path).map_err(|error| fail(error.to_string()))?;
        file.take(MAX_SECRET_BYTES + 1).read_to_string(&mut secret).map_err(|error| fail(error.to_string()))?;
        match secret.trim() {
            "" => Err(fail("it is empty".to_owned())),
            _ if secret.len() as u64 > MAX_SECRET_BYTES => Err(fail("it is too long".to_owned())),
            trimmed => Ok(Self(trimmed.to_owned())),
        }
    }

    /// With something in front, such as `Bearer `.
    #[must_use]
    pub fn prefixed(&self, prefix: &str) -> Self {
        Self(format!("{prefix}{}", self.0))
    }
}

/// A header that the proxy adds to every request to one domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    entry: String,
    host: String,
    port: Option<u16>,
    name: HeaderName,
    value: HeaderValue,
    over_plain_http: bool,
}

impl Credential {
    /// For requests to `domain`: an exact name, with a port when it is not the usual one.
    ///
    /// # Errors
    /// When the domain is none, or the header cannot be sent.
    pub fn new(domain: &str, header: &str, secret: &Secret) -> Result<Self, CredentialError> {
        let fail = |reason| CredentialError::Header { domain: domain.to_owned(), header: header.to_owned(), reason };
        let (host, port) = read_domain(domain)?;
        let name = HeaderName::from_bytes(header.as_bytes()).map_err(|_| fail("that is no name of a header"))?;
        if CARRYING.contains(&name.as_str()) {
            return Err(fail("that header is the proxy's own"));
        }
        let mut value =
            HeaderValue::from_str(&secret.0).map_err(|_| fail("the secret has characters that no header may have"))?;
        value.set_sensitive(true);
        Ok(Self { entry: domain.to_owned(), host, port, name, value, over_plain_http: false })
    }

    /// Sends it over plain HTTP too, where anyone on the way can read it. Without this only over TLS.
    #[must_use]
    pub fn over_plain_http(mut self) -> Self {
        self.over_plain_http = true;
        self
    }

    /// The entry, as it was given.
    #[must_use]
    pub fn domain(&self) -> &str {
        &self.entry
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn header(&self) -> (HeaderName, HeaderValue) {
        (self.name.clone(), self.value.clone())
    }

    pub(super) fn serves(&self, target: &Target, with_tls: bool) -> bool {
        let usual_port = if with_tls { 443 } else { 80 };
        let is_host = matches!(&target.host, Host::Name(name) if *name == self.host);
        is_host && target.port == self.port.unwrap_or(usual_port) && (with_tls || self.over_plain_http)
    }

    /// Where it may be sent.
    pub(super) fn targets(&self) -> Vec<Target> {
        let ports = match self.port {
            Some(port) => vec![port],
            None if self.over_plain_http => vec![443, 80],
            None => vec![443],
        };
        ports.into_iter().map(|port| Target { host: Host::Name(self.host.clone()), port }).collect()
    }
}

fn read_domain(domain: &str) -> Result<(String, Option<u16>), AllowError> {
    let fail = |reason: String| AllowError { given: domain.chars().take(300).collect(), reason };
    let (host, port) = match domain.split_once(':') {
        Some((host, port)) => (host, Some(parse_port(port).map_err(|error| fail(error.to_string()))?)),
        None => (domain, None),
    };
    match Host::parse(host).map_err(|error| fail(error.to_string()))? {
        Host::Name(name) => Ok((name, port)),
        Host::Address(_) => Err(fail("a credential belongs to a name".to_owned())),
    }
}
