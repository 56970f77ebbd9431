//! Where a connection is to go: a host and a port, read from what a command wrote and made comparable.
//!
//! Everything that different programs might read differently (numbers that are addresses to some, bytes that are
//! letters to others, user names) is refused, so that what is compared with the allow-list is what is connected to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest name that exists.
const MAX_NAME_BYTES: usize = 253;
/// The longest part of a name.
const MAX_LABEL_BYTES: usize = 63;

/// A host.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Host {
    /// In lower case, without a dot at its end.
    Name(String),
    /// An address; never an IPv4 address in the clothes of IPv6.
    Address(IpAddr),
}

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Target {
    pub(super) host: Host,
    pub(super) port: u16,
}

/// Why something is no target; a half sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum TargetError {
    #[error("it names no host")]
    Empty,
    #[error("it has a user name or password in it")]
    UserInfo,
    #[error("its port is not a number from 1 to 65535")]
    Port,
    #[error("it names no port")]
    NoPort,
    #[error("its host is longer than {MAX_NAME_BYTES} bytes, or a part of it longer than {MAX_LABEL_BYTES}")]
    TooLong,
    #[error("its host has characters other than letters, digits, dots and hyphens (write other letters as xn--…)")]
    Characters,
    #[error("its host has an empty part, or a part that begins or ends with a hyphen")]
    Label,
    #[error("its host is a number that is not a plain IPv4 address such as 192.0.2.1")]
    Number,
    #[error("its host is not an IPv6 address, which brackets announce")]
    Bracket,
}

impl Target {
    /// Reads `host`, `host:port` or `[address]:port`; without a port it is `default_port`.
    pub(super) fn parse(authority: &str, default_port: Option<u16>) -> Result<Self, TargetError> {
        if authority.contains('@') {
            return Err(TargetError::UserInfo);
        }
        let (host, port) = split(authority)?;
        let port = match port {
            Some(port) => parse_port(port)?,
            None => default_port.ok_or(TargetError::NoPort)?,
        };
        Ok(Self { host: Host::parse(host)?, port })
    }

    /// As a `Host` header has it: without the port that goes without saying.
    pub(super) fn authority(&self, usual_port: u16) -> String {
        if self.port == usual_port { self.host.in_brackets() } else { self.to_string() }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.host.in_brackets(), self.port)
    }
}

impl Host {
    /// Reads a name, an IPv4 address or an IPv6 address in brackets.
    pub(super) fn parse(text: &str) -> Result<Self, TargetError> {
        if let Some(inner) = text.strip_prefix('[') {
            let address = inner.strip_suffix(']').and_then(|inner| inner.parse::<Ipv6Addr>().ok());
            return Ok(Self::Address(IpAddr::V6(address.ok_or(TargetError::Bracket)?).to_canonical()));
        }
        let name = normal_name(text)?;
        let last = name.rsplit('.').next().unwrap_or_default();
        // What resolvers take for a number in some base.
        let is_number = last.bytes().all(|byte| byte.is_ascii_digit())
            || last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if is_number {
            return match name.parse::<Ipv4Addr>() {
                Ok(address) if name == text => Ok(Self::Address(address.into())),
                Ok(_) | Err(_) => Err(TargetError::Number),
            };
        }
        Ok(Self::Name(name))
    }

    fn in_brackets(&self) -> String {
        match self {
            Self::Address(IpAddr::V6(address)) => format!("[{address}]"),
            Self::Address(IpAddr::V4(address)) => address.to_string(),
            Self::Name(name) => name.clone(),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(name),
            Self::Address(address) => write!(formatter, "{address}"),
        }
    }
}

/// Splits off the port, if there is one.
fn split(authority: &str) -> Result<(&str, Option<&str>), TargetError> {
    if authority.starts_with('[') {
        let end = authority.find(']').ok_or(TargetError::Bracket)? + 1;
        let (host, rest) = authority.split_at(end);
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err(TargetError::Port),
        };
    }
    Ok(match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    })
}

/// A port in decimal digits.
pub(super) fn parse_port(text: &str) -> Result<u16, TargetError> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| is_plain && *port != 0).ok_or(TargetError::Port)
}

/// A name in the form that is compared.
pub(super) fn normal_name(text: &str) -> Result<String, TargetError> {
    let text = text.strip_suffix('.').unwrap_or(text);
    if text.is_empty() {
        return Err(TargetError::Empty);
    }
    if text.len() > MAX_NAME_BYTES {
        return Err(TargetError::TooLong);
    }
    if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')) {
        return Err(TargetError::Characters);
    }
    for label in text.split('.') {
        if label.is_empty() || label.starts_with('-') || label.ends_with('-') {
            return Err(TargetError::Label);
        }
        if label.len() > MAX_LABEL_BYTES {
            return Err(TargetError::TooLong);
        }
    }
    Ok(text.to_ascii_lowercase())
}
