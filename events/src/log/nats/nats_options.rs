//! How to reach a NATS server, from an address and the environment.
//!
//! Secrets may stand in the address (`nats://user:password@host`); they are used and never shown: whatever is shown
//! is made by [`std::fmt::Display`], which leaves them out, and `Debug` does the same.

#[cfg(test)]
#[path = "nats_options_tests.rs"]
mod tests;

use crate::log::LogError;
use percent_encoding::percent_decode_str;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The size limit of a stream that is made anew, in bytes, and less where the server has not so much room. Without a
/// limit a full disk would freeze the server.
pub(super) const DEFAULT_MAX_BYTES: u64 = 64 * 1024 * 1024 * 1024;

/// How to reach a NATS server and what to ask of it.
#[derive(Clone, PartialEq, Eq)]
pub struct NatsOptions {
    /// `nats://[user[:password]@]host[:port]` or `tls://…`; several, separated by commas, for a cluster.
    pub url: String,
    /// A credentials file (`.creds`).
    pub credentials: Option<PathBuf>,
    /// A file with the seed of an nkey.
    pub nkey_seed: Option<PathBuf>,
    /// Certificates (PEM) that the server's is checked against, beside the system's.
    pub tls_ca: Option<PathBuf>,
    /// This client's certificate (PEM).
    pub tls_cert: Option<PathBuf>,
    /// This client's private key (PEM).
    pub tls_key: Option<PathBuf>,
    /// Speak TLS from the first byte, as servers with `handshake_first` expect.
    pub tls_first: bool,
    /// Go on although acks may be lost with the server's power.
    pub accept_nondurable: bool,
    /// The operator's word that every server runs with `sync_interval: always`, for when it cannot be asked.
    pub assert_durable: bool,
    /// Copies of a stream that is made anew; `None` takes 3 in a cluster and 1 otherwise.
    pub replicas: Option<u8>,
    /// The size limit of a stream that is made anew, in bytes.
    pub max_bytes: u64,
}

impl NatsOptions {
    /// Options for the server at `url`, everything else as it is by default.
    #[must_use]
    pub fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            credentials: None,
            nkey_seed: None,
            tls_ca: None,
            tls_cert: None,
            tls_key: None,
            tls_first: false,
            accept_nondurable: false,
            assert_durable: false,
            replicas: None,
            max_bytes: DEFAULT_MAX_BYTES,
        }
    }

    /// From the environment that `var` reads; `None` when it names no server. `NATS_URL` is the address; beside it
    /// `NATS_CREDS`, `NATS_NKEY`, `NATS_CA`, `NATS_CERT` and `NATS_KEY` name files, as they do for NATS's own tools,
    /// and `RETRACE_NATS_TLS_FIRST`, `RETRACE_NATS_DURABLE=assert|accept-nondurable`, `RETRACE_NATS_REPLICAS` and
    /// `RETRACE_NATS_MAX_BYTES` stand for the address's parameters.
    ///
    /// # Errors
    /// [`LogError::Unfit`] when a value makes no sense.
    pub fn from_env(var: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, LogError> {
        let set = |name: &str| var(name).filter(|value| !value.trim().is_empty());
        let Some(url) = set("NATS_URL") else { return Ok(None) };
        let mut options: Self = url.parse()?;
        options.fill_from_env(set)?;
        Ok(Some(options))
    }

    /// Fills what the address left open from the environment that `var` reads (all but `NATS_URL`).
    ///
    /// # Errors
    /// [`LogError::Unfit`] when a value makes no sense.
    pub fn fill_from_env(&mut self, var: impl Fn(&str) -> Option<String>) -> Result<(), LogError> {
        let set = |name: &str| var(name).filter(|value| !value.trim().is_empty());
        let files = [
            (&mut self.credentials, "NATS_CREDS"),
            (&mut self.nkey_seed, "NATS_NKEY"),
            (&mut self.tls_ca, "NATS_CA"),
            (&mut self.tls_cert, "NATS_CERT"),
            (&mut self.tls_key, "NATS_KEY"),
        ];
        for (file, name) in files {
            *file = file.take().or_else(|| set(name).map(PathBuf::from));
        }
        let parameters = [
            ("RETRACE_NATS_TLS_FIRST", "tls_first"),
            ("RETRACE_NATS_DURABLE", "durable"),
            ("RETRACE_NATS_REPLICAS", "replicas"),
            ("RETRACE_NATS_MAX_BYTES", "max_bytes"),
        ];
        for (name, parameter) in parameters {
            if let Some(value) = set(name) {
                self.set(parameter, &value).map_err(|why| LogError::Unfit { location: name.to_owned(), why })?;
            }
        }
        Ok(())
    }

    /// The servers' addresses.
    pub(super) fn servers(&self) -> impl Iterator<Item = &str> {
        self.url.split(',').map(str::trim).filter(|server| !server.is_empty())
    }

    /// User name and password in the first address that has one; without a password it is a token. The client library
    /// leaves them out when it connects.
    pub(super) fn user(&self) -> Option<(String, Option<String>)> {
        let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (user, _) = self.servers().find_map(|server| server.split_once("://")?.1.rsplit_once('@'))?;
        let (user, password) = user.split_once(':').map_or((user, None), |(user, password)| (user, Some(password)));
        Some((decode(user), password.map(decode)))
    }

    /// The servers' addresses without users and passwords.
    pub(super) fn hosts(&self) -> Vec<String> {
        let mut hosts = Vec::new();
        for server in self.servers() {
            let (scheme, rest) = server.split_once("://").unwrap_or(("nats", server));
            // A password may hold an `@` that was not escaped: the last one ends it.
            let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
            hosts.push(format!("{scheme}://{host}"));
        }
        hosts
    }

    fn set(&mut self, parameter: &str, value: &str) -> Result<(), String> {
        let number = || value.parse().map_err(|_| format!("`{value}` is not a number"));
        match (parameter, value) {
            ("durable", "assert") => self.assert_durable = true,
            ("durable", "accept-nondurable") => self.accept_nondurable = true,
            ("durable", _) => return Err("`durable` is `assert` or `accept-nondurable`".to_owned()),
            ("tls_first", "1" | "true") => self.tls_first = true,
            ("tls_first", "0" | "false") => self.tls_first = false,
            ("tls_first", _) => return Err("`tls_first` is `true` or `false`".to_owned()),
            ("replicas", "1" | "3" | "5") => self.replicas = value.parse().ok(),
            ("replicas", _) => return Err("`replicas` is 1, 3 or 5".to_owned()),
            ("max_bytes", _) => self.max_bytes = number()?,
            ("creds", _) => self.credentials = Some(PathBuf::from(value)),
            ("nkey", _) => self.nkey_seed = Some(PathBuf::from(value)),
            ("ca", _) => self.tls_ca = Some(PathBuf::from(value)),
            ("cert", _) => self.tls_cert = Some(PathBuf::from(value)),
            ("key", _) => self.tls_key = Some(PathBuf::from(value)),
            _ => {
                return Err(format!(
                    "there is no parameter `{parameter}`\nhint: durable, replicas, max_bytes, tls_first, creds, nkey, ca, cert, key"
                ));
            }
        }
        Ok(())
    }
}

impl FromStr for NatsOptions {
    type Err = LogError;

    /// `nats://host:port[,nats://host:port…][?parameter=value&…]`, with the parameters `durable` (`assert` or
    /// `accept-nondurable`), `replicas`, `max_bytes`, `tls_first`, and the files `creds`, `nkey`, `ca`, `cert`, `key`.
    fn from_str(text: &str) -> Result<Self, LogError> {
        let (url, parameters) = text.trim().split_once('?').unwrap_or((text.trim(), ""));
        let mut options = Self::new(url);
        let unfit = |options: &Self, why: String| LogError::Unfit { location: options.to_string(), why };
        if options.servers().next().is_none() || !options.servers().all(is_server) {
            let why = "not an address\nhint: nats://host:port or tls://host:port, several separated by commas";
            return Err(unfit(&options, why.to_owned()));
        }
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, "true"));
            options.set(name, value).map_err(|why| unfit(&options, why))?;
        }
        Ok(options)
    }
}

impl fmt::Display for NatsOptions {
    /// The addresses, without user names and passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hosts().join(","))
    }
}

impl fmt::Debug for NatsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsOptions").field("url", &self.to_string()).finish_non_exhaustive()
    }
}

fn is_server(server: &str) -> bool {
    let host = server.strip_prefix("nats://").or_else(|| server.strip_prefix("tls://"));
    host.is_some_and(|host| !host.rsplit_once('@').map_or(host, |(_, host)| host).is_empty())
}
